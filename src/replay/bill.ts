// The whole bill of a session, including system prompt, tools and answers: what was paid, and what would have been. Also what
// its conversation alone costs with recalls, and what the plugin saves on it.

import type { Pricing } from "../fold/pricing.ts"
import { addUsd, type Cost } from "./prices.ts"
import { emptyReplay, type Replay } from "./replay.ts"

/** What is paid without the plugin and with it. */
export type Bill = { without: Cost; with: Cost }
/** `ran`: the plugin ran, so `with` was paid and `without` is estimated; otherwise the other way round. */
export type SessionBill = Bill & { ran: boolean }

/**
 * Why a session has no bill: it made no calls, it is not billed by tokens, its record has no usage, or the plugin ran and
 * what it saved is not known.
 */
export type Unbilled = "empty" | Exclude<Pricing["billing"], "tokens"> | "unreported" | "unmeasured"

export function billOf(replay: Replay): SessionBill | Unbilled {
  const { calls, billing, recorded, ran } = replay
  if (calls === 0) return "empty"
  if (billing !== "tokens") return billing
  if (recorded.cost === 0) return "unreported"
  const usd = replay.without.usd === undefined || recorded.usd === 0 ? undefined : recorded.usd
  const paid = costOf(recorded.cost, usd)
  if (!ran) {
    // the conversation cannot have cost more than the bill: then its size is estimated too large
    const part = Math.min(1, recorded.cost / replay.without.cost)
    const money = usd === undefined ? undefined : usd - part * (savedUsd(replay) ?? 0)
    return { ran: false, without: paid, with: costOf(recorded.cost - part * savedCost(replay), money) }
  }
  return ran.calls === 0 ? "unmeasured" : measuredBill(paid, ran.costWithout - ran.cost, ran.usd)
}

/** The bills of those that have one. */
export function billsOf(replays: readonly Replay[]): SessionBill[] {
  return replays.map(billOf).filter((bill) => typeof bill === "object")
}

/** The bill of what ran with the plugin: what was paid, and what the plugin measured as saved. */
export function measuredBill(paid: Cost, saved: number, savedUsd: number): SessionBill {
  const { cost, usd } = paid
  // a price may have been unknown while the plugin ran, and known to OpenCode
  const usdWithout = usd === undefined ? undefined : usd + (savedUsd || (saved * usd) / cost)
  return { ran: true, without: costOf(cost + saved, usdWithout), with: paid }
}

export function costOf(cost: number, usd: number | undefined): Cost {
  return { cost: Math.max(0, cost), ...(usd === undefined ? {} : { usd: Math.max(0, usd) }) }
}

/** The bills that can be added up: those in money, or all if none is. */
export function addable(bills: readonly SessionBill[]): readonly SessionBill[] {
  const priced = bills.filter((bill) => bill.without.usd !== undefined && bill.with.usd !== undefined)
  return priced.length > 0 ? priced : bills
}

/** The sum of those that can be added up. */
export function sumBills(bills: readonly SessionBill[]): Bill {
  const sum: Bill = { without: { cost: 0, usd: 0 }, with: { cost: 0, usd: 0 } }
  for (const bill of addable(bills)) for (const side of ["without", "with"] as const) addFigures(sum[side], bill[side])
  return sum
}

/** What the plugin adds to the bill as a share of it; negative when it saves. */
export function billChange({ without, with: sent }: Bill): number {
  const [before, after] =
    without.usd !== undefined && sent.usd !== undefined ? [without.usd, sent.usd] : [without.cost, sent.cost]
  return before > 0 ? after / before - 1 : 0
}

export function sumReplays(replays: readonly Replay[]): Replay {
  const sum: Replay = {
    ...emptyReplay(),
    pricings: [...new Set(replays.flatMap(({ pricings }) => pricings))],
    billing: replays.some(({ billing }) => billing === "tokens") ? "tokens" : (replays[0]?.billing ?? "tokens"),
    subagents: [...new Set(replays.flatMap(({ subagents }) => subagents))],
  }
  for (const one of replays) {
    sum.calls += one.calls
    for (const part of ["without", "with", "recalls", "hud", "folds", "compactions", "recorded"] as const)
      addFigures(sum[part], one[part])
  }
  // the saving of all sessions must not be compared with what some of them were charged
  for (const name of ["cost", "usd"] as const)
    if (replays.some(({ calls, recorded }) => calls > 0 && recorded[name] === 0)) sum.recorded[name] = 0
  return sum
}

type Figures = { [name: string]: number | Figures }

/** Adds the figures of `one`, which has the same names; of peaks the larger counts. */
function addFigures(sum: Figures, one: Figures): void {
  for (const [name, value] of Object.entries(one)) {
    const before = sum[name]
    if (typeof value === "object") addFigures(before as Figures, value)
    else if (name === "peakTokens") sum[name] = Math.max(before as number, value)
    else if (name !== "usd") sum[name] = (before as number) + value
  }
  addUsd(sum as { usd?: number }, one.usd as number | undefined)
}

/** Cost with the plugin, recalls included, in fresh input tokens. */
export function costWithRecalls(replay: Replay): number {
  return replay.with.cost + replay.recalls.cost
}

/** In fresh input tokens; negative when the plugin costs more than it saves. */
export function savedCost(replay: Replay): number {
  return replay.without.cost - costWithRecalls(replay)
}

/** Undefined when no price is known. */
function savedUsd({ without, with: sent, recalls }: Replay): number | undefined {
  if (without.usd === undefined || sent.usd === undefined) return
  return without.usd - sent.usd - (recalls.usd ?? 0)
}
