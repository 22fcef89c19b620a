// Where the figures come from, in plain words: what a provider reported, what is reckoned, and with which prices.

import type { Tariff } from "../../fold/tariff.ts"
import { count } from "../../replay/saved.ts"
import type { Report } from "../report.ts"
import { el, section, table } from "./dom.ts"

export function sourcesSection({ tariffs, price, sessions, sum, failed, madeBy, madeAtMs }: Report): HTMLElement {
  const given = new Set(sessions.map(({ id }) => id))
  const subagents = sum.subagents.filter((id) => !given.has(id)).length
  const skipped = sessions.reduce((total, session) => total + session.skipped, 0)
  const hasOthers = sum.billing === "tokens" && sessions.some(({ replay }) => replay.billing !== "tokens")
  const notes = [
    "Reported by the provider, as OpenCode recorded it: the line “reported”, which is the whole request with system prompt and tool definitions; and what money is reckoned from, the cost of each call.",
    "Reckoned: everything else. Each recorded call is made again twice, with the messages as they were and as the plugin would have sent them, at four characters a token. System prompt, tool definitions and answers are the same on both sides and left out. What a request has in common with the one before counts as cached for as long as the provider keeps it.",
    "Saved is counted in the price of fresh input tokens: what a request costs, cached parts at the cache's price. With the plugin its own text is in it, and what it would have cost to ask back each output from which the agent later copied a line that nothing else held.",
    "After a compaction the record goes on as it was, whether it would have been due or not.",
    ...(price === undefined ? [] : [`Reckoned with the prices of ${price} in place of the recorded providers'.`]),
    ...(hasOthers ? ["Sessions that are not billed by tokens are in the sum as if they were."] : []),
    ...(subagents > 0 ? [`Not in this report: ${count(subagents, "session")} of subagents.`] : []),
    ...(failed > 0 ? [`Left out, since they could not be read: ${count(failed, "session")}.`] : []),
    ...(skipped > 0 ? [`Left out, since they could not be read: ${skipped} messages or parts.`] : []),
    `Written by ${madeBy}, ${new Date(madeAtMs).toLocaleString()}. This file loads nothing from anywhere.`,
  ]
  return section(
    "sources",
    "Where the figures come from",
    el("ul", {}, ...notes.map((words) => el("li", {}, words))),
    table<Tariff>(
      "What a token costs, in fresh input tokens",
      [
        { head: "tariff", cell: ({ row }) => row },
        { head: "cached", isNumber: true, cell: ({ read }) => figure(read) },
        { head: "written", isNumber: true, cell: ({ write }) => figure(write) },
        { head: "answered", isNumber: true, cell: ({ output }) => figure(output) },
        { head: "cache kept", isNumber: true, cell: ({ lifetimeMs }) => `${figure(lifetimeMs / 60_000)} min` },
        { head: "billed by", cell: ({ billing }) => billing },
      ],
      tariffs,
    ),
  )
}

function figure(value: number): string {
  return `${Number(value.toFixed(2))}`
}
