// The report's figures: the headline with its row of figures, tables of sessions and their sums, of tools and folds, the data
// of the chart for readers who cannot see it, and where the figures come from.

import { type Bill, billChange, billOf, billsOf, sumBills, sumReplays } from "../../replay/bill.ts"
import type { Replay } from "../../replay/replay.ts"
import { amount, dollars, finePercent, plural, REASON_WORDS } from "../../text/format.ts"
import { type ContentCost, sumCosts } from "../costs.ts"
import type { ReportData } from "../page.ts"
import type { ReportedCall, ReportedFold, SessionReport } from "../session.ts"
import {
  billSentences,
  billWords,
  type Figure,
  figuresOf,
  localDate,
  pricesWords,
  signedPercent,
  UNBILLED,
} from "../words.ts"
import { button, type Column, countColumn, disclosure, el, numberColumn, section, table } from "./dom.ts"

/** Shares are of what the whole conversation cost without the plugin. */
export function renderCosts(costs: readonly ContentCost[]): HTMLElement {
  const whole = costs.reduce((sum, cost) => sum + cost.without, 0)
  const share = (cost: number) => finePercent(cost / whole)
  const count = (tokens: number) => (tokens === 0 ? "–" : amount(tokens))
  return table<ContentCost>(
    "Shares of what the conversation cost without hudfold, over all requests; arguments and outputs in tokens, counted once",
    [
      { head: "what", cell: ({ kind, tool }) => (kind === "tool" ? tool : TEXTS[kind]) },
      numberColumn("without hudfold", (row) => share(row.without)),
      numberColumn("with hudfold", (row) => share(row.with)),
      numberColumn("calls", ({ calls }) => count(calls)),
      numberColumn("arguments", ({ inputTokens }) => count(inputTokens)),
      numberColumn("outputs", ({ outputTokens }) => count(outputTokens)),
    ],
    sumCosts(costs),
  )
}

const TEXTS = {
  user: "the user's messages",
  text: "the agent's texts",
  reasoning: "the agent's reasoning",
  hudfold: "hudfold's records and HUDs",
}

export function renderFoldTable({ folds }: SessionReport, choose: (call: number) => void): HTMLElement {
  // why a request was folded is said once, not at each of what was folded in it
  const firsts = new Set(folds.filter(({ call }, at) => call !== folds[at - 1]?.call))
  return table<ReportedFold>(
    "What was folded, in the order of folding",
    [
      { head: "id", cell: ({ id }) => id },
      { head: "folded", cell: ({ kind, step }) => (kind === "step" ? `step ${step}` : `output of step ${step}`) },
      numberColumn("call", ({ call }) => button(`${call}`, () => choose(call), { "aria-label": `go to call ${call}` })),
      { head: "what, and what is sent instead", cell: ({ what, text }) => foldedWords(what, text) },
      numberColumn("tokens", ({ tokens, textTokens }) => `${amount(tokens)} → ${amount(textTokens)}`),
      { head: "purpose", cell: ({ reason }) => REASON_WORDS[reason] },
      { head: "why", cell: (fold) => (firsts.has(fold) ? `${fold.because}; ${fold.cutBecause}` : fold.because) },
    ],
    folds,
  )
}

function foldedWords(what: string, text: string): HTMLElement {
  const name = el("code", {}, what)
  return text === "" ? name : disclosure(name, () => el("pre", {}, text))
}

export function renderCallTable({ calls }: SessionReport): HTMLElement {
  const tokens = (head: string, of: (call: ReportedCall) => number | undefined) =>
    numberColumn(head, (call: ReportedCall) => {
      const count = of(call)
      return count === undefined ? "–" : amount(count)
    })
  return table(
    "Tokens of each call's request",
    [
      numberColumn("call", (call: ReportedCall) => `${calls.indexOf(call) + 1}`),
      tokens("without hudfold", (call) => call.without.tokens),
      tokens("of which cached", (call) => call.without.cached),
      tokens("with hudfold", (call) => call.with.tokens),
      tokens("of which cached", (call) => call.with.cached),
      tokens("HUD", ({ hud }) => hud?.tokens ?? 0),
      tokens("reported", ({ reported }) => reported?.tokens),
      tokens("of which cached", ({ reported }) => reported?.cached),
    ],
    calls,
  )
}

export function renderSessionTable(sessions: readonly SessionReport[], open: (place: number) => void): HTMLElement {
  const rows = sessions.map((session, place) => ({ ...session, place, ...billed([session.replay]) }))
  const ran: Column<(typeof rows)[number]> = {
    head: "hudfold ran",
    cell: ({ replay }) => (replay.ran ? "yes" : "no"),
    by: ({ replay }) => (replay.ran ? 1 : 0),
  }
  return table<(typeof rows)[number]>(
    "A click on a heading sorts",
    [
      {
        head: "session",
        cell: ({ title, place }) => button(title, () => open(place), { class: "link" }),
        by: ({ title }) => title,
      },
      ...BILL_COLUMNS,
      {
        head: "begun",
        cell: ({ startMs }) => (startMs > 0 ? new Date(startMs).toLocaleDateString() : "–"),
        by: ({ startMs }) => startMs,
      },
      { head: "project", cell: ({ project }) => project || "–", by: ({ project }) => project },
      { head: "model", cell: ({ models }) => models.join(", ") || "–", by: ({ models }) => models.join(", ") },
      countColumn("calls", ({ replay }) => replay.calls),
      ...(rows.some(({ replay }) => replay.ran) ? [ran] : []),
    ],
    rows,
  )
}

/** `unbilled`: why there is no bill; "–" if that differs between the sessions. */
type Billed = { bill: Bill | undefined; unbilled: string }

/** The bill of the sessions that have one, added up. */
function billed(replays: readonly Replay[]): Billed {
  const bills = billsOf(replays)
  const why = new Set(replays.map(billOf).flatMap((bill) => (typeof bill === "string" ? [UNBILLED[bill].short] : [])))
  return { bill: bills.length > 0 ? sumBills(bills) : undefined, unbilled: why.size === 1 ? [...why].join() : "–" }
}

const savedCostIn = ({ bill }: Billed) => (bill ? bill.without.cost - bill.with.cost : Number.NEGATIVE_INFINITY)

/** What is saved of the whole bill of each row's sessions, and the bill. Sorted in fresh tokens: not every row has a price. */
const BILL_COLUMNS: readonly Column<Billed>[] = [
  { ...numberColumn("saved", ({ bill }) => (bill ? savedWords(bill) : "–")), by: savedCostIn },
  {
    ...numberColumn("change", ({ bill }) => (bill ? signedPercent(billChange(bill)) : "–")),
    by: ({ bill }) => (bill ? -billChange(bill) : Number.NEGATIVE_INFINITY),
  },
  {
    ...numberColumn("bill without", ({ bill, unbilled }) => (bill ? billWords(bill.without) : unbilled)),
    by: ({ bill }) => bill?.without.cost ?? Number.NEGATIVE_INFINITY,
  },
  {
    ...numberColumn("bill with", ({ bill }) => (bill ? billWords(bill.with) : "–")),
    by: ({ bill }) => bill?.with.cost ?? Number.NEGATIVE_INFINITY,
  },
]

function savedWords({ without, with: sent }: Bill): string {
  if (without.usd === undefined || sent.usd === undefined) return `${amount(without.cost - sent.cost)} tokens`
  return dollars(without.usd - sent.usd)
}

const UNKNOWN = "unknown"

const GROUPS: Record<string, (session: SessionReport) => string> = {
  project: ({ project }) => project,
  model: ({ models }) => models.join(", "),
  day: ({ startMs }) => (startMs === 0 ? "" : localDate(new Date(startMs))),
  month: ({ startMs }) => (startMs === 0 ? "" : localDate(new Date(startMs)).slice(0, 7)),
}

/** The bills of the sessions, added up by what the reader chooses. */
export function renderGroups(sessions: readonly SessionReport[]): HTMLElement {
  const names = Object.keys(GROUPS).map((name) => el("option", { value: name }, name))
  const chooser = el("select", { id: "group" }, ...names)
  // measured and estimated savings are not added up together
  const isMixed = new Set(sessions.map(({ replay }) => replay.ran !== undefined)).size > 1
  const box = el("div", {})
  const draw = () => {
    const groups = Map.groupBy(sessions, (session) => {
      const key = GROUPS[chooser.value]?.(session) ?? ""
      return isMixed && session.replay.ran ? `${key || UNKNOWN}, run with hudfold` : key
    })
    box.replaceChildren(renderGroupTable(chooser.value, groups))
  }
  chooser.addEventListener("change", draw)
  draw()
  return el("div", { class: "groups" }, el("label", {}, "Added up by ", chooser), box)
}

/** Days and months newest first, others by what was saved. */
function renderGroupTable(by: string, groups: ReadonlyMap<string, readonly SessionReport[]>): HTMLElement {
  const isTime = by === "day" || by === "month"
  const rows = [...groups]
    .map(([name, group]) => ({ name, count: group.length, ...billed(group.map(({ replay }) => replay)) }))
    .sort((a, b) => (isTime ? b.name.localeCompare(a.name) : savedCostIn(b) - savedCostIn(a)))
  return table<(typeof rows)[number]>(
    `The whole bills by ${isTime ? `the ${by} the session began` : by}; sessions not billed by tokens are in no sum`,
    [
      { head: by, cell: ({ name }) => name || UNKNOWN, by: ({ name }) => name },
      ...BILL_COLUMNS,
      countColumn("sessions", ({ count }) => count),
    ],
    rows,
  )
}

export function renderSummary(replays: readonly Replay[]): HTMLElement {
  const sum = sumReplays(replays)
  const tile = ([name, value, more]: Figure) =>
    el("div", {}, el("dt", {}, name), el("dd", { class: "value" }, value), el("dd", { class: "faint" }, more))
  const tiles = el("dl", { class: "tiles" }, ...(sum.calls === 0 ? [] : figuresOf(sum).map(tile)))
  const said = billSentences(replays).map((words, at) => el("p", { class: at === 0 ? "headline" : "more" }, words))
  return el("div", { id: "summary" }, ...said, tiles)
}

export function renderSources({ price, sessions, failed, madeBy, madeAtMs }: ReportData): HTMLElement {
  const given = new Set(sessions.map(({ id }) => id))
  const sum = sumReplays(sessions.map(({ replay }) => replay))
  const absent = sum.subagents.filter((id) => !given.has(id)).length
  const skipped = sessions.reduce((total, session) => total + session.skipped, 0)
  const notes = [
    "The bill is what was paid according to OpenCode's record, with system prompt, tools and the model's words. Where hudfold did not run, the bill with it is what was paid, less what folding would have saved of the conversation. Where it ran, the bill without it is what was paid, plus what was measured as saved. A bill without recorded prices is in fresh input tokens: what was paid, in tokens at the price of input that is not cached.",
    "Reported by the provider, as OpenCode recorded it: the line “reported”, which is the whole request including system prompt and tool definitions, and the cost of each call, from which amounts of money are computed.",
    "Estimated: everything else. Each recorded request is built twice, with the messages as they were and as hudfold would have sent them, at four characters per token and 1,500 tokens per image or other file. System prompt, tool definitions and answers are the same on both sides and left out. What a request has in common with the one before counts as cached for as long as the provider keeps it; at the session's own prices, a provider that never reports a cache read counts as one without a cache.",
    "Savings are measured in fresh input tokens, with cached tokens at the price of the cache. The side with hudfold includes its own text, and the cost of recalling each output from which the agent later copied a line that was nowhere else in the context.",
    "After a compaction the recording continues as it was, whether or not the compaction would have been due.",
    ...(sum.calls > 0
      ? [`Computed at ${pricesWords(sum)}${price === undefined ? "" : ", not the recorded ones"}.`]
      : []),
    ...(absent > 0 ? [`Not in this report: ${plural(absent, "session")} of subagents.`] : []),
    ...(failed > 0 ? [`Left out because they could not be read: ${plural(failed, "session")}.`] : []),
    ...(skipped > 0 ? [`Left out because they could not be read: ${skipped} messages or parts.`] : []),
    `Written by ${madeBy}, ${new Date(madeAtMs).toLocaleString()}. This file loads nothing from the network.`,
  ]
  return section("sources", "Where the figures come from", el("ul", {}, ...notes.map((words) => el("li", {}, words))))
}
