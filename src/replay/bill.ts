// What a sequence of requests costs at given prices, if each finds in the provider's cache what it has in common with
// the one before.

import type { Pricing } from "../fold/pricing.ts"
import { isInReach, MARKED_MESSAGES } from "../fold/prompt-cache.ts"
import { tokensOfLength } from "../text/tokens.ts"
import type { Price } from "./prices.ts"
import { type Piece, sumTokens } from "./request.ts"

export type Spent = {
  /** tokens sent over all calls, and those of them that the cache held */
  tokens: number
  cachedTokens: number
  /** in fresh input tokens */
  cost: number
  /** USD; undefined when no price is known */
  usd?: number
  /** the largest request, in tokens */
  peakTokens: number
}

/** What one request adds to `Spent`. */
export type Charge = Pick<Spent, "tokens" | "cachedTokens" | "cost">

/** A request. The provider's cache has an entry that ends after each of these numbers of pieces. */
type Billed = { pieces: readonly Piece[]; ends: readonly number[]; nowMs: number; name: string }

export function newBill() {
  const spent = nothingSpent()
  let last: Billed | undefined
  return {
    spent: spent as Readonly<Spent>,
    /** Adds a request, given as the messages the provider gets; returns what it costs. */
    add(messages: readonly (readonly Piece[])[], { name, pricing, usdPerToken }: Price, nowMs: number): Charge {
      const pieces = messages.flat()
      // each model has its own cache
      const before = last?.name === name && nowMs - last.nowMs < pricing.lifetimeMs ? last : undefined
      const tokens = sumTokens(pieces)
      const marks = marksOf(messages)
      // the system prompt and the tools come before them, so even the first messages exceed any provider's minimum
      const cachedTokens = before ? foundTokens(before, pieces, marks, pricing) : 0
      const cost = cachedTokens * pricing.read + (tokens - cachedTokens) * pricing.write
      spent.tokens += tokens
      spent.cachedTokens += cachedTokens
      spent.cost += cost
      addUsd(spent, usdOf(cost, usdPerToken))
      spent.peakTokens = Math.max(spent.peakTokens, tokens)
      const kept = before ? before.ends.filter((end) => end <= commonPieces(before.pieces, pieces)) : []
      last = { pieces, ends: [...kept, ...marks], nowMs, name }
      return { tokens, cachedTokens, cost }
    },
  }
}

/** Adds an amount in USD. If one is unknown, so is the sum. */
export function addUsd(sum: { usd?: number }, usd: number | undefined): void {
  if (usd === undefined) delete sum.usd
  else if (sum.usd !== undefined) sum.usd += usd
}

export function usdOf(cost: number, usdPerToken: number | undefined): number | undefined {
  return usdPerToken === undefined ? undefined : cost * usdPerToken
}

export function nothingSpent(): Spent {
  return { tokens: 0, cachedTokens: 0, cost: 0, usd: 0, peakTokens: 0 }
}

/** Tokens of the request that are in the provider's cache. */
function foundTokens(before: Billed, now: readonly Piece[], marks: readonly number[], pricing: Pricing): number {
  const { write, lookback } = pricing
  const common = commonPieces(before.pieces, now)
  if (lookback !== undefined) {
    const found = before.ends.filter((end) => end <= common && isInReach(end, marks, lookback))
    return sumTokens(now, Math.max(leading(now.slice(0, common)), ...found))
  }
  const same = sumTokens(now, common)
  const one = before.pieces[common]
  const other = now[common]
  // where cache writes cost extra, whole blocks are cached; other providers compare token by token
  return write > 1 || !one || !other || one.label !== other.label ? same : same + commonStart(one.body, other.body)
}

function commonPieces(before: readonly Piece[], now: readonly Piece[]): number {
  let at = 0
  while (at < before.length && at < now.length && isSame(before[at], now[at])) at++
  return at
}

/** The request carries a cache mark after each of these numbers of pieces. */
function marksOf(messages: readonly (readonly Piece[])[]): number[] {
  const ends: number[] = []
  for (const message of messages) ends.push((ends.at(-1) ?? 0) + message.length)
  return ends.slice(-MARKED_MESSAGES)
}

/** Number of leading tool pieces, which carry their own marks. */
function leading(pieces: readonly Piece[]): number {
  const at = pieces.findIndex(({ label }) => label !== "tool")
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
