// One request prepared: what the ledger reads in the conversation, which outputs go out folded, and the HUD. What the hooks
// run live, `inspect` and `replay` run over a stored session. Preparing looks only: it answers a change and the state
// that follows from it, and has changed nothing if both are dropped.

import { type Account, knownTariff, newAccount, settleCall } from "../fold/account.ts"
import { appliedFolds, type Fold } from "../fold/fold.ts"
import { dropChanged, type Folding, newFolding } from "../fold/folding.ts"
import { type FoldCircumstances, type FoldPlan, prepareFolds } from "../fold/prepare.ts"
import { cachedPrefix, type HudMark, type SentRequest, sentBefore, sentRequest, wireOf } from "../fold/prompt-cache.ts"
import type { Tariff } from "../fold/tariff.ts"
import { type HudOptions, type HudState, newHudState, nextHud, wantsHud } from "../hud/hud.ts"
import type { Hud } from "../hud/render.ts"
import { type Placement, type Slot, slotFor } from "../hud/slots.ts"
import type { Message, ModelName } from "../session/conversation.ts"
import type { ToolEvent } from "../session/event.ts"
import { createLedger, type Ledger, type Reading } from "../session/ledger.ts"
import type { Env } from "../session/normalize.ts"
import { noSignals, type Signals } from "../session/signals.ts"

/** What is remembered of a session from call to call. `accept` is what changes it. */
export type SessionState = {
  ledger: Ledger
  signals: Signals
  hud: HudState
  folding: Folding
  /** the last request, once there was one in this process */
  sent?: SentRequest
}

export type Circumstances = FoldCircumstances & {
  /** size of the model's context window, in tokens */
  contextLimit?: number
  /** the user paused the HUD: no new one is sent, one that stays where it was sent stays */
  hudPaused?: boolean
}

export type RequestOptions = {
  hud: HudOptions & { enabled: boolean; slot: Slot | "auto" }
  fold: { enabled: boolean }
  /** outputs never to be folded, by the user's wish */
  isProtected(event: ToolEvent): boolean
}

/** What a request has that the host's messages have not. */
export type Change = {
  /** all that goes out folded, by part id */
  folds: ReadonlyMap<string, Fold>
  hud: Placement
}

export type Prepared = {
  change: Change
  hud: Hud | undefined
  /** why there is no HUD */
  reason?: string
  slot: Slot
  /** folds decided for this request */
  folded: readonly Fold[]
  /** part ids of folds that are given up, since their parts hold another content by now */
  dropped: readonly string[]
  /** keys of the digests that stand in the folds decided: a better one comes too late for this session */
  digested: readonly string[]
  /** outputs that go out folded, and the tokens that leaves out */
  outputs: number
  savedTokens: number
  reading: Reading
  /** the session's state once the request is sent */
  next: Pick<SessionState, "hud" | "folding" | "sent">
}

const PAUSED = "it is paused for this session"
const COSTS_THE_CACHE = "with it the provider would not find the last request in its cache"
const NO_HUD: Placement = { slot: "tail", text: undefined }

export function newSessionState(env: Env): SessionState {
  return { ledger: createLedger(env), signals: noSignals(), hud: newHudState(), folding: newFolding() }
}

/** The request that goes out for a conversation. `reading` is what the state's ledger reads in it. */
export function prepareRequest(
  messages: readonly Message[],
  reading: Reading,
  state: SessionState,
  around: Circumstances,
  options: RequestOptions,
  env: Env,
): Prepared {
  const { facts, entries } = reading
  const { folding, dropped } = dropChanged(state.folding, reading.fresh)
  const slot = slotFor(options.hud.slot, around.model)
  const model = around.model ? nameOf(around.model) : ""
  const account = accountNow(reading, folding.account, state.sent, model, around.tariff)
  const tariff = knownTariff(around.tariff, account)
  const wire = wireOf(entries, folding.folds, state.hud.anchors)
  const sent = state.sent ?? (folding.folds.size > 0 ? sentBefore(entries, wire) : undefined)
  const cachedWith = (mark: HudMark) => cachedPrefix(wire, sent, mark, tariff, model, around.nowMs)
  const bare = cachedWith("none")
  const isAtTail =
    slot === "tail" && options.hud.enabled && !around.hudPaused && wantsHud(facts, state.signals, state.hud)
  const withTail = isAtTail ? cachedWith("tail") : bare
  // a HUD takes one of the two marks, and it is not worth what the other alone does not find
  const costsTheCache = bare.tokens - withTail.tokens > tariff.minimumTokens
  const plan: FoldPlan | undefined = options.fold.enabled
    ? prepareFolds(
        messages,
        reading,
        folding,
        { wire, cached: costsTheCache ? bare : withTail, sentEntries: sent?.messages, account, tariff },
        around,
        options,
        env,
      )
    : undefined
  const folds: Change["folds"] = plan?.folds ?? new Map()
  const applied = appliedFolds(entries, folds)
  const held = around.hudPaused ? PAUSED : costsTheCache ? COSTS_THE_CACHE : undefined
  const hud = options.hud.enabled
    ? nextHud(
        messages,
        facts,
        state.signals,
        {
          ...(around.contextLimit === undefined ? {} : { contextLimit: around.contextLimit }),
          folded: applied,
          ...(held === undefined ? {} : { held }),
        },
        slot,
        options.hud,
        state.hud,
      )
    : undefined
  const nextFolding = plan?.next(hud?.hud?.tokens ?? 0) ?? folding
  const nextState = hud?.state ?? state.hud
  const mark: HudMark = !hud?.hud || slot === "sticky" ? "none" : slot === "tool" ? "inside" : "tail"
  return {
    change: { folds, hud: hud?.placement ?? NO_HUD },
    hud: hud?.hud,
    ...(hud?.reason === undefined ? {} : { reason: hud.reason }),
    slot,
    folded: plan?.folded ?? [],
    dropped,
    digested: plan?.digested ?? [],
    ...applied,
    reading,
    next: {
      hud: nextState,
      folding: nextFolding,
      sent: sentRequest(
        { wire: wireOf(entries, nextFolding.folds, hud ? nextState.anchors : []), messages: entries.length },
        sent,
        plan?.changed ?? Number.POSITIVE_INFINITY,
        mark,
        tariff,
        model,
        around.nowMs,
      ),
    },
  }
}

/** Makes a request that goes out the state of its session. */
export function accept(state: SessionState, { reading, next }: Pick<Prepared, "reading" | "next">): void {
  state.ledger.accept(reading)
  Object.assign(state, next)
}

/** The account once the last call's report is in it. What one provider's cache held says nothing of another's. */
function accountNow(
  { entries, facts }: Reading,
  account: Account,
  sent: SentRequest | undefined,
  model: string,
  tariff: Tariff,
): Account {
  const before = sent && sent.model !== model ? newAccount() : account
  const usage = entries.findLast(({ call }) => call)?.usage
  return usage ? settleCall(before, facts.calls, usage, facts.ratio, tariff) : before
}

function nameOf({ providerID, modelID }: ModelName): string {
  return `${providerID}/${modelID}`
}
