// What the plugin cost and saved, counted live: the account of one turn, from the user's message until idle, and the
// account of the session, which compares what was done to a request with what the provider then reported for it.

import type { Pricing } from "../fold/pricing.ts"
import {
  addSaving,
  type CallWithout,
  inTermsOf,
  noSaving,
  type Saving,
  type SentTokens,
  savingOf,
} from "../fold/saving.ts"
import type { Usage } from "../session/conversation.ts"
import type { Turn } from "../store/record.ts"
import { asRecord, asString, renew } from "../system/values.ts"
import { readUsage } from "./v1/conversation.ts"

/** A call as last reported, and what the plugin saved in it, at its own model's prices, if it prepared the request. */
type ReportedCall = { usage: Usage; saved?: { saving: Saving; pricing: Pricing } }

export type TurnAccount = ReturnType<typeof newTurnAccount>

/** Calls counted in one turn. A runaway loop keeps its newest calls. */
const MAX_CALLS = 5000

export function newTurnAccount() {
  return {
    /** epoch ms; 0 = it has not begun */
    startedMs: 0,
    hudTokens: 0,
    /** estimated tokens that folds left out of the turn's requests */
    foldedTokens: 0,
    /** recalls made */
    recalls: 0,
    /** the last report of each call, by message id: OpenCode announces a message many times */
    calls: new Map<string, ReportedCall>(),
    providerID: "",
    modelID: "",
  }
}

/**
 * Records an announced message and returns its call, once the provider has reported its usage. Nothing is counted
 * outside a turn: messages announced then are a fork's copies of earlier calls, or a call aborted with its turn.
 */
export function countCall(turn: TurnAccount, message: unknown): { id: string; call: ReportedCall } | undefined {
  if (turn.startedMs === 0) return
  const info = asRecord(message)
  const id = asString(info?.id)
  const usage = readUsage(info?.tokens)
  if (info?.role !== "assistant" || info.summary === true || id === undefined || !usage) return
  const call: ReportedCall = { ...turn.calls.get(id), usage }
  renew(turn.calls, id, call, MAX_CALLS)
  turn.providerID = asString(info.providerID) ?? turn.providerID
  turn.modelID = asString(info.modelID) ?? turn.modelID
  return { id, call }
}

/** What was saved in the turn so far, at the given prices. */
export function turnSaving({ calls }: TurnAccount, pricing: Pricing): Saving {
  let sum = noSaving()
  for (const { saved } of calls.values())
    if (saved) sum = addSaving(sum, inTermsOf(saved.saving, saved.pricing, pricing))
  return sum
}

/**
 * The store's record of a finished turn; undefined when no call was made. A turn is numbered by its start time, so that
 * numbers stay unique across restarts. `saving`: at the prices of the model it called last.
 */
export function turnRecord(turn: TurnAccount, sessionID: string, nowMs: number, saving: Saving): Turn | undefined {
  if (!turn.calls.size) return
  const calls = [...turn.calls.values()]
  const sum = (key: keyof Usage) => calls.reduce((total, { usage }) => total + usage[key], 0)
  const startedAt = turn.startedMs
  return {
    sessionID,
    turn: startedAt,
    startedAt,
    endedAt: nowMs,
    calls: calls.length,
    inputTokens: sum("input"),
    cacheReadTokens: sum("cacheRead"),
    cacheWriteTokens: sum("cacheWrite"),
    outputTokens: sum("output"),
    hudTokens: turn.hudTokens,
    providerID: turn.providerID,
    modelID: turn.modelID,
    foldedTokens: turn.foldedTokens,
    recalls: turn.recalls,
    savedTokens: saving.tokens,
    inputCost: saving.cost,
    inputCostWithout: saving.costWithout,
    savedUsd: saving.usd,
  }
}

export type SessionAccount = {
  /** the request on its way, or the last one */
  sent?: SentTokens
  /** the call last reported */
  reported?: Reported
  /** sum over the finished turns, including those of earlier processes */
  earlier: Saving
  earlierRecalls: number
  /** sum over the finished turns of its subagents, at this session's prices */
  subagents: Saving
  /** the prices that both sums are in: those of the model last called */
  pricing?: Pricing
  /** start times of this process's finished turns, until the stored ones are added: the store may hold both by then */
  own: Set<number> | undefined
  /** when the newest turn of this process began, epoch ms; 0 = none has */
  lastTurnMs: number
}

type Reported = {
  id: string
  usage: Usage
  sent: SentTokens | undefined
  before: CallWithout | undefined
  after: CallWithout | undefined
  /** the ledger has read the messages since, so its facts are at least as new as this report */
  isRead: boolean
}

/** A store that is still not open after this many turns is not expected to open. */
const MAX_OWN_TURNS = 1000

export function newSessionAccount(): SessionAccount {
  return { earlier: noSaving(), earlierRecalls: 0, subagents: noSaving(), own: new Set(), lastTurnMs: 0 }
}

/** Begins the turn unless it has begun. No two turns have the same start, by which the store knows them. */
export function beginTurn({ account, turn }: { account: SessionAccount; turn: TurnAccount }, nowMs: number): void {
  if (turn.startedMs > 0) return
  turn.startedMs = Math.max(nowMs, account.lastTurnMs + 1)
  account.lastTurnMs = turn.startedMs
}

/** Call when a request is prepared: the previous one has been reported by now, or never will be. */
export function beginRequest(account: SessionAccount): void {
  delete account.sent
  if (account.reported) account.reported.isRead = true
}

/**
 * Records what was reported for a call and sets the call's saving. OpenCode announces a message several times; each
 * report replaces the one before.
 */
export function recordReport(account: SessionAccount, { id, call }: { id: string; call: ReportedCall }): void {
  const { reported } = account
  const again = reported?.id === id ? reported : undefined
  const before = again ? again.before : reported?.after
  const sent = again ? again.sent : account.sent
  // a request that the plugin did not prepare says nothing about savings
  const saved = sent && savingOf(call.usage, sent, before)
  if (saved) call.saved = { saving: saved.saving, pricing: sent.pricing }
  const isRead = again?.isRead ?? false
  account.reported = { id, usage: call.usage, sent, before, after: saved?.before, isRead }
  if (!again) delete account.sent
}

/** Converts the sums to the prices of the model that is called now. Call before they are added to. */
export function priceAt(account: SessionAccount, pricing: Pricing): void {
  const { pricing: before, earlier, subagents } = account
  // there is nothing to convert to without a price
  if (pricing.usdPerMillion <= 0) return
  account.pricing = pricing
  if (!before) return
  account.earlier = inTermsOf(earlier, before, pricing)
  account.subagents = inTermsOf(subagents, before, pricing)
}

/** What was saved in the session so far, its subagents included, at the given prices. */
export function sessionSaving(
  { account, turn }: { account: SessionAccount; turn: TurnAccount },
  pricing: Pricing,
): Saving {
  const finished = inTermsOf(addSaving(account.earlier, account.subagents), account.pricing ?? pricing, pricing)
  return addSaving(finished, turnSaving(turn, pricing))
}

/** Adds a finished turn to the sum of earlier turns. `saving`: at the account's prices. */
export function closeTurn(account: SessionAccount, turn: TurnAccount, saving: Saving): void {
  account.earlier = addSaving(account.earlier, saving)
  account.earlierRecalls += turn.recalls
  if (account.own && account.own.size < MAX_OWN_TURNS) account.own.add(turn.startedMs)
}

/**
 * Adds the turns that earlier processes stored, without those of this process, which are counted already. `pricingOf`: the
 * prices of the model that a turn called, in whose terms it was stored.
 */
export function addEarlier(account: SessionAccount, turns: readonly Turn[], pricingOf: (turn: Turn) => Pricing): void {
  const { pricing, own } = account
  for (const turn of turns) {
    if (own?.has(turn.turn)) continue
    priceAt(account, pricingOf(turn))
    account.earlierRecalls += turn.recalls
    account.earlier = addSaving(account.earlier, storedSaving(turn))
  }
  if (pricing) priceAt(account, pricing)
  account.own = undefined
}

/** What a stored turn saved. The calls of a turn that the plugin did not prepare are not counted. */
export function storedSaving(turn: Turn): Saving {
  const isPrepared = turn.inputCostWithout > 0
  return {
    calls: isPrepared ? turn.calls : 0,
    tokens: turn.savedTokens,
    cost: turn.inputCost,
    costWithout: turn.inputCostWithout,
    output: isPrepared ? turn.outputTokens : 0,
    usd: turn.savedUsd,
  }
}
