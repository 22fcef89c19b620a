// The folds of one call: what is decided now, what stays as it is, and what the next report is to be held against.

import type { HostMessage } from "../host/v1/message.ts"
import { contextNow } from "../hud/sections.ts"
import type { ModelName } from "../hud/slots.ts"
import type { ToolEvent } from "../session/event.ts"
import type { Ledger } from "../session/ledger.ts"
import { digestKey, type Env } from "../session/normalize.ts"
import { type Account, requestTokens } from "./account.ts"
import { type Applied, both, planApply } from "./apply.ts"
import type { Fold } from "./fold.ts"
import { addFolds, type Folding, foldsOf, refuse } from "./folding.ts"
import { planFolds } from "./plan.ts"
import type { CachedPrefix, WireMessage } from "./prompt-cache.ts"
import { quotedParts } from "./quotes.ts"
import type { Tariff } from "./tariff.ts"

export type FoldCircumstances = {
  nowMs: number
  /** the model the call goes to */
  model?: ModelName
  /** the size at which OpenCode compacts, in tokens; absent when it never does or the limits are unknown */
  compactsAt?: number
  tariff: Tariff
  /** the user paused folding: only what must be is folded */
  foldingPaused?: boolean
}

/** The request as it would go out without a new fold, and what is known of its price. */
export type Unplanned = {
  wire: readonly WireMessage[]
  cached: CachedPrefix
  /** messages of the last request, as entries of the ledger; none before the first */
  sentEntries: number | undefined
  account: Account
  tariff: Tariff
}

export type FoldPlan = {
  /** decided for this call */
  folded: readonly Fold[]
  /** keys of the digests that stand in them: a better one comes too late for this session */
  digested: readonly string[]
  applied: Applied
  /** index of the first message of the wire that goes out otherwise than before; infinite when none does */
  changed: number
  /** Remembers what was sent, once it is. */
  remember(hudTokens: number): void
}

export function prepareFolds(
  messages: readonly HostMessage[],
  { ledger, folding }: { ledger: Ledger; folding: Folding },
  { wire, cached, sentEntries, account, tariff }: Unplanned,
  around: FoldCircumstances,
  options: { isProtected(event: ToolEvent): boolean },
  env: Env,
): FoldPlan {
  const { facts, entries } = ledger
  const standing = planApply(messages, folding.folds)
  const quotedAt = quotes(messages, ledger, folding, sentEntries)
  const unfolded = entries.reduce((sum, { tokens }) => sum + tokens, 0)
  const sentTokens = unfolded - standing.savedTokens
  const contextTokens = requestTokens(account, contextNow(facts)?.tokens ?? 0, sentTokens)
  const decisions = planFolds({
    entries,
    facts,
    folds: folding.folds,
    tariff,
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
  const applied = folded.length
    ? both(standing, planApply(messages, new Map(folded.map((fold) => [fold.partID, fold]))))
    : standing
  const changed = firstChanged(wire, folded)
  return {
    folded,
    digested: decisions.map(({ event }) => digestKey(event.inputHash, event.outputHash ?? "")),
    applied,
    changed,
    remember(hudTokens) {
      addFolds(folding, folded)
      for (const { event } of decisions) if (!folding.folds.has(event.partID)) refuse(folding, event.partID)
      const sent = unfolded - applied.savedTokens
      const freshTokens = hudTokens + sent - (cached.tokens - cached.lostBy(changed))
      folding.quotedAt = quotedAt
      folding.account = {
        ...account,
        expected: { call: facts.calls + 1, sentTokens: sent, freshTokens, folded: applied.outputs },
      }
    },
  }
}

function firstChanged(wire: readonly WireMessage[], folded: readonly Fold[]): number {
  if (folded.length === 0) return Number.POSITIVE_INFINITY
  const changed = new Set(folded.map(({ messageID, side }) => `${messageID} ${side === "output" ? "results" : "said"}`))
  const index = wire.findIndex(({ source, holds }) => "id" in source && changed.has(`${source.id} ${holds}`))
  return index < 0 ? Number.POSITIVE_INFINITY : index
}

/** Quotes remembered; what was quoted long before was touched long ago. */
const MOST_QUOTED = 200

function quotes(
  messages: readonly HostMessage[],
  { facts, entries }: Ledger,
  folding: Folding,
  sentEntries: number | undefined,
): Map<string, number> {
  const first = entries[sentEntries ?? entries.length]
  const from = first ? messages.findLastIndex(({ info }) => info.id === first.id) : -1
  if (from < 0) return folding.quotedAt
  const quoted = quotedParts(messages, from, (partID) => !folding.folds.has(partID))
  if (quoted.length === 0) return folding.quotedAt
  const all = [...folding.quotedAt, ...quoted.map((partID) => [partID, facts.calls] as const)]
  return new Map(all.slice(-MOST_QUOTED))
}
