// The parts of a digest: the draft that is written for each kind of output, the facts it cites, and its lists of words.

import type { Digest, Fact, FactType } from "../../output/digest.ts"
import { type Line, quoteFrom, type View } from "../../output/lines.ts"

/** A digest before its bounds are applied. Any number of facts, best first; one that could not be quoted is undefined. */
export type Draft = {
  kind: string
  gist: string
  facts: readonly (Fact | undefined)[]
  verdict?: "pass" | "fail"
}

const MAX_FACTS = 12

/** A fact that quotes `wanted`, or the whole line, verbatim. `row`: its line number in a source file. */
export function cite(type: FactType, line: Line, wanted?: string, row?: number): Fact | undefined {
  const text = quoteFrom(line, wanted)
  if (text === undefined) return undefined
  return row === undefined ? { type, text } : { type, text, line: row }
}

/** A fact for each line, quoting the whole of it. */
export function citeAll(type: FactType, lines: readonly Line[]): (Fact | undefined)[] {
  return lines.map((line) => cite(type, line))
}

/** The first twelve distinct facts of a draft. `closing` always has a place among them, at the end. */
export function selectFacts(facts: Draft["facts"], closing?: Fact): Digest["facts"] {
  const kept: Fact[] = []
  for (const fact of facts) {
    if (!fact || kept.some(({ text }) => text === fact.text)) continue
    kept.push(fact)
    if (kept.length === MAX_FACTS - (closing ? 1 : 0)) break
  }
  if (closing) kept.push(closing)
  return kept
}

/** Things with the number of their occurrences, most frequent first, ties in order of appearance. */
export function tally(things: Iterable<string>): [thing: string, count: number][] {
  const counts = new Map<string, number>()
  for (const thing of things) counts.set(thing, (counts.get(thing) ?? 0) + 1)
  return [...counts].sort((a, b) => b[1] - a[1])
}

/** As many of the words as fit in `max` characters, and the number of those that do not. */
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

const TRUNCATION_NOTE =
  /^(?:\.\.\.\d+ \w+ truncated\.\.\.|\.\.\.output truncated\.\.\.|The tool call succeeded but the output was truncated\.|Full output saved to: |Use the Task tool to have explore agent process this file|Use Grep to search the full content|\.\.\. output truncated; full content saved to )/
const SAVED_AT = /(?:Full output saved to: |full content saved to )(\/\S+|[A-Za-z]:\\\S+)/
const MAX_EDGE_LINES = 6

/** The view without OpenCode's note that it truncated the output, and a fact that says where the whole is saved. */
export function withoutTruncationNote(view: View): { view: View; saved?: Fact | undefined } {
  const { lines } = view
  const last = lines.length - MAX_EDGE_LINES
  const notes = lines.filter(({ text }, at) => (at < MAX_EDGE_LINES || at >= last) && TRUNCATION_NOTE.test(text))
  if (notes.length === 0) return { view }
  const rest = lines.filter((line) => !notes.includes(line))
  const place = notes.find(({ text }) => SAVED_AT.test(text))
  return { view: { lines: rest, cut: true }, saved: place && cite("path", place, SAVED_AT.exec(place.text)?.[1]) }
}
