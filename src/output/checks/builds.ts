// One-line summaries that a build, a linter or the program that ran it prints when it is done. Details are read by
// `diagnostics.ts`.

import type { CheckReader, CheckReport } from "./report.ts"

/** Every summary contains one of these words, so that most lines are dismissed at once. */
const WORDS =
  /error|fail|succe|passed|issues|offenses|problem|No errors|no issues|Finished|built in|compiled|Checked|matched|reformat|undefined reference|\*\*\*|Build|could not compile|ELIFE|ERR_|stopped/i

type Summary = readonly [name: string, kind: CheckReport["kind"], pass: RegExp | null, fail: RegExp | null]

const SUMMARIES: readonly Summary[] = [
  [
    "tsc",
    "types",
    /^Found 0 errors\b/,
    /^Found [1-9]\d* errors? in |^Found [1-9]\d* errors?\. Watching|^error TS\d+: /,
  ],
  ["eslint", "lint", /^[✖✕] \d+ problems? \(0 errors, /, /^[✖✕] \d+ problems? \([1-9]\d* errors?/],
  ["oxlint", "lint", /^Found \d+ warnings? and 0 errors\.$/, /^Found \d+ warnings? and [1-9]\d* errors?\.$/],
  ["biome", "lint", /^Checked \d+ files? in [\d.]+ ?[µm]?s\. /, null],
  ["lint", "lint", null, /^Found [1-9]\d* errors?\.$/],
  [
    "prettier",
    "lint",
    /^All matched files use Prettier code style!$/,
    /^(?:\[warn\] )?Code style issues (?:found|were found)/,
  ],
  [
    "ruff",
    "lint",
    /^All checks passed!$/,
    /^Found [1-9]\d* errors? \(|^\d+ files? would be reformatted|^Would reformat: /,
  ],
  ["mypy", "types", /^Success: no issues found in \d+ source/, /^Found \d+ errors? in \d+ files? \(/],
  ["pyright", "types", /^0 errors, \d+ warnings?, /, /^[1-9]\d* errors?, \d+ warnings?, /],
  ["golangci-lint", "lint", /^0 issues\.$/, /^[1-9]\d* issues:$/],
  ["rubocop", "lint", /^\d+ files? inspected, no offenses/, /^\d+ files? inspected, \d+ offenses? detected/],
  ["phpstan", "types", /^ *\[OK\] No errors/, /^ *\[ERROR\] Found \d+ errors?/],
  [
    "cargo",
    "build",
    /^ +Finished (?:`|\w+ \[)/,
    /^error: could not compile |^error: aborting due to |^error: \d+ targets? failed/,
  ],
  ["javac", "build", null, /^\d+ errors?$/],
  [
    "linker",
    "build",
    null,
    /^collect2: error: |^ld: (?:symbol|library|framework|can't)|: undefined reference to |^clang(?:\+\+)?: error: |^make(?:\[\d+\])?: \*\*\* No rule/,
  ],
  ["swift", "build", /^Build complete!/, /^error: fatalError$/],
  ["svelte-check", "types", /^svelte-check found 0 errors/, /^svelte-check found [1-9]\d* errors?/],
  ["astro check", "types", /^- 0 errors$/, /^- [1-9]\d* errors?$/],
  ["terraform", "build", /^Success! The configuration is valid|^Apply complete!/, /^│ Error: /],
  ["pre-commit", "lint", null, /^\S.*\.{5,}Failed$/],
]

/** Programs that run other tools or only close their report: what they print themselves is vague. */
const WRAPPER_SUMMARIES: readonly (readonly [name: string, pass: RegExp | null, fail: RegExp | null])[] = [
  ["maven", /^\[INFO\] BUILD SUCCESS/, /^\[(?:INFO|ERROR)\] BUILD FAILURE/],
  ["gradle", /^BUILD SUCCESSFUL in /, /^BUILD FAILED(?: in |$)|^FAILURE: Build failed/],
  ["dotnet", /^Build succeeded\b/, /^Build FAILED\.|^Build failed with \d+ error/],
  ["cmake", /^-- Build files have been written to: /, /^CMake Error|^-- Configuring incomplete, errors occurred!/],
  ["vite", /^✓ built in [\d.]+ ?m?s/, /^(?:✗|x) Build failed in |^error during build:/],
  [
    "webpack",
    /^webpack [\d.]+ compiled (?:successfully|with \d+ warnings?)/,
    /^webpack [\d.]+ compiled with \d+ errors?/,
  ],
  ["next", /^ *✓ Compiled successfully/, /^Failed to compile\.|^> Build (?:error occurred|failed because of)/],
  ["xcodebuild", /^\*\* (?:BUILD|TEST) SUCCEEDED \*\*/, /^\*\* (?:BUILD|TEST) FAILED \*\*/],
  [
    "bazel",
    /^INFO: Build completed successfully/,
    /^(?:ERROR|FAILED): Build (?:did NOT complete|failed)|^INFO: Build completed, \d+ tests? FAILED/,
  ],
  ["docker build", null, /^ERROR: failed to (?:solve|build): /],
  ["npm", null, /^npm (?:error|ERR!) (?:code (?:\d+|E\w+)$|Lifecycle script|command failed|Missing script)/],
  ["pnpm", null, /^ ?(?:ELIFECYCLE|ERR_PNPM_\w+)\b/],
  ["yarn", null, /^error Command failed with exit code \d+\.$/],
  ["bun run", null, /^error: script ".+" (?:exited with code [1-9]|was terminated)/],
  ["make", null, /^g?make(?:\[\d+\])?: \*\*\* .+ Error \d+$/],
  ["ninja", null, /^ninja: build stopped: /],
  ["turbo", null, /^ ?ERROR {2}run failed: |^ Failed: +\S+#/],
  ["hook", null, /^husky - .+ (?:failed|exited with code [1-9])/],
  ["task", null, /^task: Failed to run task |^error: Recipe `.+` failed|^\[\S+\] ERROR task failed/],
]

/** Phrases that anybody may print, which are not trusted against an exit code. */
const LOOSE_PASS = /^\W*All (?:tests|checks) (?:have )?passed\b/i
const LOOSE_FAIL =
  /^\W*(?:Some|[1-9]\d*) [\w ]*(?:checks?|tests?|files?) (?:have )?failed\b|^(?:Files|Tests|Checks) (?:with errors|failed): +[1-9]/i

const ALL: readonly (Summary | readonly [...Summary, "vague" | "loose"])[] = [
  ...SUMMARIES,
  ...WRAPPER_SUMMARIES.map(([name, pass, fail]) => [name, "build", pass, fail, "vague"] as const),
  ["check", "lint", LOOSE_PASS, LOOSE_FAIL, "loose"],
]

export const builds: CheckReader = {
  signature: WORDS,
  read(lines) {
    let best: CheckReport | undefined
    for (const line of lines) {
      if (!WORDS.test(line)) continue
      const report = summaryOn(line)
      if (report && !outranks(best, report)) best = report
    }
    return best
  },
}

function summaryOn(line: string): CheckReport | undefined {
  for (const [name, kind, pass, fail, trust] of ALL) {
    const verdict = fail?.test(line) ? "fail" : pass?.test(line) ? "pass" : undefined
    if (!verdict) continue
    const errors = Number(/(\d+) errors?\b/.exec(line)?.[1] ?? 0)
    const warnings = Number(/(\d+) warnings?\b/.exec(line)?.[1] ?? 0)
    const counts = { ...(errors ? { errors } : {}), ...(warnings ? { warnings } : {}) }
    const vague = trust === undefined ? {} : { vague: true }
    return { name, kind, verdict, sure: trust !== "loose", ...vague, counts, failures: [], total: line }
  }
  return undefined
}

/** A failure outranks a success, and a tool its wrapper. Among equals the first failure and the last success win. */
function outranks(best: CheckReport | undefined, next: CheckReport): boolean {
  if (!best) return false
  if (best.verdict !== next.verdict) return best.verdict === "fail"
  return best.verdict === "fail" && (!best.vague || Boolean(next.vague))
}
