// What every reader of check output gives back: one shape for tests, builds, linters and type checkers, and the one
// line that says what failed.

import { clip, type Line } from "../lines.ts"

export type Failure = {
  /** the test's or the diagnostic's name; "" when all there is to say is the message */
  title: string
  message?: string
  file?: string
  line?: number
  /** lines of the output worth quoting, most telling first */
  quotes: readonly Line[]
}

export type Counts = { passed?: number; failed?: number; skipped?: number; errors?: number; warnings?: number }

/**
 * - `sure`: only the tool itself prints this; when false it may be something a program logged
 * - `vague`: the failure is that of a wrapper (`npm error`, `make: ***`) which only repeats that something failed
 */
export type Report = {
  name: string
  kind: "tests" | "build" | "lint" | "types"
  verdict: "pass" | "fail"
  sure: boolean
  vague?: boolean
  counts: Counts
  failures: readonly Failure[]
  /** the line that states the totals */
  total?: Line
}

/** One tool's output: `sign` is matched, multi-line, against the whole text before `read` is asked. */
export type Check = {
  readonly sign: RegExp
  read(lines: readonly Line[]): Report | undefined
}

/** What failed, in one line of at most 160 characters, most useful words first. */
export function failureOf(report: Report): string {
  const [first, second] = report.failures
  if (!first) return clip(report.total?.text ?? `${report.name} failed`)
  if (!second) return clip(describe(first))
  const count = Math.max(report.counts.failed ?? report.counts.errors ?? 0, report.failures.length)
  if (report.kind !== "tests") return clip(`${describe(first, 130)} (${plural(count, "error")})`)
  const room = Math.max(36, Math.floor(140 / Math.min(report.failures.length, 4)))
  const each = report.failures.slice(0, 4).map((failure) => brief(failure, room))
  return clip(`${count} failed: ${each.join("; ")}`)
}

/** The counts a report states, in words: `1 failed, 12 passed`. "" when it states none. */
export function countsOf(counts: Counts): string {
  const words: string[] = []
  if (counts.failed) words.push(`${counts.failed} failed`)
  if (counts.errors) words.push(plural(counts.errors, "error"))
  if (counts.passed !== undefined) words.push(`${counts.passed} passed`)
  if (counts.skipped) words.push(`${counts.skipped} skipped`)
  if (counts.warnings) words.push(plural(counts.warnings, "warning"))
  return words.join(", ")
}

export function plural(count: number, noun: string, cut = false): string {
  const many = /(?:ch|sh|s|x)$/.test(noun)
    ? `${noun}es`
    : /[^aeiou]y$/.test(noun)
      ? `${noun.slice(0, -1)}ies`
      : `${noun}s`
  return `${count}${cut ? "+" : ""} ${count === 1 && !cut ? noun : many}`
}

/** A path short enough for a sentence: the last segments of a long or absolute one. */
export function shortPath(path: string, max = 48): string {
  const clean = path.replace(/^file:\/\//, "").replace(/^\.\//, "")
  if (clean.length <= max) return clean
  const segments = clean.split(/[\\/]/)
  let short = segments.pop() ?? clean
  while (segments.length > 1 && short.length + (segments.at(-1) ?? "").length < max)
    short = `${segments.pop()}/${short}`
  return short
}

/** Of many failures the names say more than the messages, which follow where there is room. */
function brief(failure: Failure, room: number): string {
  const { message, ...named } = failure
  if (failure.title === "" || !message) return describe(failure, room)
  const name = describe(named, room)
  return room - name.length > 18 ? clip(`${name}: ${message}`, room) : name
}

function describe(failure: Failure, max = 160): string {
  const place = failure.file ? `${shortPath(failure.file)}${failure.line ? `:${failure.line}` : ""}` : ""
  const { title, message = "" } = failure
  if (place === "") return clip(title && message ? `${title}: ${message}` : title || message, max)
  if (message === "") return clip(`${place} ${title}`, max)
  const brief = `${place} ${message}`
  const full = `${brief} (${title})`
  return clip(title !== "" && full.length <= max ? full : brief, max)
}
