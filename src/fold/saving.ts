// What the plugin has saved a session so far, from what the provider reported of each call and what was left out of it or
// added to it. An estimate of what has not been: what the same call would have come to as OpenCode had it.

import { paragraph } from "../hud/paragraph.ts"
import type { Usage } from "../session/conversation.ts"
import { contextTokens } from "../session/facts.ts"
import { estimateTokens } from "../text/tokens.ts"
import { RECALL_DESCRIPTION } from "./recall.ts"
import type { Tariff } from "./tariff.ts"

/** What the plugin did to one request, in estimated tokens. */
export type SentTokens = {
  /** left out by folds, and those of them that were folded with this very request */
  foldedTokens: number
  newlyFolded: boolean
  /** added: the HUD, and what tells the model of it in the system prompt and the list of tools */
  hudTokens: number
  noticeTokens: number
  /** reported tokens to one estimated */
  ratio: number
  nowMs: number
  /** as `provider/model` */
  model: string
  tariff: Tariff
}

export type Saving = {
  /** calls that were reported */
  calls: number
  /** input tokens that were not sent, what was added taken off */
  tokens: number
  /** the input's cost, and what it would have been; in fresh input tokens */
  cost: number
  costWithout: number
  /** USD; 0 as long as no price is known */
  usd: number
}

/** The last call as it would have been: what the provider's cache would hold for the next. */
export type Before = { tokens: number; nowMs: number; model: string }

export function noSaving(): Saving {
  return { calls: 0, tokens: 0, cost: 0, costWithout: 0, usd: 0 }
}

export function addSaving(one: Saving, other: Saving): Saving {
  return {
    calls: one.calls + other.calls,
    tokens: one.tokens + other.tokens,
    cost: one.cost + other.cost,
    costWithout: one.costWithout + other.costWithout,
    usd: one.usd + other.usd,
  }
}

/** Estimated tokens that tell the model of the plugin in every request: in the system prompt and the list of tools. */
export function noticeTokens(sends: { hud: boolean; folds: boolean }): number {
  return estimateTokens(paragraph(sends) ?? "") + (sends.folds ? estimateTokens(RECALL_DESCRIPTION) : 0)
}

/** Share of the input's cost that was saved; negative when the plugin cost more than it saved. */
export function savedShare({ cost, costWithout }: Saving): number {
  return costWithout > 0 ? 1 - cost / costWithout : 0
}

/**
 * One reported call. Without the plugin the request had been larger by what was left out and smaller by what was added,
 * and the cache had held all of the request before it: but for what the provider would have lost as well. Where nothing
 * was folded anew, what it read is what it had: with what was folded before that in it, and without the notice.
 */
export function savingOf(usage: Usage, sent: SentTokens, before: Before | undefined): { saving: Saving; before: Before } {
  const { tariff, nowMs, model } = sent
  const left = sent.foldedTokens * sent.ratio
  const added = sent.hudTokens + sent.noticeTokens
  const total = contextTokens(usage)
  const without = Math.max(0, total + left - added)
  const fresh = usage.input + usage.cacheWrite
  const cost = usage.input + usage.cacheWrite * tariff.write + usage.cacheRead * tariff.read
  const warm = before?.model === model && nowMs - before.nowMs < tariff.lifetimeMs ? before : undefined
  // a fold made now broke the prefix: without it the whole of the last request had been read
  const read = Math.max(0, usage.cacheRead - sent.noticeTokens)
  const kept = !warm ? read : sent.newlyFolded ? warm.tokens : read + left
  const cached = usage.cacheRead === 0 ? 0 : Math.min(without, kept)
  const freshPrice = fresh > 0 ? (usage.input + usage.cacheWrite * tariff.write) / fresh : tariff.write
  const costWithout = (without - cached) * freshPrice + cached * tariff.read
  return {
    saving: {
      calls: 1,
      tokens: left - added,
      cost,
      costWithout,
      usd: ((costWithout - cost) * tariff.usdPerMillion) / 1e6,
    },
    before: { tokens: without, nowMs, model },
  }
}
