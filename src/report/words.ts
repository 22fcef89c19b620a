// What a replay says of the conversation, without system prompt, tools and answers, in a few words.

import type { Reason } from "../fold/fold.ts"
import type { Unpaid } from "../replay/paid.ts"
import type { Replay } from "../replay/replay.ts"
import { savedCost, savedUsd } from "../replay/sum.ts"
import { amount, dollars, finePercent, plural, stepsAndOutputs } from "../text/format.ts"

/** Two lines: what the conversation would have cost, and how. A single line if there are no calls. */
export function conversationWords(replay: Replay): [string, ...string[]] {
  if (replay.calls === 0) return ["no model calls, so there is nothing to compare"]
  const parts = [
    `${finePercent(replay.with.cachedTokens / replay.with.tokens)} cached`,
    compactionWords(replay),
    `${foldedCounts(replay) || "nothing"} folded`,
    `about ${per100(replay)} recalls per 100 calls`,
  ]
  return [`${savedWords(replay)} over ${plural(replay.calls, "call")}`, parts.join("; ")]
}

/** Such as "the conversation alone would have cost 39% less (412k tokens at the fresh-token price)". */
function savedWords(replay: Replay): string {
  if (replay.billing !== "tokens") return `${billedWords(replay)}; requests ${sizeWords(replay)}`
  const saved = savedCost(replay)
  const usd = usdSaved(replay)
  const money = usd === undefined ? "" : `, about ${dollars(Math.abs(usd))}`
  const worth = `${amount(Math.abs(saved))} tokens at the fresh-token price${money}`
  return `the conversation alone would have cost ${savedPercent(replay)} ${saved < 0 ? "more" : "less"} (${worth})`
}

/** How providers bill that do not bill tokens. */
function billedWords({ pricings, billing }: Replay): string {
  return `${pricings.join(", ")} ${billing === "requests" ? "bills requests, not tokens" : "bills nothing"}`
}

/** How much larger or smaller the requests are with the plugin. */
function sizeWords({ without, with: sent }: Replay): string {
  const share = finePercent(Math.abs(1 - sent.tokens / without.tokens))
  return `${share} ${sent.tokens > without.tokens ? "larger" : "smaller"}`
}

/** Why outputs were folded. */
export const REASONS: Record<Reason, string> = {
  free: "at no cost",
  pays: "to save",
  must: "to make room",
  asked: "on request",
}

/** In place of a bill. */
export const UNBILLED: Record<Unpaid, string> = {
  empty: "no calls",
  requests: "by requests",
  nothing: "nothing",
  unreported: "not recorded",
  unmeasured: "not measured",
}

/** Without sign. */
function savedPercent(replay: Replay): string {
  return finePercent(Math.abs(savedCost(replay)) / replay.without.cost)
}

/** Undefined if the recording has no costs. */
function usdSaved(replay: Replay): number | undefined {
  return replay.recorded.usd === 0 ? undefined : savedUsd(replay)
}

/** Such as "39 steps, 12 outputs"; empty when nothing was folded. */
export function foldedCounts({ folds: { steps, outputs } }: Replay): string {
  return stepsAndOutputs({ steps: steps.count, outputs: outputs.count })
}

function compactionWords({ compactions: { automatic, asked, avoided } }: Replay): string {
  if (automatic + asked === 0) return "no compactions"
  return `${plural(automatic + asked, "compaction")}${automatic > 0 ? `, ${avoided} avoided` : ""}`
}

export function per100({ recalls, calls }: Replay): string {
  return ((100 * recalls.calls) / Math.max(1, calls)).toFixed(1)
}

/** An amount of tokens, with a sign if negative. */
export function signed(tokens: number): string {
  return `${tokens < 0 ? "-" : ""}${amount(Math.abs(tokens))}`
}

export function money(usd: number): string {
  return `${usd < 0 ? "-" : ""}${dollars(Math.abs(usd))}`
}
