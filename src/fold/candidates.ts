// Which outputs may be folded, and what folding each would gain. The context is walked from its end, so that for every
// output it is known what follows it and what was seen again later.

import picomatch from "picomatch"
import type { ToolKind } from "../output/tools.ts"
import type { Entry } from "../session/entry.ts"
import type { ToolEvent } from "../session/event.ts"
import type { Facts } from "../session/facts.ts"
import type { Fold } from "./fold.ts"
import {
  ASKING_TOKENS,
  expectedNeeds,
  NEEDS,
  type NeedKind,
  newSuccessors,
  remainingCalls,
  type Successor,
  type Successors,
  touchedAt,
} from "./need.ts"
import type { Pricing } from "./pricing.ts"
import type { CachedPrefix, WireMessage } from "./prompt-cache.ts"
import { foldTokens } from "./words.ts"

export type Situation = {
  entries: readonly Entry[]
  facts: Facts
  /** what is folded already, by part id */
  folds: ReadonlyMap<string, Fold>
  pricing: Pricing
  /** the messages of the request without a new fold, and what the cache holds of them */
  wire: readonly WireMessage[]
  cached: CachedPrefix
  /** estimated tokens of the messages without a new fold */
  sentTokens: number
  /** tokens of the whole request, from the provider's last report where there is one */
  contextTokens: number
  /** the size at which OpenCode compacts; absent when it never does or the model's limits are unknown */
  compactsAt?: number
  /** the call in which an output was last quoted, by part id */
  quotedAt: ReadonlyMap<string, number>
  /** never folded: the user's options say so, or a fold would not make it shorter */
  isProtected(event: ToolEvent): boolean
  /** only folds that make room are decided: folding is paused, or it did not pay with this provider */
  stopped: boolean
}

export type Candidate = {
  event: ToolEvent
  side: Fold["side"]
  needKind: NeedKind
  /** the newer event that makes this one needless */
  by?: ToolEvent
  /** tokens of the content, and the tokens it is expected to be folded to */
  tokens: number
  textTokens: number
  /** expected gain when folded now, in fresh input tokens, before `lost`; 0 while the output is held */
  value: number
  /** expected needs per token saved: to make room, the lowest go first */
  needsPerToken: number
  /** cached tokens that must be written to the cache again when it is folded; 0 where nothing is cached */
  lost: number
  why: string
}

/** What a missing output costs beyond tokens, in fresh input tokens: one more step, and a distracted model. */
const DISTRACTION_TOKENS = 12_000
/** Tokens that a fold must save. */
const MIN_GAIN_TOKENS = 20

/** What may be folded among the newest `reach` outputs, newest first. */
export function candidatesOf(situation: Situation, reach: number): Candidate[] {
  const { entries, folds, wire, cached } = situation
  const weights = weightsOf(situation)
  const successors = newSuccessors()
  const found: Candidate[] = []
  let left = reach
  let index = wire.length
  for (let at = entries.length - 1; at >= 0 && left > 0; at--) {
    const entry = entries[at] as Entry
    const { events } = entry
    left -= events.length
    // walking back, an entry's anchored HUD texts come first, then its results, then its calls
    while (index > 0 && wire[index - 1]?.holds === "hud") index--
    const end = index
    while (index > 0 && wire[index - 1]?.source === entry) index--
    for (let i = events.length - 1; i >= 0; i--) {
      const event = events[i] as ToolEvent
      const fold = folds.get(event.partID)
      if (!fold) {
        const changed = sideOf(event) === "output" ? end - 1 : index
        const candidate = weigh(event, successors, cached.lostBy(changed), weights, situation)
        if (candidate) found.push(candidate)
      }
      successors.add(event, event.cleared || fold !== undefined)
    }
  }
  return found
}

/** What the gain of every output depends on. */
type Weights = {
  /** calls the session is expected to go on for */
  remaining: number
  /** cost of a call that recalls an output, without the output, in fresh input tokens */
  asking: number
}

function weightsOf({ facts, pricing, sentTokens }: Situation): Weights {
  return {
    remaining: remainingCalls(facts.calls),
    asking: pricing.read * sentTokens + pricing.output * ASKING_TOKENS + DISTRACTION_TOKENS,
  }
}

/** The event as a candidate; undefined when it may not be folded, not yet, or would not save enough. */
function weigh(
  event: ToolEvent,
  successors: Successors,
  lost: number,
  { remaining, asking }: Weights,
  situation: Situation,
): Candidate | undefined {
  const side = sideOf(event)
  const tokens = side === "input" ? event.inputTokens : event.outputTokens
  if (event.outputHash === undefined || event.cleared || tokens <= MIN_GAIN_TOKENS) return
  const successor = successors.of(event)
  const needKind = needKindOf(event, side, successor, situation)
  const textTokens = foldTokens(tokens, needKind)
  const less = tokens - textTokens
  // a duplicate that just came is sent for the first time, so it is in no cache and may be folded at once
  const since =
    needKind === "duplicate" ? 1 : situation.facts.calls - touchedAt(event, situation.facts, situation.quotedAt)
  if (less < MIN_GAIN_TOKENS || since < 1 || situation.isProtected(event)) return
  const isHeld = since <= NEEDS[needKind].hold
  // what the user answered and what the agent just recalled stay even when room is needed
  if (isHeld && (needKind === "answer" || needKind === "recalled")) return
  const [file] = event.files
  const edited = file !== undefined && (situation.facts.files.get(file.path)?.edits ?? 0) > 0
  const needs = expectedNeeds(needKind, since, remaining, edited)
  const { read, write } = situation.pricing
  // it is written to the cache in any case, for the first time or again: shorter is cheaper
  const atOnce = (write - read) * less
  return {
    event,
    side,
    needKind,
    ...(successor?.needKind === needKind ? { by: successor.by } : {}),
    tokens,
    textTokens,
    value: isHeld ? 0 : read * less * remaining + atOnce - needs * (asking + write * tokens),
    needsPerToken: needs / less,
    lost,
    why: WHY[needKind],
  }
}

/** For people: why an output of this kind is unlikely to be needed. */
const WHY: Readonly<Record<NeedKind, string>> = {
  file: "a file not touched for a while",
  excerpt: "part of a file not touched for a while",
  document: "a document that was read",
  matches: "an older search",
  listing: "an older listing",
  run: "the output of an older command",
  failed: "an older failure",
  page: "a web page that was read",
  recalled: "recalled a while ago",
  answer: "an answer",
  change: "an older change",
  attempt: "the arguments of a failed call",
  other: "not touched for a while",
  superseded: "the file was read or written again since",
  repeated: "the same output came again later",
  duplicate: "the same output is already in the context",
}

function needKindOf(
  event: ToolEvent,
  side: Fold["side"],
  successor: Successor | undefined,
  { facts, entries, folds }: Situation,
): NeedKind {
  if (side === "input") return "attempt"
  if (event.shows === "answer" || event.shows === "recalled") return event.shows
  if (successor) return successor.needKind
  const isNew = event.call === facts.calls
  if (isNew && isRepeat(event, facts) && hasEarlierCopy(event, entries, folds)) return "duplicate"
  const isOpen = event.kind === "command" && event.failure !== undefined && facts.calls - event.call <= FAILURE_CALLS
  return isOpen ? "failed" : event.shows
}

/** Calls for which the agent is assumed to work on a failed command. */
const FAILURE_CALLS = 2

/**
 * What of a call is folded. A failed call keeps its message and loses its arguments; a failed command is folded like
 * any other output, because its message is all it printed.
 */
function sideOf(event: ToolEvent): Fold["side"] {
  return event.status === "error" && event.kind !== "command" ? "input" : "output"
}

function isRepeat({ inputHash, outputHash }: ToolEvent, { results }: Facts): boolean {
  const known = results.get(inputHash)
  return known !== undefined && known.times > 1 && known.outputHash === outputHash
}

/** Whether another call with the same output is in the context in full. */
function hasEarlierCopy(event: ToolEvent, entries: readonly Entry[], folds: Situation["folds"]): boolean {
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

/** Outputs that the user's options keep from being folded. */
export type Protection = { protectedTools: readonly string[]; protectedFiles: readonly string[] }

/** Kinds of tools whose summarized input is a file name. */
const FILE_KINDS: ReadonlySet<ToolKind> = new Set(["read", "edit", "write"])

/** A test for protected events. Patterns are globs; one without a slash matches a file's name in any folder. */
export function protection({ protectedTools, protectedFiles }: Protection): (event: ToolEvent) => boolean {
  const isTool = matcher(protectedTools)
  const isFile = matcher(protectedFiles)
  return ({ tool, kind, input, files }) => {
    if (isTool(tool) || files.some(({ path }) => isFile(path))) return true
    // a failed call has used no file; the one it named is its summary
    return files.length === 0 && FILE_KINDS.has(kind) && isFile(input)
  }
}

function matcher(patterns: readonly string[]): (text: string) => boolean {
  // picomatch throws on an empty pattern; with `basename`, one with a slash would never match
  const tests = patterns
    .filter((pattern) => pattern !== "")
    .map((pattern) => picomatch(pattern, { dot: true, nocase: true, basename: !pattern.includes("/") }))
  return (text) => tests.some((test) => test(text))
}
