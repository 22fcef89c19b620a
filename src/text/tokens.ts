// Token estimates. Only reported usage is exact; these fill in where there is no report yet.

import { estimateTokenCount } from "tokenx"
import { renew } from "../bounded.ts"
import { own } from "./text.ts"

/** Characters per token over the wire formats' usual mix of English and code; the running ratio corrects the rest. */
const CHARS_PER_TOKEN = 4

/** Estimated tokens of a text of this length, without reading it. */
export function tokensOfLength(length: number): number {
  return Math.ceil(length / CHARS_PER_TOKEN)
}

/** Lines counted before: most of a HUD says what the last one said, and counting is most of what rendering costs. */
const counted = new Map<string, number>()
const MOST_COUNTED = 500

/** Estimated tokens of a short text, script and punctuation counted in. Reads all of it: about 65 ns a character. */
export function estimateTokens(text: string): number {
  const known = counted.get(text)
  if (known !== undefined) return known
  const tokens = estimateTokenCount(text)
  renew(counted, own(text), tokens, MOST_COUNTED)
  return tokens
}
