// What the provider reported against what was expected of it: whether its cache held what folding reckoned it would.
// Three calls in a row that cost more than reckoned, and folding stops for the session; a provider that never reports a
// cache read is taken at its word, and reckoned with as one that has no cache.

import type { Usage } from "../session/conversation.ts"
import { contextTokens } from "../session/facts.ts"
import type { Tariff } from "./tariff.ts"

/** What one request was reckoned to be, when it went out. */
export type Expectation = {
  /** the call (1-based) it was */
  call: number
  /** estimated tokens of its messages */
  sentTokens: number
  /** estimated tokens that were not in the cache, the HUD included; the rest was reckoned to be */
  freshTokens: number
  /** outputs that went out folded */
  folded: number
}

export type Account = {
  expected?: Expectation
  /** calls in a row whose reported cache reads fell short */
  short: number
  /** the provider has reported a cache read in this session */
  reads: boolean
  /** calls in a row without one, where one was due */
  unread: number
  /** least that a report exceeded the estimate by: what the system prompt and the tools come to */
  overhead?: number
  /** why folding for money has stopped, for people */
  stopped?: string
}

const CALLS = 3
/** Estimates are off by so much, in tokens and as a share, without it meaning anything. */
const SLACK_TOKENS = 1500
const SLACK = 0.2

export function newAccount(): Account {
  return { short: 0, reads: false, unread: 0 }
}

/** The account after a call was reported. `ratio` is of reported to estimated tokens. */
export function settleCall(account: Account, call: number, usage: Usage, ratio: number, tariff: Tariff): Account {
  const { expected, ...rest } = account
  const reads = account.reads || usage.cacheRead > 0
  // one that was taken as without a cache, and then reports a read, has one
  const known = { ...rest, reads, unread: reads ? 0 : account.unread }
  if (expected?.call !== call) return known
  const total = contextTokens(usage)
  const overhead = Math.max(0, Math.min(account.overhead ?? total, total - expected.sentTokens))
  const due = total - expected.freshTokens * ratio
  if (due < Math.max(tariff.minimumTokens, SLACK_TOKENS)) return { ...known, overhead }
  const isShort = usage.cacheRead < due * (1 - SLACK) - SLACK_TOKENS
  const short = isShort && reads && expected.folded > 0 ? account.short + 1 : 0
  const unread = usage.cacheRead === 0 && !reads ? account.unread + 1 : 0
  const settled = { ...known, overhead, short, unread }
  if (short < CALLS || account.stopped !== undefined) return settled
  const stopped = `${CALLS} calls in a row read less from the provider's cache than folding reckoned with (the last ${usage.cacheRead} tokens of about ${Math.round(due)})`
  return { ...settled, stopped }
}

/** A token may be shorter than reckoned by this share: code and other scripts than Latin. */
const DENSEST = 1.25

/**
 * Tokens of the next request: by the last report, unless that is more than what is sent can come to. Then it is of other
 * requests: the session was recorded without the plugin, or imported.
 */
export function requestTokens({ overhead }: Account, reported: number, sentTokens: number): number {
  return overhead === undefined ? reported : Math.min(reported, overhead + sentTokens * DENSEST)
}

/** The tariff as this session has come to know it. */
export function knownTariff(tariff: Tariff, { unread }: Account): Tariff {
  return unread < CALLS ? tariff : { ...tariff, read: 1, write: 1, lifetimeMs: 0 }
}
