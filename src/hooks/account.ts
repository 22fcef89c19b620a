// The live account of a session: what the plugin did to a request, held against what the provider then reported of it.

import type { Usage } from "../core/ledger/entry.ts"
import { addSaving, type Before, noSaving, type Saving, type Sent, savingOf } from "../core/saving.ts"
import type { Turn } from "../store/record.ts"
import { type Counted, savingIn, type TurnCount } from "./turn.ts"

export type SessionAccount = {
  /** the request on its way, or the last one */
  sent?: Sent
  /** the call last reported */
  reported?: { id: string; usage: Usage; sent: Sent | undefined; before: Before | undefined; after: Before | undefined }
  /** of the turns that are over, those of earlier processes included */
  earlier: Saving
  earlierRecalls: number
}

export function newSessionAccount(): SessionAccount {
  return { earlier: noSaving(), earlierRecalls: 0 }
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
  account.reported = { id, usage: counted.usage, sent, before, after: settled?.before }
  if (!again) delete account.sent
}

/** A turn is over: what it came to is of earlier turns from now on. */
export function closeTurn(account: SessionAccount, turn: TurnCount): void {
  account.earlier = addSaving(account.earlier, savingIn(turn))
  account.earlierRecalls += turn.recalls
}

/** What earlier processes have left in the store. */
export function addEarlier(account: SessionAccount, turns: readonly Turn[]): void {
  for (const turn of turns) {
    account.earlierRecalls += turn.recalls
    account.earlier = addSaving(account.earlier, {
      calls: turn.inputCostWithout > 0 ? turn.calls : 0,
      tokens: turn.savedTokens,
      cost: turn.inputCost,
      costWithout: turn.inputCostWithout,
      usd: turn.savedUsd,
    })
  }
}
