// Words and figures that the page, the terminal and the tables have in common.

import type { Unpaid } from "../replay/paid.ts"
import type { Replay } from "../replay/replay.ts"
import { amount, dollars, stepsAndOutputs } from "../text/format.ts"

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

export function per100({ recalls, calls }: Replay): string {
  return ((100 * recalls.calls) / Math.max(1, calls)).toFixed(1)
}

/** An amount of tokens, with a sign if negative. */
export function signed(tokens: number): string {
  return `${tokens < 0 ? "-" : ""}${amount(Math.abs(tokens))}`
}

export function money(usd: number): string {
  return `${usd < 0 ? "-" : ""}${dollars(Math.abs(usd))}`
}

/** The date in the reader's time zone, as 2026-03-01. */
export function localDate(date: Date): string {
  const two = (part: number) => `${part}`.padStart(2, "0")
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
}
