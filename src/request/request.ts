// One call's array: which outputs go out folded, and the HUD behind them. What the hooks run live, `inspect` and
// `replay` run over a stored session.

import { type Account, knownTariff, newAccount, settleCall } from "../fold/account.ts"
import { planApply } from "../fold/apply.ts"
import type { Fold } from "../fold/fold.ts"
import { type Folding, newFolding } from "../fold/folding.ts"
import { type FoldCircumstances, prepareFolds } from "../fold/prepare.ts"
import { cachedPrefix, type HudMark, type SentRequest, sentBefore, sentRequest, wireOf } from "../fold/prompt-cache.ts"
import type { Tariff } from "../fold/tariff.ts"
import type { HostMessage } from "../host/v1/message.ts"
import { type HudOptions, type HudState, newHudState, nextHud, wantsHud } from "../hud/hud.ts"
import { isHudID, remove } from "../hud/place.ts"
import type { Hud } from "../hud/render.ts"
import { type Slot, slotFor } from "../hud/slots.ts"
import type { ToolEvent } from "../session/event.ts"
import { createLedger, type Ledger } from "../session/ledger.ts"
import type { Env } from "../session/normalize.ts"
import { noSignals, type Signals } from "../session/signals.ts"

/** What is remembered of a session from call to call. */
export type Conversation = {
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

export type CallOptions = {
  hud: HudOptions & { enabled: boolean; slot: Slot | "auto" }
  fold: { enabled: boolean }
  /** outputs never to be folded, by the user's wish */
  isProtected(event: ToolEvent): boolean
}

export type Call = {
  hud: Hud | undefined
  /** why there is no HUD */
  reason?: string
  slot: Slot
  /** folds decided for this call */
  folded: readonly Fold[]
  /** keys of the digests that stand in those: a better one comes too late for this session */
  digested: readonly string[]
  /** outputs that go out folded, and the tokens that leaves out */
  outputs: number
  savedTokens: number
  /** Changes the array, and remembers what was sent. */
  commit(): void
}

const PAUSED = "it is paused for this session"
const DEAR = "with it the provider would not find the last request in its cache"

export function newConversation(env: Env): Conversation {
  return { ledger: createLedger(env, isHudID), signals: noSignals(), hud: newHudState(), folding: newFolding() }
}

/**
 * The next call's request from the array OpenCode would send. The conversation's ledger has read the array. Looks only;
 * `commit` changes the array and the conversation, and is run or not.
 */
export function prepareCall(
  messages: HostMessage[],
  conversation: Conversation,
  around: Circumstances,
  options: CallOptions,
  env: Env,
): Call {
  const { signals, folding } = conversation
  const { facts, entries } = conversation.ledger
  const slot = slotFor(options.hud.slot, around.model)
  const model = around.model ? `${around.model.providerID}/${around.model.modelID}` : ""
  const account = settledAccount(conversation, model, around.tariff)
  const tariff = knownTariff(around.tariff, account)
  const wire = wireOf(entries, folding.folds, conversation.hud.anchors)
  const sent = conversation.sent ?? (folding.folds.size > 0 ? sentBefore(entries, wire) : undefined)
  const cachedWith = (mark: HudMark) => cachedPrefix(wire, sent, mark, tariff, model, around.nowMs)
  const bare = cachedWith("none")
  const isTail =
    slot === "tail" && options.hud.enabled && !around.hudPaused && wantsHud(facts, signals, conversation.hud)
  const withTail = isTail ? cachedWith("tail") : bare
  // a HUD takes one of the two marks, and it is not worth what the other alone does not find
  const isDear = withTail.tokens < bare.tokens
  const cached = isDear ? bare : withTail
  const plan = options.fold.enabled
    ? prepareFolds(
        messages,
        conversation,
        { wire, cached, sentEntries: sent?.messages, account, tariff },
        around,
        options,
        env,
      )
    : undefined
  const { folded = [], digested = [], applied = planApply(messages, new Map()) } = plan ?? {}
  const hud = options.hud.enabled
    ? nextHud(
        messages,
        facts,
        signals,
        {
          ...(around.contextLimit === undefined ? {} : { contextLimit: around.contextLimit }),
          folded: { outputs: applied.outputs, savedTokens: applied.savedTokens },
          ...(around.hudPaused ? { held: PAUSED } : isDear ? { held: DEAR } : {}),
        },
        slot,
        options.hud,
        conversation.hud,
      )
    : undefined
  return {
    hud: hud?.hud,
    ...(hud?.reason === undefined ? {} : { reason: hud.reason }),
    slot,
    folded,
    digested,
    outputs: applied.outputs,
    savedTokens: applied.savedTokens,
    commit() {
      applied.commit()
      plan?.remember(hud?.hud?.tokens ?? 0)
      if (hud) {
        hud.commit()
        conversation.hud = hud.state
      } else remove(messages)
      const mark = !hud?.hud ? "none" : slot === "tail" ? "tail" : slot === "tool" ? "inside" : "none"
      const added = hud?.state.anchors ?? []
      conversation.sent = sentRequest(
        { wire: wireOf(entries, folding.folds, added), messages: entries.length },
        sent,
        plan?.changed ?? Number.POSITIVE_INFINITY,
        mark,
        tariff,
        model,
        around.nowMs,
      )
    },
  }
}

/** The account once the last call's report is in it. What one provider's cache held says nothing of another's. */
function settledAccount({ ledger, folding, sent }: Conversation, model: string, tariff: Tariff): Account {
  const { entries, facts } = ledger
  const before = sent && sent.model !== model ? newAccount() : folding.account
  const usage = entries.findLast(({ call }) => call)?.usage
  return usage ? settleCall(before, facts.calls, usage, facts.ratio, tariff) : before
}
