// What stands behind a name: where the value begins and ends, how it is written, and what stands there without being a
// value at all.

import { type Find, MARK } from "./span.ts"

export type Value = {
  from: number
  to: number
  /** whether quotes enclose it */
  quoted: boolean
}

/** Longest value that is looked for the end of. */
const LONGEST = 4_000
const OPENING = /(?:[bBfFrRuUN]{1,2}(?=["']))?(\\{0,8})(["'`]{1,3})/y
const BARE = /[^\s"'`<>‹]{1,4000}/y

/** The value that begins at `at`; undefined when there is none on this line. Goes to the end of a line that was cut. */
export function valueAt(text: string, at: number, stop?: RegExp): Value | undefined {
  OPENING.lastIndex = at
  const opening = OPENING.exec(text)
  if (opening) {
    const [whole, slashes = "", quotes = ""] = opening
    const from = at + whole.length
    // two quotes are an empty value, three open a text of several lines
    if (quotes.length === 2 || isClosing(text, from)) return undefined
    const to = closing(text, from, slashes.length, quotes)
    return from < to ? { from, to, quoted: true } : undefined
  }
  BARE.lastIndex = at
  const bare = BARE.exec(text)?.[0].slice(0, LONGEST)
  if (!bare) return undefined
  const cut = stop ? bare.search(stop) : -1
  const value = trimmed(cut < 0 ? bare : bare.slice(0, cut))
  // `sk-...` in an example
  if (value.length < 8 && bare.startsWith("...", value.length)) return undefined
  return { from: at, to: at + value.length, quoted: false }
}

/** Whether the quote before `from` ends a text rather than begins one: `"bad key: " + error`. */
function isClosing(text: string, from: number): boolean {
  return /^(?:[ \t]+[+,&|.)]|[),;](?:\s|$))/.test(text.slice(from, from + 20))
}

/** Where the quoted text ends: at the same quote behind as many backslashes, else with the line. */
function closing(text: string, from: number, slashes: number, quotes: string): number {
  const quote = quotes[0] as string
  const end = Math.min(text.length, from + LONGEST)
  for (let at = from, run = 0; at < end; at++) {
    const one = text[at]
    if (one === "\n" && quotes.length === 1 && quote !== "`") return at
    if (one === quote && run <= slashes && (quotes.length === 1 || text.startsWith(quotes, at))) return at - run
    run = one === "\\" ? run + 1 : 0
  }
  return end
}

/** Without what belongs to the sentence or the statement around it, as a bracket that opens outside. */
function trimmed(bare: string): string {
  // the next pair of a list, a connection string or an object
  const next = bare.search(/[;,](?=$|[\s"'`[{(]|[A-Za-z][\w .-]{0,40}[=:])/)
  let value = next < 0 ? bare : bare.slice(0, next)
  for (;;) {
    const last = value.at(-1) ?? ""
    const opens = { ")": "(", "]": "[", "}": "{" }[last]
    if (opens === undefined ? !/[,;:.?…\\]/.test(last) : value.includes(opens)) return value
    value = value.slice(0, -1)
  }
}

/** A reference, a placeholder, a pattern: what is filled in elsewhere. */
const PLACEHOLDER = new RegExp(
  `^(?:${[
    "\\$\\{\\{?[^}]*\\}?\\}?",
    "\\$\\(.*\\)?",
    "\\$+[A-Za-z_]\\w*(?:[.:\\[][\\w.\\]'\":>-]*)?",
    "\\$\\d?",
    "%[A-Za-z_]\\w*%",
    "[\\w-]{0,20}=?(?:%\\(?\\w*\\)?[sdvqrx])+",
    "#[0-9a-f]{3,8}",
    "\\w{0,8}\\.{3}",
    "@[A-Za-z_.]+@?",
    "#?\\{\\{?.*",
    "<.*",
    "\\[.*",
    "\\(.*",
    "\\w{0,12}[*•·●]{3,}\\w{0,4}",
    "[*•·●x.X_#?-]+",
    "(?:[`'\"]?\\$\\{[^}]*\\}[^A-Za-z0-9]*)+",
    "[\\^~<>=v]{0,2}\\d+\\.\\d+\\.[\\dx*]+(?:-[a-z]+(?:\\.\\d+)?)?",
    "…+",
    "!\\w+.*",
    "&\\w+",
    ":\\w+",
    "\\[redacted\\]",
    "(?:redacted|masked|hidden|omitted|removed|sensitive|filtered|secret|password|passwd|token|placeholder|changeme|change[-_]me|todo|tbd|example|dummy|none|null|nil|undefined|true|false|yes|no|on|off|unset|empty|string|str|text|number|int|integer|bool|boolean|bytes|any|object|unknown|void|required|optional|default)",
    "(?:your|my|some|the|replace|insert|enter|put)[-_ ][A-Za-z_ -]+",
    "\\(?(?:known after apply|sensitive value|sensitive)\\)?",
  ].join("|")})$`,
  "i",
)

/** Reports spans that hold a value, and neither a placeholder nor what was taken out already. */
export function takeFrom(text: string, report: Parameters<Find>[1]) {
  return (span: readonly [number, number] | undefined): void => {
    if (!span) return
    const value = text.slice(...span)
    if (!value.includes(MARK) && !isPlaceholder(value)) report(...span)
  }
}

export function isPlaceholder(value: string): boolean {
  return value.length > 0 && value.length < 400 ? PLACEHOLDER.test(value) : false
}

/** What code says in a value's place: a call, a member, a type, an operator. */
const CODE =
  /^(?:(?:await|new|typeof|return|void|yield|not|in|if|else|async|function|class|require|import|export|from|as|is|lambda)$|[&*!~]?[A-Za-z_$][\w$]*(?:(?:\?\.|::|->|\.|!\.)[A-Za-z_$#][\w$]*)+[!?;,)\]]*$|[&*!~]?[A-Za-z_$][\w$.:<>?-]{0,80}[([<{]|=>|\(|\[|\{|\/\^|[|&]{2}|\?\?|[\w.]+\[|[A-Z][\w.]*<|\||\d*\/\*|\/\S*\/[dgimsuvy]*[;,)]*$)/

export function isCode(value: string): boolean {
  return CODE.test(value)
}

/** A name of a file, a version, a word with dots or dashes: what follows a word that is no header's. */
export function isName(value: string): boolean {
  return /^(?:[A-Za-z][\w-]*\.[A-Za-z]{1,5}|v?\d[\d.]*|[A-Za-z][a-z]*(?:[-_./:][A-Za-z]+)*\d{0,2}[.:]?)$/.test(value)
}
