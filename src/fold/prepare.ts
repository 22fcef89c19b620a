// Prepares the folds of one request: the new ones, those that stay, and what the provider's next report should say.

import type { Message, ModelName } from "../session/conversation.ts"
import type { Entry } from "../session/entry.ts"
import type { ToolEvent } from "../session/event.ts"
import { contextNow } from "../session/facts.ts"
import type { Reading } from "../session/ledger.ts"
import { digestKey, type Env } from "../session/normalize.ts"
import { type Account, requestTokens } from "./account.ts"
import { appliedFolds, type Fold } from "./fold.ts"
import { addFolds, type Folding, foldsOf, refuse } from "./folding.ts"
import { quotedParts } from "./need.ts"
import { planFolds } from "./plan.ts"
import type { Pricing } from "./pricing.ts"
import type { CachedPrefix, WireMessage } from "./prompt-cache.ts"

export type FoldCircumstances = {
  nowMs: number
  /** the model the call goes to */
  model?: ModelName
  /** the size at which OpenCode compacts, in tokens; absent when it never does or the limits are unknown */
  compactsAt?: number
  pricing: Pricing
  /** the user paused folding: only folds that make room are decided */
  foldingPaused?: boolean
}

/** The request without a new fold, and what its price depends on. */
export type Unplanned = {
  wire: readonly WireMessage[]
  cached: CachedPrefix
  /** number of the session's messages in the last request; undefined before the first */
  sentEntries: number | undefined
  account: Account
  pricing: Pricing
}

export type FoldPlan = {
  /** decided for this call */
  folded: readonly Fold[]
  /** keys of the digests they use: a better digest comes too late for this session */
  digested: readonly string[]
  /** all folds of the request, by part id */
  folds: ReadonlyMap<string, Fold>
  /** index of the first wire message that differs from the last request; infinite when none does */
  changed: number
  /** The state after the request is sent with a HUD of this size. */
  next(hudTokens: number): Folding
}

export type FoldRequest = {
  messages: readonly Message[]
  reading: Reading
  folding: Folding
  unplanned: Unplanned
  around: FoldCircumstances
  options: { isProtected(event: ToolEvent): boolean }
  env: Env
}

export function prepareFolds(request: FoldRequest): FoldPlan {
  const { messages, folding, around, options, env } = request
  const { facts, entries } = request.reading
  const { wire, cached, sentEntries, account, pricing } = request.unplanned
  const quotedAt = quotes(messages, entries, facts.calls, folding, sentEntries)
  const unfolded = entries.reduce((sum, { tokens }) => sum + tokens, 0)
  const sentTokens = unfolded - appliedFolds(entries, folding.folds).savedTokens
  const contextTokens = requestTokens(account, contextNow(facts)?.tokens ?? 0, sentTokens)
  const decisions = planFolds({
    entries,
    facts,
    folds: folding.folds,
    pricing,
    wire,
    cached,
    sentTokens,
    contextTokens,
    ...(around.compactsAt === undefined ? {} : { compactsAt: around.compactsAt }),
    quotedAt,
    isProtected: (event) => folding.refused.has(event.partID) || options.isProtected(event),
    stopped: around.foldingPaused === true || account.stopped !== undefined,
  })
  const folded = foldsOf(decisions, messages, folding, facts.calls + 1, env)
  const added = folded.length > 0 ? addFolds(folding, folded) : folding
  const refused = decisions.flatMap(({ event: { partID } }) => (added.folds.has(partID) ? [] : [partID]))
  const changed = firstChanged(wire, folded)
  return {
    folded,
    digested: decisions.map(({ event }) => digestKey(event.inputHash, event.outputHash ?? "")),
    folds: added.folds,
    changed,
    next(hudTokens) {
      const applied = appliedFolds(entries, added.folds)
      const sent = unfolded - applied.savedTokens
      const freshTokens = hudTokens + sent - (cached.tokens - cached.lostBy(changed))
      const expected = { call: facts.calls + 1, sentTokens: sent, freshTokens, folded: applied.outputs }
      return { ...refuse(added, refused), quotedAt, account: { ...account, expected } }
    },
  }
}

function firstChanged(wire: readonly WireMessage[], folded: readonly Fold[]): number {
  if (folded.length === 0) return Number.POSITIVE_INFINITY
  const changed = new Set(folded.map(({ messageID, side }) => `${messageID} ${side === "output" ? "results" : "said"}`))
  const index = wire.findIndex(({ source, holds }) => "id" in source && changed.has(`${source.id} ${holds}`))
  return index < 0 ? Number.POSITIVE_INFINITY : index
}

/** Quoted outputs remembered; older quotes no longer matter. */
const MAX_QUOTED = 200

function quotes(
  messages: readonly Message[],
  entries: readonly Entry[],
  calls: number,
  folding: Folding,
  sentEntries: number | undefined,
): ReadonlyMap<string, number> {
  const first = entries[sentEntries ?? entries.length]
  const from = first ? messages.findLastIndex(({ id }) => id === first.id) : -1
  if (from < 0) return folding.quotedAt
  const quoted = quotedParts(messages, from, (partID) => !folding.folds.has(partID))
  if (quoted.length === 0) return folding.quotedAt
  const all = [...folding.quotedAt, ...quoted.map((partID) => [partID, calls] as const)]
  return new Map(all.slice(-MAX_QUOTED))
}
