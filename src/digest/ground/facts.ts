// Facts of an output: those that a model wrote, which must occur in the output verbatim, and the names that the output
// mentions most, which fill a digest line when there are no better facts.

import type { DigestSource, Fact, FactType } from "../../output/digest.ts"
import { viewOf } from "../../output/lines.ts"
import { REDACTED } from "../../text/redact/value.ts"

const MAX_FACT_CHARS = 200
const MIN_FACT_CHARS = 3
/** Occurrences in the output that are tried before a text counts as part of longer words. */
const MAX_OCCURRENCES = 200
/** Characters that no fact may have: line breaks, invisible ones, and piles of combining marks. */
const FORBIDDEN = /[\p{Cc}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}\u202f\u205f\u2800\ufff0-\uffff]|\p{M}{5}/u
const QUOTES: Readonly<Record<string, string>> = { '"': '"', "'": "'", "`": "`", "“": "”", "‘": "’" }
/** An escape sequence ends in a letter that is not part of the text after it. */
const COLOR_ESCAPE = /.*\u001b\[[\d;]*m$/s
const WORD = /[\p{L}\p{N}_]/u

/** The fact, or undefined if it does not occur in the output as whole words or is meaningless. */
export function groundFact(written: unknown, output: string): Fact | undefined {
  if (typeof written !== "string" || written.length > 4 * MAX_FACT_CHARS) return undefined
  const text = unquoted(written.trim())
  if (text.length < MIN_FACT_CHARS || text.length > MAX_FACT_CHARS || !text.isWellFormed() || FORBIDDEN.test(text))
    return undefined
  if (!/\p{L}/u.test(text) || isGeneric(text) || text.includes(REDACTED)) return undefined
  return occursIn(output, text) ? { type: typeOf(text), text } : undefined
}

/** Whether the text occurs in the output, and not only as part of longer words or numbers. */
export function occursIn(output: string, text: string): boolean {
  const opens = WORD.test(text[0] ?? "")
  const closes = WORD.test(text.at(-1) ?? "")
  let at = output.indexOf(text)
  for (let tries = 0; at >= 0 && tries < MAX_OCCURRENCES; tries++) {
    const before = output.slice(Math.max(0, at - 12), at).replace(COLOR_ESCAPE, "")
    const after = output.slice(at + text.length, at + text.length + 2)
    const apart =
      !(opens && continues(before, text[0] ?? "", true)) && !(closes && continues(after, text.at(-1) ?? "", false))
    if (apart) return true
    at = output.indexOf(text, at + 1)
  }
  return false
}

/** Whether the word or number at the edge of a text continues beside it: `12` in `3.12` is not 12. */
function continues(beside: string, edge: string, before: boolean): boolean {
  const [next = "", far = ""] = before ? [...beside].reverse() : [...beside]
  return WORD.test(next) || (/\d/.test(edge) && /[.,]/.test(next) && /\d/.test(far))
}

function unquoted(text: string): string {
  const closing = QUOTES[text[0] ?? ""]
  return closing !== undefined && text.length > 2 && text.endsWith(closing) ? text.slice(1, -1).trim() : text
}

/** Whether the text is a single common word, which is true of every output. */
function isGeneric(text: string): boolean {
  return /^(?:the|and|for|with|this|that|from|error|errors|file|files|path|name|names|number|line|lines|tool|output|input|content|type|true|false|null|undefined|none|string|import|export|const|function|return|class)$/i.test(
    text,
  )
}

const VERDICT =
  /\b\d+ (?:\w+ )?(?:passed|failed|passing|failing|pending|skipped|errors?|warnings?|problems?)\b|^(?:PASS|FAIL|ok|not ok)\b|\bexit(?:ed)?(?: with)?(?: code)? \d+/i
const ERROR = /(?:error|exception|panic|traceback)|\b(?:fatal|failed|cannot|denied|refused|not found|no such)\b/i
const PATH =
  /^[~.@]?[\w./@+[\]()-]*(?:\/[\w.@+[\]()-]+|\.[a-z]\w{0,5})(?::\d+(?::\d+)?)?\/?$|^https?:\/\/\S+$|^[A-Za-z]:\\\S+$/
const NUMBER = /^[^\p{L}\d]{0,3}\d[\d.,:_ -]*(?:\s?(?:%|\p{L}{1,8}))?$/u

function typeOf(text: string): FactType {
  if (VERDICT.test(text)) return "verdict"
  if (!/\s/.test(text) && PATH.test(text)) return "path"
  if (NUMBER.test(text)) return "number"
  return ERROR.test(text) ? "error" : "symbol"
}

/** URLs, paths, file names with or without a line number, and identifiers that do not look like words. */
const NAME =
  /https?:\/\/\S{4,}|(?:[\w@.~-]+|(?=\/\w+\/))\/[\w./@-]+\w|\b[\w-]+\.(?:[a-z]{1,4}|json|yaml|toml|proto)\b(?::\d+)?|\b[A-Za-z_$]\w*(?:[a-z][A-Z]|_[A-Za-z]|[A-Za-z]\d)\w*/g
/** Splits lines into pieces that are searched one by one: the search takes quadratic time. */
const SEPARATORS = /[\s"'`<>()[\]{},;=|]+/
/** Hashes, ids, encoded bytes, and dates. */
const OPAQUE = /[0-9a-f]{7}|\d{5}|\d[a-z]+\d+[a-z]+\d|[A-Za-z0-9]{40}/i
const MAX_NAME_CHARS = 80
const MIN_NAME_CHARS = 4

/**
 * The names in an output, most frequent first, ties in order of appearance, without those in its arguments. Of all that
 * is in an output, later calls use its names most often (docs/digests.md).
 */
export function frequentNames({ output, input }: Pick<DigestSource, "input" | "output">, max: number): Fact[] {
  const asked = Object.values(input).filter((value) => typeof value === "string")
  const counts = new Map<string, number>()
  for (const { text } of viewOf(output).lines)
    for (const piece of text.split(SEPARATORS)) {
      if (piece.length < MIN_NAME_CHARS || piece.length > MAX_NAME_CHARS) continue
      for (const [name] of piece.matchAll(NAME))
        if (name.length >= MIN_NAME_CHARS && !OPAQUE.test(name)) counts.set(name, (counts.get(name) ?? 0) + 1)
    }
  const facts: Fact[] = []
  for (const [name] of [...counts].sort((a, b) => b[1] - a[1])) {
    if (facts.length >= max) break
    const fact = asked.some((value) => value.includes(name)) ? undefined : groundFact(name, output)
    if (fact) facts.push(fact)
  }
  return facts
}
