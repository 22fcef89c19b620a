// All that a text says about tests, builds, linters and type checkers, and which of it represents the text. Each pattern
// searches the whole text at once. Where it could match any number of line breaks, its time would grow with the square of the
// lines.

import { parseJson } from "../../system/values.ts"
import { summariesIn } from "./builds.ts"
import { diagnosticsIn } from "./diagnostics.ts"
import type { CheckReport } from "./report.ts"
import { testRunIn } from "./tests.ts"

/** A line of `go test -json` that wraps one of the plain report. */
const EVENT = /^\{"(?:Time|ImportPath)":.*"Output":("(?:[^"\\]|\\.)*").*$/gm

/** What a runner of several tasks prints before each line of a task: `[test] `, `@shop/api:test: `, `packages/api test: `, `api-1  | `, `#9 1.2 `. */
const TASK = /^(?:#\d+ \d+\.\d+|\[[a-z\d][\w:.@/-]*\]|[a-z][\w.-]*-\d+ +\||[@a-z\d][\w.@/-]*[: ][a-z][\w:-]*:) /gm

/** All reports in the lines: test runs first, then diagnostics, then summaries of builds. */
export function reportsIn(lines: readonly string[]): CheckReport[] {
  const text = lines.join("\n").replace(EVENT, (_, output: string) => String(parseJson(output)).trimEnd())
  const reports = reportsInText(text)
  const bare = text.replace(TASK, "")
  // `[0] src/a.ts(4,2): error TS2304: …` reads as if the name of the task belonged to the path
  const isMixed = reports.some(({ failures }) => failures.some(({ file = "" }) => file.search(TASK) === 0))
  const isRead = bare === text || (!isMixed && reports.some(({ vague }) => !vague))
  return isRead ? reports : [...reportsInText(bare), ...reports]
}

function reportsInText(text: string): CheckReport[] {
  return [testRunIn(text), diagnosticsIn(text), ...summariesIn(text)].filter((report) => report !== undefined)
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
  // a tool that shows only twenty of its 753 errors states the total in its last line
  const counted = reports.find((one) => one.verdict === "fail" && !one.isTests && one.counts.errors && one.total)
  if (best?.verdict !== "fail" || best.isTests || !counted) return best
  const errors = Math.max(best.counts.errors ?? 0, counted.counts.errors ?? 0)
  return { ...best, counts: { ...best.counts, errors }, total: counted.total }
}

function weight(report: CheckReport): number {
  if (report.verdict === "pass") return report.isTests ? 1 : report.sure ? 0 : -1
  return 10 + (report.failures.length > 0 ? 4 : 0) + (report.isTests ? 2 : 0) - (report.vague ? 3 : 0)
}
