// Token estimates. Only reported usage is exact; these fill in where there is no report yet.

import { estimateTokenCount } from "tokenx"

/** Characters per token over the wire formats' usual mix of English and code; the running ratio corrects the rest. */
const CHARS_PER_TOKEN = 4

/** Estimated tokens of a text of this length, without reading it. */
export function tokensOfLength(length: number): number {
  return Math.ceil(length / CHARS_PER_TOKEN)
}

/** Estimated tokens of a short text, script and punctuation counted in. Reads all of it: about 65 ns a character. */
export function estimateTokens(text: string): number {
  return estimateTokenCount(text)
}
