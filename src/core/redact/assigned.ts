// Values given to a name that says they are secret, in the ways that shells, configuration, programs, markup, queries and
// people give values to names.

import { type Kind, kindOf, NAMES, nameAround } from "./names.ts"
import { isJumbled, isRandom } from "./random.ts"
import { type Find, MARK } from "./span.ts"
import { isCode, isPlaceholder, type Value, valueAt } from "./value.ts"

/** How a value stands to its name: `NAME=value` tight, `name: value` loose, `set("name", "value")` and the like called. */
type Manner = "tight" | "loose" | "flag" | "called" | "said" | "markup" | "query"

const CLOSING = /\\{0,8}["'`]?\??!?\]?/y
const SIGN = /[ \t]{0,40}(?::=|={1,3}>?|!==?|:{1,2}(?!\/\/)|\+=|\?\?=|\|\|=|→|│|\|)[ \t]{0,80}/y
/** A type between the name and its value. */
const TYPE = /(?:[A-Za-z_&'*][\w<>&'*.[\]| ?]{0,40}?)[ \t]*=[ \t]*(?=[\w]{0,2}["'`])/y
const CALL = /(?:\([ \t]*|[ \t]*,[ \t]*)(?=["'`\\])/y
const SAID = /[ \t]+(?:(?:is|was|=|to|as)[ \t]+:?[ \t]*)?(?=\S)/y
const BLANK = /[ \t]+/y
const WORD = /^\p{L}+$/u
/** A word with a dash, an underscore or a number behind it, as identifiers and examples have. */
const NAME_LIKE = /^[A-Za-z_$][A-Za-z_$-]*\d{0,2}$/

export const findAssigned: Find = (text, report) => {
  NAMES.lastIndex = 0
  let done = 0
  for (let hit = NAMES.exec(text); hit; hit = NAMES.exec(text)) {
    const name = nameAround(text, hit.index, hit.index + hit[0].length, done)
    done = name.to
    NAMES.lastIndex = Math.max(name.to, hit.index + 1)
    const kind = kindOf(text.slice(name.from, name.to))
    if (kind === undefined) continue
    const given = givenTo(text, name.from, name.to, kind)
    if (!given) continue
    const { value, manner } = given
    const said = text.slice(value.from, value.to)
    if (said === MARK || !isSecret(said, kind, manner, value.quoted, text.slice(name.from, name.to))) continue
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
    const typed = skip(TYPE, text, sign)
    const at = Math.max(typed, sign)
    const isTight = sign - closed === 1 && text[closed] === "="
    return as(isTight ? "tight" : isFlag ? "flag" : "loose", at, isTight && isFlag ? undefined : QUERY_END)
  }
  if (text[nameTo] === ">" && /[<:/]/.test(before)) return as("markup", nameTo + 1)
  const called = skip(CALL, text, closed)
  if (called > closed) return as("called", called)
  if (isFlag) {
    const at = skip(BLANK, text, closed)
    return at > closed ? as("flag", at) : undefined
  }
  if (kind !== "password") return undefined
  const at = skip(SAID, text, closed)
  return at > closed ? as("said", at) : undefined
}

const QUERY_END = /&(?=[A-Za-z_][\w.-]{0,40}=)/

function skip(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at
  return at + (pattern.exec(text)?.[0].length ?? 0)
}

function isSecret(said: string, kind: Kind, manner: Manner, quoted: boolean, name: string): boolean {
  if (said.length < 3 || isPlaceholder(said)) return false
  if (kind === "weak") return !(manner === "loose" && !quoted && isCode(said)) && isRandom(said)
  const isProse = /\s/.test(said) && /^[\p{L}\s.,:;!?'’()…-]+$/u.test(said)
  // a message, a label or a question about it
  if (isProse) return false
  const isNumber = /^[\d.,_-]+$/.test(said)
  if (isNumber) return kind === "password" ? said.length >= 4 : said.length >= 20
  const isWord = WORD.test(said) && !(said.length >= 12 && isJumbled(said))
  switch (manner) {
    case "tight":
    case "query":
      if (!quoted && isCode(said) && !isRandom(said)) return false
      if (kind === "password" || /^[A-Z][A-Z0-9_]*$/.test(name)) return !isWord || !/^[A-Z]/.test(said)
      return !isWord && said.length >= 6 && (quoted || !isNameLike(said))
    case "flag":
      if (said.startsWith("-") || (!quoted && isCode(said) && !isRandom(said))) return false
      return kind === "password" ? !/^[A-Z_]+$/.test(said) : !isWord && said.length >= 6 && !isNameLike(said)
    case "loose":
      if (quoted)
        return isWord ? kind === "password" && said === said.toLowerCase() && said.length >= 6 : !isWords(said)
      if (isCode(said) && !isRandom(said)) return false
      return said.length >= 4 && !isWord && !isNameLike(said) ? /[\d!@#%^*+$&]/.test(said) : isPlainValue(said, kind)
    case "markup":
    case "called":
      return !isWord && !isWords(said) && said.length >= 4
    case "said":
      return (
        said.length >= 6 &&
        /\d/.test(said) &&
        /\p{L}/u.test(said) &&
        !isCode(said) &&
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
  return /^[A-Za-z_$@./:#-]+$/.test(said) && !isPhrase(said) && !(said.length >= 12 && isJumbled(said))
}

/** Three words and more with dashes between, `correct-horse-battery`, that do not say what they are. */
function isPhrase(said: string): boolean {
  return /^[a-z]+(?:-[a-z]+){2,}$/.test(said) && !/secret|token|key|pass|auth|cred|test|example|your|my-/.test(said)
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
