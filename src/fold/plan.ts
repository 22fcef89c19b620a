// Which outputs go out folded from this call on, and why. Pure: what it is told of the ledger, the price and the cache
// is all it knows. The decision is about marginal cost: to fold an output, everything after it that the provider has
// cached is sent anew; in return every call to come carries less.

import { type Candidate, candidatesOf, type Situation } from "./candidates.ts"
import type { Reason } from "./fold.ts"
import { remainingCalls } from "./need.ts"

export type Decision = Pick<Candidate, "event" | "side" | "standing" | "by" | "tokens" | "textTokens"> & {
  reason: Reason
  /** the reason in words for people, one line */
  because: string
}

/**
 * What a cut must gain at least beyond what it loses, in fresh input tokens, so that folds come seldom and many at once:
 * docs/decisions/029.
 */
const MARGIN = 20_000

/** Share of the size at which OpenCode compacts from which room is made, and the share it is made down to. */
const PRESSURE = 0.8
const RELIEVED = 0.6

/**
 * Folds decided in one call at most, those that gain most: writing a digest takes up to a millisecond, and a session that
 * was begun without the plugin has thousands of outputs. More at once where all is sent anew anyway, which is the call
 * to fold them in.
 */
const MOST = 100
const MOST_COLD = 300
/** Outputs looked at, newest first, while the cache is warm: behind older ones there is too much to send anew. */
const REACH = 1500

/** The outputs to fold from this call on, oldest first. */
export function planFolds(situation: Situation): Decision[] {
  const { compactsAt = Number.POSITIVE_INFINITY, contextTokens, cached } = situation
  const pressing = contextTokens >= compactsAt * PRESSURE
  const candidates = candidatesOf(situation, pressing || cached.messages === 0 ? Number.POSITIVE_INFINITY : REACH)
  const chosen = situation.stopped ? [] : worthwhile(candidates.filter(isCharged(situation)), situation)
  const more = pressing ? underPressure(candidates, chosen, situation) : []
  // from the newest back they were found, so that within a call the order is to be turned round
  return [...chosen, ...more].reverse().sort((a, b) => a.event.call - b.event.call)
}

/** Where requests are billed and not tokens, a warm prefix costs nothing: there is only room to gain, when it is wanted. */
function isCharged({ tariff }: Situation): (candidate: Candidate) => boolean {
  return ({ lost, standing }) => tariff.billing !== "requests" || lost === 0 || standing === "again"
}

/**
 * All those up to the cut where the sum of what they gain exceeds most what is lost of the cache: once the prefix is broken
 * there, the others behind it fold at no further cost.
 */
function worthwhile(candidates: readonly Candidate[], { tariff, facts, cached }: Situation): Decision[] {
  const again = tariff.write - tariff.read
  const most = cached.messages ? MOST : MOST_COLD
  const gaining = candidates.filter(({ value }) => value > 0)
  let chosen = upToBestCut(gaining, again)
  // fewer gain less: whether they still pay for the cut is another question
  if (chosen.length > most) chosen = upToBestCut(dearest(chosen, most), again)
  const cost = Math.round(again * (chosen.at(-1)?.lost ?? 0))
  const calls = Math.round(remainingCalls(facts.calls))
  return chosen.map((candidate) => {
    const less = `${candidate.tokens - candidate.textTokens} tokens less on each of about ${calls} calls to come`
    if (candidate.standing === "again") return { ...candidate, reason: "free", because: candidate.why }
    if (candidate.lost === 0)
      return { ...candidate, reason: "free", because: `nothing of this is in the cache; ${candidate.why}` }
    const paid = `for ${cost} sent anew once with what else is folded here`
    return { ...candidate, reason: "pays", because: `${candidate.why}; ${less}, ${paid}` }
  })
}

function upToBestCut(gaining: readonly Candidate[], again: number): readonly Candidate[] {
  let sum = 0
  let best = 0
  let count = 0
  gaining.forEach(({ value, lost }, i) => {
    sum += value
    const gain = lost > 0 ? sum - again * lost - MARGIN : sum
    if (gain <= best) return
    best = gain
    count = i + 1
  })
  return gaining.slice(0, count)
}

/** Those that gain most, in the order given. */
function dearest(candidates: readonly Candidate[], most: number): Candidate[] {
  const least = candidates.map(({ value }) => value).sort((a, b) => b - a)[most - 1] ?? 0
  return candidates.filter(({ value }) => value >= least).slice(0, most)
}

/** What has to go so that OpenCode need not compact: least missed first, the newest call's never. */
function underPressure(
  candidates: readonly Candidate[],
  chosen: readonly Decision[],
  { contextTokens, compactsAt }: Situation,
): Decision[] {
  if (compactsAt === undefined) return []
  const saved = (decisions: readonly { tokens: number; textTokens: number }[]) =>
    decisions.reduce((sum, { tokens, textTokens }) => sum + tokens - textTokens, 0)
  let left = contextTokens - saved(chosen)
  if (left < compactsAt * PRESSURE) return []
  const taken = new Set(chosen.map(({ event }) => event))
  const more: Decision[] = []
  for (const candidate of candidates.filter(({ event }) => !taken.has(event)).sort((a, b) => a.strain - b.strain)) {
    if (left <= compactsAt * RELIEVED || more.length === MOST_COLD) break
    left -= saved([candidate])
    const because = `the context is near ${compactsAt} tokens, where OpenCode compacts; ${candidate.why}`
    more.push({ ...candidate, reason: "must", because })
  }
  return more
}
