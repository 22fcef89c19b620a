// Condenses a text to what a small model can read in time: its first lines, without what costs tokens and carries no information.
// Secrets are redacted before anything is cut, because no pattern would recognize half of one.

import { viewOf } from "../output/lines.ts"
import { plural } from "../text/format.ts"
import { redact } from "../text/redact/redact.ts"
import { cut } from "../text/sanitize.ts"
import { estimateTokens } from "../text/tokens.ts"
import { withoutLineNumbers, withoutReminders, withoutTruncationNote } from "./extract/lines.ts"

/**
 * Tokens of a small model per estimated token. Measured on recorded tool outputs with the vocabularies of SmolLM2 (49k)
 * and Gemma 3 (262k): the median by tool is 1.1 to 1.5, the maximum 2. The engine cuts what is still too long.
 */
const MODEL_TOKENS_PER_ESTIMATED = 1.4
/** Longer lines are minified, encoded or paragraphs. */
const MAX_LINE_CHARS = 240
const LINE_FEED_TOKENS = 1
/** Of a line that says how many lines were left out. */
const MARKER_TOKENS = 8

const ENCODED = /[A-Za-z0-9+/=_-]{120,}/g

/**
 * The output in at most `budgetTokens` estimated tokens of a model with a small vocabulary. An output that fits keeps
 * all its lines but the blank ones, with less indentation, without escapes and secrets, and at most 240 characters each.
 * Reads only the first and the last 64 kB. `[… 12 lines]` at the end stands for lines that were left out.
 */
export function condense(output: string, budgetTokens: number): string {
  const view = withoutTruncationNote(viewOf(output))
  const lines = withoutLineNumbers(withoutReminders(view.lines))
    .map(tidy)
    .filter((text) => text !== "")
  const costs = lines.map((text) => estimateTokens(text) + LINE_FEED_TOKENS)
  let left = Math.floor(budgetTokens / MODEL_TOKENS_PER_ESTIMATED)
  if (costs.reduce((sum, cost) => sum + cost, 0) <= left) return redact(lines.join("\n"))
  left -= MARKER_TOKENS
  const kept = costs.findIndex((cost) => {
    left -= cost
    return left < 0
  })
  if (kept === 0) return ""
  // the middle of a long output was not read, so its lines cannot be counted
  const marker = view.cut ? "[…]" : `[… ${plural(lines.length - kept, "line")}]`
  return redact([...lines.slice(0, kept), marker].join("\n"))
}

/** The line without what costs tokens and carries no information. */
function tidy(text: string): string {
  const plain = text
    .toWellFormed()
    .replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\ufeff]/g, "")
    .replace(/^\s+/, (indent) => " ".repeat(Math.min(4, indent.length >> 1)))
    .trimEnd()
  const short = redact(plain).replace(ENCODED, (run) => `${run.slice(0, 24)}…`)
  return cut(short, MAX_LINE_CHARS)
}
