// Summaries that a build, a linter, a type checker or the program that ran it prints when it is done. Details are read by
// `diagnostics.ts`.

import { anyOf, type CheckReport } from "./report.ts"

const PASSED = anyOf("m", [
  // tsc, eslint, oxlint, biome, prettier
  /^(?:Found 0 errors\b|[✖✕] \d+ problems? \(0 errors, |Found \d+ warnings? and 0 errors\.$).*/,
  /^(?:Checked \d+ files? in [\d.]+ ?[µm]?s\. |All matched files use Prettier code style!$).*/,
  // ruff, black, mypy, pyright, golangci-lint, rubocop, phpstan
  /^(?:All checks passed!$|\d+ files? (?:already formatted|would be left unchanged)\b|Success: no issues found in \d+ source|0 errors, \d+ warnings?, |0 issues\.$).*/,
  /^(?:\d+ files? inspected, no offenses| *\[OK\] No errors).*/,
  // cargo, swift, svelte-check, astro, terraform
  /^(?: +Finished (?:`(?!test)|\w+ \[)(?!.*\n +Running )|Build complete!|svelte-check found 0 errors|- 0 errors$).*/,
  /^(?:Success! The configuration is valid|Apply complete!).*/,
])

const FAILED = anyOf("m", [
  // tsc, eslint, oxlint, biome, prettier
  /^(?:Found [1-9]\d* errors?(?: in |\. Watching|\.$)|error TS\d+: |[✖✕] \d+ problems? \([1-9]\d* errors?).*/,
  /^(?:Found \d+ warnings? and [1-9]\d* errors?\.$|(?:\[warn\] )?Code style issues (?:were )?found|ESLint found too many warnings).*/,
  // ruff, mypy, pyright, golangci-lint, rubocop, phpstan
  /^(?:Found [1-9]\d* errors? \((?!\d+ fixed, 0 remaining)|\d+ files? would be reformatted|[Ww]ould reformat:? |[1-9]\d* errors?, \d+ warnings?, ).*/,
  /^(?:[1-9]\d* issues:$(?:\n\* .+: \d+$)*|\d+ files? inspected, (?<offenses>\d+) offenses? detected(?!, \k<offenses> offenses? corrected$)| *\[ERROR\] Found \d+ errors?).*/,
  // cargo, linkers, swift, svelte-check, astro, terraform, pre-commit, rustfmt
  /^(?:error: (?:could not compile |aborting due to |\d+ targets? failed)|error: fatalError$|✘ Test run with .* failed after ).*/,
  /^(?:collect2: error: |ld: (?:symbol|library|framework|can't)|.*: undefined reference to |clang(?:\+\+)?: error: ).*/,
  /^(?:make(?:\[\d+\])?: \*\*\* No rule|svelte-check found [1-9]\d* errors?|- [1-9]\d* errors?$|│ Error: ).*/,
  /^(?:\S.*\.{5,}Failed|Diff in .+\.rs(?: at line |:)\d+:)$/,
  // jest, vitest and nyc, pytest, rspec, ctest
  /^(?:rspec \.\/\S+ # |Errors while running CTest|No test(?:s| files) found, exiting with code 1|Jest: .+ coverage threshold |ERROR: Coverage (?:for .+ does not meet|failure: )|FAIL Required test coverage ).*/,
])

/** Of programs that run other tools or only close their report: what they print themselves is vague. */
const WRAPPER_PASSED = anyOf("m", [
  // maven, gradle, dotnet, cmake, vite, webpack, next, xcodebuild, bazel
  /^(?:\[INFO\] BUILD SUCCESS|BUILD SUCCESSFUL in |Build succeeded\b|-- Build files have been written to: .*$(?!\n)).*/,
  /^(?:✓ built in [\d.]+ ?m?s|webpack [\d.]+ compiled (?:successfully|with \d+ warn)| *✓ Compiled successfully).*/,
  /^(?:\*\* (?:BUILD|TEST) SUCCEEDED \*\*|INFO: Build completed successfully).*/,
])

const WRAPPER_FAILED = anyOf("m", [
  // javac, maven, gradle, dotnet, cmake, vite, webpack, next, xcodebuild, bazel, docker, prettier
  /^(?:\[(?:INFO|ERROR)\] BUILD FAILURE|BUILD FAILED(?: in |$)|FAILURE: Build failed|Build FAILED\.|Build failed with \d).*/,
  /^(?:CMake Error|-- Configuring incomplete, errors occurred!|(?:✗|x) Build failed in |error during build:).*/,
  /^(?:webpack [\d.]+ compiled with \d+ errors?|Failed to compile\.|> Build (?:error occurred|failed because of)).*/,
  /^(?:\*\* (?:BUILD|TEST) FAILED \*\*|(?:ERROR|FAILED): Build (?:did NOT complete|failed)|ERROR: failed to (?:solve|build): ).*/,
  /^(?:INFO: Build completed, \d+ tests? FAILED|(?:> )?Export encountered |Failed to type check\.|Error occurred when checking code style|[1-9]\d* errors?$).*/,
  // npm, pnpm, yarn, bun, make, ninja, turbo, nx, hooks, task, just, mise, nox, tox
  /^npm (?:error|ERR!) (?:code (?:\d+|E\w+)$|Lifecycle script|command failed|Missing script).*/,
  /^(?:[ \u2009]?\[?(?:ELIFECYCLE|ERR_PNPM_\w+)\b|error Command failed with exit code \d+\.$).*/,
  /^(?:error: script ".+" (?:exited with code [1-9]|was terminated)|husky - .+ (?:failed|exited with code [1-9])).*/,
  /^(?:g?make(?:\[\d+\])?: \*\*\* (?:\[.+\] ?[^\s\d]+|.+ Error) \d+$|ninja: build stopped: | ?ERROR {2}run failed: | ?Failed: +\S+#[a-z]| NX +Running target .* failed$| +✖ +\d+\/\d+ (?:targets )?failed).*/,
  /^(?:task: Failed to run task |error: Recipe `.+` failed|\[\S+\] ERROR task failed|nox > \* .+: failed| +evaluation failed :\().*/,
])

/** Phrases that anybody may print, which are not trusted against an exit code. */
const LOOSE_PASSED = /^[^\w\n]*All (?:tests|checks) (?:have )?passed\b.*/im
const LOOSE_FAILED =
  /^(?:[^\w\n]*(?:Some|[1-9]\d*) [\w ]*(?:checks?|tests?|files?) (?:have )?failed\b|(?:Files|Tests|Checks) (?:with errors|failed): +[1-9]).*/im

const SUMMARIES: readonly [failed: RegExp, passed: RegExp, Pick<CheckReport, "sure" | "vague">][] = [
  [FAILED, PASSED, { sure: true }],
  [WRAPPER_FAILED, WRAPPER_PASSED, { sure: true, vague: true }],
  [LOOSE_FAILED, LOOSE_PASSED, { sure: false, vague: true }],
]

/** What the summaries in the text say: those of tools, of wrappers and of anybody. A failure outranks a success. */
export function summariesIn(text: string): CheckReport[] {
  return SUMMARIES.flatMap(([failed, passed, trust]) => {
    const failure = failed.exec(text)?.[0]
    const total = failure ?? passed.exec(text)?.[0]
    if (total === undefined) return []
    const count = (word: string) => Number(new RegExp(`(?<!\\d)(\\d+) ${word}s?\\b`).exec(total)?.[1] ?? 0)
    const counts = { errors: count("error"), warnings: count("warning") }
    return [{ ...trust, verdict: failure === undefined ? "pass" : "fail", counts, failures: [], total }]
  })
}
