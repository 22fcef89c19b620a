// Decides which outputs and whole steps are sent folded from this call on. A fold makes the provider process again what
// follows it and was cached; in return every later request is smaller. So folds are made rarely and many at once, in a cut.
// A cut waits until the settled content has cost more since it settled than the cut costs now. The rule needs no guess about
// how long the session will last, and keeps no sum between calls.

import { type Entry, newestThinking, writtenTokens } from "../session/entry.ts"
import type { Facts } from "../session/facts.ts"
import { type Settled, type Step, stepsOf } from "../session/steps.ts"
import type { ToolEvent } from "../session/tool-event.ts"
import { amount } from "../text/format.ts"
import { tokensOfLength } from "../text/tokens.ts"
import { addApplied, type Fold, type Folds, foldedStart, outputFold, type Reason, stepFold } from "./fold.ts"
import type { Pricing } from "./pricing.ts"
import type { CachedPrefix, WireMessage } from "./prompt-cache.ts"
import { MAX_EDIT_CHARS } from "./record.ts"
import { shortened } from "./shorten.ts"

export type Situation = {
  entries: readonly Entry[]
  facts: Facts
  folds: Folds
  pricing: Pricing
  /** the messages of the request without a new fold, and what the cache holds of them */
  wire: readonly WireMessage[]
  cached: CachedPrefix
  /** estimated tokens of the messages without a new fold, and of those right after the last cut */
  sentTokens: number
  tokensAfterCut: number
  /** tokens of the whole request, from the provider's last report where there is one */
  contextTokens: number
  /** the size that no request should exceed, in tokens: where OpenCode compacts, or what the user has set; else infinite */
  maxTokens: number
  /** the model drops thinking whose prefix has changed */
  bindsThinking: boolean
  /** not folded now: the options protect the output, or it was recalled not long ago */
  isProtected(event: ToolEvent): boolean
  /** the user wants the step whole */
  isWhole(messageID: string): boolean
  /** what the user wants folded now, whether it pays or not: all that is settled, or these steps, by message id */
  foldNow?: "all" | readonly string[] | undefined
  /** only folds that make room are decided: folding is paused, or it did not pay with this provider */
  onlyMakesRoom: boolean
  /** the same request was prepared before: OpenCode 2 asks again when a call has failed */
  isRetry: boolean
}

/** What is folded, and why it is settled. */
export type Decision = { step: Step } & Settled & ({ kind: "step" } | { kind: "output"; event: ToolEvent })

export type CutPlan = {
  /** what to fold, oldest first */
  decisions: readonly Decision[]
  reason: Reason
  /** the reason in words for people, one line */
  because: string
  /** new folds with shorter texts for the oldest steps, because even so the request would stay too large */
  shortened?: readonly Fold[]
}

// Figures without a source of their own were measured by replaying the sessions of `check` and `tune` (decision 030).

/** A cut waits until the settled content has cost this many times what the cut costs. At 1.5 there are 0.3 more recalls of 100 calls. */
const PATIENCE = 2
/**
 * Added to the cost of every cut: what the model loses sight of is worth about this many fresh input tokens. Without it there
 * are 0.4 more recalls of 100 calls; twice as much costs 0.4 points more.
 */
const MARGIN_TOKENS = 5000
/** Tokens that a cut must save. A guess: 1,000 changes nothing but 0.1 points on `tune`. */
const MIN_SAVED_TOKENS = 300
/** Tokens that a single fold must save. 100 cost 0.1 points more; without a minimum there are 0.1 more recalls on `tune`. */
const MIN_GAIN_TOKENS = 20
/** Expected size of a fold's text: a base, without which there are 0.2 more recalls, and a share of the content, a guess. */
const TEXT_TOKENS = 30
const TEXT_SHARE = 0.06

/**
 * A step with an edit of up to this size has a record about as long, since the edit's lines stand in it. 100 tokens are for what
 * the step says beside the edit.
 */
const MAX_EDIT_TOKENS = tokensOfLength(MAX_EDIT_CHARS) + 100
/** A cut is made only if this share of what it should save does not depend on such edits. A guess; one recorded session has less at times. */
const MIN_SURE_SHARE = 0.35

/** Shares of the maximum: room is made from the first, down to the second. A guess: recorded sessions seldom get there. */
const PRESSURE_SHARE = 0.8
export const RELIEVED_SHARE = 0.6
/** A cut that makes room saves this share of the maximum, or brings the request below it. A guess. */
const MIN_RELIEF_SHARE = 0.1
/** How much sooner steps are settled where a cut costs nothing or the request is large. 0.5 costs 0.5 points more. */
const SOONER_SCALE = 0.3
/** The same to make room, tried in turn. A guess. */
const PRESSED_SCALES = [SOONER_SCALE, 0.1, 0]

/**
 * From this size on, a request is folded harder: models attend worse to more, and its cost grows with the square. Decision 030
 * says what smaller sizes cost.
 */
export const LARGE_TOKENS = 45_000
/**
 * A large request is folded harder only when it has grown by this factor since the last cut (at 1.25 there were more
 * recalls), and shrinks by this share (without it, peaks of `tune` are 0.6 points larger).
 */
const MIN_GROWTH = 1.4
const MIN_SHRINKING = 0.2

export function planFolds(situation: Situation): CutPlan {
  // no report counts yet what the first cut saved, so a second one would follow
  const forced = situation.isRetry ? undefined : cutForRoom(situation)
  return forced ?? cutOnRequest(situation) ?? cutWhenLarge(situation) ?? cutThatPays(situation)
}

function cutOnRequest(situation: Situation): CutPlan | undefined {
  const { foldNow } = situation
  if (foldNow === undefined) return
  const decisions =
    foldNow === "all"
      ? foldable(situation, 1)
      : // open steps too, except the newest and those that stay open at any scale, such as one that holds an answer
        foldable(situation, 0, ({ entry }) => foldNow.includes(entry.id))
  return decisions.length > 0 ? { decisions, reason: "asked", because: "you asked for it" } : undefined
}

/** A cut that pays: of everything that may be folded, since once the prefix is broken, what comes later costs no more. */
function cutThatPays(situation: Situation): CutPlan {
  const { pricing, wire, cached, folds, facts, onlyMakesRoom } = situation
  if (onlyMakesRoom || facts.calls === 0) return NOTHING
  const decisions = foldable(situation, cached.messages === 0 ? SOONER_SCALE : 1)
  const saving = sureSaving(decisions, situation)
  if (saving < MIN_SAVED_TOKENS) return NOTHING
  const rewrite = pricing.write - pricing.read
  // without a discount for what is cached, nothing is lost
  const lost = rewrite > 0 ? cached.lostBy(firstChanged(wire, decisions)) : 0
  if (lost === 0) return { decisions, reason: "free", because: "nothing after it was cached" }
  // breaking a warm prefix gains nothing where requests are billed instead of tokens
  if (pricing.billing === "requests") return NOTHING
  const cost = rewrite * Math.max(0, lost - saving)
  const carried = decisions.reduce((sum, one) => sum + savingOfDecision(one, folds) * one.settledFor, 0)
  const paid = pricing.read * carried
  if (paid <= PATIENCE * (cost + MARGIN_TOKENS)) return NOTHING
  return {
    decisions,
    reason: "pays",
    because: `carrying what is settled has cost ${amount(paid)} tokens; resending what follows costs ${amount(cost)} once`,
  }
}

const NOTHING: CutPlan = { decisions: [], reason: "pays", because: "" }

/** What must be folded so that the request does not exceed its maximum. */
function cutForRoom(situation: Situation): CutPlan | undefined {
  const { entries, folds, maxTokens, contextTokens } = situation
  if (contextTokens < maxTokens * PRESSURE_SHARE) return
  let decisions: Decision[] = []
  for (const scale of PRESSED_SCALES) {
    decisions = foldable({ ...situation, bindsThinking: false }, scale)
    if (contextTokens - sumSavings(decisions, situation) <= maxTokens * RELIEVED_SHARE) break
  }
  const saving = sumSavings(decisions, situation)
  const shorter = shortened(entries, folds, contextTokens - saving - maxTokens * RELIEVED_SHARE)
  const tokensBefore = ({ partID }: Fold) => folds.get(partID)?.textTokens ?? 0
  const relief = shorter.reduce((sum, fold) => sum + tokensBefore(fold) - fold.textTokens, saving)
  if (decisions.length === 0 && shorter.length === 0) return
  // where what cannot be folded fills the request, a cut at every call would send it again and again for next to nothing
  const nowFits = contextTokens >= maxTokens && contextTokens - relief < maxTokens
  if (!nowFits && relief < maxTokens * MIN_RELIEF_SHARE) return
  const because = `the request nears ${amount(maxTokens)} tokens, its maximum`
  return { decisions, reason: "must", because, shortened: shorter }
}

function cutWhenLarge(situation: Situation): CutPlan | undefined {
  const { sentTokens, tokensAfterCut, onlyMakesRoom } = situation
  if (onlyMakesRoom || sentTokens < LARGE_TOKENS || sentTokens < tokensAfterCut * MIN_GROWTH) return
  const decisions = foldable(situation, SOONER_SCALE)
  if (sureSaving(decisions, situation) < sentTokens * MIN_SHRINKING) return
  return { decisions, reason: "must", because: `a request over ${amount(LARGE_TOKENS)} tokens is kept smaller` }
}

function foldable(situation: Situation, scale: number, isWanted: (step: Step) => boolean = () => true): Decision[] {
  const { entries, facts, folds } = situation
  // what stands before a thinking block of the running turn may not change
  const first = situation.bindsThinking ? newestThinking(entries) + 1 : 0
  const steps = unfoldedSteps(entries, facts, folds, scale, first)
  return decisionsIn(steps.filter(isWanted), situation)
}

/** The steps that are not folded, from an entry on, newest first. */
export function unfoldedSteps(entries: readonly Entry[], facts: Facts, folds: Folds, scale: number, from = 0) {
  const first = Math.max(from, foldedStart(entries, folds).length)
  return stepsOf(entries, facts, { scale, first, isFolded: ({ id }) => stepFold(folds, id) !== undefined })
}

/** What may be folded of these steps, oldest first. */
export function decisionsIn(steps: readonly Step[], source: Pick<Situation, "folds" | "isProtected" | "isWhole">) {
  const { folds, isProtected, isWhole } = source
  const found: Decision[] = []
  for (const step of steps) {
    const { entry, open, because, settledFor, settledOutputs } = step
    if (isWhole(entry.id)) continue
    if (open === undefined && !entry.events.some(isProtected)) {
      // a small one too: left standing, it would split a record in two
      found.push({ kind: "step", step, because, settledFor })
      continue
    }
    for (const { event, because, settledFor } of settledOutputs.toReversed())
      if (!isProtected(event) && !event.cleared && expectedSaving(event.outputTokens) >= MIN_GAIN_TOKENS)
        if (!outputFold(folds, entry.id, event)) found.push({ kind: "output", step, event, because, settledFor })
  }
  return found.reverse()
}

function expectedSaving(tokens: number): number {
  return tokens - TEXT_TOKENS - Math.round(tokens * TEXT_SHARE)
}

/** Estimated tokens that the decisions leave out of each request. */
export function sumSavings(decisions: readonly Decision[], { folds }: Pick<Situation, "folds">): number {
  return decisions.reduce((sum, decision) => sum + savingOfDecision(decision, folds), 0)
}

function savingOfDecision(decision: Decision, folds: Folds): number {
  if (decision.kind === "output") return expectedSaving(decision.event.outputTokens)
  const { entry } = decision.step
  return Math.max(0, expectedSaving(entry.tokens - addApplied([entry], folds).savedTokens))
}

/** What a cut saves; 0 where nearly all of that is steps with short edits, whose record is about as long. */
function sureSaving(decisions: readonly Decision[], situation: Situation): number {
  const saving = sumSavings(decisions, situation)
  const edits = ({ events }: Entry) => events.filter(({ shows }) => shows === "change").length
  const hasShortEdits = (entry: Entry) => writtenTokens(entry) <= MAX_EDIT_TOKENS * edits(entry)
  const sure = decisions.filter(({ kind, step }) => kind === "output" || !hasShortEdits(step.entry))
  return sumSavings(sure, situation) < saving * MIN_SURE_SHARE ? 0 : saving
}

/** Index of the first wire message that the decisions, oldest first, change; infinite when none of them is sent. */
function firstChanged(wire: readonly WireMessage[], [oldest]: readonly Decision[]): number {
  const last = wire.findLastIndex(({ source }) => source === oldest?.step.entry)
  if (!oldest || last < 0) return Number.POSITIVE_INFINITY
  if (oldest.kind === "output") return last
  const first = wire[last - 1]?.source === oldest.step.entry ? last - 1 : last
  // a step that follows folded ones becomes part of their record, which is one block
  return wire[first - 1]?.holds === "record" ? first - 1 : first
}
