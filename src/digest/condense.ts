// Condenses a text to what a small model can read in time: its first lines and the lines that head or declare something, in their
// order. Secrets are redacted before anything is cut, because no pattern would recognize half of one.

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
/** Share of the budget for the first lines. Lines that head or declare something get the rest. */
const HEAD_SHARE = 0.5
const LINE_FEED_TOKENS = 1
/** Of a line that says how many lines were left out. */
const MARKER_TOKENS = 8

const DECLARATION =
  /^\s*(?:(?:export|public|private|protected|async|static|abstract|pub|def|class|function|fn|func|interface|struct|enum|trait|impl|type|module|package|namespace)\b|#{1,3} |<h[1-3]|diff --git |@@ |commit [0-9a-f]{7})/
const ENCODED = /[A-Za-z0-9+/=_-]{120,}/g

/** `isNew`: it has a word or a number, and no line above is the same. */
type Row = { text: string; isNew: boolean }

/**
 * The output in at most `budgetTokens` estimated tokens of a model with a small vocabulary. An output that fits keeps
 * all its lines but the blank ones, with less indentation, without escapes and secrets, and at most 240 characters each.
 * Reads only the first and the last 64 kB. `[… 12 lines]` stands for lines that were left out.
 */
export function condense(output: string, budgetTokens: number): string {
  const view = withoutTruncationNote(viewOf(output))
  const rows = rowsOf(withoutReminders(view.lines))
  const budget = Math.floor(budgetTokens / MODEL_TOKENS_PER_ESTIMATED)
  const fits = rows.reduce((sum, { text }) => sum + costOf(text), 0) <= budget
  return redact(render(rows, fits ? undefined : choose(rows, budget), view.cut))
}

function rowsOf(lines: readonly string[]): Row[] {
  const seen = new Set<string>()
  const rows: Row[] = []
  for (const line of withoutLineNumbers(lines)) {
    const text = tidy(line)
    if (text === "") continue
    rows.push({ text, isNew: !seen.has(text) && /[\p{L}\p{N}]/u.test(text) })
    seen.add(text)
  }
  return rows
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

/** Indexes of the rows to keep: the first, then those that declare something, then more of the first. */
function choose(rows: readonly Row[], budget: number): Set<number> {
  const kept = new Set<number>()
  let left = budget - 2 * MARKER_TOKENS
  const take = (at: number, reserve: number): boolean => {
    const row = rows[at]
    if (!row?.isNew || kept.has(at)) return true
    const cost = costOf(row.text) + (kept.has(at - 1) || kept.has(at + 1) || at === 0 ? 0 : MARKER_TOKENS)
    if (cost > left - reserve) return false
    left -= cost
    kept.add(at)
    return true
  }
  const forOthers = left * (1 - HEAD_SHARE)
  for (let at = 0; at < rows.length && take(at, forOthers); ) at++
  const declared = [...rows.keys()].filter((at) => DECLARATION.test(rows[at]?.text ?? "") && !kept.has(at))
  // if not all fit, every n-th, so that all parts of the text are represented
  const size = declared.reduce((sum, at) => sum + costOf(rows[at]?.text ?? "") + MARKER_TOKENS, 0)
  const step = Math.max(1, Math.ceil(size / Math.max(1, left)))
  for (let i = 0; i < declared.length; i += step) take(declared[i] as number, 0)
  for (let at = 0; at < rows.length && take(at, 0); ) at++
  return kept
}

/** `cut`: the middle of the output was not read, so the lines left out cannot be counted. */
function render(rows: readonly Row[], kept: ReadonlySet<number> | undefined, cut: boolean): string {
  if (!kept) return rows.map(({ text }) => text).join("\n")
  const shown: string[] = []
  let skipped = 0
  const mark = () => {
    if (skipped > 0) shown.push(cut ? "[…]" : `[… ${plural(skipped, "line")}]`)
    skipped = 0
  }
  for (const [at, { text }] of kept.size > 0 ? rows.entries() : []) {
    if (kept.has(at)) {
      mark()
      shown.push(text)
    } else skipped++
  }
  mark()
  return shown.join("\n")
}
