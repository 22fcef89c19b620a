// Prepares the folds of one request: the new ones, those that stay, and what the provider's next report should say.

import { bindsThinking } from "../hud/slots.ts"
import type { Message, ModelName } from "../session/conversation.ts"
import type { ToolEvent } from "../session/event.ts"
import { contextNow } from "../session/facts.ts"
import type { Reading } from "../session/ledger.ts"
import { digestKey, type Env } from "../session/normalize.ts"
import { defined } from "../system/values.ts"
import { type Account, requestTokens } from "./account.ts"
import { condensed } from "./condense.ts"
import { appliedFolds, type Fold, type Folds } from "./fold.ts"
import { addFolds, type Folding, foldsOf, isRecalled, isWhole } from "./folding.ts"
import { firstChanged, planFolds } from "./plan.ts"
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
  /** what the user wants folded with this request: all that is settled, or these steps, by message id */
  foldNow?: "all" | readonly string[]
  /** the steps that the user wants whole, by message id: until which call */
  whole?: Readonly<Record<string, number>>
}

export type FoldOptions = {
  /** the size that no request should exceed, in tokens */
  maxContextTokens?: number | undefined
}

export type FoldPlan = {
  /** decided for this call */
  folded: readonly Fold[]
  /** keys of the digests they use: a better digest comes too late for this session */
  digested: readonly string[]
  /** all folds of the request, by part id */
  folds: Folds
  /** index of the first wire message that differs from the last request; infinite when none does */
  changed: number
  /** The state after the request is sent with a HUD of this size. */
  next(hudTokens: number): Folding
}

type FoldRequest = {
  messages: readonly Message[]
  reading: Reading
  folding: Folding
  /** the request without a new fold, and what its price depends on */
  wire: readonly WireMessage[]
  cached: CachedPrefix
  account: Account
  pricing: Pricing
  around: FoldCircumstances
  options: { fold: FoldOptions; isProtected(event: ToolEvent): boolean }
  env: Env
}

export function prepareFolds(request: FoldRequest): FoldPlan {
  const { messages, reading, folding, wire, cached, account, pricing, around, options, env } = request
  const { facts, entries } = reading
  const { maxContextTokens } = options.fold
  const unfolded = entries.reduce((sum, { tokens }) => sum + tokens, 0)
  const sentTokens = unfolded - appliedFolds(entries, folding.folds).savedTokens
  const maxTokens = Math.min(
    around.compactsAt ?? Number.POSITIVE_INFINITY,
    maxContextTokens ?? Number.POSITIVE_INFINITY,
  )
  const plan = planFolds({
    entries,
    facts,
    folds: folding.folds,
    pricing,
    wire,
    cached,
    sentTokens,
    cutTokens: folding.cutTokens,
    // without a report, the ledger's size is that of the messages in full
    contextTokens: facts.usage ? requestTokens(account, contextNow(facts)?.tokens ?? 0, sentTokens) : sentTokens,
    ...defined({ maxTokens: Number.isFinite(maxTokens) ? maxTokens : undefined, foldNow: around.foldNow }),
    bindsThinking: around.model !== undefined && bindsThinking(around.model.modelID),
    isProtected: (event) => isRecalled(folding, event, facts.calls) || options.isProtected(event),
    isWhole: (messageID) => isWhole(folding, messageID, facts.calls),
    onlyMakesRoom: around.foldingPaused === true || account.stopped !== undefined,
  })
  const place = { messages, folds: folding.folds, call: facts.calls + 1 }
  const folded = plan.decisions.length > 0 ? foldsOf(plan, place, env) : []
  const shortened = plan.excessTokens ? condensed(entries, folding.folds, plan.excessTokens) : []
  const added = addFolds(folding, [...shortened, ...folded])
  // the oldest records stand before everything else that is folded
  const changed =
    shortened.length > 0 ? 0 : folded.length > 0 ? firstChanged(wire, plan.decisions) : Number.POSITIVE_INFINITY
  const applied = appliedFolds(entries, added.folds)
  const sent = unfolded - applied.savedTokens
  return {
    folded: [...shortened, ...folded],
    digested: plan.decisions.flatMap((decision) =>
      decision.kind === "output" ? [digestKey(decision.event.inputHash, decision.event.outputHash ?? "")] : [],
    ),
    folds: added.folds,
    changed,
    next(hudTokens) {
      const freshTokens = hudTokens + sent - (cached.tokens - cached.lostBy(changed))
      const expected = {
        call: facts.calls + 1,
        sentTokens: sent,
        freshTokens,
        folded: applied.outputs + applied.steps,
      }
      const cutTokens = folded.length > 0 ? sent : Math.min(added.cutTokens, sent)
      return { ...added, cutTokens, account: { ...account, expected } }
    },
  }
}
