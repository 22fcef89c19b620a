// A digest as one line of at most 96 tokens: the gist, then the facts that say what neither it nor an earlier one says.

import type { Digest, Fact } from "../../output/digest.ts"
import { cut, cutMiddle, line } from "../../text/text.ts"
import { estimateTokens } from "../../text/tokens.ts"

/** Longest digest as a line, in estimated tokens. */
export const MOST_TOKENS = 96
/** Longest fact as it is shown, in characters. */
const FACT_CHARS = 100
/** Part of its names that makes a fact a known one when they are said already: of a long one the last word may be cut. */
const KNOWN = 0.8
/** Shortest folder worth leaving out where an earlier path has it too, in characters. */
const SHARED_CHARS = 8
/** Rules and dot leaders: many tokens that say nothing. */
const RULED = /([^\p{L}\p{N}\s])\1{3,}/gu
/** Words of code that name nothing. */
const KEYWORDS = new Set(
  "export default import from const let var function async await class extends implements interface type enum struct impl pub def return new public private static readonly void string number boolean null undefined true false the and for with".split(
    " ",
  ),
)

/**
 * The digest in one printable line of at most `mostTokens`. A fact of a file has its line number, a path leaves out the
 * folder of the last. Where there is little room the last facts go first, then the end of the gist.
 */
export function digestLine(digest: Digest, mostTokens = MOST_TOKENS): string {
  const gist = line(digest.gist)
  let left = mostTokens - estimateTokens(gist)
  if (left < 0) return cut(gist, Math.floor((gist.length * mostTokens) / (mostTokens - left)))
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

/** The digest with the facts that its line has room for: those that name something new, then those that place it. */
export function fitted(digest: Digest, mostFacts: number): Digest {
  const chosen = new Set<Fact>()
  const said = new Set(namesIn(digest.gist))
  let left = MOST_TOKENS - estimateTokens(line(digest.gist))
  let folder = ""
  const take = (fact: Fact) => {
    const cost = estimateTokens(shown(fact, folder)) + 1
    if (cost > left || chosen.size >= mostFacts) return
    left -= cost
    chosen.add(fact)
    folder = folderOf(fact) ?? folder
    for (const name of namesIn(fact.text)) said.add(name)
  }
  const isNew = ({ text }: Fact) => {
    const names = namesIn(cut(text, FACT_CHARS))
    return names.filter((name) => said.has(name)).length < names.length * KNOWN
  }
  for (const fact of digest.facts) if (isNew(fact)) take(fact)
  for (const fact of digest.facts) if (fact.line !== undefined && !chosen.has(fact)) take(fact)
  return { ...digest, facts: [...chosen] }
}

function shown(fact: Fact, folder: string): string {
  const row = fact.line === undefined ? "" : `${fact.line}: `
  if (fact.type !== "path") return `${row}${cut(line(fact.text).replace(RULED, "$1$1"), FACT_CHARS)}`
  const shared = sharedFolder(folder, fact.text)
  const short = shared.length >= SHARED_CHARS ? `…/${fact.text.slice(shared.length)}` : fact.text
  return `${row}${cutMiddle(line(short), FACT_CHARS)}`
}

function folderOf({ type, text }: Fact): string | undefined {
  const end = text.lastIndexOf("/")
  return type === "path" && end > 0 ? text.slice(0, end + 1) : undefined
}

/** The folders both begin with, to the last slash; of addresses more than the host. */
function sharedFolder(one: string, other: string): string {
  let at = 0
  while (at < one.length && one[at] === other[at]) at++
  const shared = one.slice(0, one.lastIndexOf("/", at - 1) + 1)
  return /^https?:\/\/[^/]*\/?$/.test(shared) ? "" : shared
}

/** What a text names, in lower case: its words but for those of the language; of a path its last part. */
function namesIn(text: string): string[] {
  if (/^https?:\S+$/.test(text)) return [text]
  const last = /^\S*\/([^\s/]+)$/.exec(text)?.[1] ?? text
  const words = last.toLowerCase().match(/[\p{L}\p{N}_$]+(?:[.-][\p{L}\p{N}_$]+)*/gu) ?? []
  return words.filter((word) => word.length > 2 && !KEYWORDS.has(word))
}
