// Facts as a model wrote them, held against the output: what does not stand there to the letter is no fact.

import type { Fact, FactType } from "../../output/digest.ts"

const LONGEST = 200
const SHORTEST = 3
/** Places in the output that are tried before a span is taken for a piece of longer words. */
const MOST_PLACES = 200
/** Characters that no fact has: it would break the line, hide or pile up. */
const UNSEEN = /[\p{Cc}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}\u202f\u205f\u2800\ufff0-\uffff]|\p{M}{5}/u
const QUOTES: Readonly<Record<string, string>> = { '"': '"', "'": "'", "`": "`", "“": "”", "‘": "’" }
/** What colours the text that follows ends in a letter, which is none of the text's. */
const COLOUR = /.*\u001b\[[\d;]*m$/s
const WORD = /[\p{L}\p{N}_]/u

/** The fact, or undefined when it does not stand in the output as whole words or says nothing. */
export function groundFact(written: unknown, output: string): Fact | undefined {
  if (typeof written !== "string" || written.length > 4 * LONGEST) return undefined
  const text = unquoted(written.trim())
  if (text.length < SHORTEST || text.length > LONGEST || !text.isWellFormed() || UNSEEN.test(text)) return undefined
  if (!/\p{L}/u.test(text) || isPlain(text) || text.includes("[redacted]")) return undefined
  return standsIn(output, text) ? { type: typeOf(text), text } : undefined
}

/** Whether the text stands in the output, and not only as a piece of longer words or numbers. */
export function standsIn(output: string, text: string): boolean {
  const opens = WORD.test(text[0] ?? "")
  const closes = WORD.test(text.at(-1) ?? "")
  let at = output.indexOf(text)
  for (let tries = 0; at >= 0 && tries < MOST_PLACES; tries++) {
    const before = output.slice(Math.max(0, at - 12), at).replace(COLOUR, "")
    const after = output.slice(at + text.length, at + text.length + 2)
    const apart =
      !(opens && goesOn(before, text[0] ?? "", true)) && !(closes && goesOn(after, text.at(-1) ?? "", false))
    if (apart) return true
    at = output.indexOf(text, at + 1)
  }
  return false
}

/** Whether the word or number at the edge of a span goes on beside it: `12` in `3.12` is no 12. */
function goesOn(beside: string, edge: string, before: boolean): boolean {
  const [next = "", far = ""] = before ? [...beside].reverse() : [...beside]
  return WORD.test(next) || (/\d/.test(edge) && /[.,]/.test(next) && /\d/.test(far))
}

function unquoted(text: string): string {
  const closing = QUOTES[text[0] ?? ""]
  return closing !== undefined && text.length > 2 && text.endsWith(closing) ? text.slice(1, -1).trim() : text
}

/** One common word, or a number of nothing: true of every output. */
function isPlain(text: string): boolean {
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
