// A session's folds from call to call: which are sent, which can be recalled, and what the user or the agent wants whole.

import type { Reading } from "../session/ledger.ts"
import { KEPT_WHOLE_STEPS } from "../session/steps.ts"
import type { Env, ToolEvent } from "../session/tool-event.ts"
import { renew } from "../system/values.ts"
import { newCalibration } from "./calibration.ts"
import { type Fold, type Folds, isIntact, MAX_FOLDS, outputFold, outputKey, stepFold } from "./fold.ts"

/** Immutable: functions that change it return another. */
export type Folding = Readonly<ReturnType<typeof newFolding>>

export function newFolding() {
  return {
    /** what is sent folded, by part id, steps by message id; folds of messages that a compaction or a revert removed stay */
    folds: new Map() as Folds,
    /** all folds, also those that are no longer sent, by recall id */
    recallable: new Map() as Folds,
    /** estimated tokens of the messages right after the last cut, or fewer if they have shrunk since */
    tokensAfterCut: 0,
    /** what was recalled, by part id, steps by message id: the call until which it is not folded again */
    recalledUntil: new Map() as ReadonlyMap<string, number>,
    /** the steps that the user wants whole, by message id: until which call */
    wholeUntil: {} as Readonly<Record<string, number>>,
    /** what the provider reported, compared with what was expected */
    calibration: newCalibration(),
  }
}

/** The `cutBecause` of folds made for a summary. They are for recall only: when a compaction is undone, its steps are whole again. */
export const SUMMARISED = "OpenCode compacted the session"

/** Adds new folds, or those an earlier process left. An id that names something else already keeps its meaning. */
export function addFolds(folding: Folding, added: readonly Fold[]): Folding {
  if (added.length === 0) return folding
  const folds = new Map(folding.folds)
  const recallable = new Map(folding.recallable)
  for (const fold of added) {
    const known = recallable.get(fold.id)
    if (known && known.hash !== fold.hash) continue
    if (fold.cutBecause !== SUMMARISED) renew(folds, fold.partID, fold, MAX_FOLDS)
    renew(recallable, fold.id, fold, MAX_FOLDS)
  }
  // outputs of a folded step are not sent; they can still be recalled
  for (const { kind, partID, messageID } of folds.values())
    if (kind === "output" && stepFold(folds, messageID)) folds.delete(partID)
  return { ...folding, folds, recallable }
}

/**
 * Drops the folds of content that has changed, and of the steps that the user wants whole at this call, and returns their part
 * ids. All can still be recalled.
 */
export function dropFolds(
  before: Folding,
  { fresh, facts }: Pick<Reading, "fresh" | "facts">,
  env: Pick<Env, "hash">,
  wholeUntil = before.wholeUntil,
): { folding: Folding; dropped: string[] } {
  const folding = { ...before, wholeUntil }
  const dropped: string[] = []
  for (const entry of fresh) {
    const step = stepFold(before.folds, entry.id)
    // of a step whose time OpenCode 2 has not told yet, nothing can be compared
    if (step && entry.createdMs > 0 && !isIntact(entry, step, env)) dropped.push(step.partID)
    for (const event of entry.events) {
      const fold = outputFold(before.folds, entry.id, event)
      if (fold && fold.hash !== env.hash(outputKey(event))) dropped.push(fold.partID)
    }
  }
  if (Object.keys(wholeUntil).length > 0)
    for (const { partID, messageID } of before.folds.values())
      if (isWhole(folding, messageID, facts.calls)) dropped.push(partID)
  if (dropped.length === 0) return { folding, dropped }
  const folds = new Map(before.folds)
  for (const partID of dropped) folds.delete(partID)
  return { folding: { ...folding, folds }, dropped }
}

const MAX_RECALLED = 500

/** The state after these folds were recalled at a call. They stay, since the recalled copy is in the conversation. */
export function withRecalled(folding: Folding, folds: readonly Fold[], call: number): Folding {
  const recalledUntil = new Map([...folding.recalledUntil].filter(([, until]) => until > call))
  // a step's part id is its message's
  for (const { partID } of folds) renew(recalledUntil, partID, call + KEPT_WHOLE_STEPS, MAX_RECALLED)
  return { ...folding, recalledUntil }
}

/** Whether an output or its step was recalled not long ago. */
export function isRecalled({ recalledUntil }: Folding, { partID, messageID }: ToolEvent, calls: number): boolean {
  return Math.max(recalledUntil.get(partID) ?? 0, recalledUntil.get(messageID) ?? 0) > calls
}

export function isWhole({ wholeUntil }: Folding, messageID: string, calls: number): boolean {
  return (wholeUntil[messageID] ?? 0) > calls
}
