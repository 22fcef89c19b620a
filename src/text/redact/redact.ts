// Removes secrets from a text before it is shown, stored, logged or given to a model. One finder for each kind of secret
// reports spans of the text. This file shows the finders the text as a reader sees it, and replaces what they report.

import { renew } from "../../system/values.ts"
import { ESCAPE_SEQUENCE, line, own } from "../sanitize.ts"
import { findAssigned } from "./assigned.ts"
import { isPhrase } from "./chosen.ts"
import { findInCommands, findInHeaders, findInUrls } from "./contexts.ts"
import { findKeys } from "./keys.ts"
import { NAMES } from "./names.ts"
import { findInStructure } from "./structure.ts"
import { findTokens } from "./token-formats.ts"
import { type Find, REDACTED, type ReportSpan, UUID } from "./value.ts"
import { withhold } from "./withheld.ts"

/**
 * Escape sequences, Markdown's backslashes and invisible characters: one inside a secret must not hide it. And the note by which
 * OpenCode ends a line that it cut: its dots would make the beginning of a secret look like an example.
 */
const HIDDEN = new RegExp(
  String.raw`${ESCAPE_SEQUENCE.source}|(?:\\(?:x1b|0?33|e|u001b))?\[\d{1,3}(?:;\d{1,3})*m|\\(?=_)|.\u0008|[\u0000-\u0008\u000e-\u001f\u007f\u009b\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufffd]|\udb40[\udc00-\udfff]|\.{3} \(line truncated to \d{1,6} chars\)`,
  "g",
)
/**
 * What tools print before each line: a number, a mark of a quote, a date with a level, a path, the sign of a change or a comment,
 * and the commit, author and date of `git blame`.
 */
const PREFIX =
  /^(?:[ \t]{0,8}(?:Line[ \t]+)?\d{1,6}(?:[:→│][ \t]?|\t|-(?=[ \t]))|\d{5}\| |\^?[0-9a-f]{7,40} (?:\S{1,200} +)?\([^()\n]{1,60} \d{4}-\d\d-\d\d [\d:]{8} [+-]\d{4} +\d{1,6}\) ?|(?:> ?){1,3}|(?:[\w .()-]{1,60}\t){0,2}\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?\]?[ \t]+(?:\[?(?:INFO|WARN(?:ING)?|ERROR|DEBUG|TRACE|NOTICE)\]?:?[ \t]+(?:\[[\w.-]{1,40}\] [\w.$]{1,80} +[-:] )?)?|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \S{1,60} [\w./-]{1,40}(?:\[\d{1,8}\])?: |[a-z][\w.-]{0,40}-\d{1,2} {1,20}\| |\[\d\d:\d\d:\d\d(?:[.,]\d{1,9})?\][ \t]|\[(?:INFO|WARN(?:ING)?|ERROR|DEBUG|TRACE|pod\/[^\]\s]{1,120})\]:?[ \t]|(?:[Ee]rror|ERROR|[Ff]atal|FATAL|[Ww]arning|WARN(?:ING)?):[ \t]|\/?(?:[\w.-]+\/)*[\w.-]*[./][\w-]+[:-]\d{1,6}[:-][ \t]?|\+(?!\+)|-(?=[ \t]{2,}\S|[ \t]*<|["']?[A-Za-z_][\w. ]{0,60}["']?[ \t]*(?:=|:[ \t])))/gm
/** The escapes of a string of JSON; a line break's letter is a blank by then, a tab's a tab. */
const ESCAPE = /\\[ \t"\\/]/g
/** A string of JSON that has some; and the beginning of a list or an object. */
const ESCAPED = /(?:^|":[ \t]?)"[^"\n]{0,400}\\[ \t"]|"[[{]{1,3}[ \t]?\\"/
const LIST = /^[[{]\s{0,40}["[{]/m
const isEscaped = (text: string) => ESCAPED.test(text) || (LIST.test(text) && /\\[ \t"]/.test(text))
/** Of two secrets that touch, the second may show only once the first is gone. */
const MAX_PASSES = 4
/** JSON in JSON in JSON. */
const MAX_LEVELS = 3

/** Longest text that `redactLine` reads, which `line` then shortens. */
const MAX_LINE_SOURCE_CHARS = 4_000

/**
 * The text with every secret replaced by `[redacted]`. A secret is replaced whole and its name is kept. Line breaks within
 * a secret are kept too, so that the lines after it keep their numbers. In a text with secrets, `\r\n` becomes `\n`.
 * Idempotent for texts that become a line. The result is at most four times as long as the text.
 */
export const redact = remembering((text) => {
  // the rules know one end of lines
  const plain = text.replaceAll("\r\n", "\n")
  const clean = (shown: string) => withhold(settled(shown, redactOnce))
  // the removed text may have been the reason why something beside it was not taken for a secret
  const cleaned = plain.length > MAX_LINE_SOURCE_CHARS ? clean(plain) : settled(plain, clean)
  return cleaned === plain ? text : cleaned
})

/** Words of test reports that NAMES would take for the name of a secret. */
const OF_TESTS = /\bpass(?:ed|es|ing)\b/gi
/** What marks a secret that has no name. */
const MARK = /sensitive|vault|SecureString|Detector|priv|exponent|prime|coefficient|PuTTY/i

/** Whether a text may hold a secret that is known only by the lines around it. */
export function mentionsSecrets(text: string): boolean {
  NAMES.lastIndex = 0
  return NAMES.test(text.replace(OF_TESTS, "")) || MARK.test(text)
}

/** The text once `change` leaves it as it is, or after four changes. */
function settled(text: string, change: (text: string) => string, passes = MAX_PASSES): string {
  const next = change(text)
  return next === text || passes === 1 ? next : settled(next, change, passes - 1)
}

/**
 * The beginning of a text as one line without secrets. The raw text is redacted first, since a single line no longer shows
 * where a value ends, and then the line, in which a name and its value may have become adjacent.
 */
export const redactLine = remembering((text) => redact(line(redact(text.slice(0, MAX_LINE_SOURCE_CHARS)))))

const MAX_REMEMBERED_CHARS = 300
const MAX_REMEMBERED = 1_000

/** Remembers the results of recent short texts: names of tools, paths and commands recur often. */
function remembering(change: (text: string) => string): (text: string) => string {
  const known = new Map<string, string>()
  return (text) => {
    if (text.length > MAX_REMEMBERED_CHARS) return change(text)
    const before = known.get(text)
    if (before !== undefined) return before
    const changed = own(change(text))
    // a piece of an output would keep the whole output in memory
    renew(known, own(text), changed, MAX_REMEMBERED)
    return changed
  }
}

const FIND_NAMED: readonly Find[] = [findAssigned, findInHeaders]
const FIND_IN_ANY: readonly Find[] = [findTokens, findInUrls, findInCommands, ...FIND_NAMED]

type Span = [from: number, to: number]

function redactOnce(text: string): string {
  if (text.length < 6) return text
  const spans: Span[] = []
  const search = ({ plain, places }: View, finders: readonly Find[]) => {
    const report: ReportSpan = (from, to) => {
      if (from < to) spans.push(places ? [places[from] as number, (places[to - 1] as number) + 1] : [from, to])
    }
    for (const find of finders) find(plain, report)
  }
  const shown = visible(text)
  search(shown, [findKeys, ...FIND_IN_ANY])
  const unescaped = without(shown, PERCENT, signOf)
  if (unescaped.plain.length < shown.plain.length) search(unescaped, FIND_IN_ANY)
  // the text with its prefixes has been searched already: a prefix may contain a name and its value
  for (const view of documentsIn(shown))
    search(view, view.plain.length === shown.plain.length ? [findInStructure] : [findInStructure, ...FIND_NAMED])
  if (spans.length === 0) return text
  let redacted = ""
  let done = 0
  for (const [from, to] of merged([...spans, ...repeated(text, spans)])) {
    const secret = text.slice(from, to)
    if (secret === REDACTED) continue
    redacted += text.slice(done, from) + REDACTED + "\n".repeat(secret.split("\n").length - 1)
    done = to
  }
  return redacted + text.slice(done)
}

/** The spans in ascending order; those that overlap or touch are one. */
function merged(spans: readonly Span[]): Span[] {
  const all: Span[] = []
  for (const [from, to] of spans.toSorted((one, other) => one[0] - other[0])) {
    const last = all.at(-1)
    if (last && from <= last[1]) last[1] = Math.max(last[1], to)
    else all.push([from, to])
  }
  return all
}

/** Secrets of a text that are looked for in the rest of it. */
export const MAX_REPEATED = 100
/** What may be looked for: no words or numbers, which stand elsewhere and mean something else. */
export const REVEALING = /^(?![A-Za-z_.:/-]+$|[\d.,:_-]+$|.*\[redacted\])\S{7,200}$/

/** Where the secrets stand once more, without a name: as they are, in an address, or in hexadecimal digits. */
function* repeated(text: string, spans: readonly Span[]): Generator<Span> {
  const found = spans.map(([from, to]) => text.slice(from, to))
  const secrets = new Set(found.filter((one) => (REVEALING.test(one) || isPhrase(one)) && !UUID.test(one)))
  for (const secret of [...secrets].slice(0, MAX_REPEATED))
    for (const form of [secret, encodeURIComponent(secret.toWellFormed()), Buffer.from(secret).toString("hex")])
      for (let at = text.indexOf(form); at >= 0; at = text.indexOf(form, at + form.length)) yield [at, at + form.length]
}

/** A text as finders see it, and the position of each of its characters in the original; absent if they are the same. */
type View = { plain: string; places: Uint32Array | undefined }

/**
 * An escaped line break in a string literal, whose letter would be taken for the first letter of the next word; not the host
 * or the share in `\\nas\share`.
 */
const ESCAPED_BREAK =
  /\\[nrt](?!(?<=(?:^|[\s"'=])\\\\[nrt])[\w.-]{0,60}\\[\w$])(?<!(?:^|[\s"'=])\\\\[\w.$-]{1,60}\\[nrt])/gm

/** Signs as HTML, JSON and source code escape them, and the quotes, blanks and wide letters of other languages. */
const ENTITY =
  /&(?:amp;)*(?:quot|apos|amp|lt|gt|equals|colon|commat|sol|#0*(?:3[2-9]|[4-9]\d|1[01]\d|12[0-6])|#x0*[2-7][\da-f]);|\\(?:u00|x)[2-7][\da-f]|[„“”«»「」『』\u00a0\u2000-\u200a\u202f\u205f\u3000\uff01-\uff9f]/gi
const NAMED: Readonly<Record<string, string>> = {
  ...{ quot: '"', apos: "'", amp: "&", lt: "<", gt: ">", equals: "=", colon: ":", commat: "@", sol: "/" },
}
/** A letter and its accents, or the parts of a syllable of Korean, as names on macOS and texts copied from a PDF have them. */
const DECOMPOSED = /\S(?:[\u0300-\u036f\u3099\u309a]+|[\u1161-\u1175][\u11a8-\u11c2]?)/g
/** Signs as addresses escape them, also those of addresses in addresses. */
const PERCENT = /%(?:25)*[2-7][\da-f]/gi

function signOf(entity: string): string {
  if (entity.length === 1) return entity >= "\uff01" ? entity.normalize("NFKC") : /\s/.test(entity) ? " " : '"'
  const [code = ""] = /[\da-z]+(?=;?$)/i.exec(entity) ?? []
  return NAMED[code.toLowerCase()] ?? String.fromCharCode(Number(/#\d/.test(entity) ? code : `0x${code.slice(-2)}`))
}

/** The text without invisible characters and with the signs that entities stand for. */
function visible(text: string): View {
  const plain = text.includes("\\") ? text.replace(ESCAPED_BREAK, (found) => (found === "\\t" ? "\\\t" : "\\ ")) : text
  const shown = without({ plain, places: undefined }, HIDDEN, () => "")
  // with thousands of accents, a letter takes seconds
  return without(without(shown, ENTITY, signOf), DECOMPOSED, (found) => found.slice(0, 8).normalize("NFC").charAt(0))
}

/** The text as a document: without what precedes its lines, and again with the escapes of JSON, or of JSON within it, resolved. */
function* documentsIn(view: View): Generator<View> {
  let document = without(view, PREFIX, () => "")
  yield document
  for (let level = 0; level < MAX_LEVELS && isEscaped(document.plain); level++) {
    document = without(document, ESCAPE, (found) => (found === "\\ " ? "\n" : found.slice(1)))
    yield document
  }
}

/** The view with each match replaced by at most one character, at the position where the match began. */
function without({ plain, places }: View, pattern: RegExp, replacement: (found: string) => string): View {
  if (plain.search(pattern) < 0) return { plain, places }
  const next = new Uint32Array(plain.length)
  let shown = ""
  let done = 0
  const keep = (to: number) => {
    for (let at = done, n = shown.length; at < to; at++, n++) next[n] = places ? (places[at] as number) : at
    shown += plain.slice(done, to)
  }
  for (const { index, 0: found } of plain.matchAll(pattern)) {
    keep(index)
    const sign = replacement(found)
    if (sign !== "") next[shown.length] = places ? (places[index] as number) : index
    shown += sign
    done = index + found.length
  }
  keep(plain.length)
  return { plain: shown, places: next }
}
