// Condenses the oldest records of a session into a few lines. Records grow by a line a step, so in a session of thousands
// of steps they alone would fill the context.

import type { Entry } from "../session/entry.ts"
import type { ToolEvent } from "../session/event.ts"
import { plural } from "../text/format.ts"
import { basename } from "../text/paths.ts"
import { redact } from "../text/redact/redact.ts"
import { cut, oneLine } from "../text/sanitize.ts"
import { tokensOfLength } from "../text/tokens.ts"
import { episodesOf, type Fold, type Folds, stepFold, stepRanges } from "./fold.ts"

const MAX_SUMMARY_CHARS = 400
const MAX_FILES = 15
/** Fewer adjacent steps are not worth a summary. */
export const MIN_CONDENSED_STEPS = 8

/**
 * New folds for the oldest folded steps, whose texts are together at least `tokens` shorter, if possible. In a run of
 * adjacent steps, the text of the last becomes a summary of all, and the others have none.
 */
export function condensed(entries: readonly Entry[], folds: Folds, tokens: number): Fold[] {
  const byID = new Map(entries.map((entry) => [entry.id, entry]))
  const sent = entries.filter(({ id, blocks }) => blocks > 0 || stepFold(folds, id))
  const result: Fold[] = []
  let left = tokens
  for (const episode of episodesOf(sent, folds)) {
    if (left <= 0) break
    let before = 0
    const enough = episode.findIndex((fold) => {
      before += fold.textTokens
      return before - tokensOfLength(MAX_SUMMARY_CHARS) >= left
    })
    const run = enough < 0 ? episode : episode.slice(0, Math.max(MIN_CONDENSED_STEPS, enough + 1))
    const last = run.at(-1)
    if (!last || run.length < MIN_CONDENSED_STEPS) continue
    const text = summaryOf(
      run,
      run.flatMap(({ messageID }) => byID.get(messageID)?.events ?? []),
    )
    const textTokens = tokensOfLength(text.length)
    const spared = run.reduce((sum, fold) => sum + fold.textTokens, 0) - textTokens
    if (spared <= 0) continue
    for (const fold of run.slice(0, -1)) if (fold.text !== "") result.push({ ...fold, text: "", textTokens: 0 })
    result.push({ ...last, text, textTokens })
    left -= spared
  }
  return result
}

/** One line: how many steps, what they edited and how often, and how much they read and ran. */
function summaryOf(run: readonly Fold[], events: readonly ToolEvent[]): string {
  const edits = new Map<string, number>()
  let reads = 0
  let commands = 0
  for (const { kind, files } of events) {
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
  return oneLine(cut(redact(`${stepRanges(run)} ${words.join("; ")}`), MAX_SUMMARY_CHARS))
}
