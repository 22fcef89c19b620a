// Condenses a tool output to what a small model can read in time: its head, its tail and lines from all parts between, in
// their order. Secrets are redacted before anything is cut, because no pattern would recognize half of one.

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
/** Shares of the budget for the first and the last lines. Those between get the rest. */
const HEAD_SHARE = 0.3
const TAIL_SHARE = 0.2
const LINE_FEED_TOKENS = 1
/** Of a line that says how many lines were left out. */
const MARKER_TOKENS = 8

const ENCODED = /[A-Za-z0-9+/=_-]{120,}/g

/**
 * The output in at most `budgetTokens` estimated tokens of a model with a small vocabulary. An output that fits keeps
 * all its lines but the blank ones, with less indentation, without escapes and secrets, and at most 240 characters each.
 * Reads only the first and the last 64 kB. `[… 12 lines]` stands for lines that were left out.
 */
export function condense(output: string, budgetTokens: number): string {
  const view = withoutTruncationNote(viewOf(output))
  const rows = withoutLineNumbers(withoutReminders(view.lines))
    .map(tidy)
    .filter((text) => text !== "")
  const budget = Math.floor(budgetTokens / MODEL_TOKENS_PER_ESTIMATED)
  const size = rows.reduce((sum, text) => sum + costOf(text), 0)
  return redact(render(rows, size <= budget ? undefined : choose(rows, budget), view.cut))
}

/** The line without what costs tokens and carries no information. */
function tidy(text: string): string {
  const plain = text
    .toWellFormed()
    .replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\ufeff]/g, "")
    .replace(/^\s+/, (indent) => " ".repeat(Math.min(4, indent.length >> 1)))
    .trimEnd()
  return cut(
    redact(plain).replace(ENCODED, (run) => `${run.slice(0, 24)}…`),
    MAX_LINE_CHARS,
  )
}

function costOf(text: string): number {
  return estimateTokens(text) + LINE_FEED_TOKENS
}

/** Indexes of the rows to keep: some at both ends, then every n-th between, then more of the head. */
function choose(rows: readonly string[], budget: number): Set<number> {
  const kept = new Set<number>()
  let left = budget - 2 * MARKER_TOKENS
  const take = (at: number, reserve: number): boolean => {
    if (kept.has(at)) return true
    const isBeside = at === 0 || kept.has(at - 1) || kept.has(at + 1)
    const cost = costOf(rows[at] ?? "") + (isBeside ? 0 : MARKER_TOKENS)
    if (cost > left - reserve) return false
    left -= cost
    kept.add(at)
    return true
  }
  const ends = left
  for (let at = 0; at < rows.length && take(at, ends * (1 - HEAD_SHARE)); ) at++
  for (let at = rows.length - 1; at >= 0 && take(at, ends * (1 - HEAD_SHARE - TAIL_SHARE)); ) at--
  const between = [...rows.keys()].filter((at) => !kept.has(at))
  const size = between.reduce((sum, at) => sum + costOf(rows[at] ?? "") + MARKER_TOKENS, 0)
  const step = Math.max(1, Math.ceil(size / Math.max(1, left)))
  for (let i = 0; i < between.length; i += step) take(between[i] as number, 0)
  for (let at = 0; at < rows.length && take(at, 0); ) at++
  return kept
}

/** `cut`: the middle of the output was not read, so the lines left out cannot be counted. */
function render(rows: readonly string[], kept: ReadonlySet<number> | undefined, cut: boolean): string {
  if (!kept) return rows.join("\n")
  const shown: string[] = []
  let skipped = 0
  const mark = () => {
    if (skipped > 0) shown.push(cut ? "[…]" : `[… ${plural(skipped, "line")}]`)
    skipped = 0
  }
  for (const [at, text] of kept.size > 0 ? rows.entries() : []) {
    if (kept.has(at)) {
      mark()
      shown.push(text)
    } else skipped++
  }
  mark()
  return shown.join("\n")
}
