// What a row of requests costs under a tariff, when each finds in the provider's cache what it has in common with the
// one before.

import type { Tariff } from "../fold/tariff.ts"
import { tokensOfLength } from "../tokens.ts"
import type { Price } from "./pricing.ts"
import { type Piece, sumTokens } from "./request.ts"

export type Spent = {
  /** tokens sent over all calls, and those of them that the cache held */
  tokens: number
  cachedTokens: number
  /** in fresh input tokens */
  cost: number
  /** USD; undefined where no price is known */
  usd?: number
  /** the largest request, in tokens */
  peakTokens: number
}

/** What one request adds to it. */
export type Charge = Pick<Spent, "tokens" | "cachedTokens" | "cost">

export type Bill = {
  readonly spent: Spent
  /** Adds a request; answers what it costs. */
  add(pieces: readonly Piece[], price: Price, nowMs: number): Charge
}

export function newBill(): Bill {
  const spent: Spent = { tokens: 0, cachedTokens: 0, cost: 0, usd: 0, peakTokens: 0 }
  let last: { pieces: readonly Piece[]; nowMs: number; name: string } | undefined
  return {
    spent,
    add(pieces, { name, tariff, usdPerToken }, nowMs) {
      // each model has a cache of its own
      const isWarm = last?.name === name && nowMs - last.nowMs < tariff.lifetimeMs
      const tokens = sumTokens(pieces)
      // with the system prompt and the tools before them, even the first messages are above any provider's minimum
      const cachedTokens = isWarm && last ? commonTokens(last.pieces, pieces, tariff) : 0
      const cost = cachedTokens * tariff.read + (tokens - cachedTokens) * tariff.write
      spent.tokens += tokens
      spent.cachedTokens += cachedTokens
      spent.cost += cost
      addUsd(spent, cost, usdPerToken)
      spent.peakTokens = Math.max(spent.peakTokens, tokens)
      last = { pieces, nowMs, name }
      return { tokens, cachedTokens, cost }
    },
  }
}

/** Money is known for all calls or said of none. */
export function addUsd(spent: { usd?: number }, cost: number, usdPerToken: number | undefined): void {
  if (usdPerToken === undefined) delete spent.usd
  else if (spent.usd !== undefined) spent.usd += cost * usdPerToken
}

/** Tokens of what two requests begin with alike. */
function commonTokens(before: readonly Piece[], now: readonly Piece[], { write, lookback }: Tariff): number {
  let at = 0
  while (at < before.length && at < now.length && isSame(before[at], now[at])) at++
  if (lookback !== undefined && now.length - markedBefore(now, at) > lookback) at = leading(now)
  const same = sumTokens(now, at)
  const one = before[at]
  const other = now[at]
  // where writing is dearer, whole blocks are marked to be kept; other providers find out by themselves, token by token
  return write > 1 || !one || !other || one.label !== other.label ? same : same + commonStart(one.body, other.body)
}

/** Where an earlier request may have marked the end of what is the same: behind a result or what the user said. */
function markedBefore(pieces: readonly Piece[], at: number): number {
  let end = at
  while (end > 0 && !/^(?:result|user)\b/.test(pieces[end - 1]?.label ?? "")) end--
  return end
}

/** System prompt and tools have marks of their own. */
function leading(pieces: readonly Piece[]): number {
  const at = pieces.findIndex(({ label }) => label !== "system" && label !== "tool")
  return at < 0 ? pieces.length : at
}

function isSame(one: Piece | undefined, other: Piece | undefined): boolean {
  return one === other || (one?.label === other?.label && one?.body === other?.body)
}

function commonStart(one: string, other: string): number {
  let at = 0
  while (at < one.length && at < other.length && one.charCodeAt(at) === other.charCodeAt(at)) at++
  return tokensOfLength(at)
}
