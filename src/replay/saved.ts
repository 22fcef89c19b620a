// What a replay comes to: the cost with recalls in it, what is saved, and how such figures are said.

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

/** Whole from 10 on: 0.4 %, 9.5 %, 38 %. Of nothing it is 0 %. */
export function percent(share: number): string {
  const percents = Number.isFinite(share) ? 100 * share : 0
  return `${percents < 9.95 ? Number(percents.toFixed(1)) : Math.round(percents)} %`
}

export function dollars(usd: number): string {
  return `$${usd.toFixed(usd < 0.1 ? 4 : 2)}`
}

/** `1 call`, `2 calls` */
export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`
}
