// Words and figures that the page, the terminal and the tables have in common; above all the result in one sentence, as what
// is paid.

import type { Fold } from "../fold/fold.ts"
import { UNKNOWN_PRICING } from "../fold/pricing-table.ts"
import {
  billChange,
  billOf,
  billsOf,
  costWithRecalls,
  type SessionBill,
  sumBills,
  type Unbilled,
} from "../replay/bill.ts"
import type { Cost } from "../replay/prices.ts"
import type { Replay } from "../replay/replay.ts"
import { groupBy } from "../system/values.ts"
import { amount, dollars, finePercent, plural, stepsAndOutputs } from "../text/format.ts"

/**
 * Such as "10 sessions cost $31.20. With hudfold they would have cost about $24.10 (-23%)." Sessions in which the plugin ran,
 * and those without prices in money, have sums of their own; sessions that are not billed by tokens are in no sum.
 */
export function billSentence(replays: readonly Replay[]): string {
  return billSentences(replays).join(" ")
}

/** The same in parts: one for each sum, then the sessions that are in no sum. */
export function billSentences(replays: readonly Replay[]): string[] {
  const unbilled = Object.entries(UNBILLED).flatMap(([why, { words }]) => {
    const of = replays.filter((replay) => billOf(replay) === why)
    return of.length > 0 ? [`${plural(of.length, "session")}: ${words(of)}.`] : []
  })
  return [...groupsOf(billsOf(replays)).map(groupWords), ...unbilled]
}

/** The result for all sessions in which the plugin ran, from their bills. */
export function measuredSentence(bills: readonly SessionBill[]): string {
  if (bills.length === 0) return "No session with hudfold was billed by tokens."
  return groupsOf(bills).map(groupWords).join(" ")
}

/** Bills with the plugin and without it, in money and not, each in a sum of its own. */
function groupsOf(bills: readonly SessionBill[]): SessionBill[][] {
  const groups = groupBy(bills, ({ ran, without }) => (ran ? 2 : 0) + (without.usd === undefined ? 1 : 0))
  return [0, 1, 2, 3].map((order) => groups.get(order)).filter((group) => group !== undefined)
}

function groupWords(group: readonly SessionBill[]): string {
  const sum = sumBills(group)
  const { without, with: sent } = sum
  const change = billChange(sum)
  const dearer = group.length > 1 ? group.filter((bill) => billChange(bill) > 0).length : 0
  const hasRun = group[0]?.ran
  const more = dearer === 0 ? "" : ` ${dearer} of them ${hasRun ? "cost more with it" : "would have cost more"}.`
  const they = group.length === 1 ? "it" : "they"
  const verb = change > 0 ? "added" : "saved"
  const sessions = plural(group.length, "session")
  if (without.usd === undefined || sent.usd === undefined) {
    const words = hasRun
      ? `ran with hudfold, which ${verb} about ${finePercent(Math.abs(change))} of the cost`
      : `would have cost about ${finePercent(Math.abs(change))} ${change > 0 ? "more" : "less"} with hudfold`
    return `${sessions}, counted in fresh input tokens, ${words}.${more}`
  }
  if (!hasRun) {
    const would = `With hudfold ${they} would have cost about ${dollars(sent.usd)} (${signedPercent(change)})`
    return `${sessions} cost ${dollars(without.usd)}. ${would}.${more}`
  }
  const saved = `hudfold ${verb} about ${dollars(Math.abs(without.usd - sent.usd))} (${signedPercent(change)})`
  return `${sessions} ran with hudfold and cost ${dollars(sent.usd)}. Without hudfold ${they} would have cost about ${dollars(without.usd)}: ${saved}.${more}`
}

/** In money where there are prices, otherwise in fresh input tokens. */
export function billWords({ cost, usd }: Cost): string {
  return usd === undefined ? `${amount(cost)} tokens` : dollars(usd)
}

/** Such as -23%. */
export function signedPercent(change: number): string {
  const words = finePercent(Math.abs(change))
  return words === "0%" ? words : `${change < 0 ? "-" : "+"}${words}`
}

/** What is said of sessions without a bill, and in place of one's bill. */
export const UNBILLED: Record<Unbilled, { words(replays: readonly Replay[]): string; short: string }> = {
  requests: { words: () => "billed by requests, so fewer tokens save no money", short: "by requests" },
  nothing: { words: () => "not billed, so fewer tokens save no money", short: "not billed" },
  unmeasured: {
    words: () => "shortened by hudfold or another plugin, and what that saved is not recorded",
    short: "not measured",
  },
  unreported: { words: unreportedWords, short: "not recorded" },
  empty: { words: () => "no model calls, so there is nothing to compare", short: "no calls" },
}

/** Compares the conversation, not in percent: where calls failed, little is left of it beside the plugin's own text. */
function unreportedWords(replays: readonly Replay[]): string {
  const sum = (of: (replay: Replay) => number) => amount(replays.reduce((total, replay) => total + of(replay), 0))
  const costs = `${sum(costWithRecalls)} fresh input tokens with hudfold instead of ${sum(({ without }) => without.cost)}`
  return `no recorded usage, so the bill is unknown; the conversation alone would have cost about ${costs}`
}

/** Such as "39 steps, 12 outputs"; empty when nothing was folded. */
export function foldedCounts({ folds: { steps, outputs } }: Replay): string {
  return stepsAndOutputs({ steps: steps.count, outputs: outputs.count })
}

/** The same of these folds. */
export function stepsAndOutputsOf(folds: readonly Pick<Fold, "kind">[]): string {
  const steps = folds.filter(({ kind }) => kind === "step").length
  return stepsAndOutputs({ steps, outputs: folds.length - steps })
}

/** A figure of sessions, and what it is. */
export type Figure = readonly [name: string, value: string, more: string]

/** What folding changed in the conversation, for the page and the terminal. */
export function figuresOf(replay: Replay): Figure[] {
  const { calls, without, with: sent, folds, recalls, compactions, hud } = replay
  const { steps, outputs } = folds
  const { automatic, asked, avoided } = compactions
  const share = (one: { cachedTokens: number; tokens: number }) => finePercent(one.cachedTokens / one.tokens)
  const per100 = ((100 * recalls.calls) / calls).toFixed(1)
  const missed = `${recalls.calls} in all; ${recalls.lostLines} of ${recalls.copiedLines} copied lines missed`
  const recalled = recalls.cost > 0 ? `, ${amount(recalls.cost)} of it for recalls` : ""
  const ownShare = finePercent((hud.tokens + hud.noticeTokens) / sent.tokens)
  const figures: (Figure | false)[] = [
    replay.billing === "tokens" && [
      "Conversation alone",
      signedPercent(costWithRecalls(replay) / without.cost - 1),
      `of its cost: ${amount(without.cost)} → ${amount(costWithRecalls(replay))} in fresh input tokens${recalled}`,
    ],
    [
      "Sent",
      `${amount(without.tokens)} → ${amount(sent.tokens)}`,
      `tokens of conversation in ${plural(calls, "call")}`,
    ],
    ["Cached", `${share(without)} → ${share(sent)}`, "of what is sent"],
    ["Largest request", `${amount(without.peakTokens)} → ${amount(sent.peakTokens)}`, "tokens"],
    ["Folded", amount(steps.tokens + outputs.tokens), `tokens in all: ${foldedCounts(replay) || "nothing"}`],
    ["Recalls needed", per100, `per 100 calls, ${missed}`],
    automatic + asked > 0 && [
      "Compactions",
      `${automatic + asked} → ${automatic + asked - avoided}`,
      `in all${asked > 0 ? `, ${asked} asked for by the user` : ""}; the calls after each are replayed as recorded`,
    ],
    [
      "HUD",
      `${Math.round(hud.tokens / Math.max(1, hud.calls))}`,
      `tokens, on ${plural(hud.calls, "call")}; all of hudfold's own text is ${ownShare} of what is sent`,
    ],
  ]
  return figures.filter((one) => one !== false)
}

/** Where OpenCode recorded what was charged, the table says only what the cache costs in relation to that. */
export function pricesWords({ pricings, without }: Replay): string {
  const rows = pricings.map((row) => (row === UNKNOWN_PRICING.name ? "an unknown provider" : row)).join(", ")
  return without.usd === undefined ? `the prices of ${rows}` : `the recorded prices, with the cache rules of ${rows}`
}

/** The date in the reader's time zone, as 2026-03-01. */
export function localDate(date: Date): string {
  const two = (part: number) => `${part}`.padStart(2, "0")
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
}
