// One call's array: which outputs go out folded, and the HUD behind them. What the hooks run live, `inspect` and
// `replay` run over a stored session.

import type { ToolEvent } from "./event.ts"
import { planApply } from "./fold/apply.ts"
import type { Fold } from "./fold/fold.ts"
import { type Folding, newFolding } from "./fold/folding.ts"
import { type FoldCircumstances, prepareFolds } from "./fold/prepare.ts"
import type { HostMessage } from "./host.ts"
import { type HudOptions, type HudState, newHudState, nextHud } from "./hud/hud.ts"
import { isHudID, remove } from "./hud/place.ts"
import type { Hud } from "./hud/render.ts"
import { type Slot, slotFor } from "./hud/slots.ts"
import { createLedger, type Ledger } from "./ledger/ledger.ts"
import { noSignals, type Signals } from "./ledger/signals.ts"
import type { Env } from "./normalize.ts"

/** What is remembered of a session from call to call. */
export type Conversation = {
  ledger: Ledger
  signals: Signals
  hud: HudState
  folding: Folding
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
  const { signals } = conversation
  const { facts } = conversation.ledger
  const plan = options.fold.enabled ? prepareFolds(messages, conversation, around, options, env) : undefined
  const { folded = [], digested = [], applied = planApply(messages, new Map()) } = plan ?? {}
  const slot = slotFor(options.hud.slot, around.model)
  const hud = options.hud.enabled
    ? nextHud(
        messages,
        facts,
        signals,
        {
          ...(around.contextLimit === undefined ? {} : { contextLimit: around.contextLimit }),
          folded: { outputs: applied.outputs, savedTokens: applied.savedTokens },
          ...(around.hudPaused ? { paused: true } : {}),
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
    },
  }
}
