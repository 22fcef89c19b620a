// What a row of requests costs under a tariff, when each finds in the provider's cache what it has in common with the
// one before.

import { isInReach, MARKED_MESSAGES } from "../fold/prompt-cache.ts"
import type { Tariff } from "../fold/tariff.ts"
import { tokensOfLength } from "../text/tokens.ts"
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
  /** Adds a request, its messages as the provider gets them; answers what it costs. */
  add(messages: readonly (readonly Piece[])[], price: Price, nowMs: number): Charge
}

/** A request, and after how many of its pieces the provider has an entry in its cache. */
type Billed = { pieces: readonly Piece[]; ends: readonly number[]; nowMs: number; name: string }

export function newBill(): Bill {
  const spent: Spent = { tokens: 0, cachedTokens: 0, cost: 0, usd: 0, peakTokens: 0 }
  let last: Billed | undefined
  return {
    spent,
    add(messages, { name, tariff, usdPerToken }, nowMs) {
      const pieces = messages.flat()
      // each model has a cache of its own
      const before = last?.name === name && nowMs - last.nowMs < tariff.lifetimeMs ? last : undefined
      const tokens = sumTokens(pieces)
      const marks = marksOf(messages)
      // with the system prompt and the tools before them, even the first messages are above any provider's minimum
      const cachedTokens = before ? foundTokens(before, pieces, marks, tariff) : 0
      const cost = cachedTokens * tariff.read + (tokens - cachedTokens) * tariff.write
      spent.tokens += tokens
      spent.cachedTokens += cachedTokens
      spent.cost += cost
      addUsd(spent, cost, usdPerToken)
      spent.peakTokens = Math.max(spent.peakTokens, tokens)
      const kept = before ? before.ends.filter((end) => end <= commonPieces(before.pieces, pieces)) : []
      last = { pieces, ends: [...kept, ...marks], nowMs, name }
      return { tokens, cachedTokens, cost }
    },
  }
}

/** Money is known for all calls or said of none. */
export function addUsd(spent: { usd?: number }, cost: number, usdPerToken: number | undefined): void {
  if (usdPerToken === undefined) delete spent.usd
  else if (spent.usd !== undefined) spent.usd += cost * usdPerToken
}

/** Tokens of the request that the provider finds in its cache. */
function foundTokens(before: Billed, now: readonly Piece[], marks: readonly number[], tariff: Tariff): number {
  const { write, lookback } = tariff
  const common = commonPieces(before.pieces, now)
  if (lookback !== undefined) {
    const found = before.ends.filter((end) => end <= common && isInReach(end, marks, lookback))
    return sumTokens(now, Math.max(leading(now.slice(0, common)), ...found))
  }
  const same = sumTokens(now, common)
  const one = before.pieces[common]
  const other = now[common]
  // where writing is dearer, whole blocks are marked to be kept; other providers find out by themselves, token by token
  return write > 1 || !one || !other || one.label !== other.label ? same : same + commonStart(one.body, other.body)
}

function commonPieces(before: readonly Piece[], now: readonly Piece[]): number {
  let at = 0
  while (at < before.length && at < now.length && isSame(before[at], now[at])) at++
  return at
}

/** After how many pieces the request carries a mark. */
function marksOf(messages: readonly (readonly Piece[])[]): number[] {
  const ends: number[] = []
  for (const message of messages) ends.push((ends.at(-1) ?? 0) + message.length)
  return ends.slice(-MARKED_MESSAGES)
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
