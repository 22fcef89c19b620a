// A test run, a build, a linter or a type checker: the totals and every failure with its place and its message.

import { countsOf, failureOf, type Report } from "../../../output/checks/report.ts"
import type { Fact } from "../../../output/digest.ts"
import type { Line } from "../../../output/lines.ts"
import { tellingLine } from "../../../output/telling.ts"
import { cite, type Draft } from "../draft.ts"

const KINDS: Readonly<Record<Report["kind"], string>> = {
  tests: "test-run",
  build: "build",
  lint: "lint",
  types: "types",
}

/** `lines`: the output, in which a report that names no failure is backed by its most telling line. */
export function digestReport(report: Report, failure: string | undefined, lines: readonly Line[]): Draft {
  const counts = countsOf(report.counts)
  const passed = counts || report.total?.text.trim() || "passed"
  const told = (failure ?? failureOf(report)).replace(/ \(\d+ errors?\)$/, "")
  const head = counts === "" ? report.name : `${report.name}: ${counts}`
  // "3 failed: …" counts once more
  const what = counts === "" ? told : told.replace(/^\d+ failed: /, "")
  const failed = report.vague ? told : `${head}: ${what}`
  const gist = report.verdict === "pass" ? `${report.name}: ${passed}` : failed
  const facts: (Fact | undefined)[] = [report.total && cite("verdict", report.total)]
  const telling = report.verdict === "fail" && report.failures.length === 0 ? tellingLine(lines) : undefined
  if (telling) facts.unshift(cite("error", telling))
  const each = report.failures.length > 5 ? 1 : 3
  for (const { quotes, line } of report.failures) {
    for (const quoted of quotes.slice(0, each)) facts.push(cite("error", quoted, undefined, line))
  }
  return { kind: KINDS[report.kind], gist, facts, verdict: report.verdict }
}
