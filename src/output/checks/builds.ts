// How a build, a linter or the program that ran it says in one line that it is done, well or not. The details are for
// `diagnostics.ts`; a wrapper that only repeats a failure (`npm error`, `make: ***`) is marked vague.

import type { Line } from "../lines.ts"
import type { Check, Report } from "./report.ts"

type Phrase = {
  name: string
  kind: Report["kind"]
  pass?: RegExp
  fail?: RegExp
  /** it runs other tools, or only closes their report: what it says itself is vague */
  wraps?: true
  /** anybody's words: not to be trusted against an exit code */
  loose?: true
}

/** Every phrase has one of these words: most lines are dismissed by them. */
const WORDS =
  /error|fail|succe|passed|issues|offenses|problem|No errors|no issues|Finished|built in|compiled|Checked|matched|reformat|undefined reference|\*\*\*|Build|could not compile|ELIFE|ERR_|stopped/i

const PHRASES: readonly Phrase[] = [
  {
    name: "tsc",
    kind: "types",
    pass: /^Found 0 errors\b/,
    fail: /^Found [1-9]\d* errors? in |^Found [1-9]\d* errors?\. Watching|^error TS\d+: /,
  },
  {
    name: "eslint",
    kind: "lint",
    pass: /^[✖✕] \d+ problems? \(0 errors, /,
    fail: /^[✖✕] \d+ problems? \([1-9]\d* errors?/,
  },
  {
    name: "oxlint",
    kind: "lint",
    pass: /^Found \d+ warnings? and 0 errors\.$/,
    fail: /^Found \d+ warnings? and [1-9]\d* errors?\.$/,
  },
  { name: "biome", kind: "lint", pass: /^Checked \d+ files? in [\d.]+ ?[µm]?s\. / },
  { name: "lint", kind: "lint", fail: /^Found [1-9]\d* errors?\.$/ },
  {
    name: "prettier",
    kind: "lint",
    pass: /^All matched files use Prettier code style!$/,
    fail: /^(?:\[warn\] )?Code style issues (?:found|were found)/,
  },
  {
    name: "ruff",
    kind: "lint",
    pass: /^All checks passed!$/,
    fail: /^Found [1-9]\d* errors? \(|^\d+ files? would be reformatted|^Would reformat: /,
  },
  {
    name: "mypy",
    kind: "types",
    pass: /^Success: no issues found in \d+ source/,
    fail: /^Found \d+ errors? in \d+ files? \(/,
  },
  { name: "pyright", kind: "types", pass: /^0 errors, \d+ warnings?, /, fail: /^[1-9]\d* errors?, \d+ warnings?, / },
  { name: "golangci-lint", kind: "lint", pass: /^0 issues\.$/, fail: /^[1-9]\d* issues:$/ },
  {
    name: "rubocop",
    kind: "lint",
    pass: /^\d+ files? inspected, no offenses/,
    fail: /^\d+ files? inspected, \d+ offenses? detected/,
  },
  { name: "phpstan", kind: "types", pass: /^ *\[OK\] No errors/, fail: /^ *\[ERROR\] Found \d+ errors?/ },
  {
    name: "cargo",
    kind: "build",
    pass: /^ +Finished (?:`|\w+ \[)/,
    fail: /^error: could not compile |^error: aborting due to |^error: \d+ targets? failed/,
  },
  {
    name: "maven",
    kind: "build",
    wraps: true,
    pass: /^\[INFO\] BUILD SUCCESS/,
    fail: /^\[(?:INFO|ERROR)\] BUILD FAILURE/,
  },
  {
    name: "gradle",
    kind: "build",
    wraps: true,
    pass: /^BUILD SUCCESSFUL in /,
    fail: /^BUILD FAILED(?: in |$)|^FAILURE: Build failed/,
  },
  {
    name: "dotnet",
    kind: "build",
    wraps: true,
    pass: /^Build succeeded\b/,
    fail: /^Build FAILED\.|^Build failed with \d+ error/,
  },
  { name: "javac", kind: "build", fail: /^\d+ errors?$/ },
  {
    name: "linker",
    kind: "build",
    fail: /^collect2: error: |^ld: (?:symbol|library|framework|can't)|: undefined reference to |^clang(?:\+\+)?: error: |^make(?:\[\d+\])?: \*\*\* No rule/,
  },
  {
    name: "cmake",
    kind: "build",
    wraps: true,
    pass: /^-- Build files have been written to: /,
    fail: /^CMake Error|^-- Configuring incomplete, errors occurred!/,
  },
  {
    name: "vite",
    kind: "build",
    wraps: true,
    pass: /^✓ built in [\d.]+ ?m?s/,
    fail: /^(?:✗|x) Build failed in |^error during build:/,
  },
  {
    name: "webpack",
    kind: "build",
    wraps: true,
    pass: /^webpack [\d.]+ compiled (?:successfully|with \d+ warnings?)/,
    fail: /^webpack [\d.]+ compiled with \d+ errors?/,
  },
  {
    name: "next",
    kind: "build",
    wraps: true,
    pass: /^ *✓ Compiled successfully/,
    fail: /^Failed to compile\.|^> Build (?:error occurred|failed because of)/,
  },
  {
    name: "xcodebuild",
    kind: "build",
    wraps: true,
    pass: /^\*\* (?:BUILD|TEST) SUCCEEDED \*\*/,
    fail: /^\*\* (?:BUILD|TEST) FAILED \*\*/,
  },
  { name: "swift", kind: "build", pass: /^Build complete!/, fail: /^error: fatalError$/ },
  {
    name: "bazel",
    kind: "build",
    wraps: true,
    pass: /^INFO: Build completed successfully/,
    fail: /^(?:ERROR|FAILED): Build (?:did NOT complete|failed)|^INFO: Build completed, \d+ tests? FAILED/,
  },
  {
    name: "svelte-check",
    kind: "types",
    pass: /^svelte-check found 0 errors/,
    fail: /^svelte-check found [1-9]\d* errors?/,
  },
  { name: "astro check", kind: "types", pass: /^- 0 errors$/, fail: /^- [1-9]\d* errors?$/ },
  {
    name: "terraform",
    kind: "build",
    pass: /^Success! The configuration is valid|^Apply complete!/,
    fail: /^│ Error: /,
  },
  { name: "docker build", kind: "build", wraps: true, fail: /^ERROR: failed to (?:solve|build): / },
  { name: "pre-commit", kind: "lint", fail: /^\S.*\.{5,}Failed$/ },
  {
    name: "npm",
    kind: "build",
    wraps: true,
    fail: /^npm (?:error|ERR!) (?:code (?:\d+|E\w+)$|Lifecycle script|command failed|Missing script)/,
  },
  { name: "pnpm", kind: "build", wraps: true, fail: /^ ?(?:ELIFECYCLE|ERR_PNPM_\w+)\b/ },
  { name: "yarn", kind: "build", wraps: true, fail: /^error Command failed with exit code \d+\.$/ },
  {
    name: "bun run",
    kind: "build",
    wraps: true,
    fail: /^error: script ".+" (?:exited with code [1-9]|was terminated)/,
  },
  { name: "make", kind: "build", wraps: true, fail: /^g?make(?:\[\d+\])?: \*\*\* .+ Error \d+$/ },
  { name: "ninja", kind: "build", wraps: true, fail: /^ninja: build stopped: / },
  { name: "turbo", kind: "build", wraps: true, fail: /^ ?ERROR {2}run failed: |^ Failed: +\S+#/ },
  { name: "hook", kind: "build", wraps: true, fail: /^husky - .+ (?:failed|exited with code [1-9])/ },
  {
    name: "task",
    kind: "build",
    wraps: true,
    fail: /^task: Failed to run task |^error: Recipe `.+` failed|^\[\S+\] ERROR task failed/,
  },
  {
    name: "check",
    kind: "lint",
    loose: true,
    pass: /^\W*All (?:tests|checks) (?:have )?passed\b/i,
    fail: /^\W*(?:Some|[1-9]\d*) [\w ]*(?:checks?|tests?|files?) (?:have )?failed\b|^(?:Files|Tests|Checks) (?:with errors|failed): +[1-9]/i,
  },
]

export const builds: Check = {
  sign: WORDS,
  read(lines) {
    let best: Report | undefined
    for (const line of lines) {
      if (!WORDS.test(line.text)) continue
      const report = judge(line)
      if (report && !outranks(best, report)) best = report
    }
    return best
  },
}

function judge(line: Line): Report | undefined {
  for (const { name, kind, pass, fail, wraps, loose } of PHRASES) {
    const verdict = fail?.test(line.text) ? "fail" : pass?.test(line.text) ? "pass" : undefined
    if (!verdict) continue
    const errors = Number(/(\d+) errors?\b/.exec(line.text)?.[1] ?? 0)
    const warnings = Number(/(\d+) warnings?\b/.exec(line.text)?.[1] ?? 0)
    const counts = { ...(errors ? { errors } : {}), ...(warnings ? { warnings } : {}) }
    return {
      name,
      kind,
      verdict,
      sure: !loose,
      ...(wraps || loose ? { vague: true } : {}),
      counts,
      failures: [],
      total: line,
    }
  }
  return undefined
}

/** A failure stands over a success, a tool's own word over its wrapper's; then the first failure and the last success. */
function outranks(best: Report | undefined, next: Report): boolean {
  if (!best) return false
  if (best.verdict !== next.verdict) return best.verdict === "fail"
  return best.verdict === "fail" && (!best.vague || Boolean(next.vague))
}
