// The report's figures as tables: tools, folds, sessions, days, and the data of each chart for readers who cannot see it.

import { billChange, paidOf, sumPaid } from "../../replay/paid.ts"
import type { Replay } from "../../replay/replay.ts"
import { amount } from "../../text/format.ts"
import type { SessionReport, ToolCost } from "../report.ts"
import { billWords, signedPercent } from "../sentence.ts"
import { money, per100, REASONS, signed } from "../words.ts"
import { type Day, dayName } from "./days.ts"
import { button, type Column, el, table } from "./dom.ts"

/** With a bar each for the tokens sent without and with the plugin. */
export function renderToolTable(tools: readonly ToolCost[]): HTMLElement {
  const most = Math.max(1, ...tools.map(({ withoutTokens }) => withoutTokens))
  return table<ToolCost>(
    "Tokens of each tool's calls and outputs: when they were new, and over all requests that carried them",
    [
      { head: "tool", cell: ({ tool }) => tool },
      { head: "calls", isNumber: true, cell: ({ calls }) => `${calls}` },
      { head: "arguments", isNumber: true, cell: ({ inputTokens }) => amount(inputTokens) },
      { head: "outputs", isNumber: true, cell: ({ outputTokens }) => amount(outputTokens) },
      { head: "sent without", isNumber: true, cell: ({ withoutTokens }) => amount(withoutTokens) },
      { head: "sent with", isNumber: true, cell: ({ withTokens }) => amount(withTokens) },
      {
        head: "",
        cell: ({ withoutTokens, withTokens }) =>
          el(
            "span",
            { class: "bars", "aria-hidden": "true" },
            bar("without", withoutTokens, most),
            bar("with", withTokens, most),
          ),
      },
    ],
    tools,
  )
}

/** The content security policy blocks `style` attributes, but not properties set by a script. */
function bar(side: "with" | "without", tokens: number, most: number): HTMLElement {
  const made = el("span", { class: side })
  made.style.width = `${(100 * tokens) / most}%`
  return made
}

export function renderFoldTable({ folds }: SessionReport, choose: (call: number) => void): HTMLElement {
  return table(
    "What was folded, in the order of folding",
    [
      { head: "id", cell: ({ id }) => id },
      { head: "folded", cell: ({ side, step }) => (side === "step" ? `step ${step}` : `output of step ${step}`) },
      {
        head: "call",
        isNumber: true,
        cell: ({ call }) => button(`${call}`, () => choose(call), { "aria-label": `go to call ${call}` }),
      },
      { head: "what", cell: ({ what }) => el("code", {}, what) },
      { head: "tokens", isNumber: true, cell: ({ tokens, textTokens }) => `${amount(tokens)} → ${amount(textTokens)}` },
      { head: "purpose", cell: ({ reason }) => REASONS[reason] },
      { head: "why", cell: ({ because }) => because },
    ],
    folds,
  )
}

export function renderCallTable({ calls }: SessionReport): HTMLElement {
  const at = (column: readonly (number | null)[]) => (call: number) => {
    const value = column[call - 1]
    return value == null ? "–" : amount(value)
  }
  return table<number>(
    "Tokens of each call's request",
    [
      { head: "call", isNumber: true, cell: (call) => `${call}` },
      { head: "without", isNumber: true, cell: at(calls.without) },
      { head: "of which cached", isNumber: true, cell: at(calls.withoutCached) },
      { head: "with", isNumber: true, cell: at(calls.with) },
      { head: "of which cached", isNumber: true, cell: at(calls.withCached) },
      { head: "HUD", isNumber: true, cell: at(calls.hudTokens) },
      { head: "reported", isNumber: true, cell: at(calls.reported) },
      { head: "of which cached", isNumber: true, cell: at(calls.reportedCached) },
    ],
    calls.with.map((_, i) => i + 1),
  )
}

export function renderDayTable(days: readonly Day[]): HTMLElement {
  const hasMoney = days.some(({ usd }) => usd !== undefined)
  return table(
    "Saved by day, in fresh input tokens",
    [
      { head: "day", cell: dayName },
      { head: "calls", isNumber: true, cell: ({ calls }) => `${calls}` },
      { head: "saved", isNumber: true, cell: ({ saved }) => signed(saved) },
      ...(hasMoney
        ? [{ head: "money", isNumber: true, cell: ({ usd }: Day) => (usd === undefined ? "–" : money(usd)) }]
        : []),
    ],
    days,
  )
}

type Numbered = readonly [session: SessionReport, place: number]

export function renderSessionTable(sessions: readonly SessionReport[], open: (place: number) => void): HTMLElement {
  const change = ([{ replay }]: Numbered) => {
    const bill = paidOf(replay)
    return typeof bill === "string" ? Number.NEGATIVE_INFINITY : -billChange(bill)
  }
  const saved = ([{ replay }]: Numbered) => {
    const bill = paidOf(replay)
    if (typeof bill === "string") return Number.NEGATIVE_INFINITY
    return (bill.without.usd ?? bill.without.cost) - (bill.with.usd ?? bill.with.cost)
  }
  return table<Numbered>(
    "The sessions; a click on a heading sorts them",
    [
      {
        head: "session",
        cell: ([{ title }, place]) => button(title, () => open(place), { class: "link" }),
        by: ([{ title }]) => title,
      },
      {
        head: "begun",
        cell: ([{ startMs }]) => (startMs > 0 ? new Date(startMs).toLocaleDateString() : "–"),
        by: ([{ startMs }]) => startMs,
      },
      { head: "project", cell: ([{ project }]) => project || "–", by: ([{ project }]) => project },
      { head: "model", cell: ([{ models }]) => models.join(", ") || "–", by: ([{ models }]) => models.join(", ") },
      { head: "calls", isNumber: true, cell: ([{ replay }]) => `${replay.calls}`, by: ([{ replay }]) => replay.calls },
      {
        head: "was run",
        cell: ([{ replay }]) => (replay.ran ? "with hudfold" : "without"),
        by: ([{ replay }]) => (replay.ran ? "a" : "b"),
      },
      ...billColumns<Numbered>(([{ replay }]) => [replay]),
      { head: "saved", isNumber: true, cell: (row) => savedWords(row[0].replay), by: saved },
      { head: "change", isNumber: true, cell: ([{ replay }]) => changeWords([replay]), by: change },
      {
        head: "largest request",
        isNumber: true,
        cell: ([{ replay }]) => `${amount(replay.without.peakTokens)} → ${amount(replay.with.peakTokens)}`,
        by: ([{ replay }]) => replay.without.peakTokens,
      },
      { head: "recalls per 100", isNumber: true, cell: ([{ replay }]) => per100(replay) },
    ],
    sessions.map((session, place) => [session, place] as const),
  )
}

const billsOf = (replays: readonly Replay[]) => replays.map(paidOf).filter((bill) => typeof bill === "object")

/** The whole bill of each row's sessions, without and with the plugin. */
function billColumns<Row>(replaysOf: (row: Row) => readonly Replay[]): Column<Row>[] {
  return (["without", "with"] as const).map((side) => ({
    head: `bill ${side}`,
    isNumber: true,
    cell(row) {
      const bills = billsOf(replaysOf(row))
      return bills.length > 0 ? billWords(sumPaid(bills)[side]) : "–"
    },
  }))
}

function savedWords(replay: Replay): string {
  const bill = paidOf(replay)
  if (typeof bill === "string") return bill === "requests" ? "by requests" : "–"
  const { without, with: sent } = bill
  if (without.usd === undefined || sent.usd === undefined) return signed(without.cost - sent.cost)
  return money(without.usd - sent.usd)
}

function changeWords(replays: readonly Replay[]): string {
  const bills = billsOf(replays)
  return bills.length > 0 ? signedPercent(billChange(sumPaid(bills))) : "–"
}

const GROUPS: Record<string, (session: SessionReport) => string> = {
  project: ({ project }) => project,
  model: ({ models }) => models.join(", "),
  day: ({ startMs }) => dateWords(startMs, 10),
  month: ({ startMs }) => dateWords(startMs, 7),
}

/** The date in the reader's time zone, as 2026-03-01, cut to `chars`. */
function dateWords(startMs: number, chars: number): string {
  if (startMs === 0) return ""
  const date = new Date(startMs)
  const two = (part: number) => `${part}`.padStart(2, "0")
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`.slice(0, chars)
}

/** The bills of the sessions, added up by what the reader chooses. */
export function groupsView(sessions: readonly SessionReport[]): HTMLElement {
  const chooser = el(
    "select",
    { id: "group" },
    ...Object.keys(GROUPS).map((name) => el("option", { value: name }, name)),
  )
  const box = el("div", {})
  const draw = () => {
    const groups = new Map<string, Replay[]>()
    for (const session of sessions) {
      const name = GROUPS[chooser.value]?.(session) || "unknown"
      groups.set(name, [...(groups.get(name) ?? []), session.replay])
    }
    box.replaceChildren(renderGroupTable(chooser.value, [...groups]))
  }
  chooser.addEventListener("change", draw)
  draw()
  return el("div", { class: "groups" }, el("label", {}, "Added up by ", chooser), box)
}

function renderGroupTable(by: string, groups: readonly (readonly [name: string, replays: readonly Replay[]])[]) {
  return table<(typeof groups)[number]>(
    `The whole bills by ${by}; sessions that are not billed by tokens are in no sum`,
    [
      { head: by, cell: ([name]) => name, by: ([name]) => name },
      {
        head: "sessions",
        isNumber: true,
        cell: ([, replays]) => `${replays.length}`,
        by: ([, replays]) => replays.length,
      },
      ...billColumns<(typeof groups)[number]>(([, replays]) => replays),
      { head: "change", isNumber: true, cell: ([, replays]) => changeWords(replays) },
    ],
    groups,
  )
}
