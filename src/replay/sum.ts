// The sum of several replays, and the bottom line of one: the cost with recalls included, and what the plugin saves.

import type { Spent } from "./bill.ts"
import { addFoldCount, noFolds } from "./fold-count.ts"
import type { Replay } from "./replay.ts"

export function sumOf(replays: readonly Replay[]): Replay {
  const sum: Replay = {
    calls: 0,
    pricings: [...new Set(replays.flatMap(({ pricings }) => pricings))],
    billing: replays.some(({ billing }) => billing === "tokens") ? "tokens" : (replays[0]?.billing ?? "tokens"),
    without: nothing(),
    with: nothing(),
    recalls: { copiedLines: 0, lostLines: 0, needs: 0, heldNeeds: 0, calls: 0, cost: 0, usd: 0 },
    hud: { calls: 0, tokens: 0, noticeTokens: 0 },
    folds: noFolds(),
    compactions: { automatic: 0, asked: 0, avoided: 0 },
    recorded: { cost: 0, usd: 0 },
    subagents: [...new Set(replays.flatMap(({ subagents }) => subagents))],
  }
  for (const one of replays) {
    sum.calls += one.calls
    addNumbers(sum.recorded, one.recorded, ["cost", "usd"])
    for (const side of ["without", "with"] as const) {
      addNumbers(sum[side], one[side], ["tokens", "cachedTokens", "cost"])
      sum[side].peakTokens = Math.max(sum[side].peakTokens, one[side].peakTokens)
      addMoney(sum[side], one[side])
    }
    addNumbers(sum.recalls, one.recalls, ["copiedLines", "lostLines", "needs", "heldNeeds", "calls", "cost"])
    addMoney(sum.recalls, one.recalls)
    addNumbers(sum.hud, one.hud, ["calls", "tokens", "noticeTokens"])
    addNumbers(sum.compactions, one.compactions, ["automatic", "asked", "avoided"])
    addFoldCount(sum.folds, one.folds)
  }
  // the saving of all sessions must not be compared with what some of them were charged
  for (const name of ["cost", "usd"] as const)
    if (replays.some(({ calls, recorded }) => calls > 0 && recorded[name] === 0)) sum.recorded[name] = 0
  return sum
}

function nothing(): Spent {
  return { tokens: 0, cachedTokens: 0, cost: 0, usd: 0, peakTokens: 0 }
}

function addNumbers<K extends string>(sum: Record<K, number>, one: Record<K, number>, keys: readonly K[]): void {
  for (const key of keys) sum[key] += one[key]
}

function addMoney(sum: { usd?: number }, one: { usd?: number }): void {
  if (one.usd === undefined) delete sum.usd
  else if (sum.usd !== undefined) sum.usd += one.usd
}

/** Cost with the plugin, recalls included, in fresh input tokens. */
export function allIn(replay: Replay): number {
  return replay.with.cost + replay.recalls.cost
}

/** In fresh input tokens; negative when the plugin costs more than it saves. */
export function savedCost(replay: Replay): number {
  return replay.without.cost - allIn(replay)
}

/** Undefined when no price is known. */
export function savedUsd({ without, with: sent, recalls }: Replay): number | undefined {
  if (without.usd === undefined || sent.usd === undefined) return
  return without.usd - sent.usd - (recalls.usd ?? 0)
}
