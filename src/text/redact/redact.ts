// Removes secrets from a text before it is shown, stored, logged or given to a model. One finder for each kind of secret
// reports spans of the text. This file shows the finders the text as a reader sees it, and replaces what they report.

import { ESCAPE_SEQUENCE } from "../sanitize.ts"
import { findAssigned } from "./assigned.ts"
import { findInCommands, findInHeaders, findInUrls } from "./contexts.ts"
import { findKeys } from "./keys.ts"
import { findTokens } from "./token-formats.ts"
import { type Find, REDACTED } from "./value.ts"

const FINDERS: readonly Find[] = [findKeys, findTokens, findInUrls, findInHeaders, findInCommands, findAssigned]

/** Escape sequences and characters that print nothing: one within a secret must not hide it. */
const HIDDEN = new RegExp(
  String.raw`${ESCAPE_SEQUENCE.source}|[\u0000-\u0008\u000e-\u001f\u007f\u009b\u00ad\u034f\u061c\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]`,
  "g",
)
/** Of two secrets that touch, the second may show only once the first is gone. */
const MAX_PASSES = 4

/**
 * The text with every secret replaced by `[redacted]`. A secret is replaced whole and its name is kept. Line breaks within
 * a secret are kept too, so that the lines after it keep their numbers. Idempotent. The result is at most three times as
 * long as the text.
 */
export function redact(text: string): string {
  let shown = text
  for (let pass = 0; pass < MAX_PASSES; pass++) {
    const next = redactOnce(shown)
    if (next === shown) break
    shown = next
  }
  return shown
}

function redactOnce(text: string): string {
  if (text.length < 6) return text
  const { plain, places } = visibleText(text)
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
    if (plain.slice(from, to) === REDACTED) continue
    const begin = places ? (places[from] as number) : from
    const end = places ? (places[to - 1] as number) + 1 : to
    const breaks = "\n".repeat(text.slice(begin, end).split("\n").length - 1)
    shown += text.slice(done, begin) + REDACTED + breaks
    done = end
  }
  return shown + text.slice(done)
}

/** A line break in a string literal, whose letter would be taken for the first of the next word. */
const ESCAPED_BREAK = /\\[nrt]/g

/** The text without what prints nothing, and the position of each of its characters in the original. */
function visibleText(original: string): { plain: string; places: Uint32Array | undefined } {
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
