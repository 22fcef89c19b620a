// The steps that are still sent as they are, and why, for people.

import type { Entry } from "../session/entry.ts"
import { stepLabel, type ToolEvent } from "../session/event.ts"
import type { Facts } from "../session/facts.ts"
import { closureOf } from "../session/steps.ts"
import { KEPT_BY_USER, leadingOf, stepFold } from "./fold.ts"
import type { Folding } from "./folding.ts"
import { decisionsIn, savingOfDecision } from "./plan.ts"
import { isPinned, keptByUser } from "./prepare.ts"

/** A step that is sent as it is; without a reason it is settled and waits until folding it pays. */
type KeptStep = { step: number; messageID: string; what: string; tokens: number; why?: string }

type Openness = {
  /** steps that stay because they are open */
  open: number
  /** steps that are settled and stay until folding them pays */
  settled: number
  /** outputs of open steps that stay until then, and the tokens that folding all would leave out of each request */
  outputs: number
  tokens: number
  /** why they are open, most steps first */
  reasons: { why: string; steps: number }[]
  /** newest first, at most `MAX_KEPT_STEPS` */
  newest: KeptStep[]
}

export const MAX_KEPT_STEPS = 50

type OpennessSource = {
  entries: readonly Entry[]
  facts: Facts
  folding: Folding
  /** the user's options keep it from being folded */
  isProtected(event: ToolEvent): boolean
}

export function openness(source: OpennessSource): Openness {
  const { entries, facts, folding, isProtected } = source
  const steps = closureOf(entries, facts, {
    scale: 1,
    first: leadingOf(entries, folding.folds).entries.length,
    isFolded: ({ id }) => stepFold(folding.folds, id) !== undefined,
  })
  const counts = new Map<string, number>()
  const shown = steps.map(({ entry, number, ...step }): KeptStep => {
    const kept = keptBy(entry, facts, folding, isProtected)
    const why = kept === KEPT_BY_USER ? kept : (step.open ?? kept)
    if (why !== undefined) counts.set(why, (counts.get(why) ?? 0) + 1)
    const head = { step: number, messageID: entry.id, what: stepLabel(entry.events), tokens: entry.tokens }
    return why === undefined ? head : { ...head, why }
  })
  const ready = decisionsIn(steps, {
    folds: folding.folds,
    isProtected: (event) => isPinned(folding, event, facts.calls) || isProtected(event),
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

/** Why a settled step is not folded. */
function keptBy(
  { id, events }: Entry,
  { calls }: Facts,
  folding: Folding,
  isProtected: OpennessSource["isProtected"],
): string | undefined {
  if (events.some(isProtected)) return "an option protects it"
  if (keptByUser(folding, { messageID: id }, calls)) return KEPT_BY_USER
  return events.some((event) => isPinned(folding, event, calls)) ? "it was recalled" : undefined
}
