// The parts of a digest: the draft that is written for each kind of output, and its lists of words.

import type { Digest } from "../../output/digest.ts"
import type { View } from "../../output/lines.ts"

/** A digest before its gist is cut. */
export type Draft = Digest

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
const MAX_EDGE_LINES = 6

/** The view without OpenCode's note that it truncated the output. */
export function withoutTruncationNote(view: View): View {
  const { lines } = view
  const last = lines.length - MAX_EDGE_LINES
  const rest = lines.filter((text, at) => (at >= MAX_EDGE_LINES && at < last) || !TRUNCATION_NOTE.test(text))
  return rest.length === lines.length ? view : { lines: rest, cut: true }
}
