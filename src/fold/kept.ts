// The steps that are still sent as they are, and why, for people.

import type { Entry } from "../session/entry.ts"
import type { Facts } from "../session/facts.ts"
import { stepLabel, type ToolEvent } from "../session/tool-event.ts"
import { defined } from "../system/values.ts"
import { type Folding, isRecalled, isWhole } from "./folding.ts"
import { closureOfUnfolded, decisionsIn, savingOfDecision } from "./plan.ts"

/** Steps that are listed. */
export const MAX_KEPT_STEPS = 50

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
  const steps = closureOfUnfolded(entries, facts, folding.folds, 1)
  const counts = new Map<string, number>()
  const isKeptWhole = (messageID: string) => isWhole(folding, messageID, facts.calls)
  const isKept = (event: ToolEvent) => isRecalled(folding, event, facts.calls)
  const shown = steps.map(({ entry, number, open }) => {
    const { id, events, tokens } = entry
    const kept = events.some(isProtected)
      ? "an option protects it"
      : events.some(isKept)
        ? "it was recalled"
        : undefined
    // without a reason it is settled, and waits until folding it pays
    const why = isKeptWhole(id) ? "you keep it whole" : (open ?? kept)
    if (why !== undefined) counts.set(why, (counts.get(why) ?? 0) + 1)
    return { step: number, messageID: id, what: stepLabel(events), tokens, ...defined({ why }) }
  })
  const ready = decisionsIn(steps, {
    folds: folding.folds,
    isProtected: (event) => isKept(event) || isProtected(event),
    isWhole: isKeptWhole,
  })
  const open = shown.filter(({ why }) => why !== undefined).length
  return {
    open,
    settled: shown.length - open,
    outputs: ready.filter(({ kind }) => kind === "output").length,
    tokens: ready.reduce((sum, decision) => sum + savingOfDecision(decision, folding.folds), 0),
    reasons: [...counts].map(([why, steps]) => ({ why, steps })).sort((a, b) => b.steps - a.steps),
    newest: shown.slice(0, MAX_KEPT_STEPS),
  }
}
