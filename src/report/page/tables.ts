// The report's figures as tables: tools, folds, sessions, days, and the data of each chart for readers who cannot see it.

import type { Replay } from "../../replay/replay.ts"
import { savedCost } from "../../replay/saved.ts"
import { amount } from "../../text/format.ts"
import type { SessionReport, ToolCost } from "../report.ts"
import { money, per100, REASONS, savedPercent, signed } from "../words.ts"
import { type Day, dayName } from "./days.ts"
import { button, el, table } from "./dom.ts"

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

export function renderSessionTable(sessions: readonly SessionReport[], open: (place: number) => void): HTMLElement {
  const change = (replay: Replay) => {
    if (replay.calls === 0) return "–"
    if (replay.billing !== "tokens") return `by ${replay.billing}`
    return `${savedCost(replay) < 0 ? "−" : ""}${savedPercent(replay)}`
  }
  return table(
    "The sessions",
    [
      { head: "session", cell: ([{ title }, place]) => button(title, () => open(place), { class: "link" }) },
      { head: "begun", cell: ([{ startMs }]) => (startMs > 0 ? new Date(startMs).toLocaleDateString() : "–") },
      { head: "calls", isNumber: true, cell: ([{ replay }]) => `${replay.calls}` },
      { head: "saved", isNumber: true, cell: ([{ replay }]) => change(replay) },
      { head: "tokens' worth", isNumber: true, cell: ([{ replay }]) => signed(savedCost(replay)) },
      {
        head: "largest request",
        isNumber: true,
        cell: ([{ replay }]) => `${amount(replay.without.peakTokens)} → ${amount(replay.with.peakTokens)}`,
      },
      { head: "steps folded", isNumber: true, cell: ([{ replay }]) => `${replay.folds.steps.count}` },
      { head: "outputs folded", isNumber: true, cell: ([{ replay }]) => `${replay.folds.outputs.count}` },
      { head: "recalls per 100", isNumber: true, cell: ([{ replay }]) => per100(replay) },
    ],
    sessions.map((session, place) => [session, place] as const),
  )
}
