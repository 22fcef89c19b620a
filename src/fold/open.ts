// The steps that are still sent as they are, and why, for people.

import type { Entry } from "../session/entry.ts"
import { nameOf, type ToolEvent } from "../session/event.ts"
import type { Facts } from "../session/facts.ts"
import { closureOf } from "../session/steps.ts"
import { cutMiddle } from "../text/sanitize.ts"
import { stepFold } from "./fold.ts"
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
const MAX_WHAT_CHARS = 100

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
    isFolded: ({ id }) => stepFold(folding.folds, id) !== undefined,
  })
  const open = steps.flatMap(({ entry, number, open }): OpenStep[] => {
    const why = open ?? keptBy(entry, facts, folding, isProtected)
    return why === undefined ? [] : [{ step: number, what: whatOf(entry), why }]
  })
  const counts = new Map<string, number>()
  for (const { why } of open) counts.set(withoutNames(why), (counts.get(withoutNames(why)) ?? 0) + 1)
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

function whatOf({ events: [first, ...more] }: Entry): string {
  if (!first) return "a text"
  const what = cutMiddle(nameOf(first), MAX_WHAT_CHARS)
  return more.length > 0 ? `${what} and ${more.length} more` : what
}

/** The reason without the names and numbers of its step, so that equal ones can be counted. */
function withoutNames(why: string): string {
  return why
    .replace(/^(\w+) \d+ steps ago$/, "$1 a few steps ago")
    .replace(/^the newest steps mention .+$/, "the newest steps mention its file")
    .replace(/^.+ was edited lately$/, "its file was edited lately")
    .replace(/^.+ has not finished$/, "a call has not finished")
}
