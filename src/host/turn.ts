// The account of one turn, from the user's message until idle: what its calls used and what the HUD added to them.

import { addSaving, noSaving, type Saving } from "../fold/saving.ts"
import type { Usage } from "../session/conversation.ts"
import type { Turn } from "../store/record.ts"
import { asRecord, asString, renew } from "../system/values.ts"
import { readUsage } from "./v1/conversation.ts"

/** A call as last reported, and what the plugin saved in it as far as it had a hand in it. */
export type Counted = { usage: Usage; saving?: Saving }

export type TurnCount = {
  /** epoch ms; 0 = it has not begun */
  startedMs: number
  hudTokens: number
  /** estimated tokens that folds left out of the turn's requests */
  foldedTokens: number
  /** recalls made */
  recalls: number
  /** the last report of each call, by message id: OpenCode announces a message many times over */
  calls: Map<string, Counted>
  providerID: string
  modelID: string
}

/** Calls counted in one turn; a loop beyond that is still counted, as its newest part. */
const MOST_CALLS = 5000

export function newTurn(): TurnCount {
  return {
    startedMs: 0,
    hudTokens: 0,
    foldedTokens: 0,
    recalls: 0,
    calls: new Map(),
    providerID: "",
    modelID: "",
  }
}

/**
 * Takes in an announced message and answers its call, once the provider has reported its usage. Outside of a turn nothing
 * is counted: what is announced then is a fork's copies of calls long made, or a call that was aborted with its turn.
 */
export function countCall(turn: TurnCount, message: unknown): { id: string; counted: Counted } | undefined {
  if (turn.startedMs === 0) return
  const info = asRecord(message)
  const id = asString(info?.id)
  const usage = readUsage(info?.tokens)
  if (info?.role !== "assistant" || info.summary === true || id === undefined || !usage) return
  const counted: Counted = { ...turn.calls.get(id), usage }
  renew(turn.calls, id, counted, MOST_CALLS)
  turn.providerID = asString(info.providerID) ?? turn.providerID
  turn.modelID = asString(info.modelID) ?? turn.modelID
  return { id, counted }
}

/** What was saved in the turn so far. */
export function savingIn({ calls }: TurnCount): Saving {
  let sum = noSaving()
  for (const { saving } of calls.values()) if (saving) sum = addSaving(sum, saving)
  return sum
}

/** The finished turn, undefined when no call was made. A turn is numbered by its start, so a restart repeats none. */
export function endTurn(turn: TurnCount, sessionID: string, nowMs: number): Turn | undefined {
  if (!turn.calls.size) return
  const calls = [...turn.calls.values()]
  const sum = (key: keyof Usage) => calls.reduce((total, { usage }) => total + usage[key], 0)
  const startedAt = turn.startedMs || nowMs
  const saving = savingIn(turn)
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
