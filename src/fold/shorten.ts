// Shortens the texts of a session's oldest folded steps. They grow by a line a step, so in a session of thousands of steps they
// alone would fill the context.

import type { Entry } from "../session/entry.ts"
import { cutMiddle, oneLine } from "../text/sanitize.ts"
import { tokensOfLength } from "../text/tokens.ts"
import { type Fold, type Folds, stepFold } from "./fold.ts"

/** What is left of a step's text: first both ends of its first line, where a file is named, then nothing. */
const LENGTHS = [60, 0]

/** New folds for the oldest folded steps, whose texts are together at least `tokens` shorter, if possible. */
export function shortened(entries: readonly Entry[], folds: Folds, tokens: number): Fold[] {
  const steps = entries.flatMap(({ id }) => stepFold(folds, id) ?? [])
  const shorter = new Map<string, Fold>()
  let left = tokens
  for (const length of LENGTHS)
    for (const fold of steps) {
      if (left <= 0) break
      const before = shorter.get(fold.partID) ?? fold
      const [first = ""] = before.text.split("\n")
      const text = length === 0 ? "" : oneLine(cutMiddle(first, length))
      const textTokens = tokensOfLength(text.length)
      if (textTokens >= before.textTokens) continue
      shorter.set(fold.partID, { ...fold, text, textTokens })
      left -= before.textTokens - textTokens
    }
  return [...shorter.values()]
}
