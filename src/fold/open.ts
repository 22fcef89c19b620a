// The steps that are still sent as they are, and why, for people.

import type { Entry } from "../session/entry.ts"
import { stepLabel, type ToolEvent } from "../session/event.ts"
import type { Facts } from "../session/facts.ts"
import { closureOf } from "../session/steps.ts"
import { leadingOf, stepFold } from "./fold.ts"
import type { Folding } from "./folding.ts"
import { type ModelMisses, patienceOf } from "./misses.ts"
import { isPinned } from "./prepare.ts"

export type OpenStep = { step: number; what: string; why: string }

export type Openness = {
  /** steps that stay because they are open */
  open: number
  /** steps that are settled and stay until folding them pays */
  settled: number
  /** why they are open, in words without names, most steps first */
  reasons: { why: string; steps: number }[]
  /** newest first, at most `MAX_OPEN_STEPS` */
  newest: OpenStep[]
}

export const MAX_OPEN_STEPS = 20

export type OpennessSource = {
  entries: readonly Entry[]
  facts: Facts
  folding: Folding
  modelMisses: ModelMisses
  /** names of files, without folders, that the newest messages mention */
  mentioned: ReadonlySet<string>
  /** the user's options keep it from being folded */
  isProtected(event: ToolEvent): boolean
}

export function openness(source: OpennessSource): Openness {
  const { entries, facts, folding, modelMisses, mentioned, isProtected } = source
  const steps = closureOf(entries, facts, {
    focus: { messages: [], fileNames: mentioned },
    scale: 1,
    patience: (shows) => patienceOf(folding.missed, modelMisses, shows),
    first: leadingOf(entries, folding.folds).entries.length,
    isFolded: ({ id }) => stepFold(folding.folds, id) !== undefined,
  })
  const counts = new Map<string, number>()
  const open = steps.flatMap(({ entry, number, ...step }): OpenStep[] => {
    const kept = keptBy(entry, facts, folding, isProtected)
    const why = step.open ?? kept
    const kind = step.openKind ?? kept
    if (why === undefined || kind === undefined) return []
    counts.set(kind, (counts.get(kind) ?? 0) + 1)
    return [{ step: number, what: stepLabel(entry.events), why }]
  })
  return {
    open: open.length,
    settled: steps.length - open.length,
    reasons: [...counts].map(([why, steps]) => ({ why, steps })).sort((a, b) => b.steps - a.steps),
    newest: open.slice(0, MAX_OPEN_STEPS),
  }
}

/** Why a settled step stays all the same. */
function keptBy(
  { events }: Entry,
  { calls }: Facts,
  folding: Folding,
  isProtected: OpennessSource["isProtected"],
): string | undefined {
  if (events.some(isProtected)) return "an option protects it"
  return events.some((event) => isPinned(folding, event, calls)) ? "it was recalled" : undefined
}
