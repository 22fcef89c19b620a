// Token estimates, for requests whose usage the provider has not reported yet.

import { estimateTokenCount } from "tokenx"
import { renew } from "../system/values.ts"
import { cut, own } from "./sanitize.ts"

/**
 * Typical of the mix of English and code in a request. A running ratio of usage to estimate corrects the context's size and the
 * savings; the planner weighs messages and folds by uncorrected sizes.
 */
const CHARS_PER_TOKEN = 4

/** The estimate for a text of this length, without reading it. */
export function tokensOfLength(length: number): number {
  return Math.ceil(length / CHARS_PER_TOKEN)
}

/** Most lines of a HUD are those of the last one, and counting tokens is most of the cost of rendering it. */
const cache = new Map<string, number>()
const MAX_CACHED_TEXTS = 500
/** Scripts from Armenian to Georgian and Khmer, which tokenx takes for English. Measured with o200k: 2.4 to 3.2 characters a token. */
const SHORT_TOKENS = [{ pattern: /[\u0530-\u10ff\u1780-\u17ff]/, averageCharsPerToken: 2.6 }]

/** The estimate for a short text, by its scripts and punctuation. Reads all of it, at about 65 ns a character. */
export function estimateTokens(text: string): number {
  const known = cache.get(text)
  if (known !== undefined) return known
  const tokens = estimateTokenCount(text, { languageConfigs: SHORT_TOKENS })
  renew(cache, own(text), tokens, MAX_CACHED_TEXTS)
  return tokens
}

/** The beginning of a text, of about so many tokens: it is cut as if every character had the same share of them. */
export function cutToTokens(text: string, maxTokens: number): string {
  const tokens = estimateTokens(text)
  return tokens > maxTokens ? cut(text, Math.max(1, Math.floor((text.length * maxTokens) / tokens))) : text
}
