// Prepares the folds of one request: the new ones, those that stay, and what the provider's next report should say.

import { bindsThinking, type Message, type ModelName } from "../session/conversation.ts"
import type { ToolEvent } from "../session/event.ts"
import { contextNow } from "../session/facts.ts"
import type { Reading } from "../session/ledger.ts"
import type { Env } from "../session/normalize.ts"
import { digestKey } from "../session/source.ts"
import { defined } from "../system/values.ts"
import { requestTokens } from "./calibration.ts"
import { appliedFolds } from "./fold.ts"
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
  wholeUntil?: Folding["wholeUntil"]
}

export type FoldOptions = {
  /** the size that no request should exceed, in tokens */
  maxContextTokens?: number | undefined
}

type FoldRequest = {
  messages: readonly Message[]
  reading: Reading
  folding: Folding
  /** the same request was prepared before */
  isAgain: boolean
  /** estimated tokens of the messages in full */
  fullTokens: number
  /** the request without a new fold, and what the cache holds of it */
  wire: readonly WireMessage[]
  cached: CachedPrefix
  /** their pricing is the one that the provider's reports confirm */
  circumstances: FoldCircumstances
  options: { fold: FoldOptions; isProtected(event: ToolEvent): boolean }
  env: Env
}

export function prepareFolds(request: FoldRequest) {
  const { messages, reading, folding, isAgain, fullTokens, wire, cached, circumstances, options, env } = request
  const { facts, entries } = reading
  const { folds, cutTokens, calibration } = folding
  const { pricing, model, foldingPaused, foldNow, compactsAt = Number.POSITIVE_INFINITY } = circumstances
  const before = fullTokens - appliedFolds(entries, folds).savedTokens
  const plan = planFolds({
    entries,
    facts,
    folds,
    pricing,
    wire,
    cached,
    cutTokens,
    ...defined({ foldNow }),
    sentTokens: before,
    // without a report, the ledger's size is that of the messages in full
    contextTokens: facts.usage ? requestTokens(calibration, contextNow(facts)?.tokens ?? 0, before) : before,
    maxTokens: Math.min(compactsAt, options.fold.maxContextTokens ?? Number.POSITIVE_INFINITY),
    bindsThinking: model !== undefined && bindsThinking(model),
    isProtected: (event) => isRecalled(folding, event, facts.calls) || options.isProtected(event),
    isWhole: (messageID) => isWhole(folding, messageID, facts.calls),
    onlyMakesRoom: foldingPaused === true || calibration.stopped !== undefined,
    isAgain,
  })
  const call = facts.calls + 1
  const { condensed = [] } = plan
  // what a record no longer says need not be in the request any more
  const withCondensed = addFolds(folding, condensed)
  const made = plan.decisions.length > 0 ? foldsOf(plan, { messages, folds: withCondensed.folds, call }, env) : []
  const added = addFolds(withCondensed, made)
  // the oldest records stand before everything else that is folded
  const changed =
    condensed.length > 0 ? 0 : made.length > 0 ? firstChanged(wire, plan.decisions) : Number.POSITIVE_INFINITY
  const applied = appliedFolds(entries, added.folds)
  const sentTokens = fullTokens - applied.savedTokens
  return {
    /** decided for this call */
    newFolds: [...condensed, ...made],
    /** keys of the digests they use: a better digest comes too late for this session */
    digested: plan.decisions.flatMap((decision) =>
      decision.kind === "output" ? [digestKey(decision.event.inputHash, decision.event.outputHash ?? "")] : [],
    ),
    /** all folds of the request, by part id, and those of them that apply to its messages */
    folds: added.folds,
    applied,
    /** index of the first wire message that differs from the last request; infinite when none does */
    changed,
    /** The state after the request is sent with a HUD of this size. */
    next(hudTokens: number): Folding {
      const freshTokens = hudTokens + sentTokens - (cached.tokens - cached.lostBy(changed))
      const expected = { call, sentTokens, freshTokens, foldedCount: applied.outputs + applied.steps }
      return {
        ...added,
        cutTokens: made.length > 0 ? sentTokens : Math.min(cutTokens, sentTokens),
        calibration: { ...calibration, expected },
      }
    },
  }
}
