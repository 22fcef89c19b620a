// Takes secrets out of a text before it is shown, kept, logged or given to a model. Each kind of secret has a finder that
// names spans of the text; this file shows the finders the text as a reader sees it, and takes out what they name.

import { findAssigned } from "./assigned.ts"
import { findCommands } from "./commands.ts"
import { findHeaders } from "./headers.ts"
import { findKeys } from "./keys.ts"
import { findPublished } from "./published.ts"
import { type Find, MARK } from "./span.ts"
import { findTokens } from "./tokens.ts"
import { findUrls } from "./urls.ts"

const FINDERS: readonly Find[] = [
  findKeys,
  findPublished,
  findTokens,
  findUrls,
  findHeaders,
  findCommands,
  findAssigned,
]

/** Escape sequences, and characters that print nothing: one inside a secret must not hide it. */
const HIDDEN =
  // biome-ignore lint/suspicious/noMisleadingCharacterClass: each of these is meant on its own
  /[\u001b\u009b](?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]{0,2000}(?:\u0007|\u001b\\)|[@-Z\\-_])?|[\u0000-\u0008\u000e-\u001a\u001c-\u001f\u007f\u00ad\u034f\u061c\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]/g
/** A span is taken out, and what is left is looked at again: of two secrets run together the second shows only then. */
const MOST_PASSES = 4

/**
 * The text with every secret replaced by `[redacted]`. Whole values go, names stay; line breaks within a secret stay too,
 * so that lines keep their numbers. Redacting again changes nothing. At most three times as long as the text was.
 */
export function redact(text: string): string {
  let shown = text
  for (let pass = 0; pass < MOST_PASSES; pass++) {
    const next = redactOnce(shown)
    if (next === shown) break
    shown = next
  }
  return shown
}

function redactOnce(text: string): string {
  if (text.length < 6) return text
  const { plain, places } = seen(text)
  const spans: [from: number, to: number][] = []
  const report = (from: number, to: number) => {
    if (from < to) spans.push([from, to])
  }
  for (const find of FINDERS) find(plain, report)
  if (spans.length === 0) return text
  spans.sort((a, b) => a[0] - b[0])
  let shown = ""
  let done = 0
  for (let at = 0; at < spans.length; ) {
    const [from, first] = spans[at] as [number, number]
    let to = first
    for (at++; at < spans.length && (spans[at]?.[0] ?? 0) <= to; at++) to = Math.max(to, spans[at]?.[1] ?? 0)
    if (plain.slice(from, to) === MARK) continue
    const begin = places ? (places[from] as number) : from
    const end = places ? (places[to - 1] as number) + 1 : to
    const breaks = "\n".repeat(text.slice(begin, end).split("\n").length - 1)
    shown += text.slice(done, begin) + MARK + breaks
    done = end
  }
  return shown + text.slice(done)
}

/** A break as strings of programs have it, where its letter would be taken for the next word's first. */
const ESCAPED_BREAK = /\\[nrt]/g

/** The text without what prints nothing, and where each of its characters stands in the original. */
function seen(original: string): { plain: string; places: Uint32Array | undefined } {
  const text = original.includes("\\") ? original.replace(ESCAPED_BREAK, "\\ ") : original
  if (text.search(HIDDEN) < 0) return { plain: text, places: undefined }
  const places = new Uint32Array(text.length)
  let plain = ""
  let done = 0
  const keep = (to: number) => {
    for (let at = done; at < to; at++) places[plain.length + at - done] = at
    plain += text.slice(done, to)
  }
  for (const hidden of text.matchAll(HIDDEN)) {
    keep(hidden.index)
    done = hidden.index + hidden[0].length
  }
  keep(text.length)
  return { plain, places }
}
