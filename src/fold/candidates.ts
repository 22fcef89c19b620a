// What may be folded, and what folding it would gain: walked from the context's end, so that at every output it is known
// what follows it and what was seen again later.

import type { Entry } from "../session/entry.ts"
import type { ToolEvent } from "../session/event.ts"
import type { Facts } from "../session/facts.ts"
import type { Fold } from "./fold.ts"
import { ASKING_TOKENS, expectedNeeds, NEEDS, remainingCalls, type Standing, touchedAt } from "./need.ts"
import type { CachedPrefix, WireMessage } from "./prompt-cache.ts"
import { newSights, type Sight, type Sights } from "./sights.ts"
import type { Tariff } from "./tariff.ts"
import { foldTokens } from "./words.ts"

export type Situation = {
  entries: readonly Entry[]
  facts: Facts
  /** what is folded already, by part id */
  folds: ReadonlyMap<string, Fold>
  tariff: Tariff
  /** the messages of the request as they would go out without a new fold, and what the cache holds of them */
  wire: readonly WireMessage[]
  cached: CachedPrefix
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

export type Candidate = {
  event: ToolEvent
  side: Fold["side"]
  standing: Standing
  /** the newer event that makes this one needless */
  by?: ToolEvent
  /** size of what is folded, and what it is expected to be folded to, in tokens */
  tokens: number
  textTokens: number
  /** expected gain in fresh input tokens when folded now, `lost` not counted; 0 while it is held */
  value: number
  /** expected needs for each token saved: what must go goes in this order */
  strain: number
  /** cached tokens that must be written to the cache again when it is folded; 0 where nothing is cached anyway */
  lost: number
  why: string
}

/** What a lost output costs beside tokens, in fresh input tokens: a step more, and a model that lost its thread. */
const DISTRACTION = 12_000
/** Tokens a fold must save at least. */
const LEAST_GAIN = 20

/** What may be folded among the newest `reach` outputs, newest first. */
export function candidatesOf(situation: Situation, reach: number): Candidate[] {
  const { entries, folds, wire, cached } = situation
  const weights = weightsOf(situation)
  const sights = newSights()
  const found: Candidate[] = []
  let left = reach
  let index = wire.length
  for (let at = entries.length - 1; at >= 0 && left > 0; at--) {
    const entry = entries[at] as Entry
    const { events } = entry
    left -= events.length
    // HUD texts that stay behind it come first, then its results, then its calls
    while (index > 0 && wire[index - 1]?.holds === "hud") index--
    const end = index
    while (index > 0 && wire[index - 1]?.source === entry) index--
    for (let i = events.length - 1; i >= 0; i--) {
      const event = events[i] as ToolEvent
      const fold = folds.get(event.partID)
      if (!fold) {
        const changed = sideOf(event) === "output" ? end - 1 : index
        const candidate = weigh(event, sights, cached.lostBy(changed), weights, situation)
        if (candidate) found.push(candidate)
      }
      sights.add(event, event.cleared || fold !== undefined)
    }
  }
  return found
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
  lost: number,
  { remaining, asking }: Weights,
  situation: Situation,
): Candidate | undefined {
  const side = sideOf(event)
  const tokens = side === "input" ? event.inputTokens : event.outputTokens
  if (event.outputHash === undefined || event.cleared || tokens <= LEAST_GAIN) return
  const sight = sights.of(event)
  const standing = standingOf(event, side, sight, situation)
  const textTokens = foldTokens(tokens, standing)
  const less = tokens - textTokens
  // what has just come is sent for the first time: it is in nobody's cache
  const since = standing === "again" ? 1 : situation.facts.calls - touchedAt(event, situation.facts, situation.quotedAt)
  if (less < LEAST_GAIN || since < 1 || situation.isProtected(event)) return
  const isHeld = since <= NEEDS[standing].hold
  // what was asked for, and what no folding may take, stays even where room is wanted
  if (isHeld && (standing === "answer" || standing === "recalled")) return
  const [file] = event.files
  const edited = file !== undefined && (situation.facts.files.get(file.path)?.edits ?? 0) > 0
  const needs = expectedNeeds(standing, since, remaining, edited)
  const { read, write } = situation.tariff
  // it is written to the cache again, or for the first time, in any case: then the shorter the cheaper
  const atOnce = (write - read) * less
  return {
    event,
    side,
    standing,
    ...(sight?.standing === standing ? { by: sight.by } : {}),
    tokens,
    textTokens,
    value: isHeld ? 0 : read * less * remaining + atOnce - needs * (asking + write * tokens),
    strain: needs / less,
    lost,
    why: WHY[standing],
  }
}

const WHY: Readonly<Record<Standing, string>> = {
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
function standingOf(
  event: ToolEvent,
  side: Fold["side"],
  sight: Sight | undefined,
  { facts, entries, folds }: Situation,
): Standing {
  if (side === "input") return "attempt"
  if (event.shows === "answer" || event.shows === "recalled") return event.shows
  if (sight) return sight.standing
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
