// Helpers for reading the test reports of any runner: failures under headings, totals at the end, and the reason for a
// failure in the lines about it.

import type { CheckFailure, Counts } from "./report.ts"

/** Nobody reads a longer list, and the cost must not grow with the number of failures. */
export const MAX_FAILURES = 20

/** The last line that matches, since totals come last. */
export function lastMatching(lines: readonly string[], pattern: RegExp): string | undefined {
  return lines.findLast((text) => pattern.test(text))
}

/** The lines from `from` up to the next that matches `stop`, at most sixty. */
export function linesUntil(lines: readonly string[], from: number, stop: RegExp): readonly string[] {
  let end = from
  while (end < lines.length && end < from + 60 && !stop.test(lines[end] ?? "")) end++
  return lines.slice(from, end)
}

/** The failures that `read` finds on the lines that match `start`, given the match and the index of the line. */
export function failuresOn(
  lines: readonly string[],
  start: RegExp,
  read: (found: readonly string[], at: number) => CheckFailure | undefined,
): CheckFailure[] {
  const failures: CheckFailure[] = []
  for (const [at, text] of lines.entries()) {
    const found = failures.length < MAX_FAILURES ? start.exec(text) : undefined
    const failure = found?.[1] ? read(found, at) : undefined
    if (failure) failures.push(failure)
  }
  return failures
}

/** Failures under headings: the first group of `start` is the title, the lines up to `stop` give the reason. */
export function titledFailures(lines: readonly string[], start: RegExp, stop: RegExp): CheckFailure[] {
  const failures: CheckFailure[] = []
  for (const [at, line] of lines.entries()) {
    const title = start.exec(line)?.[1]?.trim()
    if (!title || failures.length >= MAX_FAILURES || failures.some((known) => known.title === title)) continue
    const why = explainFailure(linesUntil(lines, at + 1, stop))
    failures.push({ ...why, title })
  }
  return failures
}

/** Counts from a line such as `1 failed, 2 skipped, 12 passed`, whatever separates them. */
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

const WANTED =
  /^\s*(?:E {2,}|> +|\| +)?(?:expected(?: (?:value|result|string|pattern|substring))?|want(?:ed)?|right)\b\s*(?:\[[^\]]*\])?\s*(?::|=(?!=))\s*(\S.*)$/i
const GOT =
  /^\s*(?:E {2,}|> +|\| +)?(?:received(?: (?:value|result|string))?|actual(?: value| result)?|got|left|but was)\b\s*(?::|=(?!=))\s*(\S.*)$/i
const ERROR_LINE =
  /^\s*(?:E {2,}|> +|\| +)?(?:[A-Za-z_][\w.$]*(?:Error|Exception|Failure|Failed)\b(?: \[\w+\])?:?|assert\w*[\s:!(]|panic: |Error:|error:|fatal:)/
const NOISE =
  /^\s*(?:$|[-=_─⎯~^|]{3,}|at\s|\d+ \||>\s*\d+ \||Stack Trace|Error Message:?|Traceback|File "|\(compared using|Diff:|[{}[\]]|---|\.\.\.|stack backtrace|note: run with|Error Trace:|STACK:)/i
const PLACE = /((?:[A-Za-z]:[\\/]|file:\/\/)?[\w@.\\/+~[\]-]*[\w@~\]-]\.[A-Za-z]{1,6})(?::|\()(\d+)/
const FOREIGN =
  /node_modules|node:|internal\/|site-packages|\/dist-packages|\/rustc\/|\/usr\/lib\/|\/go\/src\/|\/pkg\/mod\/|vendor\/bundle|\/gems\//

/** The reason for one failure, from the lines about it: the message and the place. */
export function explainFailure(region: readonly string[]): Pick<CheckFailure, "message" | "file" | "line"> {
  let wanted: string | undefined
  let got: string | undefined
  let error: string | undefined
  let plain: string | undefined
  let file: string | undefined
  let line: number | undefined
  for (const text of region) {
    if (file === undefined) {
      const place = sourcePlaceIn(text)
      if (place) ({ file, line } = place)
    }
    wanted ??= WANTED.exec(text)?.[1]
    got ??= GOT.exec(text)?.[1]
    if (!error && ERROR_LINE.test(text) && !NOISE.test(text)) error = text
    if (!plain && !NOISE.test(text)) plain = text
  }
  const place = file === undefined || line === undefined ? {} : { file, line }
  if (wanted && got) return { message: `expected ${brief(wanted)}, got ${brief(got)}`, ...place }
  const best = error ?? plain
  if (!best) return place
  const message = messageOf(best)
  // after `Expected values to be strictly equal:` the values follow
  const after = message.endsWith(":")
    ? region.slice(region.indexOf(best) + 1).find((text) => !NOISE.test(text))
    : undefined
  return { message: after ? `${message} ${after.trim()}` : message, ...place }
}

/** The source position that a line names, unless it is outside the project's own code. */
export function sourcePlaceIn(text: string): { file: string; line: number } | undefined {
  const python = /^\s*File "([^"]+)", line (\d+)/.exec(text) ?? /\bin (\S+):line (\d+)/.exec(text)
  const found = python ?? PLACE.exec(text)
  if (!found?.[1] || !found[2] || FOREIGN.test(found[1]) || /^\w*:?\/\/|^www\./.test(found[1])) return undefined
  return { file: found[1], line: Number(found[2]) }
}

function messageOf(text: string): string {
  return text
    .replace(/^\s*(?:E {2,}|> +|\| +)?/, "")
    .replace(/^(?:[\w.$]*\.)?(?:AssertionError|AssertionFailedError|Error)\b(?: \[\w+\])?: (?=\S)/, "")
    .replace(/^\S+\.\w{1,5}:\d+(?::\d+)?:\s+/, "")
    .replace(/ \/\/ Object\.is equality$/, "")
    .trim()
}

function brief(value: string): string {
  const text = value.trim().replace(/,$/, "")
  return text.length > 60 ? `${text.slice(0, 59)}…` : text
}
