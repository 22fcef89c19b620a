// What the plugin cost and saved, counted live: the account of a session, which compares what was done to a request with what
// the provider then reported for it. A turn is counted from the user's message until idle.

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
import type { Turn } from "../store/writes.ts"
import { asRecord, asString, renew } from "../system/values.ts"
import { readUsage } from "./v1/conversation.ts"

/** What was saved, at the prices of the model that was called. */
type PricedSaving = { saving: Saving; pricing: Pricing }

/** Calls counted in one turn. A runaway loop keeps its newest calls. */
const MAX_CALLS = 5000

function newTurn() {
  return {
    /** epoch ms; 0 = it has not begun */
    startedMs: 0,
    /** recalls made */
    recalls: 0,
    /** what was saved in each call as last reported, by message id; undefined where the plugin did not prepare the request */
    calls: new Map<string, PricedSaving | undefined>(),
    /** the model called last that has a price, or else the first one */
    providerID: "",
    modelID: "",
  }
}

export type Account = ReturnType<typeof newAccount>

type Reported = {
  id: string
  usage: Usage
  sent: SentTokens | undefined
  /** the call before it, and this one, as they would have been without the plugin */
  before: CallWithout | undefined
  after: CallWithout | undefined
  /** the ledger has read the messages since, so its facts are at least as new as this report */
  isRead: boolean
}

export function newAccount() {
  return {
    /** the current turn */
    turn: newTurn(),
    /** the request on its way, or the last one */
    sent: undefined as SentTokens | undefined,
    /** the call last reported */
    reported: undefined as Reported | undefined,
    /** the finished turns, including those of earlier processes */
    finished: [] as Turn[],
    /** the finished turns of its subagents */
    subagents: [] as Turn[],
  }
}

/** Begins the turn unless it has begun. No two turns have the same start, by which the store knows them. */
export function beginTurn({ turn, finished }: Account, nowMs: number): void {
  if (turn.startedMs > 0) return
  turn.startedMs = nowMs
  while (finished.some(({ startedAt }) => startedAt === turn.startedMs)) turn.startedMs++
}

/**
 * Call when a request goes out, with what was done to it; without that where the plugin leaves it alone. The previous one has
 * been reported by now, or never will be.
 */
export function beginRequest(account: Account, nowMs: number, sent?: SentTokens): void {
  beginTurn(account, nowMs)
  if (account.reported) account.reported.isRead = true
  account.sent = sent
}

/**
 * Records what an announced message reports for its call; false when that changes nothing. OpenCode announces a message several
 * times, and each report replaces the one before. Nothing is counted outside a turn: messages announced then are a fork's
 * copies of earlier calls, or a call aborted with its turn. `pricing` and `compactsAt` are those of the called model.
 */
export function recordReport(
  account: Account,
  message: unknown,
  { pricing, compactsAt }: Pick<SentTokens, "pricing" | "compactsAt">,
): boolean {
  const { turn, reported } = account
  const info = asRecord(message)
  const id = asString(info?.id)
  const usage = readUsage(info?.tokens)
  if (turn.startedMs === 0 || info?.role !== "assistant" || info.summary === true || id === undefined || !usage)
    return false
  const again = reported?.id === id ? reported : undefined
  // a call of an earlier turn that is announced again, or a call of this turn that is not the newest
  if ((again !== undefined) !== turn.calls.has(id)) return false
  // of a process's first request they are known only now: OpenCode passes them after it was prepared
  const sent = again ? again.sent : account.sent && { ...account.sent, pricing, compactsAt }
  const before = again ? again.before : (reported?.after ?? sent?.earlier)
  // a request that the plugin did not prepare says nothing about savings
  const saved = sent && savingOf(usage, sent, before)
  renew(turn.calls, id, saved && { saving: saved.saving, pricing: sent.pricing }, MAX_CALLS)
  if (pricing.usdPerMillion > 0 || turn.providerID === "") {
    turn.providerID = asString(info.providerID) ?? turn.providerID
    turn.modelID = asString(info.modelID) ?? turn.modelID
  }
  account.reported = { id, usage, sent, before, after: saved?.after, isRead: again?.isRead ?? false }
  if (!again) account.sent = undefined
  return true
}

function totalOf(savings: readonly PricedSaving[], at: Pricing): Saving {
  return savings.reduce((sum, { saving, pricing }) => addSaving(sum, inTermsOf(saving, pricing, at)), noSaving())
}

function savedIn({ calls }: Account["turn"]): PricedSaving[] {
  return [...calls.values()].flatMap((saved) => saved ?? [])
}

/**
 * What was saved in the session so far, its subagents included, at the given prices. `pricingOf`: what the model charges that a
 * finished turn called last, in whose terms it was counted.
 */
export function sessionSaving(
  { turn, finished, subagents }: Account,
  pricing: Pricing,
  pricingOf: (turn: Turn) => Pricing,
): Saving {
  const ended = [...finished, ...subagents].map((saving) => ({ saving, pricing: chargedIn(saving, pricingOf(saving)) }))
  return totalOf([...ended, ...savedIn(turn)], pricing)
}

/** A new process does not know the price of a model that only earlier ones called. It follows from what the turn saved in money. */
function chargedIn({ cost, costWithout, usd }: Turn, pricing: Pricing): Pricing {
  const saved = costWithout - cost
  // the store rounds both, so that few tokens give no usable price
  if (pricing.usdPerMillion > 0 || Math.abs(saved) < 10) return pricing
  return { ...pricing, usdPerMillion: (usd / saved) * 1e6 }
}

/** Ends the turn. Returns it if it made a call. `pricing`: of the model it called last. */
export function finishTurn(account: Account, sessionID: string, nowMs: number, pricing: Pricing): Turn | undefined {
  const { turn } = account
  account.turn = newTurn()
  if (turn.calls.size === 0) return
  const { startedMs: startedAt, calls: _, ...counted } = turn
  const finished = { ...counted, sessionID, startedAt, endedAt: nowMs, ...totalOf(savedIn(turn), pricing) }
  // beside OpenCode's sum, which counts cached tokens as free, only the share is right
  if (pricing.freeReads) finished.usd = 0
  account.finished.push(finished)
  return finished
}

/** Adds the stored turns of a session, without those of this process, which are counted when they end. */
export function addEarlier(turns: Turn[], stored: readonly Turn[]): void {
  const isCounted = ({ sessionID, startedAt }: Turn) =>
    turns.some((turn) => turn.sessionID === sessionID && turn.startedAt === startedAt)
  turns.unshift(...stored.filter((turn) => !isCounted(turn)))
}
