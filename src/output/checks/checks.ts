// All readers of check output, and how their findings about one output become a single report.

import { builds } from "./builds.ts"
import { diagnostics } from "./diagnostics.ts"
import { goTest } from "./go.ts"
import { bun, jest, mocha, nodeTest, playwright, vitest } from "./javascript.ts"
import { dotnetTest, gradleTest, junitConsole, surefire } from "./jvm-dotnet.ts"
import { cargoTest, catch2, ctest, gtest, nextest } from "./native.ts"
import type { CheckReader, CheckReport } from "./report.ts"
import { countedTests, minitest, otherRunners, pest, phpunit, pytest, rspec, unittest } from "./scripting.ts"

const READERS: readonly CheckReader[] = [
  ...[jest, vitest, bun, mocha, playwright, nodeTest],
  ...[pytest, unittest, goTest, cargoTest, nextest],
  ...[surefire, gradleTest, junitConsole, rspec, minitest, phpunit, pest],
  ...[dotnetTest, gtest, ctest, catch2, countedTests, otherRunners],
  ...[diagnostics, builds],
]

/** Every check prints one of these. Most outputs have none and are not looked at further. */
const GATE =
  /fail|error|pass|tests?\b|\bok\b|warning|succe|problem|issues|offenses|Finished|compiled|built in|Checked|matched|\.go:\d|\.pyi?:\d|✖|✘|✗|\*\*\*|Build|ELIFECYCLE|Summary|reformat/i

/** All reports in the lines: test runs first, then diagnostics, then summaries of builds. */
export function reportsIn(lines: readonly string[]): CheckReport[] {
  const text = lines.join("\n")
  if (!GATE.test(text)) return []
  const reports: CheckReport[] = []
  for (const reader of READERS) {
    const report = reader.signature.test(text) ? reader.read(lines) : undefined
    if (report) reports.push(report)
  }
  return reports
}

/**
 * The report that represents the output: a failure before a success, a report that names its failures before one that
 * does not, a tool before its wrapper. A failure that a program may only have logged counts if the exit code confirms
 * it, or if there is neither an exit code nor a certain success. Undefined when there is no report to rely on.
 */
export function selectReport(reports: readonly CheckReport[], exit: number | undefined): CheckReport | undefined {
  const sureFail = reports.some(({ verdict, sure }) => verdict === "fail" && sure)
  const surePass = reports.some(({ verdict, sure }) => verdict === "pass" && sure)
  const trusted = reports.filter((report) => {
    if (report.sure) return true
    if (report.verdict === "pass") return exit === 0
    return sureFail || (exit !== undefined && exit !== 0) || (exit === undefined && !surePass)
  })
  const best = trusted.toSorted((a, b) => weight(b) - weight(a))[0]
  const counted = reports.find(
    ({ verdict, kind, counts, total }) => verdict === "fail" && kind !== "tests" && counts.errors && total,
  )
  if (best?.verdict !== "fail" || best.kind === "tests" || best === counted || !counted?.total) return best
  // a tool that shows only twenty of its 753 errors states the total in its last line
  const errors = Math.max(best.counts.errors ?? 0, counted.counts.errors ?? 0)
  const named = best.name === "lint" && counted.name !== "lint" ? { name: counted.name, kind: counted.kind } : {}
  return { ...best, ...named, counts: { ...best.counts, errors }, total: counted.total }
}

function weight(report: CheckReport): number {
  if (report.verdict === "pass") return report.kind === "tests" ? 1 : report.sure ? 0 : -1
  return 10 + (report.failures.length > 0 ? 4 : 0) + (report.kind === "tests" ? 2 : 0) - (report.vague ? 3 : 0)
}
