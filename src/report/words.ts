// Words and figures that the page, the terminal and the tables have in common; above all the result in one sentence, as what
// is paid.

import { allIn, billChange, type Cost, type Paid, paidOf, sumPaid, type Unpaid } from "../replay/paid.ts"
import type { Replay } from "../replay/replay.ts"
import { amount, dollars, finePercent, plural, stepsAndOutputs } from "../text/format.ts"

/** How the sentence refers to the sessions: those the user named, or the newest. */
export type Whose = "these" | "your last"

/**
 * Such as "Your last 10 sessions cost $31.20. With hudfold they would have cost about $24.10 (-23%). 2 would have cost
 * more." Sessions in which the plugin ran, and those without prices in money, have sums of their own; sessions that are
 * not billed by tokens are in no sum.
 */
export function billSentence(replays: readonly Replay[], whose: Whose = "these"): string {
  return billSentences(replays, whose).join(" ")
}

/** The same in parts: one for each sum, then the sessions that are in no sum. */
export function billSentences(replays: readonly Replay[], whose: Whose = "these"): string[] {
  const bills = replays.map(paidOf)
  const paid = bills.filter((bill): bill is Paid => typeof bill === "object")
  const groups = groupsOf(paid)
  const all = replays.length
  const said = groups.map((group, at) => {
    const subject = group.length === all ? subjectOf(all, whose) : partOf(group.length, all, at, whose)
    // next to a sum in money, say why this one is not in money
    const isPriced = group[0]?.without.usd !== undefined
    return groupWords(group, isPriced || at === 0 ? subject : `${subject} without recorded prices`)
  })
  return [...said, ...unpaidWords(replays, whose, said.length)]
}

/** The result for all sessions in which the plugin ran, from their bills. */
export function measuredSentence(bills: readonly Paid[]): string {
  const all = bills.length
  if (all === 0) return "No session with hudfold was billed by tokens."
  const mine = all === 1 ? "session" : `${all} sessions`
  const subject = (count: number, at: number) =>
    count === all ? `Your ${mine}` : at === 0 ? `${count} of your ${mine}` : `${count} more`
  return groupsOf(bills)
    .map((group, at) => groupWords(group, subject(group.length, at)))
    .join(" ")
}

/** Bills with the plugin and without it, in money and not, each in a sum of its own. */
export function groupsOf(bills: readonly Paid[]): Paid[][] {
  return [false, true].flatMap((ran) =>
    [true, false].flatMap((hasMoney) => {
      const group = bills.filter((bill) => bill.ran === ran && (bill.without.usd !== undefined) === hasMoney)
      return group.length > 0 ? [group] : []
    }),
  )
}

function subjectOf(count: number, whose: Whose): string {
  if (whose === "your last") return count === 1 ? "Your last session" : `Your last ${count} sessions`
  return count === 1 ? "This session" : `These ${count} sessions`
}

function partOf(count: number, all: number, at: number, whose: Whose): string {
  return at === 0 ? `${count} of ${subjectOf(all, whose).replace(/^\w/, (one) => one.toLowerCase())}` : `${count} more`
}

function groupWords(group: readonly Paid[], subject: string): string {
  const sum = sumPaid(group)
  const change = billChange(sum)
  const they = group.length === 1 ? "it" : "they"
  const { without, with: sent } = sum
  const dearer = group.filter((bill) => billChange(bill) > 0).length
  if (!group[0]?.ran) {
    const more = group.length > 1 && dearer > 0 ? ` ${dearer} of them would have cost more.` : ""
    if (without.usd === undefined || sent.usd === undefined)
      return `${subject} would${group.length > 1 ? " together" : ""} have cost about ${lessOrMore(change)} with hudfold.${more}`
    const would = `With hudfold ${they} would have cost about ${dollars(sent.usd)} (${signedPercent(change)})`
    return `${subject} cost ${dollars(without.usd)}. ${would}.${more}`
  }
  const more = group.length > 1 && dearer > 0 ? ` ${dearer} of them cost more with it.` : ""
  const verb = change > 0 ? "added" : "saved"
  if (without.usd === undefined || sent.usd === undefined)
    return `${subject} ran with hudfold, which ${verb} about ${finePercent(Math.abs(change))} of the cost.${more}`
  const saved = `hudfold ${verb} about ${dollars(Math.abs(without.usd - sent.usd))} (${signedPercent(change)})`
  return `${subject} ran with hudfold and cost ${dollars(sent.usd)}. Without hudfold ${they} would have cost about ${dollars(without.usd)}: ${saved}.${more}`
}

function lessOrMore(change: number): string {
  return `${finePercent(Math.abs(change))} ${change > 0 ? "more" : "less"}`
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

const UNPAID: readonly (readonly [why: Unpaid, words: string])[] = [
  ["requests", "billed by requests, so fewer tokens save no money"],
  ["nothing", "billed at nothing"],
  ["unmeasured", "shortened by hudfold or another plugin, and what that saved is not recorded"],
]

function unpaidWords(replays: readonly Replay[], whose: Whose, saidBefore: number): string[] {
  const all = replays.length
  const of = (why: Unpaid) => replays.filter((replay) => paidOf(replay) === why)
  const be = all === 1 ? { now: "is", past: "was" } : { now: "are", past: "were" }
  const said = UNPAID.flatMap(([why, words]) => {
    const count = of(why).length
    if (count === 0) return []
    return [
      count === all
        ? `${subjectOf(all, whose)} ${why === "unmeasured" ? be.past : be.now} ${words}.`
        : `Not in a sum: ${plural(count, "session")} ${words}.`,
    ]
  })
  const empty = of("empty").length
  const without =
    empty === all
      ? `${subjectOf(all, whose)} made no model calls, so there is nothing to compare.`
      : `Not in a sum: ${plural(empty, "session")} without model calls.`
  return [...said, ...unreportedWords(of("unreported"), all, whose, saidBefore), ...(empty > 0 ? [without] : [])]
}

/** Without usage the bill is unknown, and only the conversation can be compared. */
function unreportedWords(replays: readonly Replay[], all: number, whose: Whose, saidBefore: number): string[] {
  if (replays.length === 0) return []
  const sum = (of: (replay: Replay) => number) => replays.reduce((total, replay) => total + of(replay), 0)
  const less = lessOrMore(sum(allIn) / sum(({ without }) => without.cost) - 1)
  const count = replays.length
  const which = count === all ? subjectOf(all, whose) : partOf(count, all, saidBefore, whose)
  const whole = count === 1 ? "its bill is" : "their bills are"
  return [
    `${which} ${count === 1 ? "has" : "have"} no recorded usage, so ${whole} unknown: the conversation alone would have cost about ${less} with hudfold.`,
  ]
}

/** In place of a bill. */
export const UNBILLED: Record<Unpaid, string> = {
  empty: "no calls",
  requests: "by requests",
  nothing: "nothing",
  unreported: "not recorded",
  unmeasured: "not measured",
}

/** Such as "39 steps, 12 outputs"; empty when nothing was folded. */
export function foldedCounts({ folds: { steps, outputs } }: Replay): string {
  return stepsAndOutputs({ steps: steps.count, outputs: outputs.count })
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
      signedPercent(allIn(replay) / without.cost - 1),
      `of its cost: ${amount(without.cost)} → ${amount(allIn(replay))} in fresh input tokens${recalled}`,
    ],
    [
      "Sent",
      `${amount(without.tokens)} → ${amount(sent.tokens)}`,
      `tokens of conversation in ${plural(calls, "call")}`,
    ],
    ["Cached", `${share(without)} → ${share(sent)}`, "of what is sent"],
    ["Largest request", `${amount(without.peakTokens)} → ${amount(sent.peakTokens)}`, "tokens"],
    ["Folded", amount(steps.tokens + outputs.tokens), `tokens: ${foldedCounts(replay) || "nothing"}`],
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

/** An amount of tokens, with a sign if negative. */
export function signed(tokens: number): string {
  return `${tokens < 0 ? "-" : ""}${amount(Math.abs(tokens))}`
}

/** The date in the reader's time zone, as 2026-03-01. */
export function localDate(date: Date): string {
  const two = (part: number) => `${part}`.padStart(2, "0")
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
}
