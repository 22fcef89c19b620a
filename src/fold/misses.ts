// What recalls teach: a kind of output that was wanted again after it had been folded stays longer. A session counts its own
// misses; across sessions they are counted by model, since models differ in what they look up again.

import * as z from "zod/mini"
import { SHOWS, type Shows } from "../output/shows.ts"
import type { Entry } from "../session/entry.ts"
import type { Fold } from "./fold.ts"

const count = z.int().check(z.minimum(0))

/** How often outputs of a kind were folded, and how often they were recalled. Also the shape in which the store keeps it. */
export const missCountSchema = z.object({
  shows: z.enum(SHOWS),
  recalls: count,
  folded: count,
})
export type MissCount = z.output<typeof missCountSchema>

/** A model's counts over all sessions, by kind. */
export type ModelMisses = ReadonlyMap<Shows, MissCount>

/** A session's misses that count, and for how many more steps each keeps outputs of its kind. */
const MAX_MISSED = 4
const STEPS_PER_MISS = 2
/** The steps that a model's recalls add at most, and the share of recalls that adds as many. */
const MAX_MODEL_STEPS = 4
const FULL_RATE = 0.02
/** With fewer folds than this, the share is taken of this many: a first recall says little. */
const MIN_FOLDED = 100
/** Beyond this many folds of a kind both counts are halved, so that newer sessions weigh more. */
const MAX_FOLDED = 2000

/**
 * For how many more steps outputs of a kind stay: 2 for each miss in this session (at most 4 count), and up to 4 for the model's
 * share of recalls, linear up to 2 %.
 */
export function patienceOf(missed: ReadonlyMap<Shows, number>, misses: ModelMisses, shows: Shows): number {
  const { recalls = 0, folded = 0 } = misses.get(shows) ?? {}
  const rate = recalls / Math.max(MIN_FOLDED, folded)
  return STEPS_PER_MISS * Math.min(MAX_MISSED, missed.get(shows) ?? 0) + MAX_MODEL_STEPS * Math.min(1, rate / FULL_RATE)
}

/** The sum of both. A kind that was folded more than 2,000 times has its counts halved. */
export function addMisses(known: ModelMisses, added: ModelMisses): ModelMisses {
  const sum = new Map(known)
  for (const [shows, { recalls, folded }] of added) {
    const before = known.get(shows)
    const both = { recalls: recalls + (before?.recalls ?? 0), folded: folded + (before?.folded ?? 0) }
    sum.set(shows, { shows, ...(both.folded > MAX_FOLDED ? halved(both) : both) })
  }
  return sum
}

function halved({ recalls, folded }: Omit<MissCount, "shows">): Omit<MissCount, "shows"> {
  return { recalls: Math.floor(recalls / 2), folded: Math.floor(folded / 2) }
}

/** Counts each fold once for every kind of output in it: a step may have several. `entries` contain what was folded. */
export function countKinds(
  folds: readonly Fold[],
  entries: readonly Entry[],
  as: "recalls" | "folded",
): Map<Shows, MissCount> {
  const counts = new Map<Shows, MissCount>()
  // most requests fold nothing, and a session may have 10,000 entries
  if (folds.length === 0) return counts
  const byID = new Map(entries.map((entry) => [entry.id, entry]))
  for (const fold of folds) {
    for (const shows of kindsOf(fold, byID.get(fold.messageID))) {
      const counted = counts.get(shows) ?? { shows, recalls: 0, folded: 0 }
      counts.set(shows, { ...counted, [as]: counted[as] + 1 })
    }
  }
  return counts
}

/** The kinds of output that a fold stands for; none when its message is gone. */
export function kindsOf({ side, partID }: Fold, entry: Entry | undefined): ReadonlySet<Shows> {
  const events = entry?.events.filter((event) => side === "step" || event.partID === partID) ?? []
  return new Set(events.map(({ shows }) => shows))
}
