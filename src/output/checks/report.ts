// What is read from the output of tests, builds, linters and type checkers, and how it is put into words.

import { plural } from "../../text/format.ts"
import { basename } from "../../text/paths.ts"
import { cutMiddle } from "../../text/sanitize.ts"
import { clip } from "../lines.ts"

export type CheckFailure = {
  /** the name of the test or diagnostic; "" when there is only a message */
  title: string
  message?: string | undefined
  file?: string | undefined
  line?: number | undefined
}

export type Counts = { passed?: number; failed?: number; skipped?: number; errors?: number; warnings?: number }

/**
 * - `sure`: only the tool itself prints this; if false, a program may have logged it
 * - `vague`: the report is a wrapper's (`npm error`, `make: ***`), or any that only says that something failed
 */
export type CheckReport = {
  isTests?: boolean
  verdict: "pass" | "fail"
  sure: boolean
  vague?: boolean
  counts: Counts
  failures: readonly CheckFailure[]
  /** the line that states the totals */
  total?: string | undefined
}

/** What failed, in one line of at most 160 characters, most useful words first. */
export function failureOf(report: CheckReport): string {
  const [first, second] = report.failures
  if (!first) return clip(report.total ?? "failed")
  const count = Math.max(report.counts.failed ?? report.counts.errors ?? 0, report.failures.length)
  if (!second) return clip(report.isTests && count > 1 ? `${count} failed: ${describe(first, 140)}` : describe(first))
  if (!report.isTests) return clip(`${describe(first, 130)} (${plural(count, "error")})`)
  const room = Math.max(36, Math.floor(140 / Math.min(report.failures.length, 4)))
  const each = report.failures.slice(0, 4).map((failure) => brief(failure, room))
  return clip(`${count} failed: ${each.join("; ")}`)
}

/** Counts in words: `1 failed, 12 passed`. "" when there are none. */
export function countsOf(counts: Counts): string {
  const words: string[] = []
  if (counts.failed) words.push(`${counts.failed} failed`)
  if (counts.errors) words.push(plural(counts.errors, "error"))
  if (counts.passed !== undefined) words.push(`${counts.passed} passed`)
  if (counts.skipped) words.push(`${counts.skipped} skipped`)
  if (counts.warnings) words.push(plural(counts.warnings, "warning"))
  return words.join(", ")
}

/** One pattern for several that begin with `^`: it looks at each line once, not once for each. */
export function anyOf(flags: string, patterns: readonly RegExp[]): RegExp {
  return new RegExp(`^(?:${patterns.map(({ source }) => source).join("|")})`, flags)
}

const MAX_PATH_CHARS = 48
/** As many whole names at the end of a path as fit, or its last one. */
const PATH_END = /(?:(?<=[\\/]).{0,48}|[^\\/]*)$/

/** The name of a failure, and its message if there is room: of many failures the names are worth more. */
function brief(failure: CheckFailure, room: number): string {
  const { message, ...named } = failure
  if (failure.title === "") return describe(failure, room)
  const place = describe({ ...named, title: "", file: basename(named.file ?? "") })
  const left = room - place.length - 1
  // names often begin and end alike: 30 characters show which is which
  const isRoom = left >= Math.min(30, named.title.length)
  const shorter = isRoom ? `${place} ${cutMiddle(named.title, left)}`.trim() : cutMiddle(named.title, room)
  const whole = describe(named)
  const name = whole.length > room ? shorter : whole
  return message && room - name.length > 18 ? clip(`${name}: ${message}`, room) : name
}

function describe(failure: CheckFailure, max = 160): string {
  const { title, message = "", file = "", line } = failure
  const path = file.replace(/^file:\/\//, "").replace(/^\.\//, "")
  const short = path.length <= MAX_PATH_CHARS ? path : (PATH_END.exec(path)?.[0] ?? "").replaceAll("\\", "/")
  const place = line && short ? `${short}:${line}` : short
  if (place === "") return clip(title && message ? `${title}: ${message}` : title || message, max)
  if (message === "") return clip(`${place} ${title}`, max)
  const brief = `${place} ${message}`
  const full = `${brief} (${title})`
  return clip(title !== "" && full.length <= max ? full : brief, max)
}
