// Makes the folds of a cut from the planner's decisions, with their texts.

import { stringsIn } from "../session/arguments.ts"
import type { Message, ToolPart } from "../session/conversation.ts"
import { digestKey } from "../session/source.ts"
import { callLabel, type Env, stepLabel } from "../session/tool-event.ts"
import { groupBy } from "../system/values.ts"
import { tokensOfLength } from "../text/tokens.ts"
import { forgetFound, MAX_AHEAD } from "./ahead.ts"
import { type Fold, type Folds, outputFold, outputKey, recallID, stepFold, stepKey } from "./fold.ts"
import { chooseNames, namesUsed } from "./names.ts"
import type { CutPlan, Decision } from "./plan.ts"
import { outputLine, type RecordLine, stepLines, withNames } from "./record.ts"
import { foldSource } from "./sources.ts"

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
    return draft ? [{ ...draft, ...why, messageID: step.entry.id, step: step.entry.call }] : []
  })
  const lines = drafts.flatMap((draft) => draft.lines)
  const foldedTokens = drafts.reduce((sum, { tokens }) => sum + tokens, 0)
  const names = chooseNames(lines, foldedTokens, {
    kept: [...keptTexts(messages, folds, drafts), ...lines.flatMap(({ first, below = [] }) => [first, ...below])],
    used: namesUsed(messages),
  })
  for (const { kind, step } of plan.decisions)
    if (kind === "step" || step.index < messages.length - MAX_AHEAD) forgetFound(step.entry)
  return drafts.flatMap(({ lines, ...draft }): Fold[] => {
    const texts = lines.map((line) => withNames(line, names.get(line)))
    const text = texts.filter((one) => one !== "").join("\n")
    const textTokens = tokensOfLength(text.length)
    return draft.kind === "step" || textTokens < draft.tokens ? [{ ...draft, text, textTokens }] : []
  })
}

function newDraft(decision: Decision, message: Message, folds: Folds, env: Env) {
  const { entry } = decision.step
  if (decision.kind === "step") {
    const { id: partID, events, tokens, call } = entry
    const hash = env.hash(stepKey(entry))
    const lines = stepLines(call, message, events)
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
