// A tool output cut down to what a small model can read in time: its head, its tail and its telling lines, in their
// order. Secrets are taken out before anything is cut, so that no half of one is left that no pattern knows.

import { type Line, look } from "../output/lines.ts"
import { redact } from "../text/redact/redact.ts"
import { cut } from "../text/text.ts"
import { estimateTokens } from "../text/tokens.ts"
import { withoutNote } from "./extract/truncation.ts"

/** What the reader of the output is after, where it is known. */
export type CondenseHints = {
  /** words whose lines are worth more: what was searched for, the name of the file */
  words?: readonly string[]
}

/**
 * Tokens of a small model per estimated token. Measured on recorded tool outputs with the vocabularies of SmolLM2
 * (49k) and Gemma 3 (262k): 1.1 to 1.5 in the median by tool, up to 2. What is still too long the engine cuts.
 */
const SMALL_VOCABULARY = 1.4
/** Longest line kept, in characters: what is longer is minified, encoded or a paragraph. */
const LINE_CHARS = 240
/** Parts of the budget for the first and the last lines; the telling lines have what is left. */
const HEAD = 0.3
const TAIL = 0.2
/** Estimated tokens of a line feed, and of a line that says what was left out. */
const BREAK = 1
const MARKER = 8

const ERROR =
  /(?:error|exception|traceback|panic|assertion)|\b(?:fatal|fail(?:ed|ures?|s|ing)?|cannot|denied|refused|not found|no such file|unexpected|expected|timed? ?out|aborted)\b|[✗✘✖×❌]/i
const WARNING = /\b(?:warn(?:ing)?s?|deprecated)\b|⚠/i
const TOTAL =
  /\b\d+ (?:\w+ )?(?:pass\w*|fail\w*|pending|skipped|tests?|errors?|warnings?|problems?|matches|files?|insertions?|deletions?|packages?|results?)\b|\b(?:tests?|total|summary|results?|status|found|exit code)\b *[:=]|^\s*(?:ok|not ok|PASS|FAIL|BUILD)\b|[✓✔✅]/i
const PLACE = /[\w./-]+\.\w{1,5}[:(]\d+|^\s*File "/
const DECLARATION =
  /^\s*(?:(?:export|public|private|protected|async|static|abstract|pub|def|class|function|fn|func|interface|struct|enum|trait|impl|type|module|package|namespace)\b|#{1,3} |<h[1-3]|diff --git |@@ |commit [0-9a-f]{7})/
/** Lines that say nothing: frames of others' code, rules, brackets, progress, encoded bytes. */
const NOISE =
  /^\s*(?:at .*node_modules.*|at (?:node|internal|native):.*|[-=_*#~─━═.]*|[{}[\]();,<>/]*|\[?[#=>. -]*\]? *\d+%.*|[A-Za-z0-9+/]{56,}={0,2})$/
const NUMBER = /^\s*\d{1,6}[:|] ?/
const ENCODED = /[A-Za-z0-9+/=_-]{120,}/g

type Row = { text: string; worth: number }

/**
 * The output in at most `budgetTokens` tokens of a model with a small vocabulary, as estimated. An output that fits
 * stays whole, but for indentation, blank lines, escapes, secrets and what of a line is beyond 240 characters. Reads
 * no more than the first and the last 64 kB. Lines left out in between are marked by `[… 12 lines]`.
 */
export function condense(output: string, budgetTokens: number, hints: CondenseHints = {}): string {
  const { view } = withoutNote(look(output))
  const words = (hints.words ?? []).filter((word) => word.length > 2).map((word) => word.toLowerCase())
  const rows = rowsOf(withoutReminders(view.lines), words)
  const budget = Math.floor(budgetTokens / SMALL_VOCABULARY)
  return redact(render(rows, fits(rows, budget) ? undefined : choose(rows, budget), view.cut))
}

function rowsOf(lines: readonly Line[], words: readonly string[]): Row[] {
  const numbered = isNumbered(lines)
  const seen = new Set<string>()
  const rows: Row[] = []
  for (const line of lines) {
    const text = tidy(numbered ? line.text.replace(NUMBER, "") : line.text)
    if (text === "") continue
    rows.push({ text, worth: seen.has(text) || NOISE.test(text) ? 0 : worthOf(text, words) })
    seen.add(text)
  }
  return rows
}

/** Hosts put words of their own to the agent into outputs; a small model takes them for what the output says. */
function withoutReminders(lines: readonly Line[]): Line[] {
  let inside = false
  return lines.filter(({ text }) => {
    const opens = /^\s*<system-reminder>/.test(text)
    const closes = text.includes("</system-reminder>")
    const skipped = inside || opens
    inside = skipped && !closes
    return !skipped
  })
}

/** Whether the lines are a file's, each with its number: a sixth of the tokens, and a small model counts on from them. */
function isNumbered(lines: readonly Line[]): boolean {
  const first = lines.slice(0, 60).filter(({ text }) => text.trim() !== "")
  return first.length > 3 && first.filter(({ text }) => NUMBER.test(text)).length > 0.6 * first.length
}

/** A line without what costs tokens and says nothing. */
function tidy(text: string): string {
  const plain = text
    .toWellFormed()
    .replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\ufeff]/g, "")
    .replace(/^\s+/, (indent) => " ".repeat(Math.min(4, indent.length >> 1)))
    .trimEnd()
  return cut(
    redact(plain).replace(ENCODED, (run) => `${run.slice(0, 24)}…`),
    LINE_CHARS,
  )
}

/** 1 for any line that says something, more the more telling it is. */
function worthOf(text: string, words: readonly string[]): number {
  const lower = words.length > 0 ? text.toLowerCase() : ""
  return (
    1 +
    (ERROR.test(text) ? 3 : WARNING.test(text) ? 2 : 0) +
    (TOTAL.test(text) ? 3 : 0) +
    (DECLARATION.test(text) ? 2 : 0) +
    (PLACE.test(text) ? 1 : 0) +
    (words.some((word) => lower.includes(word)) ? 2 : 0)
  )
}

function fits(rows: readonly Row[], budget: number): boolean {
  let left = budget
  for (const { text } of rows) {
    left -= costOf(text)
    if (left < 0) return false
  }
  return true
}

function costOf(text: string): number {
  return estimateTokens(text) + BREAK
}

/** Which rows are kept: some from both ends, then the most telling, then more of the head. */
function choose(rows: readonly Row[], budget: number): Set<number> {
  const kept = new Set<number>()
  let left = budget - 2 * MARKER
  const take = (at: number, reserve: number): boolean => {
    const row = rows[at]
    if (!row || row.worth === 0 || kept.has(at)) return true
    const cost = costOf(row.text) + (kept.has(at - 1) || kept.has(at + 1) || at === 0 ? 0 : MARKER)
    if (cost > left - reserve) return false
    left -= cost
    kept.add(at)
    return true
  }
  const ends = left
  for (let at = 0; at < rows.length && take(at, ends * (1 - HEAD)); ) at++
  for (let at = rows.length - 1; at >= 0 && take(at, ends * (1 - HEAD - TAIL)); ) at--
  for (let worth = 12; worth > 1 && left > 0; worth--) {
    const level = [...rows.keys()].filter((at) => rows[at]?.worth === worth && !kept.has(at))
    // of a level that does not fit, every so many, so that no part of the output goes unheard
    const size = level.reduce((sum, at) => sum + costOf(rows[at]?.text ?? "") + MARKER, 0)
    const step = Math.max(1, Math.ceil(size / Math.max(1, left)))
    for (let i = 0; i < level.length; i += step) take(level[i] as number, 0)
  }
  for (let at = 0; at < rows.length && take(at, 0); ) at++
  return kept
}

/** `cut`: there is more between the lines than is known, so what is left out cannot be counted. */
function render(rows: readonly Row[], kept: ReadonlySet<number> | undefined, cut: boolean): string {
  if (!kept) return rows.map(({ text }) => text).join("\n")
  const said: string[] = []
  let skipped = 0
  const mark = () => {
    if (skipped > 0) said.push(cut ? "[…]" : `[… ${skipped} ${skipped === 1 ? "line" : "lines"}]`)
    skipped = 0
  }
  for (const [at, { text }] of kept.size > 0 ? rows.entries() : []) {
    if (kept.has(at)) {
      mark()
      said.push(text)
    } else skipped++
  }
  mark()
  return said.join("\n")
}
