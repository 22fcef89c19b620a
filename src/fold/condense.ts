// Condenses the oldest records of a session into a few lines. Records grow by a line a step, so in a session of thousands
// of steps they alone would fill the context.

import type { Entry } from "../session/entry.ts"
import { plural } from "../text/format.ts"
import { basename } from "../text/paths.ts"
import { redact } from "../text/redact/redact.ts"
import { cut, oneLine } from "../text/sanitize.ts"
import { tokensOfLength } from "../text/tokens.ts"
import { type Fold, type Folds, stepFold, stepRanges } from "./fold.ts"

/** Of one summary. */
const MAX_SUMMARY_CHARS = 400
/** Edited files that a summary names, the most edited first. */
const MAX_FILES = 15
/** Fewer adjacent steps are not worth a summary. */
export const MIN_CONDENSED_STEPS = 8

/**
 * New folds for the oldest folded steps, whose texts are together at least `tokens` shorter, if possible. In a run of
 * adjacent steps, the text of the last becomes a summary of all, and the others have none.
 */
export function condensed(entries: readonly Entry[], folds: Folds, tokens: number): Fold[] {
  const result: Fold[] = []
  let left = tokens
  let run: { entry: Entry; fold: Fold }[] = []
  let before = 0
  const flush = () => {
    const last = run.at(-1)
    if (last && run.length >= MIN_CONDENSED_STEPS) {
      const text = condensedText(run)
      const textTokens = tokensOfLength(text.length)
      if (textTokens < before) {
        for (const { fold } of run.slice(0, -1)) if (fold.text !== "") result.push({ ...fold, text: "", textTokens: 0 })
        result.push({ ...last.fold, text, textTokens })
        left -= before - textTokens
      }
    }
    run = []
    before = 0
  }
  for (const entry of entries) {
    if (left <= 0) break
    const fold = stepFold(folds, entry.id)
    if (fold) {
      run.push({ entry, fold })
      before += fold.textTokens
    } else if (entry.blocks > 0) flush()
    if (before - tokensOfLength(MAX_SUMMARY_CHARS) >= left) flush()
  }
  flush()
  return result
}

/** One line: how many steps, what they edited and how often, and how much they read and ran. */
function condensedText(run: readonly { entry: Entry; fold: Fold }[]): string {
  const edits = new Map<string, number>()
  let reads = 0
  let commands = 0
  for (const { entry } of run)
    for (const { kind, files } of entry.events) {
      if (kind === "command") commands++
      else if (kind === "read" || kind === "search" || kind === "list") reads++
      for (const { path, use } of files) if (use !== "read") edits.set(path, (edits.get(path) ?? 0) + 1)
    }
  const most = [...edits].sort(([, one], [, other]) => other - one).slice(0, MAX_FILES)
  const edited = most.map(([path, times]) => (times > 1 ? `${basename(path)} ${times}x` : basename(path)))
  const words = [
    ...(edited.length > 0 ? [`edited ${edited.join(", ")}`] : []),
    ...(reads > 0 ? [plural(reads, "read")] : []),
    ...(commands > 0 ? [plural(commands, "command")] : []),
  ]
  const steps = stepRanges(run.map(({ fold }) => fold))
  return oneLine(cut(redact(`${steps} ${words.join("; ")}`), MAX_SUMMARY_CHARS))
}
