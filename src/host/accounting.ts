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
import type { Turn } from "../store/record.ts"
import { asRecord, asString, renew } from "../system/values.ts"
import { readUsage } from "./v1/conversation.ts"

/** What was saved, at the prices of the model that was called. */
type PricedSaving = { saving: Saving; pricing: Pricing }

/** A call as last reported, and what the plugin saved in it, if it prepared the request. */
type ReportedCall = { usage: Usage; saved?: PricedSaving }

/** A finished turn as it is stored, at the prices of the model it called last. */
export type FinishedTurn = PricedSaving & { record: Turn }

/** Calls counted in one turn. A runaway loop keeps its newest calls. */
const MAX_CALLS = 5000

function newTurn() {
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
    /** the model called last */
    providerID: "",
    modelID: "",
  }
}

export type Account = {
  /** the current turn */
  turn: ReturnType<typeof newTurn>
  /** the request on its way, or the last one */
  sent?: SentTokens
  /** the call last reported */
  reported?: Reported
  /** the finished turns, including those of earlier processes */
  finished: FinishedTurn[]
  /** the finished turns of its subagents */
  subagents: FinishedTurn[]
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

export function newAccount(): Account {
  return { turn: newTurn(), finished: [], subagents: [] }
}

/** Begins the turn unless it has begun. No two turns have the same start, by which the store knows them. */
export function beginTurn({ turn, finished }: Account, nowMs: number): void {
  if (turn.startedMs > 0) return
  turn.startedMs = nowMs
  while (finished.some(({ record }) => record.turn === turn.startedMs)) turn.startedMs++
}

/** Call when a request is prepared: the previous one has been reported by now, or never will be. */
export function beginRequest(account: Account): void {
  delete account.sent
  if (account.reported) account.reported.isRead = true
}

/**
 * Records what an announced message reports for its call; false when that changes nothing. OpenCode announces a message several
 * times, and each report replaces the one before. Nothing is counted outside a turn: messages announced then are a fork's
 * copies of earlier calls, or a call aborted with its turn. `pricing`: what the called model charges.
 */
export function recordReport(account: Account, message: unknown, pricing: Pricing): boolean {
  const { turn, reported } = account
  const info = asRecord(message)
  const id = asString(info?.id)
  const usage = readUsage(info?.tokens)
  if (turn.startedMs === 0 || info?.role !== "assistant" || info.summary === true || id === undefined || !usage)
    return false
  const again = reported?.id === id ? reported : undefined
  // a call of an earlier turn that is announced again, or a call of this turn that is not the newest
  if ((again !== undefined) !== turn.calls.has(id)) return false
  // the prices of a process's first request are known only now: OpenCode passes them after it was prepared
  const sent = again ? again.sent : account.sent && { ...account.sent, pricing }
  const before = again ? again.before : reported?.after
  // a request that the plugin did not prepare says nothing about savings
  const saved = sent && savingOf(usage, sent, before)
  const call = { usage, ...(saved ? { saved: { saving: saved.saving, pricing: sent.pricing } } : {}) }
  renew(turn.calls, id, call, MAX_CALLS)
  turn.providerID = asString(info.providerID) ?? turn.providerID
  turn.modelID = asString(info.modelID) ?? turn.modelID
  account.reported = { id, usage, sent, before, after: saved?.before, isRead: again?.isRead ?? false }
  if (!again) delete account.sent
  return true
}

function sumOf(savings: readonly PricedSaving[], at: Pricing): Saving {
  return savings.reduce((sum, { saving, pricing }) => addSaving(sum, inTermsOf(saving, pricing, at)), noSaving())
}

function savedIn({ calls }: Account["turn"]): PricedSaving[] {
  return [...calls.values()].flatMap(({ saved }) => saved ?? [])
}

/** What was saved in the session so far, its subagents included, at the given prices. */
export function sessionSaving({ turn, finished, subagents }: Account, pricing: Pricing): Saving {
  return sumOf([...finished, ...subagents, ...savedIn(turn)], pricing)
}

/**
 * Ends the turn. Returns it if it made a call. A turn is numbered by its start time, so that numbers stay unique across
 * restarts. `pricing`: of the model it called last.
 */
export function finishTurn(
  account: Account,
  sessionID: string,
  nowMs: number,
  pricing: Pricing,
): FinishedTurn | undefined {
  const { turn } = account
  account.turn = newTurn()
  if (turn.calls.size === 0) return
  const { startedMs: startedAt, calls: _, ...counted } = turn
  const calls = [...turn.calls.values()]
  const sum = (key: keyof Usage) => calls.reduce((total, { usage }) => total + usage[key], 0)
  const saving = sumOf(savedIn(turn), pricing)
  const record: Turn = {
    ...counted,
    sessionID,
    turn: startedAt,
    startedAt,
    endedAt: nowMs,
    calls: calls.length,
    inputTokens: sum("input"),
    cacheReadTokens: sum("cacheRead"),
    cacheWriteTokens: sum("cacheWrite"),
    outputTokens: sum("output"),
    savedTokens: saving.tokens,
    inputCost: saving.cost,
    inputCostWithout: saving.costWithout,
    savedUsd: saving.usd,
  }
  const finished = { record, saving, pricing }
  account.finished.push(finished)
  return finished
}

/**
 * A stored turn. `pricingOf`: what the model it called last charges, in whose terms it was stored. Asked whenever that is needed:
 * a process may learn it only after the turn was read, when it calls the model.
 */
export function storedTurn(record: Turn, pricingOf: (turn: Turn) => Pricing): FinishedTurn {
  return {
    record,
    saving: storedSaving(record),
    get pricing() {
      return pricingOf(record)
    },
  }
}

/** Adds the turns that earlier processes stored. The store may have turns of this process by then, which are counted already. */
export function addEarlier({ finished }: Account, stored: readonly FinishedTurn[]): void {
  const own = new Set(finished.map(({ record }) => record.turn))
  finished.unshift(...stored.filter(({ record }) => !own.has(record.turn)))
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
