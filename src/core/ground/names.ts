// The names an output speaks of most: what fills a digest's line when better facts have not. Of the strings that later
// calls took from an output, half as many again were in the digests of recorded sessions with them as without.

import type { Fact } from "../digest.ts"
import { look } from "../extract/text.ts"
import { groundFact } from "./facts.ts"

/** Addresses, paths, file names with or without a line, and identifiers that no word is written like. */
const NAME =
  /https?:\/\/[^\s)"'<>\]]{4,120}|(?:[\w@.~-]+|(?=\/\w+\/))\/[\w./@-]+\w|\b[\w-]+\.(?:[a-z]{1,4}|json|yaml|toml|proto)\b(?::\d+)?|\b[A-Za-z_$]\w*(?:[a-z][A-Z]|_[A-Za-z]|[A-Za-z]\d)\w*/g
/** Hashes, ids, encoded bytes, and dates. */
const OPAQUE = /[0-9a-f]{7}|\d{5}|\d[a-z]+\d+[a-z]+\d|[A-Za-z0-9]{40}/i
const LONGEST = 80
const SHORTEST = 4

/** The names of the output that are not in `said`, most frequent first, ties in order of appearance. */
export function namesOf(output: string, said: string, most: number): Fact[] {
  const counts = new Map<string, number>()
  for (const { text } of look(output).lines)
    for (const [name] of text.matchAll(NAME)) {
      if (name.length < SHORTEST || name.length > LONGEST || OPAQUE.test(name)) continue
      counts.set(name, (counts.get(name) ?? 0) + 1)
    }
  const facts: Fact[] = []
  for (const [name] of [...counts].sort((a, b) => b[1] - a[1])) {
    if (facts.length >= most) break
    const fact = said.includes(name) ? undefined : groundFact(name, output)
    if (fact) facts.push(fact)
  }
  return facts
}
