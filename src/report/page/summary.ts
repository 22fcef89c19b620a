// The top and the bottom of the page: the headline with its row of figures, and where the figures come from.

import type { Pricing } from "../../fold/pricing.ts"
import { allIn, billChange, paidOf, sumPaid } from "../../replay/paid.ts"
import type { Replay } from "../../replay/replay.ts"
import { amount, finePercent, plural } from "../../text/format.ts"
import type { ReportData } from "../report.ts"
import { billSentences, billWords, foldedCounts, groupsOf, per100, signedPercent, type Whose } from "../words.ts"
import { el, section, table } from "./dom.ts"

export function summary(replays: readonly Replay[], sum: Replay, whose: Whose): HTMLElement {
  const tiles = sum.calls === 0 ? [] : figures(replays, sum)
  const [headline = "", ...more] = billSentences(replays, whose)
  return el(
    "div",
    { id: "summary" },
    el("p", { class: "headline" }, headline),
    ...more.map((words) => el("p", { class: "more" }, words)),
    el("dl", { class: "tiles" }, ...tiles.map(tile)),
  )
}

type Figure = readonly [name: string, value: string, more: string]

function tile([name, value, more]: Figure): HTMLElement {
  return el("div", {}, el("dt", {}, name), el("dd", { class: "value" }, value), el("dd", { class: "faint" }, more))
}

function figures(replays: readonly Replay[], replay: Replay): Figure[] {
  const { calls, without, with: sent, folds, recalls, compactions, hud } = replay
  const { steps, outputs } = folds
  const { automatic, asked, avoided } = compactions
  const share = (one: { cachedTokens: number; tokens: number }) => finePercent(one.cachedTokens / one.tokens)
  const change = signedPercent(allIn(replay) / without.cost - 1)
  const compacted = asked > 0 ? `${asked} of them asked for by the user` : "of the conversation"
  const tiles: (Figure | false)[] = [
    ...billTile(replays),
    replay.billing === "tokens" && ["Conversation alone", change, "without system prompt, tools and answers"],
    [
      "Sent",
      `${amount(without.tokens)} → ${amount(sent.tokens)}`,
      `tokens of conversation in ${plural(calls, "call")}`,
    ],
    ["Cached", `${share(without)} → ${share(sent)}`, "of what is sent"],
    ["Largest request", `${amount(without.peakTokens)} → ${amount(sent.peakTokens)}`, "tokens"],
    [
      "Folded",
      `${steps.count + outputs.count}`,
      foldedCounts(replay) === ""
        ? "nothing"
        : `${foldedCounts(replay)}: ${amount(steps.tokens + outputs.tokens)} tokens`,
    ],
    [
      "Recalls needed",
      `${recalls.calls}`,
      `${per100(replay)} per 100 calls; ${recalls.lostLines} of ${recalls.copiedLines} copied lines missed`,
    ],
    automatic + asked > 0 && ["Compactions", `${automatic + asked} → ${automatic + asked - avoided}`, compacted],
    ["HUD", `${Math.round(hud.tokens / Math.max(1, hud.calls))}`, `tokens, on ${plural(hud.calls, "call")}`],
  ]
  return tiles.filter((one) => one !== false)
}

/** None where the sentences give several sums. */
function billTile(replays: readonly Replay[]): Figure[] {
  const bills = replays.map(paidOf).filter((bill) => typeof bill === "object")
  if (groupsOf(bills).length !== 1) return []
  const sum = sumPaid(bills)
  const more = `${billWords(sum.without)} → ${billWords(sum.with)}`
  return [["Whole bill", signedPercent(billChange(sum)), more]]
}

export function sourcesSection({ pricings, price, sessions, sum, failed, madeBy, madeAtMs }: ReportData): HTMLElement {
  const given = new Set(sessions.map(({ id }) => id))
  const subagents = sum.subagents.filter((id) => !given.has(id)).length
  const skipped = sessions.reduce((total, session) => total + session.skipped, 0)
  const notes = [
    "The bill is what was paid according to OpenCode's record, with system prompt, tools and the model's words. Where hudfold did not run, the bill with it is what was paid, less what folding would have saved of the conversation. Where it ran, the bill without it is what was paid, plus what was measured as saved. A bill without recorded prices is in fresh input tokens: what was paid, in tokens at the price of input that is not cached.",
    "Reported by the provider, as OpenCode recorded it: the line “reported”, which is the whole request including system prompt and tool definitions, and the cost of each call, from which amounts of money are computed.",
    "Estimated: everything else. Each recorded request is built twice, with the messages as they were and as hudfold would have sent them, at four characters per token. System prompt, tool definitions and answers are the same on both sides and left out. What a request has in common with the one before counts as cached for as long as the provider keeps it.",
    "Savings are measured in fresh input tokens, with cached tokens at the price of the cache. The side with hudfold includes its own text, and the cost of recalling each output from which the agent later copied a line that was nowhere else in the context.",
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
      "What a token costs, compared with a fresh input token",
      [
        { head: "pricing", cell: ({ row }) => row },
        { head: "cached", isNumber: true, cell: ({ read }) => figure(read) },
        { head: "written", isNumber: true, cell: ({ write }) => figure(write) },
        { head: "output", isNumber: true, cell: ({ output }) => figure(output) },
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
