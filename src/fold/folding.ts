// A session's folds from call to call, and turning one call's decisions into folds.

import { stringsIn } from "../session/arguments.ts"
import type { Message, ToolPart } from "../session/conversation.ts"
import type { Reading } from "../session/ledger.ts"
import { digestKey } from "../session/source.ts"
import { KEPT_WHOLE_STEPS } from "../session/steps.ts"
import { callLabel, type Env, stepLabel, type ToolEvent } from "../session/tool-event.ts"
import { groupBy, renew } from "../system/values.ts"
import { tokensOfLength } from "../text/tokens.ts"
import { forgetFound, MAX_AHEAD } from "./ahead.ts"
import { newCalibration } from "./calibration.ts"
import {
  type Fold,
  type Folds,
  isIntact,
  MAX_FOLDS,
  outputFold,
  outputKey,
  recallID,
  stepFold,
  stepKey,
} from "./fold.ts"
import { chooseNames, namesUsed } from "./names.ts"
import type { CutPlan, Decision } from "./plan.ts"
import { outputLine, type RecordLine, stepLines, withNames } from "./record.ts"
import { foldSource } from "./sources.ts"

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

/** Whether the user wants a step whole. */
export function isWhole({ wholeUntil }: Folding, messageID: string, calls: number): boolean {
  return (wholeUntil[messageID] ?? 0) > calls
}

type CutRequest = { messages: readonly Message[]; folds: Folds; call: number }

type Draft = Omit<Fold, "text" | "textTokens"> & { lines: RecordLine[] }

/** Turns a plan into folds, oldest first. An output that is missing or would not get shorter yields none. */
export function foldsOf(plan: CutPlan, { messages, folds, call }: CutRequest, env: Env): Fold[] {
  const byID = groupBy(messages, ({ id }) => id)
  const drafts = plan.decisions.flatMap((decision): Draft[] => {
    const { because, step } = decision
    // the ledger's entries are those of the messages, in the same order
    const message = messages[step.index]
    // another plugin may give several messages one id; a fold could then replace the wrong one
    const isAlone = byID.get(step.entry.id)?.length === 1
    const draft = message && isAlone && newDraft(decision, message, folds, env)
    const why = { because, reason: plan.reason, cutBecause: plan.because, call }
    return draft ? [{ ...draft, ...why, messageID: step.entry.id, step: step.number }] : []
  })
  const lines = drafts.flatMap((draft) => draft.lines)
  const foldedTokens = drafts.reduce((sum, { tokens }) => sum + tokens, 0)
  const names = chooseNames(lines, foldedTokens, {
    kept: [...keptTexts(messages, folds, drafts), ...lines.flatMap(({ said, below = [] }) => [said, ...below])],
    used: namesUsed(messages),
  })
  for (const { kind, step } of plan.decisions)
    if (kind === "step" || step.index < messages.length - MAX_AHEAD) forgetFound(step.entry)
  return drafts.flatMap(({ lines, ...draft }): Fold[] => {
    const said = lines.map((line) => withNames(line, names.get(line)))
    const text = said.filter((one) => one !== "").join("\n")
    const textTokens = tokensOfLength(text.length)
    return draft.kind === "step" || textTokens < draft.tokens ? [{ ...draft, text, textTokens }] : []
  })
}

function newDraft(decision: Decision, message: Message, folds: Folds, env: Env) {
  const { id: partID, events, tokens } = decision.step.entry
  if (decision.kind === "step") {
    const hash = env.hash(stepKey(decision.step.entry))
    const lines = stepLines(decision.step.number, message, events)
    return { id: recallID(hash), partID, hash, kind: "step" as const, what: stepLabel(events), tokens, lines }
  }
  const { event } = decision
  const [part, other] = message.parts.filter((one): one is ToolPart => one.type === "tool" && one.id === event.partID)
  if (!part || other || part.id === "" || folds.has(part.id)) return
  const hash = env.hash(outputKey(event))
  const id = recallID(hash)
  const source = foldSource(part, event)
  const digest = env.digest(digestKey(event), source.whole())
  const lines = [outputLine(id, part, digest, source)]
  const what = callLabel(event)
  return { id, partID: part.id, hash, kind: "output" as const, what, tokens: event.outputTokens, lines }
}

/** The texts of the request that stay as they are. */
export function keptTexts(messages: readonly Message[], folds: Folds, drafts: readonly Pick<Draft, "partID">[]) {
  const leaving = new Set(drafts.map(({ partID }) => partID))
  return messages.flatMap((message) => {
    if (leaving.has(message.id) || message.error === "failed") return []
    const step = stepFold(folds, message.id)
    if (step) return [step.text]
    return message.parts.flatMap((part) => {
      if (part.type === "text") return part.ignored ? [] : [part.text]
      if (part.type === "reasoning") return [part.text]
      if (part.type !== "tool") return []
      const isSent = !leaving.has(part.id) && part.clearedMs === undefined
      const fold = outputFold(folds, message.id, { partID: part.id, cleared: false })
      return [...stringsIn(part.input), ...(isSent ? [fold?.text ?? part.output] : [])]
    })
  })
}
