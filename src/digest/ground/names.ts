// The names an output speaks of most: what fills a digest's line when better facts have not. They are what later calls
// take from an output most often, see docs/digests.md.

import type { DigestSource, Fact } from "../../output/digest.ts"
import { look } from "../../output/lines.ts"
import { groundFact } from "./facts.ts"

/** Addresses, paths, file names with or without a line, and identifiers that no word is written like. */
const NAME =
  /https?:\/\/\S{4,}|(?:[\w@.~-]+|(?=\/\w+\/))\/[\w./@-]+\w|\b[\w-]+\.(?:[a-z]{1,4}|json|yaml|toml|proto)\b(?::\d+)?|\b[A-Za-z_$]\w*(?:[a-z][A-Z]|_[A-Za-z]|[A-Za-z]\d)\w*/g
/** Between the pieces that a name lies in. A piece is looked at alone, for a line of 1,000 letters costs its square. */
const BETWEEN = /[\s"'`<>()[\]{},;=|]+/
/** Hashes, ids, encoded bytes, and dates. */
const OPAQUE = /[0-9a-f]{7}|\d{5}|\d[a-z]+\d+[a-z]+\d|[A-Za-z0-9]{40}/i
const LONGEST = 80
const SHORTEST = 4

/** The names of an output, most frequent first, ties in order of appearance; not those that its arguments have. */
export function namesOf({ output, input }: Pick<DigestSource, "input" | "output">, most: number): Fact[] {
  const asked = Object.values(input).filter((value) => typeof value === "string")
  const counts = new Map<string, number>()
  for (const { text } of look(output).lines)
    for (const piece of text.split(BETWEEN)) {
      if (piece.length < SHORTEST || piece.length > LONGEST) continue
      for (const [name] of piece.matchAll(NAME))
        if (name.length >= SHORTEST && !OPAQUE.test(name)) counts.set(name, (counts.get(name) ?? 0) + 1)
    }
  const facts: Fact[] = []
  for (const [name] of [...counts].sort((a, b) => b[1] - a[1])) {
    if (facts.length >= most) break
    const fact = asked.some((value) => value.includes(name)) ? undefined : groundFact(name, output)
    if (fact) facts.push(fact)
  }
  return facts
}
