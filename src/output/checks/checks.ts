// The table of every reader of check output, and how their findings about one output become one verdict.

import type { Line } from "../lines.ts"
import { builds } from "./builds.ts"
import { diagnostics } from "./diagnostics.ts"
import { goTest } from "./go.ts"
import { bun, jest, mocha, playwright, vitest } from "./javascript.ts"
import { gradleTest, junitConsole, surefire } from "./jvm.ts"
import { catch2, ctest, dotnetTest, gtest } from "./native.ts"
import { nodeTest } from "./node-test.ts"
import { pytest, unittest } from "./python.ts"
import type { Check, Report } from "./report.ts"
import { countedTests, minitest, otherRunners, pest, phpunit, rspec } from "./ruby-php.ts"
import { cargoTest, nextest } from "./rust.ts"

const CHECKS: readonly Check[] = [
  ...[jest, vitest, bun, mocha, playwright, nodeTest],
  ...[pytest, unittest, goTest, cargoTest, nextest],
  ...[surefire, gradleTest, junitConsole, rspec, minitest, phpunit, pest],
  ...[dotnetTest, gtest, ctest, catch2, countedTests, otherRunners],
  ...[diagnostics, builds],
]

/** Nothing that any check prints is without one of these: most outputs end here. */
const GATE =
  /fail|error|pass|tests?\b|\bok\b|warning|succe|problem|issues|offenses|Finished|compiled|built in|Checked|matched|\.go:\d|\.pyi?:\d|✖|✘|✗|\*\*\*|Build|ELIFECYCLE|Summary|reformat/i

/** All that the lines say of checks; test runs first, then places in the source, then phrases. */
export function reportsIn(lines: readonly Line[]): Report[] {
  const text = lines.map((line) => line.text).join("\n")
  if (!GATE.test(text)) return []
  const reports: Report[] = []
  for (const check of CHECKS) {
    const report = check.sign.test(text) ? check.read(lines) : undefined
    if (report) reports.push(report)
  }
  return reports
}

/**
 * The one report that stands for all: a failure over a success, what names its failures over what does not, a tool
 * over its wrapper. A failure that a program may merely have logged counts only with an exit code to back it, or with
 * nothing sure beside it and no exit code to contradict it. Undefined when the output says nothing of checks.
 */
export function verdictAmong(reports: readonly Report[], exit: number | undefined): Report | undefined {
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
  // a tool that shows twenty of its 753 errors says so in its last line
  const errors = Math.max(best.counts.errors ?? 0, counted.counts.errors ?? 0)
  const named = best.name === "lint" && counted.name !== "lint" ? { name: counted.name, kind: counted.kind } : {}
  return { ...best, ...named, counts: { ...best.counts, errors }, total: counted.total }
}

function weight(report: Report): number {
  if (report.verdict === "pass") return report.kind === "tests" ? 1 : report.sure ? 0 : -1
  return 10 + (report.failures.length > 0 ? 4 : 0) + (report.kind === "tests" ? 2 : 0) - (report.vague ? 3 : 0)
}
