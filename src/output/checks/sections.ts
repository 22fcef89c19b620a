// How reports are laid out, whatever the runner: failures under headings, totals at the end.

import type { Line } from "../lines.ts"
import { explain } from "./explain.ts"
import type { Counts, Failure } from "./report.ts"

/** Nobody reads a longer list, and a report of a thousand failures must not cost a thousand times as much. */
export const MAX_FAILURES = 20

/** The last line that matches: totals stand at the end. */
export function last(lines: readonly Line[], pattern: RegExp): Line | undefined {
  return lines.findLast(({ text }) => pattern.test(text))
}

/** The lines from `from` up to the next that matches `stop`, sixty at most. */
export function until(lines: readonly Line[], from: number, stop: RegExp): readonly Line[] {
  let end = from
  while (end < lines.length && end < from + 60 && !stop.test(lines[end]?.text ?? "")) end++
  return lines.slice(from, end)
}

/** Failures announced by a line whose first group is the title and explained by what follows, up to `stop`. */
export function titled(lines: readonly Line[], start: RegExp, stop: RegExp): Failure[] {
  const failures: Failure[] = []
  for (const [at, line] of lines.entries()) {
    const title = start.exec(line.text)?.[1]?.trim()
    if (!title || failures.length >= MAX_FAILURES || failures.some((known) => known.title === title)) continue
    const why = explain(until(lines, at + 1, stop))
    failures.push({ ...why, title, quotes: [line, ...why.quotes] })
  }
  return failures
}

/** Counts out of a line like `1 failed, 2 skipped, 12 passed`, whatever stands between. */
export function countsIn(text: string): Counts {
  const counts: Counts = {}
  for (const [, number, word] of text.matchAll(
    /(\d+) (failed|failures?|passed|skipped|pending|todo|errors?|ignored)\b/g,
  )) {
    const count = Number(number)
    if (word === "failed" || word?.startsWith("failure")) counts.failed = count
    else if (word === "passed") counts.passed = count
    else if (word?.startsWith("error")) counts.errors = count
    else counts.skipped = (counts.skipped ?? 0) + count
  }
  return counts
}
