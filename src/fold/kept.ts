// The steps that are still sent as they are, and why, for people.

import type { Entry } from "../session/entry.ts"
import type { Facts } from "../session/facts.ts"
import type { Step } from "../session/steps.ts"
import { stepLabel, type ToolEvent } from "../session/tool-event.ts"
import { groupBy } from "../system/values.ts"
import { type Folding, isRecalled, isWhole } from "./folding.ts"
import { decisionsIn, sumSavings, unfoldedSteps } from "./plan.ts"

export const MAX_LISTED_STEPS = 50

type KeptSource = {
  entries: readonly Entry[]
  facts: Facts
  folding: Folding
  /** the user's options keep it from being folded */
  isProtected(event: ToolEvent): boolean
}

/** How many steps stay because they are open and why, how much is settled and waits, and the newest of both. */
export function keptSteps(source: KeptSource) {
  const { entries, facts, folding, isProtected } = source
  const steps = unfoldedSteps(entries, facts, folding.folds, 1)
  const isWanted = (messageID: string) => isWhole(folding, messageID, facts.calls)
  const wasRecalled = (event: ToolEvent) => isRecalled(folding, event, facts.calls)
  /** Why a step is not folded; undefined where it is settled, and waits until folding it pays. */
  const whyKept = ({ entry: { id, events }, open }: Step) => {
    if (isWanted(id)) return "you keep it whole"
    if (open !== undefined) return open
    if (events.some(isProtected)) return "an option protects it"
    return events.some(wasRecalled) ? "it was recalled" : undefined
  }
  const shown = steps.map((step) => {
    const { id, events, tokens, call } = step.entry
    return { step: call, messageID: id, what: stepLabel(events), tokens, why: whyKept(step) }
  })
  const reasons = shown.flatMap(({ why }) => why ?? [])
  const waiting = decisionsIn(steps, {
    folds: folding.folds,
    isProtected: (event) => wasRecalled(event) || isProtected(event),
    isWhole: isWanted,
  })
  return {
    open: reasons.length,
    settled: shown.length - reasons.length,
    outputs: waiting.filter(({ kind }) => kind === "output").length,
    tokens: sumSavings(waiting, folding),
    reasons: [...groupBy(reasons, (why) => why)]
      .map(([why, steps]) => ({ why, steps: steps.length }))
      .sort((a, b) => b.steps - a.steps),
    newest: shown.slice(0, MAX_LISTED_STEPS),
  }
}
