// Values given to a name that says they are secret, in the ways that shells, configuration, programs, markup, queries and
// people give values to names.

import { type Kind, kindOf, NAMES, nameAround } from "./names.ts"
import { isJumbled, isRandom } from "./random.ts"
import { type Find, MARK } from "./span.ts"
import { isCode, isPlaceholder, type Value, valueAt } from "./value.ts"

/**
 * How a value stands to its name: `NAME=value` tight, `name: value` loose, `set("name", "value")` and the like called,
 * behind a bracket or a line's end inner.
 */
type Manner = "tight" | "loose" | "flag" | "called" | "said" | "markup" | "query" | "inner"

const CLOSING = /(?:\*\*|%2[27]|\\{0,8}["'`]?)\??!?\]?/y
const SIGN =
  /[ \t]{0,40}(?::=|<-|={1,3}>?|!==?|:{1,2}(?!\/\/)|\+=|\?\?=?|\|\|=?|→|│|\||%3[AD](?:%2[27])?|[Aa]s[ \t]+\w{1,30}[ \t]*=)(?:\*\*)?[ \t]{0,80}/y
/** A type between the name and its value. */
const TYPE = /(?:[A-Za-z_&'*[][\w<>&'*.[\]| ?]{0,40}?)[ \t]*=[ \t]*(?=\w{0,2}\\{0,8}["'`])/y
const CALL = /(?:[({][ \t]*|[ \t]*,[ \t]*)(?=["'`\\])/y
const SAID = /[ \t]+(?:(?:is|was|=|to|as):?[ \t]+:?[ \t]*)?(?=\S)/y
/** "password for the elastic user:", and the value by itself behind it or below. */
const SAID_FAR = /(?:[ \t]+[^\s:=\d]{1,40}){1,8}:[\s\\]{1,8}(?=\S+[ \t]*$)/my
/** Something opens, or a line ends, before the value: `Some("`, `["`, `>-`, `<<EOT`. */
const INNER =
  /(?:(?:\w[\w.:<>!]{0,60})?[[({][ \t]*(?=[\s\\"'`])|[|>][-+]?\d?(?=[\s\\])|<[<‹][-~]?["']?\w{1,30}["']?(?=[\s\\]))?(?:[ \t\r]*(?:\n|\\ )[ \t>+-]*(?:\d{1,6}[:|→][ \t]*)?|[ \t]*)(?:-[ \t]+|string\(\d+\)[ \t]+)?/y
/** The name is itself a value: `name: NAME, value: "…"`, `<add key="NAME" value="…">`, `<key>NAME</key><string>…`. */
const PAIR =
  /[\\"']{0,3}[\s,;\\]{0,40}(?:\{[\s\\]{0,40})?(?:[\\"']{0,3}(?:type|sensitive)[\\"']{0,3}[ \t]*[:=][ \t]*[\\"']{0,3}\w{1,20}[\\"']{0,3}[\s,;\\]{1,40}){0,2}[\\"']{0,3}(?:value|default|content)[\\"']{0,3}[ \t]*[:=][ \t]*|[<‹]\/\w{1,20}>\s{0,40}[<‹]string>|\\?">(?=[^<‹\s]{1,200}[<‹]\/string)|"(?:\r?\n|(?:\\ ){1,2}){2}/iy
const TAG_END = /(?:[ \t][^<>\n]{0,200})?>/y
/** A change: what is behind the arrow is as secret as what was before. */
const ARROW = /\\{0,8}["'`]?[ \t]*(?:->|→)[ \t]*(?=\\{0,8}["'`])/y
const BLANK = /[ \t]+/y
const WORD = /^\p{L}+$/u
/** A word with a dash, an underscore or a number behind it, as identifiers and examples have. */
const NAME_LIKE = /^[A-Za-z_$][A-Za-z_$-]*\d{0,2}$/

/** A call, or a place in a list: no value however it looks. */
const CALLED = /^[A-Za-z_][\w.]*[([]/
/** A variable that says what it holds, `testRSA2048PrivateKey`. */
const VARIABLE = /^[A-Za-z_]\w*(?:Secret|Token|Key|[a-z]_(?:secret|token|key))\d?$/
/** What a name of a secret has in it, and a secret seldom. */
const SECRET_WORD = /secret|token|key|pass|auth|cred/i

export const findAssigned: Find = (text, report) => {
  NAMES.lastIndex = 0
  let done = 0
  for (let hit = NAMES.exec(text); hit; hit = NAMES.exec(text)) {
    const name = nameAround(text, hit.index, hit.index + hit[0].length, done)
    done = name.to
    NAMES.lastIndex = Math.max(name.to, hit.index + 1)
    const said = text.slice(name.from, name.to)
    const kind = said === "key" && /[?&]/.test(text[name.from - 1] ?? "") ? "weak" : kindOf(said)
    if (kind === undefined) continue
    const given = givenTo(text, name.from, name.to, kind)
    if (!given) continue
    const { value, manner } = given
    const secret = text.slice(value.from, value.to)
    const changed = skip(ARROW, text, value.to)
    const next = changed > value.to ? valueAt(text, changed) : undefined
    if (next && next.from < next.to && text.slice(next.from, next.to) !== MARK) report(next.from, next.to)
    if (secret === MARK || !isSecret(secret, kind, manner, value.quoted, said)) continue
    report(value.from, value.to)
    // names may stand in the value
    NAMES.lastIndex = Math.max(NAMES.lastIndex, value.to)
    done = value.to
  }
  if (/kind["']?: *["']?Secret\b/.test(text)) findManifest(text, report)
}

function givenTo(
  text: string,
  nameFrom: number,
  nameTo: number,
  kind: Kind,
): { value: Value; manner: Manner } | undefined {
  const before = text[nameFrom - 1] ?? ""
  const isFlag = before === "-"
  const closed = skip(CLOSING, text, nameTo)
  const sign = skip(SIGN, text, closed)
  const as = (manner: Manner, at: number, stop?: RegExp) => {
    const value = valueAt(text, at, stop)
    return value && { value, manner }
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
  if (/[<‹:]/.test(before)) {
    const tagged = skip(TAG_END, text, nameTo)
    if (tagged > nameTo) return as("markup", tagged)
  }
  const paired = skip(PAIR, text, nameTo)
  if (paired > nameTo) return as("loose", paired)
  const called = skip(CALL, text, closed)
  if (called > closed) return as("called", called)
  if (isFlag) {
    const at = skip(BLANK, text, closed)
    return at > closed ? as("flag", at) : undefined
  }
  if (kind === "weak") return undefined
  const far = kind === "password" ? skip(SAID_FAR, text, closed) : closed
  if (far > closed) return as("inner", far)
  const at = skip(SAID, text, closed)
  return at > closed ? as("said", at) : undefined
}

const QUERY_END = /&(?=[A-Za-z_][\w.-]{0,40}=)/

function skip(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at
  return at + (pattern.exec(text)?.[0].length ?? 0)
}

function isSecret(said: string, kind: Kind, manner: Manner, quoted: boolean, name: string): boolean {
  if (said.length < 3 || isPlaceholder(said) || said.toLowerCase() === name.toLowerCase()) return false
  const isExpression =
    !quoted && ((isCode(said) && (CALLED.test(said) || !isRandom(said))) || (kind === "secret" && VARIABLE.test(said)))
  if (kind === "weak") return !(manner === "loose" && !quoted && isCode(said)) && isRandom(said)
  const isProse = /\s/.test(said) && /^[\p{L}\s.,:;!?'’()…-]+$/u.test(said)
  // a message, a label or a question about it
  if (isProse) return false
  const isNumber = /^[\d.,_-]+$/.test(said)
  if (isNumber) return kind === "password" ? /^\d{4,}$/.test(said) : said.length >= 20
  const isWord = WORD.test(said) && !(said.length >= 12 && isJumbled(said))
  switch (manner) {
    case "tight":
    case "query":
      if (isExpression) return false
      if (kind === "password" || /^[A-Z][A-Z0-9_]*$/.test(name)) return !isWord || !/^[A-Z]/.test(said)
      return !isWord && said.length >= 6 && (quoted || !isNameLike(said))
    case "flag":
      if (said.startsWith("-") || isExpression) return false
      return kind === "password" ? !/^[A-Z_]+$/.test(said) : !isWord && said.length >= 6 && !isNameLike(said)
    case "loose":
      if (quoted)
        return isWord ? kind === "password" && said === said.toLowerCase() && said.length >= 6 : !isWords(said)
      if (isExpression) return false
      return said.length >= 4 && !isWord && !isNameLike(said)
        ? /[\d!@#%^*+$&]/.test(said) || (kind === "password" && WORD.test(said))
        : isPlainValue(said, kind)
    case "markup":
      return !isWord && !isWords(said) && said.length >= 4
    case "called":
      if (isWord || isWords(said) || said.includes("${")) return false
      return kind === "password" ? said.length >= 4 : said.length >= 8 && !isCode(said)
    case "inner":
      if (isExpression || /\s/.test(said)) return false
      if (kind !== "password" || isCode(said)) return isRandom(said)
      return (
        said.length >= 6 && /\d/.test(said) && (quoted ? !isNameLike(said) : /[^\w./:-]/.test(said) || isRandom(said))
      )
    case "said":
      if (kind === "secret") return !isCode(said) && isRandom(said)
      return (
        said.length >= 6 &&
        /\d/.test(said) &&
        /\p{L}/u.test(said) &&
        !isCode(said) &&
        !/^[a-z]\w*_\w*$/.test(said) &&
        (quoted || !isWords(said) || isRandom(said))
      )
    default:
      manner satisfies never
      return true
  }
}

/** Of words and numbers: a password as people choose them, `hunter2`, and no identifier. */
function isPlainValue(said: string, kind: Kind): boolean {
  return kind === "password" && /^[a-z]{3,}\d{1,4}$/.test(said)
}

/** An identifier, a path, a key of a translation. */
function isWords(said: string): boolean {
  if (!/^[A-Za-z_$@./:#-]+$/.test(said) || isPhrase(said)) return false
  return said.length < 12 || !isJumbled(said) || SECRET_WORD.test(said)
}

/** Three words and more with dashes between, `correct-horse-battery`, that do not say what they are. */
function isPhrase(said: string): boolean {
  return /^[a-z]+(?:-[a-z]+){2,}$/.test(said) && !SECRET_WORD.test(said) && !/test|example|your|my-/.test(said)
}

function isNameLike(said: string): boolean {
  return NAME_LIKE.test(said) && !isPhrase(said) && !(said.length >= 12 && isJumbled(said))
}

/** The values of a Kubernetes secret: names say nothing there. */
function findManifest(text: string, report: Parameters<Find>[1]): void {
  for (const block of text.matchAll(/^([ \t]*)["']?(?:data|stringData)["']?:[ \t]*\{?[ \t]*\n/gm)) {
    const from = block.index + block[0].length
    const indent = block[1]?.length ?? 0
    for (let at = from; at < text.length; ) {
      const end = text.indexOf("\n", at) < 0 ? text.length : text.indexOf("\n", at)
      const row = text.slice(at, end)
      if (row.trim() !== "" && row.search(/\S/) <= indent) break
      const found = /^[ \t]*["']?[\w.-]{1,200}["']?:[ \t]+["']?([^\s"',]{3,})/.exec(row)
      const value = found?.[1]
      if (value !== undefined && value !== MARK)
        report(at + row.indexOf(value, row.indexOf(":")), at + row.indexOf(value, row.indexOf(":")) + value.length)
      at = end + 1
    }
  }
}
