// What a replay comes to: the cost with recalls included, and what is saved.

import type { Replay } from "./replay.ts"

/** Cost with the plugin, recalls in it, in fresh input tokens. */
export function allIn(replay: Replay): number {
  return replay.with.cost + replay.recalls.cost
}

/** In fresh input tokens; negative where the plugin loses. */
export function savedCost(replay: Replay): number {
  return replay.without.cost - allIn(replay)
}

/** Undefined where no price is known. */
export function savedUsd({ without, with: sent, recalls }: Replay): number | undefined {
  if (without.usd === undefined || sent.usd === undefined) return
  return without.usd - sent.usd - (recalls.usd ?? 0)
}
