// Values assigned to a name that says they are secret, in the syntax of shells, configuration, code, markup, URL queries
// and prose.

import { NAMES, nameAround, type Secrecy, secrecyOf } from "./names.ts"
import {
  type Find,
  isCode,
  isJumbled,
  isPlaceholder,
  isRandom,
  isWordlike,
  REDACTED,
  type Value,
  valueAt,
} from "./value.ts"

/**
 * The syntax that assigns a value to its name. tight: `NAME=value`; loose: `name: value`; call: `set("name", "value")`;
 * prose: `password is value`; inner: after an opening bracket or a line break.
 */
type Syntax = "tight" | "loose" | "flag" | "call" | "prose" | "markup" | "query" | "inner"

const CLOSING = /(?:\*\*|%2[27]|\\{0,8}["'`]?)\??!?\]?/y
const SIGN =
  /[ \t]{0,40}(?::=|<-|={1,3}>?|!==?|:{1,2}(?!\/\/)|\+=|\?\?=?|\|\|=?|→|│|\||%3[AD](?:%2[27])?|[Aa]s[ \t]+\w{1,30}[ \t]*=)(?:\*\*)?[ \t]{0,80}/y
/** A type annotation between the name and its value. */
const TYPE = /(?:[A-Za-z_&'*[][\w<>&'*.[\]| ?]{0,40}?)[ \t]*=[ \t]*(?=\w{0,2}\\{0,8}["'`])/y
const CALL = /(?:[({][ \t]*|[ \t]*,[ \t]*)(?=["'`\\])/y
const PROSE = /[ \t]+(?:(?:is|was|=|to|as):?[ \t]+:?[ \t]*)?(?=\S)/y
/** "password for the elastic user:", with the value alone after it or on the next line. */
const PROSE_WITH_COLON = /(?:[ \t]+[^\s:=\d]{1,40}){1,8}:[\s\\]{1,8}(?=\S+[ \t]*$)/my
/** A bracket opens or a line ends before the value: `Some("`, `["`, `>-`, `<<EOT`. */
const INNER =
  /(?:(?:\w[\w.:<>!]{0,60})?[[({][ \t]*(?=[\s\\"'`])|[|>][-+]?\d?(?=[\s\\])|<[<‹][-~]?["']?\w{1,30}["']?(?=[\s\\]))?(?:[ \t\r]*(?:\n|\\ )[ \t>+-]*(?:\d{1,6}[:|→][ \t]*)?|[ \t]*)(?:-[ \t]+|string\(\d+\)[ \t]+)?/y
/** The name is a value itself: `name: NAME, value: "…"`, `<add key="NAME" value="…">`, `<key>NAME</key><string>…`. */
const PAIR =
  /[\\"']{0,3}[\s,;\\]{0,40}(?:\{[\s\\]{0,40})?(?:[\\"']{0,3}(?:type|sensitive)[\\"']{0,3}[ \t]*[:=][ \t]*[\\"']{0,3}\w{1,20}[\\"']{0,3}[\s,;\\]{1,40}){0,2}[\\"']{0,3}(?:value|default|content)[\\"']{0,3}[ \t]*[:=][ \t]*|[<‹]\/\w{1,20}>\s{0,40}[<‹]string>|\\?">(?=[^<‹\s]{1,200}[<‹]\/string)|"(?:\r?\n|(?:\\ ){1,2}){2}/iy
/** The text of an element, which may be of several words. */
const CONTENT = /[^<>‹\n]{1,400}(?=[<‹]|$)/my
const TAG_END = /(?:[ \t][^<>\n]{0,200})?>/y
/** A change: the value after the arrow is as secret as the one before. */
const ARROW = /\\{0,8}["'`]?[ \t]*(?:->|→)[ \t]*(?=\\{0,8}["'`])/y
const BLANK = /[ \t]+/y
const WORD = /^\p{L}+$/u
/** A word with dashes, underscores or a trailing number, as in identifiers and examples. */
const IDENTIFIER = /^[A-Za-z_$][A-Za-z_$-]*\d{0,2}$/

/** A call or an index is not a value, whatever it looks like. */
const CALL_OR_INDEX = /^[A-Za-z_][\w.]*[([]/
/** A variable named after what it holds: `testRSA2048PrivateKey`. */
const VARIABLE = /^[A-Za-z_]\w*(?:Secret|Token|Key|[a-z]_(?:secret|token|key))\d?$/
/** Words that names of secrets contain, and secrets themselves seldom do. */
const SECRET_WORD = /secret|token|key|pass|auth|cred/i

export const findAssigned: Find = (text, report) => {
  NAMES.lastIndex = 0
  let done = 0
  for (let hit = NAMES.exec(text); hit; hit = NAMES.exec(text)) {
    const name = nameAround(text, hit.index, hit.index + hit[0].length, done)
    done = name.to
    NAMES.lastIndex = Math.max(name.to, hit.index + 1)
    const written = text.slice(name.from, name.to)
    const secrecy = written === "key" && /[?&]/.test(text[name.from - 1] ?? "") ? "weak" : secrecyOf(written)
    // a test of Go that passed
    if (secrecy === undefined || (written === "PASS" && text.startsWith("--- ", name.from - 4))) continue
    const assigned = assignedTo(text, name.from, name.to, secrecy)
    if (!assigned) continue
    const { value, syntax } = assigned
    const secret = text.slice(value.from, value.to)
    const changed = skip(ARROW, text, value.to)
    const next = changed > value.to ? valueAt(text, changed) : undefined
    if (next && next.from < next.to && text.slice(next.from, next.to) !== REDACTED) report(next.from, next.to)
    if (secret === REDACTED || !isSecret(secret, { name: written, secrecy, syntax, quoted: value.quoted })) continue
    report(value.from, value.to)
    // the value may contain names
    NAMES.lastIndex = Math.max(NAMES.lastIndex, value.to)
    done = value.to
  }
}

/** The value assigned to the name between the two positions, if any. */
function assignedTo(
  text: string,
  nameFrom: number,
  nameTo: number,
  secrecy: Secrecy,
): { value: Value; syntax: Syntax } | undefined {
  const before = text[nameFrom - 1] ?? ""
  const isFlag = before === "-"
  const closed = skip(CLOSING, text, nameTo)
  const sign = skip(SIGN, text, closed)
  const as = (syntax: Syntax, at: number, stop?: RegExp) => {
    const value = valueAt(text, at, stop)
    return value && { value, syntax }
  }
  if (sign > closed) {
    if (before === "?" || before === "&") return as("query", sign, /[&#]/)
    const written = text.slice(closed, sign)
    if (written.includes("%")) return as("query", sign, /%2[267]|%7D/i)
    const at = skip(TYPE, text, sign)
    const inner = skip(INNER, text, at)
    if (inner > at) return as("inner", inner)
    const isTight = sign - closed === 1 && text[closed] === "="
    return as(isTight ? "tight" : isFlag ? "flag" : "loose", at, isTight && isFlag ? undefined : QUERY_END)
  }
  // a variable that is used: `"Bearer $TOKEN" https://…`
  if (before === "$" || text.startsWith("${", nameFrom - 2)) return undefined
  if (/[<‹:]/.test(before)) {
    const tagged = skip(TAG_END, text, nameTo)
    if (tagged > nameTo) {
      const end = skip(CONTENT, text, tagged)
      return end > tagged ? { value: { from: tagged, to: end, quoted: false }, syntax: "markup" } : undefined
    }
  }
  const paired = skip(PAIR, text, nameTo)
  if (paired > nameTo) return as("loose", paired)
  const called = skip(CALL, text, closed)
  if (called > closed) return as("call", called)
  if (isFlag) {
    const at = skip(BLANK, text, closed)
    return at > closed ? as("flag", at) : undefined
  }
  if (secrecy === "weak") return undefined
  const far = secrecy === "password" ? skip(PROSE_WITH_COLON, text, closed) : closed
  if (far > closed) return as("inner", far)
  const at = skip(PROSE, text, closed)
  return at > closed ? as("prose", at) : undefined
}

const QUERY_END = /&(?=[A-Za-z_][\w.-]{0,40}=)/

/** The position after the sticky pattern's match at `at`; `at` itself when there is none. */
function skip(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at
  return at + (pattern.exec(text)?.[0].length ?? 0)
}

type Assignment = { name: string; secrecy: Secrecy; syntax: Syntax; quoted: boolean }

function isSecret(value: string, { name, secrecy, syntax, quoted }: Assignment): boolean {
  if (value.length < 3 || isPlaceholder(value) || value.toLowerCase() === name.toLowerCase()) return false
  const isExpression =
    !quoted &&
    ((isCode(value) && (CALL_OR_INDEX.test(value) || !isRandom(value))) ||
      (secrecy === "secret" && VARIABLE.test(value)))
  // `pass=…` of a file of settings
  if (syntax === "tight" && name === "pass" && value.length >= 6 && !isExpression && !isWords(value)) return true
  if (secrecy === "weak")
    return !(syntax === "loose" && !quoted && isCode(value)) && (isRandom(value) || isRandomWord(value))
  const isProse = /\s/.test(value) && /^[\p{L}\s.,:;!?'’()…-]+$/u.test(value) && isWordlike(value)
  // a message, a label or a question about the secret
  if (isProse) return false
  const isNumber = /^[\d.,_-]+$/.test(value)
  if (isNumber) return secrecy === "password" ? /^\d{4,}$/.test(value) : value.length >= 20
  const isWord = WORD.test(value) && isWordlike(value) && !(value.length >= 12 && isJumbled(value))
  switch (syntax) {
    case "tight":
    case "query":
      if (isExpression) return false
      if (secrecy === "password" || /^[A-Z][A-Z0-9_]*$/.test(name)) return !isWord || !/^[A-Z]/.test(value)
      return !isWord && value.length >= 6 && (quoted || !isIdentifier(value))
    case "flag":
      if (value.startsWith("-") || isExpression) return false
      return secrecy === "password" ? !/^[A-Z_]+$/.test(value) : !isWord && value.length >= 6 && !isIdentifier(value)
    case "loose":
      if (quoted)
        return isWord ? secrecy === "password" && value === value.toLowerCase() && value.length >= 6 : !isWords(value)
      if (isExpression) return false
      return value.length >= 4 && !isWord && !isIdentifier(value)
        ? /[\d!@#%^*+$&]/.test(value) || secrecy === "password" || !isWordlike(value)
        : isWordAndNumber(value, secrecy)
    case "markup":
      return !isWord && !isWords(value) && value.length >= 4
    case "call":
      if (isWord || isWords(value) || value.includes("${")) return false
      return secrecy === "password" ? value.length >= 4 : value.length >= 8 && !isCode(value)
    case "inner":
      if (isExpression || /\s/.test(value)) return false
      if (value.length >= 8 && !isCode(value) && WORD.test(value) && !isWord) return true
      if (secrecy !== "password" || isCode(value)) return isRandom(value)
      return (
        value.length >= 6 &&
        /[\d!*$^%&#+]/.test(value) &&
        (quoted ? !isIdentifier(value) : /[^\w./:-]/.test(value) || isRandom(value) || !isWordlike(value))
      )
    case "prose":
      if (value.length >= 8 && WORD.test(value) && !isWord) return true
      if (secrecy === "secret")
        return !isCode(value) && (isRandom(value) || (quoted && value.length >= 12 && !isWordlike(value)))
      return (
        value.length >= 6 &&
        (/[\d!*$^%&#+]/.test(value) || !isWordlike(value)) &&
        /\p{L}/u.test(value) &&
        !isCode(value) &&
        !(/^[a-z][a-z0-9]*(?:_[a-z0-9]+)+$/.test(value) && isWordlike(value)) &&
        (quoted || !isWords(value) || isRandom(value))
      )
    default:
      syntax satisfies never
      return true
  }
}

/** Letters alone, too many to be a name and in no order that words have. */
function isRandomWord(value: string): boolean {
  return value.length >= 16 && WORD.test(value) && !isWordlike(value)
}

/** A word and a number, as people choose passwords: `hunter2`. */
function isWordAndNumber(value: string, secrecy: Secrecy): boolean {
  return secrecy === "password" && /^[a-z]{3,}\d{1,4}$/.test(value)
}

/** An identifier, a path or a translation key. */
function isWords(value: string): boolean {
  if (!/^[A-Za-z_$@./:#-]+$/.test(value) || isPhrase(value) || !isWordlike(value)) return false
  return value.length < 12 || !isJumbled(value) || SECRET_WORD.test(value)
}

/** A passphrase: three or more words joined by dashes, `correct-horse-battery`, none of which names a secret. */
function isPhrase(value: string): boolean {
  return /^[a-z]+(?:-[a-z]+){2,}$/.test(value) && !SECRET_WORD.test(value) && !/test|example|your|my-/.test(value)
}

function isIdentifier(value: string): boolean {
  return IDENTIFIER.test(value) && isWordlike(value) && !isPhrase(value) && !(value.length >= 12 && isJumbled(value))
}
