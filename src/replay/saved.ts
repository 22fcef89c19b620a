// The bottom line of a replay: the cost with recalls included, and what the plugin saves.

import type { Replay } from "./replay.ts"

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
