// Prepares one request: decides which outputs are sent folded, and the HUD. The hooks use it live; `inspect` and `replay` use
// it on a stored session. Preparing changes nothing: it returns a change to the conversation and the session's next
// state, and `accept` puts that state into effect.

import { calibrated, correctedPricing, newCalibration, requestTokens } from "../fold/calibration.ts"
import { foldsOf } from "../fold/cut.ts"
import { appliedFolds, type Fold, type Folds, MAX_FOLDS, NOTHING_FOLDED, stepFold, stepFolds } from "../fold/fold.ts"
import { addFolds, dropFolds, type Folding, isRecalled, isWhole, newFolding } from "../fold/folding.ts"
import { LARGE_TOKENS, planFolds, type Situation } from "../fold/plan.ts"
import type { Pricing } from "../fold/pricing.ts"
import {
  type CachedPrefix,
  cachedPrefix,
  type PendingRequest,
  type SentRequest,
  sentByEarlierProcess,
  sentRequest,
  wireOf,
} from "../fold/prompt-cache.ts"
import { type HudOptions, type HudSource, type NextHud, newHudState, nextHud, wantsHud } from "../hud/hud.ts"
import type { HudContext } from "../hud/sections.ts"
import { mustAlternate, NO_HUD, type Placement, type Slot, slotFor } from "../hud/slots.ts"
import { bindsThinking, type Message, type ModelName, modelKey, type Usage } from "../session/conversation.ts"
import { newestThinking } from "../session/entry.ts"
import { contextNow, type Facts, noSignals } from "../session/facts.ts"
import { createLedger, type Reading } from "../session/ledger.ts"
import { digestKey } from "../session/source.ts"
import type { Env, ToolEvent } from "../session/tool-event.ts"

/** What is remembered of a session between calls. Changed by `accept`. */
export type SessionState = ReturnType<typeof newSessionState>

export function newSessionState(env: Env) {
  return {
    ledger: createLedger(env),
    signals: noSignals(),
    hud: newHudState(),
    hudCost: { hud: 0, messages: 0 },
    folding: newFolding(),
    /** the last request of this process */
    sent: undefined as SentRequest | undefined,
    /** earlier processes prepared the session's last requests */
    resumed: false,
  }
}

export type Circumstances = {
  nowMs: number
  /** the model the call goes to */
  model?: ModelName | undefined
  /** the agent whose call it is, where each has tools of its own */
  agent?: string | undefined
  pricing: Pricing
  /** the size, in tokens, below which requests are kept; absent when the limits are unknown */
  fullAt?: number | undefined
  /** the same if OpenCode compacts there; absent when it never does */
  compactsAt?: number | undefined
  /** size of the model's context window, in tokens */
  contextLimit?: number | undefined
  /** the last message may be the only one with a cache mark */
  marksLast?: boolean | undefined
  /** what the last call would have used, when a session that ran without the plugin is replayed */
  usage?: Usage | undefined
  /** the user paused the HUD: no new one is sent, and sticky ones that were sent stay */
  hudPaused?: boolean
  /** the user paused folding: only folds that make room are decided */
  foldingPaused?: boolean
  /** what the user wants folded with this request: all that is settled, or these steps, by message id */
  foldNow?: "all" | readonly string[] | undefined
  /** the steps that the user wants whole, by message id: until which call */
  wholeUntil?: Folding["wholeUntil"] | undefined
}

export type RequestOptions = {
  hud: HudOptions & { enabled: boolean; slot: Slot | "auto" }
  /** `maxContextTokens`: the size that no request should exceed */
  fold: { enabled: boolean; maxContextTokens?: number | undefined }
  /** whether the user's options exclude an output from folding */
  isProtected(event: ToolEvent): boolean
}

/** `disabledAgents`: those whose requests stay unchanged, in lower case. */
export function isDisabledFor(agent: string | undefined, { disabledAgents }: { disabledAgents: readonly string[] }) {
  return agent !== undefined && disabledAgents.includes(agent.toLowerCase())
}

/** No provider documents a shorter lifetime. Up to this age, a cached prefix is taken for certain. */
const SURE_LIFETIME_MS = 5 * 60_000

/** How the request differs from the host's messages. */
export type Change = {
  /** everything sent folded, by part id; whole steps by message id */
  folds: Folds
  /** those of whole steps, by index of their message; empty when nothing is folded */
  steps: readonly (Fold | undefined)[]
  hud: Placement
  /** where a record goes that follows a kept step */
  records: RecordPlace
}

/**
 * A record is sent in the user's role. After a step that is not folded it is a message of its own or, for models that accept
 * no user message after a tool's result, the end of that result.
 */
export type RecordPlace = "message" | "result"

export type Prepared = ReturnType<typeof prepareRequest>

const PAUSED = "it is paused for this session"
const COSTS_CACHE = "with it the provider would not find the last request in its cache"

/** What a request is prepared from. `reading`: what the ledger in `state` read of these messages. */
type RequestSource = {
  messages: readonly Message[]
  reading: Reading
  state: SessionState
  circumstances: Circumstances
  options: RequestOptions
  env: Env
}

/** How many of the newest messages are searched for thinking. A turn may have thousands. */
const MAX_SEARCHED = 50

export function prepareRequest(source: RequestSource) {
  const { messages, reading, state, options } = source
  const { facts, entries } = reading
  const { folding, dropped } = foldingNow(source)
  const pricing = correctedPricing(source.circumstances.pricing, folding.calibration)
  const circumstances = { ...source.circumstances, pricing }
  const { contextLimit, hudPaused, usage = facts.usage } = circumstances
  const model = modelKey(circumstances.model)
  const thinks = newestThinking(entries.slice(-MAX_SEARCHED), model) >= 0
  const wanted = slotFor(options.hud.slot, circumstances.model, thinks)
  // without a mark before a HUD that moves, the next request finds nothing in the cache
  const mustStay = circumstances.marksLast || folding.calibration.stopped !== undefined
  const slot = mustStay && !mustAlternate(circumstances.model) ? "sticky" : wanted
  const wire = wireOf(entries, folding.folds, state.hud.anchors)
  const sent = state.sent ?? (state.resumed ? sentByEarlierProcess(entries, wire) : undefined)
  const fullTokens = entries.reduce((sum, { tokens }) => sum + tokens, 0)
  const isFolding = options.fold.enabled && !circumstances.foldingPaused && folding.calibration.stopped === undefined
  const hudSource = (folds: Folds, more: HudContext = {}): HudSource => ({
    ...state,
    facts: { ...facts, usage },
    context: {
      contextLimit,
      early: isEarly(folds, facts, fullTokens, contextLimit) ? (isFolding ? "brief" : "files first") : undefined,
      ...more,
    },
    options: options.hud,
  })
  const isAtTail = slot === "tail" && options.hud.enabled && !hudPaused && wantsHud(hudSource(folding.folds))
  const pending = { wire, pricing, model, agent: circumstances.agent, nowMs: circumstances.nowMs }
  const { cached, costsTheCache } = cachedWithHud(pending, sent, isAtTail)
  const plan = options.fold.enabled
    ? prepareFolds({ ...source, circumstances, folding, fullTokens, wire, cached })
    : undefined
  const folds: Folds = plan?.folding.folds ?? new Map()
  const applied = plan?.applied ?? NOTHING_FOLDED
  const sentTokens = fullTokens - applied.savedTokens
  const hudNow = hudSource(folds, {
    folded: applied,
    sentTokens,
    withheld: hudPaused ? PAUSED : costsTheCache ? COSTS_CACHE : undefined,
  })
  // a sticky HUD text after a folded step is dropped with it; the next one repeats what still holds
  const shown = slot === "sticky" ? messages.filter(({ id }) => stepFold(folds, id) === undefined) : messages
  const none: NextHud = { hud: undefined, placement: NO_HUD, state: state.hud }
  const { hud, reason, placement, state: hudState } = options.hud.enabled ? nextHud(shown, slot, hudNow) : none
  const anchors = placement.slot === "sticky" ? placement.anchors : []
  const records = mustAlternate(circumstances.model) ? "result" : "message"
  const mark = !hud || slot === "sticky" ? "none" : slot === "tool" ? "inside" : "tail"
  const sending: PendingRequest = { ...pending, wire: wireOf(entries, folds, anchors), hud: mark }
  const isSurelyCached = cached.messages > 0 && pending.nowMs - (sent?.atMs ?? 0) < SURE_LIFETIME_MS
  // otherwise perhaps not even the system prompt is read from the cache
  const freshTokens =
    plan && isSurelyCached
      ? sentTokens + (hud?.tokens ?? 0) - cachedPrefix(sending, sent).tokens
      : Number.POSITIVE_INFINITY
  const foldedCount = applied.outputs + applied.steps
  const expected = { call: facts.calls + 1, sentTokens, freshTokens, foldedCount }
  return {
    change: { folds, steps: stepFolds(entries, folds), hud: placement, records } satisfies Change,
    hud,
    slot,
    lostTokens: sent && dropped.length === 0 ? lostOf(sent, cached) : 0,
    sentTokens,
    /** as the HUD's context has it */
    early: hudNow.context.early,
    /** why there is no HUD */
    reason,
    /** decided for this request */
    newFolds: plan?.newFolds ?? [],
    /** part ids of dropped folds: the content of their parts has changed, or the user wants it whole */
    dropped,
    /** keys of the digests used in the new folds: a better one would be too late for this session */
    digested: plan?.digested ?? [],
    /** `outputs`, `steps` and `savedTokens` of the folds that apply to the request's messages, new or not */
    ...applied,
    reading,
    /** the session's state once the request is sent */
    next: {
      hud: hudState,
      hudCost: {
        hud: state.hudCost.hud + (hud?.tokens ?? 0),
        messages: state.hudCost.messages + costInWrites(pricing, sentTokens, cached.tokens),
      },
      folding: plan ? { ...plan.folding, calibration: { ...folding.calibration, expected } } : folding,
      sent: sentRequest(sending, sent),
    } satisfies Partial<SessionState>,
  }
}

/** `fullTokens`: estimated tokens of the messages in full. */
type FoldRequest = RequestSource & Pick<Situation, "wire" | "cached"> & { folding: Folding; fullTokens: number }

/** The folds of a request, new ones and those that stay. The pricing is the one that the provider's reports confirm. */
function prepareFolds(request: FoldRequest) {
  const { messages, reading, state, folding, fullTokens, wire, cached, circumstances, options, env } = request
  const { facts, entries } = reading
  const { folds, tokensAfterCut, calibration } = folding
  const { pricing, model, foldingPaused, foldNow, fullAt = Number.POSITIVE_INFINITY } = circumstances
  const call = facts.calls + 1
  const wasPrepared = reading.fresh.length === 0 && state.folding.calibration.expected?.call === call
  const already = appliedFolds(entries, folds)
  const before = fullTokens - already.savedTokens
  const wanted = planFolds({
    entries,
    facts,
    folds,
    pricing,
    wire,
    cached,
    tokensAfterCut,
    foldNow,
    sentTokens: before,
    // without a report, the ledger's size is that of the messages in full
    contextTokens: facts.usage ? requestTokens(calibration, contextNow(facts)?.tokens ?? 0, before) : before,
    maxTokens: Math.min(fullAt, options.fold.maxContextTokens ?? Number.POSITIVE_INFINITY),
    bindsThinking: model !== undefined && bindsThinking(model),
    isProtected: (event) => isRecalled(folding, event, facts.calls) || options.isProtected(event),
    isWhole: (messageID) => isWhole(folding, messageID, facts.calls),
    onlyMakesRoom: foldingPaused === true || calibration.stopped !== undefined,
    isRetry: wasPrepared && state.sent?.model === modelKey(model),
  })
  // more would push out the oldest, which would come back whole and be folded again at every request
  const room = Math.max(0, MAX_FOLDS - already.outputs - already.steps)
  const plan = { ...wanted, decisions: wanted.decisions.slice(0, room) }
  const { shortened = [] } = plan
  // what a record no longer says need not be in the request any more
  const withShortened = addFolds(folding, shortened)
  const made = plan.decisions.length > 0 ? foldsOf(plan, { messages, folds: withShortened.folds, call }, env) : []
  const added = addFolds(withShortened, made)
  const applied = appliedFolds(entries, added.folds)
  const sentTokens = fullTokens - applied.savedTokens
  return {
    newFolds: [...shortened, ...made],
    digested: plan.decisions.flatMap((one) => (one.kind === "output" ? [digestKey(one.event)] : [])),
    /** how many of the folds apply to the request's messages, and what they save */
    applied,
    /** the state once the request is sent */
    folding: { ...added, tokensAfterCut: made.length > 0 ? sentTokens : Math.min(tokensAfterCut, sentTokens) },
  }
}

/** The session's folds without those of what has changed or is wanted whole, and what the last call's usage shows. */
function foldingNow({ reading, state, circumstances, env }: RequestSource) {
  const { entries, facts } = reading
  const { folding, dropped } = dropFolds(state.folding, reading, env, circumstances.wholeUntil ?? {})
  // another model has another cache, of which the last report says nothing
  const isOther = state.sent !== undefined && state.sent.model !== modelKey(circumstances.model)
  const before = isOther ? newCalibration() : folding.calibration
  const usage = isOther ? undefined : entries.findLast(({ kind }) => kind === "step")?.usage
  const calibration = usage ? calibrated(before, facts, usage, circumstances.pricing) : before
  return { folding: { ...folding, calibration }, dropped }
}

/**
 * What the cache holds of the request as it will be sent. A HUD at the tail takes one of the two cache marks; it is left out
 * if the other mark alone finds too little.
 */
function cachedWithHud(request: Omit<PendingRequest, "hud">, sent: SentRequest | undefined, isAtTail: boolean) {
  const bare = cachedPrefix({ ...request, hud: "none" }, sent)
  const withTail = isAtTail ? cachedPrefix({ ...request, hud: "tail" }, sent) : bare
  const costsTheCache = bare.tokens - withTail.tokens > request.pricing.minimumTokens
  return { cached: costsTheCache ? bare : withTail, costsTheCache }
}

/** Tokens of the last request that the cache no longer holds, whatever is folded now; infinite when it holds none of them. */
function lostOf({ wire }: SentRequest, cached: CachedPrefix): number {
  if (cached.messages === 0) return Number.POSITIVE_INFINITY
  return Math.max(0, wire.reduce((sum, { tokens }) => sum + tokens, 0) - cached.tokens)
}

/** What sending `tokens` of messages costs, in tokens written to the cache. `cachedTokens`: at most so many of them are read. */
function costInWrites({ read, write }: Pricing, tokens: number, cachedTokens: number): number {
  const cached = Math.min(tokens, cachedTokens)
  return tokens - cached + (write > 0 ? read / write : 1) * cached
}

/** A request of this share of the model's window counts as large, however few tokens it has (decision 036). */
const LARGE_SHARE = 0.25

/**
 * Whether the request still holds every message in full and is not large. Most of a HUD would only repeat what is right above
 * it, and no fold has saved the tokens that it costs.
 */
function isEarly(folds: Folds, { compactions }: Facts, fullTokens: number, contextLimit = Number.POSITIVE_INFINITY) {
  return folds.size === 0 && compactions === 0 && fullTokens < Math.min(LARGE_TOKENS, LARGE_SHARE * contextLimit)
}

/** Updates the session's state once a prepared request is sent. */
export function accept(state: SessionState, { reading, next }: Pick<Prepared, "reading" | "next">): void {
  state.ledger.accept(reading)
  Object.assign(state, next)
}
