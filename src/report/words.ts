// What a replay comes to in a few words, for the top of the page and for the terminal.

import type { Replay } from "../replay/replay.ts"
import { count, dollars, percent, savedCost, savedUsd } from "../replay/saved.ts"
import { amount } from "../text/text.ts"

/** Two lines: what is saved, and what that takes. Of no calls it is one. */
export function headline(replay: Replay): [string, ...string[]] {
  if (replay.calls === 0) return ["no calls of a model, so there is nothing to reckon"]
  const parts = [
    `cache share ${percent(replay.with.cachedTokens / replay.with.tokens)}`,
    compactionWords(replay),
    `${count(replay.folds.count, "output")} folded`,
    `about ${per100(replay)} recalls per 100 calls`,
  ]
  return [`${savedWords(replay)} over ${count(replay.calls, "call")}`, parts.join("; ")]
}

/** As "saved 39 % (412k tokens reckoned at the fresh-token price)". */
function savedWords(replay: Replay): string {
  const { billing, tariffs, without, with: sent } = replay
  if (billing !== "tokens") {
    const bills = billing === "requests" ? "bills requests, not tokens" : "bills nothing"
    const share = percent(Math.abs(1 - sent.tokens / without.tokens))
    return `${tariffs.join(", ")} ${bills}; requests ${share} ${sent.tokens > without.tokens ? "larger" : "smaller"}`
  }
  const saved = savedCost(replay)
  const usd = usdSaved(replay)
  const money = usd === undefined ? "" : `, about ${dollars(Math.abs(usd))}`
  const worth = `${amount(Math.abs(saved))} tokens reckoned at the fresh-token price${money}`
  return `${saved < 0 ? "cost" : "saved"} ${savedShare(replay)}${saved < 0 ? " more" : ""} (${worth})`
}

/** Without sign. */
export function savedShare(replay: Replay): string {
  return percent(Math.abs(savedCost(replay)) / replay.without.cost)
}

/** Undefined where the record has no costs. */
export function usdSaved(replay: Replay): number | undefined {
  return replay.recorded.usd === 0 ? undefined : savedUsd(replay)
}

function compactionWords({ compactions: { automatic, asked, avoided } }: Replay): string {
  if (automatic + asked === 0) return "no compactions"
  return `${count(automatic + asked, "compaction")}${automatic > 0 ? `, ${avoided} avoided` : ""}`
}

export function per100({ recalls, calls }: Replay): string {
  return ((100 * recalls.calls) / Math.max(1, calls)).toFixed(1)
}

/** Tokens with a sign where they are less than none. */
export function signed(tokens: number): string {
  return `${tokens < 0 ? "−" : ""}${amount(Math.abs(tokens))}`
}

export function money(usd: number): string {
  return `${usd < 0 ? "−" : ""}${dollars(Math.abs(usd))}`
}
