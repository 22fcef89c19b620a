// Compares the provider's reports with the predictions behind the folds. After three calls in a row with fewer cache
// reads than predicted, folding stops for the session. A provider that never reports a cache read is treated as having
// no cache, unless its requests cost nothing.

import type { Usage } from "../session/conversation.ts"
import { contextTokens, type Facts } from "../session/facts.ts"
import type { Pricing } from "./pricing.ts"

/** The prediction for one request, made when it was sent. */
type Expectation = {
  /** number of the call, from 1 */
  call: number
  /** estimated tokens of its messages */
  sentTokens: number
  /** estimated tokens that are not cached, the HUD included; the rest is expected to be; infinite when nothing is */
  freshTokens: number
  /** number of steps and outputs sent folded */
  foldedCount: number
}

/** What the provider's reports show of its cache, and what the next one is expected to say. */
export type Calibration = {
  expected?: Expectation
  /** calls in a row whose reported cache reads were too low */
  shortCalls: number
  /** the provider has reported a cache read in this session */
  hasRead: boolean
  /** calls in a row that should have reported a cache read and did not */
  unreadCalls: number
  /** smallest excess of a report over its estimate: the tokens of system prompt and tools */
  overhead?: number
  /** reported tokens per estimated token of the messages, at the last call whose report was certainly about what was sent */
  density?: number | undefined
  /** the last report, in tokens, and its prediction */
  last?: { total: number; expected: Expectation }
  /**
   * A report fell when more was folded, so reports are about what the plugin sends. Those of a session that was recorded without
   * the plugin are about every message in full.
   */
  followsFolds?: boolean
  /** why folding to save cost has stopped, for people */
  stopped?: string
}

// Guesses that err toward letting folding go on.

/** Calls in a row from which a deviation is taken seriously. */
const MAX_DEVIATING_CALLS = 3
/** Deviations of an estimate that are ignored, in tokens and as a share. */
const SLACK_TOKENS = 1500
const SLACK_SHARE = 0.2

export function newCalibration(): Calibration {
  return { shortCalls: 0, hasRead: false, unreadCalls: 0 }
}

/** The calibration after the newest call's report. */
export function calibrated(before: Calibration, { calls, ratio }: Facts, usage: Usage, pricing: Pricing): Calibration {
  const { expected, ...rest } = before
  const hasRead = before.hasRead || usage.cacheRead > 0
  // a provider assumed to have no cache has one as soon as it reports a read
  const known = { ...rest, hasRead, unreadCalls: hasRead ? 0 : before.unreadCalls }
  if (expected?.call !== calls) return known
  const total = contextTokens(usage)
  const overhead = Math.max(0, Math.min(before.overhead ?? total, total - expected.sentTokens))
  // a recorded report may happen to fall too, but is more than the messages can amount to
  const mayBeSent = total <= mostTokens({ overhead, density: before.density }, expected.sentTokens)
  const followsFolds = before.followsFolds || (mayBeSent && fellWithFolds(before.last, total, expected))
  const isMeasured = (expected.foldedCount === 0 || followsFolds) && expected.sentTokens > 0
  const density = isMeasured ? (total - overhead) / expected.sentTokens : before.density
  const sized = { ...known, overhead, density, last: { total, expected }, followsFolds }
  const due = total - expected.freshTokens * ratio
  if (due < Math.max(pricing.minimumTokens, SLACK_TOKENS)) return sized
  const isShort = usage.cacheRead < due * (1 - SLACK_SHARE) - SLACK_TOKENS
  const shortCalls = isShort && hasRead && expected.foldedCount > 0 ? before.shortCalls + 1 : 0
  const unreadCalls = usage.cacheRead === 0 && !hasRead ? before.unreadCalls + 1 : 0
  const counted = { ...sized, shortCalls, unreadCalls }
  if (shortCalls < MAX_DEVIATING_CALLS || before.stopped !== undefined) return counted
  const stopped = `${MAX_DEVIATING_CALLS} calls in a row read less from the provider's cache than expected (the last one ${usage.cacheRead} of about ${Math.round(due)} tokens)`
  return { ...counted, stopped }
}

/** Whether a report is smaller than the one before because its request was folded further. */
function fellWithFolds(last: Calibration["last"], total: number, { sentTokens, foldedCount }: Expectation): boolean {
  if (!last || foldedCount <= last.expected.foldedCount) return false
  const saved = last.expected.sentTokens - sentTokens
  return saved > SLACK_TOKENS && last.total - total > saved / 2
}

/** Reported tokens per estimated token at most, unless more were reported for what was sent: PDFs, images, Chinese. */
const MAX_DENSITY = 1.25

/**
 * Tokens of the next request: those of the last report, unless the messages cannot amount to that much. Then the report
 * is about other requests: the session was recorded without the plugin, or imported.
 */
export function requestTokens(calibration: Calibration, reported: number, sentTokens: number): number {
  return Math.min(reported, mostTokens(calibration, sentTokens))
}

/** The most tokens that a request with messages of this size can have; infinite before the first report. */
function mostTokens({ overhead, density = 0 }: Pick<Calibration, "overhead" | "density">, sentTokens: number): number {
  return overhead === undefined ? Number.POSITIVE_INFINITY : overhead + sentTokens * Math.max(MAX_DENSITY, density)
}

/** The pricing, corrected by what this session's reports show. Local servers keep the last prompt and do not report it. */
export function correctedPricing(pricing: Pricing, { unreadCalls }: Calibration): Pricing {
  return unreadCalls < MAX_DEVIATING_CALLS || pricing.billing === "nothing"
    ? pricing
    : { ...pricing, read: 1, write: 1, lifetimeMs: 0 }
}
