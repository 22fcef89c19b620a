// Decides which outputs are sent folded from this call on, and why. The decision is about marginal cost: folding an
// output makes the provider process everything after it again; in return every later call carries less.

import { type Candidate, candidatesOf, type Situation } from "./candidates.ts"
import type { Reason } from "./fold.ts"
import { remainingCalls } from "./need.ts"

export type Decision = Pick<Candidate, "event" | "side" | "needKind" | "by" | "tokens" | "textTokens"> & {
  reason: Reason
  /** the reason in words for people, one line */
  because: string
}

/**
 * What a cut must gain beyond what it loses, in fresh input tokens, so that folds are rare and many at once:
 * docs/decisions/029.
 */
const MARGIN_TOKENS = 20_000

/** Shares of the size at which OpenCode compacts: room is made from the first, down to the second. */
const PRESSURE = 0.8
const RELIEVED = 0.6

/**
 * Folds decided in one call at most, those that gain most: a digest takes up to a millisecond to write, and a session
 * that was begun without the plugin has thousands of outputs. With a cold cache more are folded, because all is sent
 * again anyway.
 */
const MAX_FOLDS_WARM = 100
const MAX_FOLDS_COLD = 300
/** Newest outputs considered while the cache is warm: behind older ones there is too much to send again. */
const MAX_OUTPUTS_WARM = 1500

/** The outputs to fold from this call on, oldest first. */
export function planFolds(situation: Situation): Decision[] {
  const { compactsAt = Number.POSITIVE_INFINITY, contextTokens, cached } = situation
  const pressing = contextTokens >= compactsAt * PRESSURE
  const reach = pressing || cached.messages === 0 ? Number.POSITIVE_INFINITY : MAX_OUTPUTS_WARM
  const candidates = candidatesOf(situation, reach)
  const chosen = situation.stopped ? [] : worthwhile(candidates.filter(isCharged(situation)), situation)
  const more = pressing ? underPressure(candidates, chosen, situation) : []
  // candidates come newest first: reversed before the stable sort, those of one call come in order
  return [...chosen, ...more].reverse().sort((a, b) => a.event.call - b.event.call)
}

/** Where requests are billed instead of tokens, breaking a warm prefix gains nothing until room is needed. */
function isCharged({ pricing }: Situation): (candidate: Candidate) => boolean {
  return ({ lost, needKind }) => pricing.billing !== "requests" || lost === 0 || needKind === "duplicate"
}

/**
 * All candidates up to the cut where the sum of their gains exceeds the cost of the lost cache by most. Once the prefix
 * is broken there, everything behind it is folded at no further cost.
 */
function worthwhile(candidates: readonly Candidate[], { pricing, facts, cached }: Situation): Decision[] {
  const rewrite = pricing.write - pricing.read
  const max = cached.messages ? MAX_FOLDS_WARM : MAX_FOLDS_COLD
  const gaining = candidates.filter(({ value }) => value > 0)
  let chosen = upToBestCut(gaining, rewrite)
  // fewer folds gain less, so whether they still pay for the cut is decided again
  if (chosen.length > max) chosen = upToBestCut(mostValuable(chosen, max), rewrite)
  const cost = Math.round(rewrite * (chosen.at(-1)?.lost ?? 0))
  const calls = Math.round(remainingCalls(facts.calls))
  return chosen.map((candidate) => {
    if (candidate.needKind === "duplicate") return { ...candidate, reason: "free", because: candidate.why }
    if (candidate.lost === 0) return { ...candidate, reason: "free", because: `${candidate.why}; it was not cached` }
    const less = `saves ${candidate.tokens - candidate.textTokens} tokens on each of about ${calls} more calls`
    const paid = `resending what follows costs ${cost} tokens once, for all folds of this call`
    return { ...candidate, reason: "pays", because: `${candidate.why}; ${less}; ${paid}` }
  })
}

function upToBestCut(gaining: readonly Candidate[], rewrite: number): readonly Candidate[] {
  let sum = 0
  let best = 0
  let count = 0
  gaining.forEach(({ value, lost }, i) => {
    sum += value
    const gain = lost > 0 ? sum - rewrite * lost - MARGIN_TOKENS : sum
    if (gain <= best) return
    best = gain
    count = i + 1
  })
  return gaining.slice(0, count)
}

/** Those that gain most, in the order given. */
function mostValuable(candidates: readonly Candidate[], max: number): Candidate[] {
  const least = candidates.map(({ value }) => value).sort((a, b) => b - a)[max - 1] ?? 0
  return candidates.filter(({ value }) => value >= least).slice(0, max)
}

/** More to fold so that OpenCode does not compact: least needed first. */
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
  const rest = candidates.filter(({ event }) => !taken.has(event)).sort((a, b) => a.needsPerToken - b.needsPerToken)
  const more: Decision[] = []
  for (const candidate of rest) {
    if (left <= compactsAt * RELIEVED || more.length === MAX_FOLDS_COLD) break
    left -= saved([candidate])
    const because = `the context nears ${compactsAt} tokens, where OpenCode compacts; ${candidate.why}`
    more.push({ ...candidate, reason: "must", because })
  }
  return more
}

/** From OpenCode's model record; 0 or missing is unknown. */
export type ModelLimits = { context?: number; input?: number; output?: number }

/** From OpenCode's configuration, where OPENCODE_DISABLE_AUTOCOMPACT has already become `auto: false`. */
export type CompactionOptions = { auto?: boolean; reserved?: number }

/** Output tokens OpenCode requests at most, unless OPENCODE_EXPERIMENTAL_OUTPUT_TOKEN_MAX says otherwise. */
export const OUTPUT_CAP = 32_000

/** Tokens kept free below an input limit, unless `compaction.reserved` says otherwise. */
const RESERVED_TOKENS = 20_000

/**
 * The size of the last call (input, output, cache read and write together) at which OpenCode compacts, computed as
 * OpenCode 1.18 does. Undefined when it never compacts, as with an unknown context. It can be 0: a model whose answer
 * may fill its context always compacts.
 *
 * `reserved` counts only where the model has an input limit; otherwise room for the answer is kept free.
 */
export function compactsAt(
  limits: ModelLimits,
  compaction: CompactionOptions = {},
  outputCap = OUTPUT_CAP,
): number | undefined {
  if (compaction.auto === false || !limits.context) return undefined
  const answer = Math.min(limits.output || outputCap, outputCap)
  if (!limits.input) return Math.max(0, limits.context - answer)
  return Math.max(0, limits.input - (compaction.reserved ?? Math.min(RESERVED_TOKENS, answer)))
}

/** The output cap set by OPENCODE_EXPERIMENTAL_OUTPUT_TOKEN_MAX; anything but a positive integer is ignored. */
export function outputCapOf(variable: string | undefined): number {
  const requested = Number(variable)
  return Number.isInteger(requested) && requested > 0 ? requested : OUTPUT_CAP
}
