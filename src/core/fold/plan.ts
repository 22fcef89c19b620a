// Which outputs go out folded from this call on, and why. Pure: what it is told of the ledger, the price and the cache
// is all it knows. The decision is about marginal cost: to fold an output, everything after it that the provider has
// cached is sent anew; in return every call to come carries less.

import type { ToolEvent } from "../event.ts"
import type { Entry } from "../ledger/entry.ts"
import type { Facts } from "../ledger/facts.ts"
import { type Fold, type Reason, tokensSent } from "./fold.ts"
import { type Account, ASKING_TOKENS, expectedNeeds, NEEDS, remainingCalls, touchedAt } from "./need.ts"
import { newSights, type Sight, type Sights } from "./sights.ts"
import type { Tariff } from "./tariff.ts"
import { foldTokens } from "./words.ts"

export type Situation = {
  entries: readonly Entry[]
  facts: Facts
  /** what is folded already, by part id */
  folds: ReadonlyMap<string, Fold>
  tariff: Tariff
  /** entries, from the first, that the provider is believed to hold in its cache */
  cachedEntries: number
  /** estimated tokens of the messages as they would go out without a new fold */
  sentTokens: number
  /** tokens of the whole request, by the provider's last report where there is one */
  contextTokens: number
  /** the size from which OpenCode compacts; absent when it never does or the model's limits are unknown */
  compactsAt?: number
  /** when an output was last quoted, as a call; by part id */
  quotedAt: ReadonlyMap<string, number>
  /** never folded by the user's wish */
  isProtected(event: ToolEvent): boolean
  /** folding for money was found to lose on this provider: only what must be is folded */
  stopped: boolean
}

export type Decision = {
  event: ToolEvent
  side: Fold["side"]
  account: Account
  /** the newer event that makes this one needless */
  by?: ToolEvent
  reason: Reason
  because: string
  /** size of what is folded, and what it is expected to be folded to, in tokens */
  tokens: number
  textTokens: number
}

/** What a lost output costs beside tokens, in fresh input tokens: a step more, and a model that lost its thread. */
const DISTRACTION = 12_000
/** Tokens a fold must save at least. */
const LEAST_GAIN = 20
/** Share of the size at which OpenCode compacts from which room is made, and the share it is made down to. */
const PRESSURE = 0.8
const RELIEVED = 0.6

type Candidate = Omit<Decision, "reason" | "because"> & {
  /** expected gain in fresh input tokens when folded now, what follows it not counted; 0 while it is held */
  value: number
  /** expected needs for each token saved: what must go goes in this order */
  strain: number
  /** the request is sent anew from here on anyway */
  free: boolean
  /** cached tokens that are sent anew when it is folded */
  following: number
  why: string
}

/**
 * Folds decided in one call at most, those that gain most: writing a digest takes up to a millisecond, and a session that
 * was begun without the plugin has thousands of outputs. More at once where all is sent anew anyway, which is the call
 * to fold them in.
 */
const MOST = 100
const MOST_COLD = 300
/** Outputs looked at, newest first, while the cache is warm: behind older ones there is too much to send anew. */
const REACH = 1500

/** The outputs to fold from this call on, oldest first. */
export function planFolds(situation: Situation): Decision[] {
  const { compactsAt = Number.POSITIVE_INFINITY, contextTokens, cachedEntries } = situation
  const pressing = contextTokens >= compactsAt * PRESSURE
  const candidates = candidatesOf(situation, pressing || cachedEntries === 0 ? Number.POSITIVE_INFINITY : REACH)
  const chosen = situation.stopped ? [] : worthwhile(candidates.filter(isCharged(situation)), situation)
  const more = pressing ? underPressure(candidates, chosen, situation) : []
  // from the newest back they were found, so that within a call the order is to be turned round
  return [...chosen, ...more].reverse().sort((a, b) => a.event.call - b.event.call)
}

/** Where requests are billed and not tokens, a warm prefix costs nothing: there is only room to gain, when it is wanted. */
function isCharged({ tariff }: Situation): (candidate: Candidate) => boolean {
  return ({ free, account }) => tariff.billing !== "requests" || free || account === "again"
}

/**
 * All those up to the cut where the sum of what they gain exceeds most what it costs to send anew what follows the
 * oldest of them: once the prefix is broken there, the others behind it fold at no further cost.
 */
function worthwhile(candidates: readonly Candidate[], { tariff, facts, cachedEntries }: Situation): Decision[] {
  const anew = tariff.write - tariff.read
  const most = cachedEntries ? MOST : MOST_COLD
  const gaining = candidates.filter(({ value }) => value > 0)
  let chosen = upToBestCut(gaining, anew)
  // fewer gain less: whether they still pay for the cut is another question
  if (chosen.length > most) chosen = upToBestCut(dearest(chosen, most), anew)
  const cost = Math.round(anew * (chosen.at(-1)?.following ?? 0))
  const calls = Math.round(remainingCalls(facts.calls))
  return chosen.map((candidate) => {
    const less = `${candidate.tokens - candidate.textTokens} tokens less on each of about ${calls} calls to come`
    if (candidate.account === "again") return { ...candidate, reason: "free", because: candidate.why }
    if (candidate.free)
      return { ...candidate, reason: "free", because: `nothing of this is in the cache; ${candidate.why}` }
    const paid = cost ? `for ${cost} sent anew once with what else is folded here` : "with nothing cached after it"
    return { ...candidate, reason: cost ? "pays" : "free", because: `${candidate.why}; ${less}, ${paid}` }
  })
}

function upToBestCut(gaining: readonly Candidate[], anew: number): readonly Candidate[] {
  let sum = 0
  let best = 0
  let count = 0
  gaining.forEach(({ value, following }, i) => {
    sum += value
    const gain = sum - anew * following
    if (gain <= best) return
    best = gain
    count = i + 1
  })
  return gaining.slice(0, count)
}

/** Those that gain most, in the order given. */
function dearest(candidates: readonly Candidate[], most: number): Candidate[] {
  const least = candidates.map(({ value }) => value).sort((a, b) => b - a)[most - 1] ?? 0
  return candidates.filter(({ value }) => value >= least).slice(0, most)
}

/** What has to go so that OpenCode need not compact: least missed first, the newest call's never. */
function underPressure(
  candidates: readonly Candidate[],
  chosen: readonly Decision[],
  { contextTokens, compactsAt }: Situation,
): Decision[] {
  if (compactsAt === undefined) return []
  const saved = (decisions: readonly { tokens: number; textTokens: number }[]) =>
    decisions.reduce((sum, { tokens, textTokens }) => sum + tokens - textTokens, 0)
  let left = contextTokens - saved(chosen)
  if (left < compactsAt * PRESSURE) return []
  const taken = new Set(chosen.map(({ event }) => event))
  const more: Decision[] = []
  for (const candidate of candidates.filter(({ event }) => !taken.has(event)).sort((a, b) => a.strain - b.strain)) {
    if (left <= compactsAt * RELIEVED || more.length === MOST_COLD) break
    left -= saved([candidate])
    const because = `the context is near ${compactsAt} tokens, where OpenCode compacts; ${candidate.why}`
    more.push({ ...candidate, reason: "must", because })
  }
  return more
}

/** What may be folded among the newest `reach` outputs, newest first. */
function candidatesOf(situation: Situation, reach: number): Candidate[] {
  const { entries, folds, cachedEntries } = situation
  const weights = weightsOf(situation)
  const sights = newSights()
  const found: Candidate[] = []
  const lookback = situation.tariff.lookback ?? Number.POSITIVE_INFINITY
  const all = cachedTokens(situation)
  let following = 0
  let blocks = 0
  const step = blocksOf(entries.at(-1))
  let left = reach
  for (let at = entries.length - 1; at >= 0 && left > 0; at--) {
    const entry = entries[at] as Entry
    const { events } = entry
    const cached = at < cachedEntries
    left -= events.length
    blocks += blocksOf(entries[at])
    const resent = blocks > lookback ? all : following
    // the next call pushes it out of the window
    const isClosing = blocks <= lookback && blocks + step > lookback
    for (let i = events.length - 1; i >= 0; i--) {
      const event = events[i] as ToolEvent
      const fold = folds.get(event.partID)
      if (!fold) {
        const candidate = weigh(event, sights, cached, resent, isClosing, weights, situation)
        if (candidate) found.push(candidate)
      }
      sights.add(event, event.cleared || fold !== undefined)
    }
    if (cached) following += tokensSent(entry, folds)
  }
  return found
}

/** Content blocks a message is sent as: each tool call and its result, and a text. */
function blocksOf(entry: Entry | undefined): number {
  return 2 * (entry?.events.length ?? 0) + 1
}

/** Tokens that are sent anew when nothing of the messages is found in the cache. */
function cachedTokens({ entries, folds, cachedEntries }: Situation): number {
  return entries.slice(0, cachedEntries).reduce((sum, entry) => sum + tokensSent(entry, folds), 0)
}

/** What the gain of any output is reckoned with; in fresh input tokens. */
type Weights = {
  remaining: number
  /** a call that asks an output back, without the output */
  asking: number
}

function weightsOf({ facts, tariff, sentTokens }: Situation): Weights {
  return {
    remaining: remainingCalls(facts.calls),
    asking: tariff.read * sentTokens + tariff.output * ASKING_TOKENS + DISTRACTION,
  }
}

/** The event as a candidate; undefined when it may not be folded, not yet, or has nothing to give. */
function weigh(
  event: ToolEvent,
  sights: Sights,
  cached: boolean,
  following: number,
  isClosing: boolean,
  { remaining, asking }: Weights,
  situation: Situation,
): Candidate | undefined {
  const side = sideOf(event)
  const tokens = side === "input" ? event.inputTokens : event.outputTokens
  if (event.outputHash === undefined || event.cleared || tokens <= LEAST_GAIN) return
  const sight = sights.of(event)
  const account = accountOf(event, side, sight, situation)
  const textTokens = foldTokens(tokens, account)
  const less = tokens - textTokens
  // what has just come is sent for the first time: it is in nobody's cache
  const since = account === "again" ? 1 : situation.facts.calls - touchedAt(event, situation.facts, situation.quotedAt)
  if (less < LEAST_GAIN || since < 1 || situation.isProtected(event)) return
  const isInUse = since <= NEEDS[account].hold
  const isHeld = isInUse && !isClosing
  // what was asked for, and what no folding may take, stays even where room is wanted
  if (isInUse && (account === "answer" || account === "recalled")) return
  const [file] = event.files
  const edited = file !== undefined && (situation.facts.files.get(file.path)?.edits ?? 0) > 0
  const needs = expectedNeeds(account, since, remaining, edited)
  const { read, write } = situation.tariff
  // warm, the fold itself is sent fresh; cold, everything is
  const atOnce = (write - read) * (cached ? -textTokens : less)
  return {
    event,
    side,
    account,
    ...(sight?.account === account ? { by: sight.by } : {}),
    tokens,
    textTokens,
    value: isHeld ? 0 : read * less * remaining + atOnce - needs * (asking + write * tokens),
    strain: needs / less,
    free: !cached,
    following,
    why: WHY[account],
  }
}

const WHY: Readonly<Record<Account, string>> = {
  file: "a file not touched for a while",
  excerpt: "part of a file, not touched for a while",
  document: "a document that was read",
  matches: "a search that was followed up",
  listing: "a listing that was followed up",
  run: "a command that is done with",
  failed: "a failure that is past",
  page: "a page that was read",
  recalled: "handed back a while ago",
  answer: "an answer",
  change: "a change that was made",
  attempt: "the arguments of a call that failed",
  other: "not touched for a while",
  superseded: "the file was seen again since",
  repeated: "the same output came again later",
  again: "the same output stands above already",
}

/** Which need an output is held to. */
function accountOf(
  event: ToolEvent,
  side: Fold["side"],
  sight: Sight | undefined,
  { facts, entries, folds }: Situation,
): Account {
  if (side === "input") return "attempt"
  if (event.shows === "answer" || event.shows === "recalled") return event.shows
  if (sight) return sight.account
  const isNew = event.call === facts.calls
  if (isNew && isAgain(event, facts) && standsAbove(event, entries, folds)) return "again"
  const isOpen = event.kind === "command" && event.failure !== undefined && facts.calls - event.call <= FAILING
  return isOpen ? "failed" : event.shows
}

/** Calls for which a command's failure is what the agent works on. */
const FAILING = 2

/** Of a call that failed the message stays and the arguments go, but for a command, whose message is all it printed. */
function sideOf(event: ToolEvent): Fold["side"] {
  return event.status === "error" && event.kind !== "command" ? "input" : "output"
}

function isAgain({ inputHash, outputHash }: ToolEvent, { results }: Facts): boolean {
  const known = results.get(inputHash)
  return known !== undefined && known.times > 1 && known.outputHash === outputHash
}

function standsAbove(event: ToolEvent, entries: readonly Entry[], folds: Situation["folds"]): boolean {
  return entries.some((entry) =>
    entry.events.some(
      (other) =>
        other !== event &&
        other.inputHash === event.inputHash &&
        other.outputHash === event.outputHash &&
        !other.cleared &&
        !folds.has(other.partID),
    ),
  )
}
