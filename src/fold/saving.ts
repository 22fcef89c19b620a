// Estimates what the plugin has saved a session so far. What a call would have cost without the plugin follows from the usage
// that the provider reported for it, and from what was left out of its request or added to it.

import { modelKey, type Usage } from "../session/conversation.ts"
import type { Entry } from "../session/entry.ts"
import { contextTokens } from "../session/facts.ts"
import { isRecall } from "../session/tool-event.ts"
import { estimateTokens } from "../text/tokens.ts"
import type { Pricing } from "./pricing.ts"
import { RECALL_DEFINITION } from "./recall.ts"

/** What the plugin did to one request, in estimated tokens. */
export type SentTokens = {
  /** left out by folds, less what recalls returned; `changed`: a fold is new or was dropped, which breaks the prefix */
  foldedTokens: number
  changed: boolean
  /** how much of the last request the cache no longer held, whatever was folded since; infinite when it held nothing of it */
  lostTokens?: number
  /** of the messages that were sent */
  sentTokens?: number
  /** the call before it only recalled: without the plugin one of the two would not have been made */
  isExtra?: boolean
  /** added: the HUD, and the notice that introduces the plugin in the list of tools */
  hudTokens: number
  noticeTokens: number
  /** reported tokens per estimated token */
  ratio: number
  nowMs: number
  /** as `provider/model` */
  model: string
  pricing: Pricing
  /** the call before it, for where an earlier process made that, or the plugin did not prepare it */
  earlier?: ReturnType<typeof lastCall>
  /** the size at which OpenCode compacts: without the plugin it would have compacted a larger request */
  compactsAt?: number | undefined
}

export type Saving = ReturnType<typeof noSaving>

export function noSaving() {
  return {
    /** calls that were reported */
    calls: 0,
    /** input tokens not sent, less those added */
    tokens: 0,
    /** the input's cost with and without the plugin, in fresh input tokens */
    cost: 0,
    costWithout: 0,
    /** tokens of answers and reasoning; what they cost more without the plugin is in `costWithout` */
    output: 0,
    /** USD; 0 while no price is known */
    usd: 0,
  }
}

/**
 * The last call as it would have been without the plugin. `caches`: the provider has a cache, which would hold it for the next
 * call; known once a read or a write is reported. `compacted`: of what is folded, what OpenCode would have compacted by then, in
 * estimated tokens.
 */
export type CallWithout = { tokens: number; nowMs: number; model: string; caches: boolean; compacted?: number }

/** The last call of the record. `leftOut`: what of its request is folded, in reported tokens, whether it was sent so or not. */
export function lastCall(entries: readonly Entry[], leftOut: number) {
  const { usage, createdMs, model } = entries.findLast((entry) => entry.kind === "step" && entry.usage) ?? {}
  if (!usage || !createdMs) return
  const caches = usage.cacheRead + usage.cacheWrite > 0
  return { tokens: contextTokens(usage) + leftOut, nowMs: createdMs, model: modelKey(model), caches, leftOut }
}

/** Whether the newest step did nothing but recall. */
export function onlyRecalls(entries: readonly Entry[]): boolean {
  const newest = entries.findLast(({ kind, blocks }) => kind === "step" && blocks > 0)?.events ?? []
  return newest.length > 0 && newest.every(isRecall)
}

export function addSaving(one: Saving, other: Saving): Saving {
  const sum = { ...one }
  for (const field of Object.keys(sum) as (keyof Saving)[]) sum[field] += other[field]
  return sum
}

/** What the calls cost in USD, answers included; undefined if the price is unknown. */
export function paidUsd({ cost, output }: Saving, pricing: Pricing): number | undefined {
  return pricing.usdPerMillion > 0 ? ((cost + output * pricing.output) * pricing.usdPerMillion) / 1e6 : undefined
}

/** A saving in terms of another model's prices, to add both. What is not billed by tokens costs nothing beside what is. */
export function inTermsOf(saving: Saving, from: Pricing, to: Pricing): Saving {
  const isKnown = from.usdPerMillion > 0 || from.billing !== "tokens"
  const factor = isKnown && to.usdPerMillion > 0 ? from.usdPerMillion / to.usdPerMillion : 1
  return {
    ...saving,
    cost: saving.cost * factor,
    costWithout: saving.costWithout * factor,
    output: (saving.output * factor * from.output) / to.output,
  }
}

/** Estimated tokens that introduce the plugin in every request's list of tools, where folding is on. */
export const NOTICE_TOKENS = estimateTokens(RECALL_DEFINITION)

/** Share of all that the calls cost, answers included, that was saved; negative when the plugin cost more than it saved. */
export function savedOfBill({ cost, costWithout, output }: Saving, pricing: Pricing): number {
  return costWithout > 0 ? (costWithout - cost) / (costWithout + output * pricing.output) : 0
}

/**
 * The saving of one reported call. Without the plugin, the request would have been larger by what was left out and
 * smaller by what was added. Where it would have been too large, OpenCode would have compacted it, so that what is folded by
 * then would have been left out too.
 */
export function savingOf(usage: Usage, sent: SentTokens, before: CallWithout | undefined) {
  const { pricing, nowMs, model, isExtra, foldedTokens, compactsAt = Number.POSITIVE_INFINITY } = sent
  const added = sent.hudTokens + sent.noticeTokens
  const total = contextTokens(usage)
  const compactedBefore = Math.max(0, Math.min(before?.compacted ?? 0, foldedTokens))
  const folded = (foldedTokens - compactedBefore) * sent.ratio
  const isCompacted = total + folded - added > compactsAt
  const leftOut = isCompacted ? 0 : folded
  const without = Math.max(0, total + leftOut - added)
  const cached = Math.min(without, cachedWithout(usage, sent, before, { leftOut, isCompacted, whole: total + folded }))
  const freshTokens = usage.input + usage.cacheWrite
  const written = freshTokens > 0 ? usage.cacheWrite / freshTokens : 1
  const billed = (tokens: number, held: number) => {
    const price = pricing.tiers?.find(({ above = Number.POSITIVE_INFINITY }) => tokens > above) ?? pricing
    const times = pricing.usdPerMillion > 0 ? price.usdPerMillion / pricing.usdPerMillion : 1
    const fresh = (tokens - held) * (1 + written * (price.write - 1))
    return { cost: times * (fresh + held * price.read), output: (usage.output * times * price.output) / pricing.output }
  }
  const { cost, output } = billed(total, usage.cacheRead)
  const whole = billed(without, cached)
  const costWithout = isExtra ? 0 : whole.cost + (whole.output - output) * pricing.output
  const caches = usage.cacheRead + usage.cacheWrite > 0 || (before?.model === model && before.caches)
  return {
    saving: {
      calls: 1,
      tokens: isExtra ? -total : leftOut - added,
      cost,
      costWithout,
      output,
      usd: ((costWithout - cost) * pricing.usdPerMillion) / 1e6,
    },
    /** the call as it would have been, which is `before` of the next one */
    after: { tokens: without, nowMs, model, caches, compacted: isCompacted ? foldedTokens : compactedBefore },
  }
}

/**
 * What the cache would have held of the request without the plugin: what was read, plus what older folds left out, less the
 * notice. If the call changed folds, it would have held all of the last request, unless this one was compacted. `whole`: tokens
 * of the request with what is folded.
 */
function cachedWithout(
  usage: Usage,
  sent: SentTokens,
  before: CallWithout | undefined,
  { leftOut, isCompacted, whole }: { leftOut: number; isCompacted: boolean; whole: number },
): number {
  const { earlier, lostTokens: lost = 0, sentTokens = 0 } = sent
  const warm = before?.model === sent.model && sent.nowMs - before.nowMs < sent.pricing.lifetimeMs ? before : undefined
  const read = Math.max(0, usage.cacheRead - sent.noticeTokens)
  // unless the report shows that messages were found all the same
  if (warm && lost === Number.POSITIVE_INFINITY && read < contextTokens(usage) - (sentTokens * sent.ratio) / 2)
    return read
  // without a call of which the cache is known to hold something, what was read tells whether it did; also after a lifetime that
  // is a guess, as all are of providers without marks
  const isGuess = before?.model === sent.model && sent.pricing.lookback === undefined
  const isResumed = (before === undefined || before === earlier || isGuess) && read > contextTokens(usage) / 2
  const kept = warm || isResumed ? read + leftOut : read
  // the last call before a restart was too large to have been folded, so it was sent whole; or it was folded and this one is not
  const leftOutBefore = warm && warm === earlier ? earlier.leftOut : 0
  const wasWhole = warm !== undefined && leftOutBefore > 0 && warm.tokens > whole + leftOutBefore / 2
  const changed = sent.changed || wasWhole || (leftOutBefore > 0 && sent.foldedTokens <= 0)
  if (warm && changed && !isCompacted && (warm.caches || usage.cacheRead > 0))
    return wasWhole
      ? Math.max(warm.tokens - leftOutBefore, kept)
      : warm.tokens - (Number.isFinite(lost) ? lost * sent.ratio : 0)
  return usage.cacheRead === 0 ? 0 : kept
}
