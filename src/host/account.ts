// The live account of a session: what the plugin did to a request, held against what the provider then reported of it.

import { addSaving, type Before, noSaving, type Saving, type SentTokens, savingOf } from "../fold/saving.ts"
import type { Usage } from "../session/conversation.ts"
import type { Turn } from "../store/record.ts"
import { type Counted, savingIn, type TurnCount } from "./turn.ts"

export type SessionAccount = {
  /** the request on its way, or the last one */
  sent?: SentTokens
  /** the call last reported */
  reported?: Reported
  /** of the turns that are over, those of earlier processes included */
  earlier: Saving
  earlierRecalls: number
  /** numbers of this process's turns, until those of earlier ones are added: the store may have them by then */
  own: Set<number> | undefined
}

type Reported = {
  id: string
  usage: Usage
  sent: SentTokens | undefined
  before: Before | undefined
  after: Before | undefined
  /** the ledger has read the messages since: what it knows is newer, whether or not this call is still among them */
  isRead: boolean
}

export function newSessionAccount(): SessionAccount {
  return { earlier: noSaving(), earlierRecalls: 0, own: new Set() }
}

/** A request is about to be prepared: what was sent before it was reported by now, or never will be. */
export function beginRequest(account: SessionAccount): void {
  delete account.sent
  if (account.reported) account.reported.isRead = true
}

/**
 * Takes in what was reported of a call. OpenCode announces a message several times over; each time counts in the place of
 * the one before.
 */
export function settle(account: SessionAccount, { id, counted }: { id: string; counted: Counted }): void {
  const { reported } = account
  const again = reported?.id === id ? reported : undefined
  const before = again ? again.before : reported?.after
  const sent = again ? again.sent : account.sent
  // one that the plugin had no hand in says nothing of what it saved
  const settled = sent && savingOf(counted.usage, sent, before)
  if (settled) counted.saving = settled.saving
  const isRead = again?.isRead ?? false
  account.reported = { id, usage: counted.usage, sent, before, after: settled?.before, isRead }
  if (!again) delete account.sent
}

/** A turn is over: what it came to is of earlier turns from now on. */
export function closeTurn(account: SessionAccount, turn: TurnCount): void {
  account.earlier = addSaving(account.earlier, savingIn(turn))
  account.earlierRecalls += turn.recalls
  if (account.own && account.own.size < MOST_OWN) account.own.add(turn.startedMs)
}

/** A store that is not open after so many turns never will be. */
const MOST_OWN = 1000

/** What earlier processes have left in the store; a store that opens late has turns of this one in it, counted already. */
export function addEarlier(account: SessionAccount, turns: readonly Turn[]): void {
  for (const turn of turns) {
    if (account.own?.has(turn.turn)) continue
    account.earlierRecalls += turn.recalls
    account.earlier = addSaving(account.earlier, {
      calls: turn.inputCostWithout > 0 ? turn.calls : 0,
      tokens: turn.savedTokens,
      cost: turn.inputCost,
      costWithout: turn.inputCostWithout,
      usd: turn.savedUsd,
    })
  }
  account.own = undefined
}
