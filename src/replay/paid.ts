// The whole bill of a session, with system prompt, tools and the model's words: what was paid, and what would have been.

import type { Replay } from "./replay.ts"
import { savedCost, savedUsd } from "./sum.ts"

/** Costs in fresh input tokens, and in USD where the record has prices. */
export type Paid = {
  /** the plugin ran: `with` was paid and `without` is estimated; otherwise the other way round */
  ran: boolean
  without: Cost
  with: Cost
}

/** In fresh input tokens, and in USD where it is known. */
export type Cost = { cost: number; usd?: number }

/**
 * Why a session has no bill: it made no calls, it is not billed by tokens, its record has no usage, or the plugin ran and
 * what it saved is not known.
 */
export type Unpaid = "empty" | "requests" | "nothing" | "unreported" | "unmeasured"

export function paidOf(replay: Replay): Paid | Unpaid {
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

/** The bill of what ran with the plugin: what was paid, and what the plugin measured as saved. */
export function measuredBill(paid: Cost, saved: number, savedUsd: number): Paid {
  const { cost, usd } = paid
  // a price may have been unknown while the plugin ran, and known to OpenCode
  const usdWithout = usd === undefined ? undefined : usd + (savedUsd || (saved * usd) / cost)
  return { ran: true, without: costOf(cost + saved, usdWithout), with: paid }
}

export function costOf(cost: number, usd: number | undefined): Cost {
  return { cost: Math.max(0, cost), ...(usd === undefined ? {} : { usd: Math.max(0, usd) }) }
}

/** The sum of bills; in money only if all of them are. */
export function sumPaid(bills: readonly Paid[]): Pick<Paid, "without" | "with"> {
  const sum = (side: "without" | "with") => {
    const usd = bills.every((bill) => bill[side].usd !== undefined)
      ? bills.reduce((total, bill) => total + (bill[side].usd ?? 0), 0)
      : undefined
    return costOf(
      bills.reduce((total, bill) => total + bill[side].cost, 0),
      usd,
    )
  }
  return { without: sum("without"), with: sum("with") }
}

/** What the plugin adds to the bill as a share of it; negative when it saves. */
export function billChange({ without, with: sent }: Pick<Paid, "without" | "with">): number {
  const [before, after] =
    without.usd !== undefined && sent.usd !== undefined ? [without.usd, sent.usd] : [without.cost, sent.cost]
  return before > 0 ? after / before - 1 : 0
}
