// What a digest is before it is held to its promises: every kind of output drafts one, `extract.ts` seals it.

import type { Digest, Fact, FactType } from "../../output/digest.ts"
import { type Line, quote } from "../../output/lines.ts"

/** Facts in order of worth, as many as one likes; what could not be quoted is undefined. */
export type Draft = {
  kind: string
  gist: string
  facts: readonly (Fact | undefined)[]
  verdict?: "pass" | "fail"
}

const MAX_FACTS = 12

/** A fact that quotes `wanted` (the whole line when absent) as it stands in the output. `row`: a line of a source file. */
export function cite(type: FactType, line: Line, wanted?: string, row?: number): Fact | undefined {
  const text = quote(line, wanted)
  if (text === undefined) return undefined
  return row === undefined ? { type, text } : { type, text, line: row }
}

/** The facts of a draft that are there, each once, twelve at most, with room kept for a last one. */
export function settle(facts: Draft["facts"], closing?: Fact): Digest["facts"] {
  const kept: Fact[] = []
  for (const fact of facts) {
    if (!fact || kept.some(({ text }) => text === fact.text)) continue
    kept.push(fact)
    if (kept.length === MAX_FACTS - (closing ? 1 : 0)) break
  }
  if (closing) kept.push(closing)
  return kept
}

/** Things by how often they occur, most often first, ties in order of appearance. */
export function tally(things: Iterable<string>): [thing: string, count: number][] {
  const counts = new Map<string, number>()
  for (const thing of things) counts.set(thing, (counts.get(thing) ?? 0) + 1)
  return [...counts].sort((a, b) => b[1] - a[1])
}

/** As many of the words as fit, comma-separated, and how many did not. */
export function listed(words: readonly string[], max: number, separator = ", "): string {
  let text = ""
  for (const [at, word] of words.entries()) {
    const next = text === "" ? word : `${text}${separator}${word}`
    const rest = words.length - at - 1
    if (next.length + (rest > 0 ? 10 : 0) > max && text !== "") return `${text}${separator}${words.length - at} more`
    text = next
  }
  return text
}
