// The account of one turn, from the user's message until idle: what its calls used and what the HUD added to them.

import { renew } from "../core/bounded.ts"
import { readUsage, type Usage } from "../core/ledger/entry.ts"
import { record, text } from "../core/normalize.ts"
import type { Turn } from "../store/record.ts"

export type TurnCount = {
  /** epoch ms; 0 = nothing has begun */
  startedMs: number
  hudTokens: number
  /** estimated tokens that folds left out of the turn's requests */
  foldedTokens: number
  /** recalls made */
  recalls: number
  /** the last report of each call, by message id: OpenCode announces a message many times over */
  calls: Map<string, Usage>
  providerID: string
  modelID: string
}

/** Calls counted in one turn; a loop beyond that is still counted, as its newest part. */
const MOST_CALLS = 5000

export function newTurn(): TurnCount {
  return { startedMs: 0, hudTokens: 0, foldedTokens: 0, recalls: 0, calls: new Map(), providerID: "", modelID: "" }
}

/** Takes in an announced message: usage counts once the provider reported it. */
export function countCall(turn: TurnCount, message: unknown): void {
  const info = record(message)
  const id = text(info?.id)
  const usage = readUsage(info?.tokens)
  if (info?.role !== "assistant" || info.summary === true || id === undefined || !usage) return
  renew(turn.calls, id, usage, MOST_CALLS)
  turn.providerID = text(info.providerID) ?? turn.providerID
  turn.modelID = text(info.modelID) ?? turn.modelID
}

/** The finished turn, undefined when no call was made. A turn is numbered by its start, so a restart repeats none. */
export function endTurn(turn: TurnCount, sessionID: string, nowMs: number): Turn | undefined {
  if (!turn.calls.size) return
  const calls = [...turn.calls.values()]
  const sum = (key: keyof Usage) => calls.reduce((total, call) => total + call[key], 0)
  const startedAt = turn.startedMs || nowMs
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
  }
}
