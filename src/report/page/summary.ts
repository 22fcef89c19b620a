// The top and the bottom of the page: the headline with its row of figures, and where the figures come from.

import type { Pricing } from "../../fold/pricing.ts"
import { billChange, paidOf, sumPaid } from "../../replay/paid.ts"
import type { Replay } from "../../replay/replay.ts"
import { allIn, savedCost } from "../../replay/sum.ts"
import { amount, finePercent, plural } from "../../text/format.ts"
import type { ReportData } from "../report.ts"
import { billSentence, billWords, signedPercent, type Whose } from "../sentence.ts"
import { conversationWords, per100, signed } from "../words.ts"
import { el, section, table } from "./dom.ts"

/** `sum` is the sum of the replays. */
export function summary(replays: readonly Replay[], sum: Replay, whose: Whose): HTMLElement {
  const tiles = sum.calls === 0 ? [] : figures(replays, sum)
  return el(
    "div",
    { id: "summary" },
    el("p", { class: "headline" }, billSentence(replays, whose)),
    el("dl", { class: "tiles" }, ...tiles.map(tile)),
    el("p", { class: "more faint" }, conversationWords(sum).join("; ")),
  )
}

type Figure = readonly [name: string, value: string, more: string]

function tile([name, value, more]: Figure): HTMLElement {
  return el("div", {}, el("dt", {}, name), el("dd", { class: "value" }, value), el("dd", { class: "faint" }, more))
}

function figures(replays: readonly Replay[], replay: Replay): Figure[] {
  const { without, with: sent, folds, recalls, compactions, hud } = replay
  const { automatic, asked, avoided } = compactions
  const share = (one: { cachedTokens: number; tokens: number }) => finePercent(one.cachedTokens / one.tokens)
  const worth = `${signed(savedCost(replay))} fresh tokens' worth less`
  return [
    ...billTile(replays),
    ...(replay.billing === "tokens"
      ? [["Conversation", signedPercent(allIn(replay) / replay.without.cost - 1), worth] as const]
      : []),
    ["Total sent", `${amount(without.tokens)} → ${amount(sent.tokens)}`, "tokens over all calls"],
    ["Cached", `${share(without)} → ${share(sent)}`, "of what is sent"],
    ["Largest request", `${amount(without.peakTokens)} → ${amount(sent.peakTokens)}`, "tokens"],
    ["Steps folded", `${folds.steps.count}`, `of ${amount(folds.steps.tokens)} tokens`],
    ["Outputs folded", `${folds.outputs.count}`, `of ${amount(folds.outputs.tokens)} tokens`],
    ["Recalls", per100(replay), `per 100 calls; ${recalls.lostLines} of ${recalls.copiedLines} copied lines missed`],
    [
      "Compactions",
      `${automatic + asked}`,
      automatic > 0 ? `${avoided} of ${automatic} automatic avoided` : "in the record",
    ],
    ["HUD", `${Math.round(hud.tokens / Math.max(1, hud.calls))}`, `tokens, on ${plural(hud.calls, "call")}`],
  ]
}

function billTile(replays: readonly Replay[]): Figure[] {
  const bills = replays.map(paidOf).filter((bill) => typeof bill === "object")
  if (bills.length === 0) return []
  const sum = sumPaid(bills)
  const more = `whole bill, ${billWords(sum.without)} → ${billWords(sum.with)}`
  return [["Bill", signedPercent(billChange(sum)), more]]
}

export function sourcesSection({ pricings, price, sessions, sum, failed, madeBy, madeAtMs }: ReportData): HTMLElement {
  const given = new Set(sessions.map(({ id }) => id))
  const subagents = sum.subagents.filter((id) => !given.has(id)).length
  const skipped = sessions.reduce((total, session) => total + session.skipped, 0)
  const notes = [
    "The bill is what was paid according to OpenCode's record, with system prompt, tools and the model's words. For a session without hudfold, what it would have saved of the conversation is subtracted. For a session with hudfold, what it measurably saved is added.",
    "Reported by the provider, as OpenCode recorded it: the line “reported”, which is the whole request including system prompt and tool definitions, and the cost of each call, from which amounts of money are computed.",
    "Estimated: everything else. Each recorded request is built twice, with the messages as they were and as the plugin would have sent them, at four characters per token. System prompt, tool definitions and answers are the same on both sides and left out. What a request has in common with the one before counts as cached for as long as the provider keeps it.",
    "Savings are measured in fresh input tokens, with cached tokens at the price of the cache. The side with the plugin includes the plugin's own text, and the cost of recalling each output from which the agent later copied a line that was nowhere else in the context.",
    "After a compaction the recording continues as it was, whether or not the compaction would have been due.",
    ...(price === undefined ? [] : [`Computed with the prices of ${price} instead of the recorded providers'.`]),
    ...(subagents > 0 ? [`Not in this report: ${plural(subagents, "session")} of subagents.`] : []),
    ...(failed > 0 ? [`Left out because they could not be read: ${plural(failed, "session")}.`] : []),
    ...(skipped > 0 ? [`Left out because they could not be read: ${skipped} messages or parts.`] : []),
    `Written by ${madeBy}, ${new Date(madeAtMs).toLocaleString()}. This file loads nothing from the network.`,
  ]
  return section(
    "sources",
    "Where the figures come from",
    el("ul", {}, ...notes.map((words) => el("li", {}, words))),
    table<Pricing>(
      "What a token costs, in fresh input tokens",
      [
        { head: "pricing", cell: ({ row }) => row },
        { head: "cached", isNumber: true, cell: ({ read }) => figure(read) },
        { head: "written", isNumber: true, cell: ({ write }) => figure(write) },
        { head: "answered", isNumber: true, cell: ({ output }) => figure(output) },
        { head: "cache kept", isNumber: true, cell: ({ lifetimeMs }) => `${figure(lifetimeMs / 60_000)} min` },
        { head: "billed by", cell: ({ billing }) => billing },
      ],
      pricings,
    ),
  )
}

function figure(value: number): string {
  return `${Number(value.toFixed(2))}`
}
