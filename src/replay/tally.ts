// What a sequence of requests costs if each finds in the provider's cache what it has in common with the one before.

import type { Pricing } from "../fold/pricing.ts"
import { isInReach, MARKED_MESSAGES } from "../fold/prompt-cache.ts"
import { tokensOfLength } from "../text/tokens.ts"
import { type Piece, sumTokens } from "./pieces.ts"
import { addCost, type Cost, type Price } from "./prices.ts"

type Spent = Cost & {
  /** tokens sent over all calls, and those of them that the cache held */
  tokens: number
  cachedTokens: number
  /** the largest request, in tokens */
  peakTokens: number
}

/** What one request adds to `Spent`. */
export type Charge = Pick<Spent, "tokens" | "cachedTokens" | "cost">

/** A request. The provider's cache has an entry that ends after each of these numbers of pieces. */
type CachedRequest = { pieces: readonly Piece[]; ends: readonly number[] }

export function newTally() {
  const spent = nothingSpent()
  let last: (CachedRequest & { nowMs: number; name: string }) | undefined
  return {
    spent: spent as Readonly<Spent>,
    /** Adds a request, given as the messages the provider gets; returns what it costs. */
    add(messages: readonly (readonly Piece[])[], price: Price, nowMs: number): Charge {
      const { name, pricing } = price
      const pieces = messages.flat()
      const ends = marksOf(messages)
      // each model has its own cache
      const isWarm = last?.name === name && nowMs - last.nowMs < pricing.lifetimeMs
      const before: CachedRequest = isWarm && last ? last : { pieces: [], ends: [] }
      const tokens = sumTokens(pieces)
      const common = commonPieces(before.pieces, pieces)
      const kept = before.ends.filter((end) => end <= common)
      // the system prompt and the tools come before them, so even the first messages exceed any provider's minimum
      const cachedTokens = foundTokens({ ...before, ends: kept }, { pieces, ends }, common, pricing)
      const cost = cachedTokens * pricing.read + (tokens - cachedTokens) * pricing.write
      spent.tokens += tokens
      spent.cachedTokens += cachedTokens
      addCost(spent, cost, price)
      spent.peakTokens = Math.max(spent.peakTokens, tokens)
      last = { pieces, ends: [...kept, ...ends], nowMs, name }
      return { tokens, cachedTokens, cost }
    },
  }
}

export function nothingSpent(): Spent {
  return { tokens: 0, cachedTokens: 0, cost: 0, usd: 0, peakTokens: 0 }
}

/** `common`: as many pieces of both are the same. */
function foundTokens(before: CachedRequest, now: CachedRequest, common: number, { write, lookback }: Pricing): number {
  if (lookback !== undefined) {
    const found = before.ends.filter((end) => isInReach(end, now.ends, lookback))
    // the list of tools, which comes first, has marks of its own
    const tools = now.pieces.slice(0, common).filter(({ label }) => label === "tool")
    return sumTokens(now.pieces, Math.max(tools.length, ...found))
  }
  const same = sumTokens(now.pieces, common)
  const one = before.pieces[common]
  const other = now.pieces[common]
  // where cache writes cost extra, whole blocks are cached; other providers compare token by token
  return write > 1 || !one || !other || one.label !== other.label ? same : same + commonStart(one.body, other.body)
}

function commonPieces(before: readonly Piece[], now: readonly Piece[]): number {
  const at = now.findIndex(({ label, body }, piece) => label !== before[piece]?.label || body !== before[piece]?.body)
  return at < 0 ? now.length : at
}

/** The request carries a cache mark after each of these numbers of pieces. */
function marksOf(messages: readonly (readonly Piece[])[]): number[] {
  const ends: number[] = []
  for (const { length } of messages) ends.push((ends.at(-1) ?? 0) + length)
  return ends.slice(-MARKED_MESSAGES)
}

function commonStart(one: string, other: string): number {
  let at = 0
  while (at < one.length && at < other.length && one.charCodeAt(at) === other.charCodeAt(at)) at++
  return tokensOfLength(at)
}
