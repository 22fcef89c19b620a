// Prepares one request: decides which outputs are sent folded, and the HUD. The hooks use it live; `inspect` and `replay` use
// it on a stored session. Preparing changes nothing: it returns a change to the conversation and the session's next
// state, and `accept` puts that state into effect.

import { type Account, knownPricing, newAccount, settleCall } from "../fold/account.ts"
import { type AppliedFolds, appliedFolds, type Fold, type Folds, stepFold } from "../fold/fold.ts"
import { dropChanged, type Folding, newFolding, unfold } from "../fold/folding.ts"
import { LARGE_TOKENS } from "../fold/plan.ts"
import { type FoldCircumstances, type FoldOptions, type FoldPlan, prepareFolds } from "../fold/prepare.ts"
import type { Pricing } from "../fold/pricing.ts"
import { cachedPrefix, type HudMark, type SentRequest, sentBefore, sentRequest, wireOf } from "../fold/prompt-cache.ts"
import { type HudOptions, type HudSource, type HudState, newHudState, nextHud, wantsHud } from "../hud/hud.ts"
import type { Hud } from "../hud/render.ts"
import type { HudContext } from "../hud/sections.ts"
import { NO_HUD, type Placement, type Slot, slotFor } from "../hud/slots.ts"
import { type Message, type ModelName, modelKey, type Usage } from "../session/conversation.ts"
import type { ToolEvent } from "../session/event.ts"
import { type Facts, noSignals, type Signals } from "../session/facts.ts"
import { createLedger, type Ledger, type Reading } from "../session/ledger.ts"
import type { Env } from "../session/normalize.ts"
import { defined } from "../system/values.ts"

/** What is remembered of a session between calls. Changed by `accept`. */
export type SessionState = {
  ledger: Ledger
  signals: Signals
  hud: HudState
  folding: Folding
  /** the last request of this process */
  sent?: SentRequest
  /** earlier processes prepared the session's last requests */
  resumed: boolean
}

export type Circumstances = FoldCircumstances & {
  /** size of the model's context window, in tokens */
  contextLimit?: number
  /** what the last call would have used, when a session that ran without the plugin is replayed */
  usage?: Usage
  /** the user paused the HUD: no new one is sent, and sticky ones that were sent stay */
  hudPaused?: boolean
}

export type RequestOptions = {
  hud: HudOptions & { enabled: boolean; slot: Slot | "auto" }
  fold: { enabled: boolean } & FoldOptions
  /** whether the user's options exclude an output from folding */
  isProtected(event: ToolEvent): boolean
}

/** How the request differs from the host's messages. */
export type Change = {
  /** everything sent folded, by part id; whole steps by message id */
  folds: Folds
  hud: Placement
  /** where a record goes that follows a kept step */
  records: RecordPlace
}

/**
 * A record is sent in the user's role. After a step that is not folded it is a message of its own or, for models that accept
 * no user message after a tool's result, the end of that result.
 */
export type RecordPlace = "message" | "result"

export type Prepared = AppliedFolds & {
  change: Change
  hud: Hud | undefined
  /** the request still holds every message in full and is not large: the HUD says only what the newest messages do not show */
  early: boolean
  /** why there is no HUD */
  reason?: string
  slot: Slot
  /** folds decided for this request */
  folded: readonly Fold[]
  /** part ids of dropped folds: the content of their parts has changed, or the user wants it whole */
  dropped: readonly string[]
  /** keys of the digests used in those folds: a better one would be too late for this session */
  digested: readonly string[]
  reading: Reading
  /** the session's state once the request is sent */
  next: Pick<SessionState, "hud" | "folding" | "sent">
}

const PAUSED = "it is paused for this session"
const COSTS_CACHE = "with it the provider would not find the last request in its cache"

export function newSessionState(env: Env): SessionState {
  return {
    ledger: createLedger(env),
    signals: noSignals(),
    hud: newHudState(),
    folding: newFolding(),
    resumed: false,
  }
}

/** What a request is prepared from. `reading` is the state's ledger's reading of the messages. */
type RequestSource = {
  messages: readonly Message[]
  reading: Reading
  state: SessionState
  around: Circumstances
  options: RequestOptions
  env: Env
}

export function prepareRequest({ messages, reading, state, around, options, env }: RequestSource): Prepared {
  const { facts, entries } = reading
  const changed = dropChanged(state.folding, reading.fresh, env)
  const { folding, dropped: unfolded } = unfold(changed.folding, entries, around.whole ?? {}, facts.calls)
  const slot = slotFor(options.hud.slot, around.model)
  const model = modelKey(around.model)
  const account = accountNow(reading, folding.account, state.sent, model, around.pricing)
  const pricing = knownPricing(around.pricing, account)
  const wire = wireOf(entries, folding.folds, state.hud.anchors)
  const sent = state.sent ?? (state.resumed ? sentBefore(entries, wire) : undefined)
  const cachedWith = (mark: HudMark) => cachedPrefix({ wire, hud: mark, pricing, model, nowMs: around.nowMs }, sent)
  const bare = cachedWith("none")
  const fullTokens = entries.reduce((sum, { tokens }) => sum + tokens, 0)
  // without folding, the HUD is all that the plugin adds, and it is complete from the start
  const isFolding = options.fold.enabled && !around.foldingPaused && account.stopped === undefined
  const hudSource = (folds: Folds, more: HudContext = {}): HudSource => ({
    facts,
    signals: state.signals,
    around: {
      ...defined({ contextLimit: around.contextLimit, usage: around.usage }),
      early: isFolding && isEarly(folds, facts, fullTokens, around.contextLimit),
      ...more,
    },
    options: options.hud,
    state: state.hud,
  })
  const isAtTail = slot === "tail" && options.hud.enabled && !around.hudPaused && wantsHud(hudSource(folding.folds))
  const withTail = isAtTail && pricing.lookback !== undefined ? cachedWith("tail") : bare
  // the HUD takes one of the two cache marks; it is left out if the other mark alone finds too little
  const costsTheCache = bare.tokens - withTail.tokens > pricing.minimumTokens
  const plan: FoldPlan | undefined = options.fold.enabled
    ? prepareFolds({
        messages,
        reading,
        folding,
        wire,
        cached: costsTheCache ? bare : withTail,
        account,
        pricing,
        around,
        options,
        env,
      })
    : undefined
  const folds: Folds = plan?.folds ?? new Map()
  const applied = appliedFolds(entries, folds)
  const held = around.hudPaused ? PAUSED : costsTheCache ? COSTS_CACHE : undefined
  const source = hudSource(folds, {
    folded: applied,
    sentTokens: fullTokens - applied.savedTokens,
    ...defined({ held }),
  })
  const hud = options.hud.enabled
    ? nextHud(slot === "sticky" ? withoutFolded(messages, folds) : messages, slot, source)
    : undefined
  const nextFolding = plan?.next(hud?.hud?.tokens ?? 0) ?? { ...folding, account }
  const nextState = hud?.state ?? state.hud
  const anchors = hud ? nextState.anchors : []
  const mark: HudMark = !hud?.hud || slot === "sticky" ? "none" : slot === "tool" ? "inside" : "tail"
  return {
    change: { folds, hud: hud?.placement ?? NO_HUD, records: recordPlace(around.model) },
    hud: hud?.hud,
    early: source.around.early === true,
    ...defined({ reason: hud?.reason }),
    slot,
    folded: plan?.folded ?? [],
    dropped: [...changed.dropped, ...unfolded],
    digested: plan?.digested ?? [],
    ...applied,
    reading,
    next: {
      hud: nextState,
      folding: nextFolding,
      sent: sentRequest(
        {
          wire: wireOf(entries, folds, anchors),
          changed: plan?.changed ?? Number.POSITIVE_INFINITY,
          hud: mark,
          pricing,
          model,
          nowMs: around.nowMs,
        },
        sent,
      ),
    },
  }
}

/** A request of this share of the model's window counts as large, however few tokens it has. */
const LARGE_SHARE = 0.25

/**
 * Whether the request still holds every message in full and is not large. Most of a HUD would only repeat what is right above
 * it, and no fold has saved the tokens that it costs.
 */
function isEarly(folds: Folds, { compactions }: Facts, fullTokens: number, contextLimit = Number.POSITIVE_INFINITY) {
  return folds.size === 0 && compactions === 0 && fullTokens < Math.min(LARGE_TOKENS, LARGE_SHARE * contextLimit)
}

/** Models that get the HUD in a tool's result accept no user message after one. */
function recordPlace(model: ModelName | undefined): RecordPlace {
  return slotFor("auto", model) === "tool" ? "result" : "message"
}

/** A sticky HUD text after a folded step is dropped with it; the next one repeats what still holds. */
function withoutFolded(messages: readonly Message[], folds: Folds): readonly Message[] {
  return folds.size === 0 ? messages : messages.filter(({ id }) => stepFold(folds, id) === undefined)
}

/** Updates the session's state once a prepared request is sent. */
export function accept(state: SessionState, { reading, next }: Pick<Prepared, "reading" | "next">): void {
  state.ledger.accept(reading)
  Object.assign(state, next)
}

/** The account including the last call's usage. A new model starts a new account, since its cache is another. */
function accountNow(
  { entries, facts }: Reading,
  account: Account,
  sent: SentRequest | undefined,
  model: string,
  pricing: Pricing,
): Account {
  const before = sent && sent.model !== model ? newAccount() : account
  const usage = entries.findLast(({ call }) => call)?.usage
  return usage ? settleCall(before, facts.calls, usage, facts.ratio, pricing) : before
}
