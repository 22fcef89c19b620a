// The digest line, at most 96 tokens: the gist, then facts that add something to it and to each other.

import type { Digest, Fact } from "../../output/digest.ts"
import { cut, cutMiddle, line } from "../../text/sanitize.ts"
import { estimateTokens } from "../../text/tokens.ts"

/** Limit of the digest line, in estimated tokens. */
export const MAX_LINE_TOKENS = 96
/** Of a fact as it is shown. */
const MAX_SHOWN_CHARS = 100
/**
 * A fact is redundant if this share of its names occurs earlier. Less than all: the last word of a long fact may be
 * cut.
 */
const REDUNDANT_SHARE = 0.8
/** A shorter folder is repeated, even if the path before is in it too. */
const MIN_SHARED_CHARS = 8
/** Rules and dot leaders, which cost many tokens and carry no information. */
const RULE = /([^\p{L}\p{N}\s])\1{3,}/gu
/** Words of code that are not names. */
const KEYWORDS = new Set(
  "export default import from const let var function async await class extends implements interface type enum struct impl pub def return new public private static readonly void string number boolean null undefined true false the and for with".split(
    " ",
  ),
)

/**
 * The digest in one printable line of at most `maxTokens`. Facts from a file start with their line number, paths leave
 * out the folder of the path before. If there is too little room, the last facts go first, then the end of the gist.
 */
export function digestLine(digest: Digest, maxTokens = MAX_LINE_TOKENS): string {
  const gist = line(digest.gist)
  let left = maxTokens - estimateTokens(gist)
  if (left < 0) return cut(gist, Math.floor((gist.length * maxTokens) / (maxTokens - left)))
  const said = [gist]
  let folder = ""
  for (const fact of digest.facts) {
    const text = shown(fact, folder)
    left -= estimateTokens(text) + 1
    if (left < 0) break
    said.push(text)
    folder = folderOf(fact) ?? folder
  }
  return said.join(" · ")
}

/**
 * The digest with only the facts that its line has room for: first those that name something new, then those with a
 * line number.
 */
export function fitToLine(digest: Digest, maxFacts: number): Digest {
  const chosen = new Set<Fact>()
  const said = new Set(namesIn(digest.gist))
  let left = MAX_LINE_TOKENS - estimateTokens(line(digest.gist))
  let folder = ""
  const take = (fact: Fact) => {
    const cost = estimateTokens(shown(fact, folder)) + 1
    if (cost > left || chosen.size >= maxFacts) return
    left -= cost
    chosen.add(fact)
    folder = folderOf(fact) ?? folder
    for (const name of namesIn(fact.text)) said.add(name)
  }
  const isNew = ({ text }: Fact) => {
    const names = namesIn(cut(text, MAX_SHOWN_CHARS))
    return names.filter((name) => said.has(name)).length < names.length * REDUNDANT_SHARE
  }
  for (const fact of digest.facts) if (isNew(fact)) take(fact)
  for (const fact of digest.facts) if (fact.line !== undefined && !chosen.has(fact)) take(fact)
  return { ...digest, facts: [...chosen] }
}

function shown(fact: Fact, folder: string): string {
  const row = fact.line === undefined ? "" : `${fact.line}: `
  if (fact.type !== "path") return `${row}${cut(line(fact.text).replace(RULE, "$1$1"), MAX_SHOWN_CHARS)}`
  const shared = sharedFolder(folder, fact.text)
  const short = shared.length >= MIN_SHARED_CHARS ? `…/${fact.text.slice(shared.length)}` : fact.text
  return `${row}${cutMiddle(line(short), MAX_SHOWN_CHARS)}`
}

function folderOf({ type, text }: Fact): string | undefined {
  const end = text.lastIndexOf("/")
  return type === "path" && end > 0 ? text.slice(0, end + 1) : undefined
}

/** The folders that both start with, up to the last slash. URLs must share more than the host. */
function sharedFolder(one: string, other: string): string {
  let at = 0
  while (at < one.length && one[at] === other[at]) at++
  const shared = one.slice(0, one.lastIndexOf("/", at - 1) + 1)
  return /^https?:\/\/[^/]*\/?$/.test(shared) ? "" : shared
}

/** The names in a text, in lower case: all words that are not keywords, and of a path only the last part. */
function namesIn(text: string): string[] {
  if (/^https?:\S+$/.test(text)) return [text]
  const last = /^\S*\/([^\s/]+)$/.exec(text)?.[1] ?? text
  const words = last.toLowerCase().match(/[\p{L}\p{N}_$]+(?:[.-][\p{L}\p{N}_$]+)*/gu) ?? []
  return words.filter((word) => word.length > 2 && !KEYWORDS.has(word))
}
