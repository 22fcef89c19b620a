// The HUD of a stored session at any of its calls, by making the calls before it again as the hooks would have. Reads the
// messages only.

import type { Message } from "../session/conversation.ts"
import { type Slot, slotFor } from "../hud/slots.ts"
import { contextNow } from "../session/facts.ts"
import type { Env } from "../session/normalize.ts"
import { replayCalls, type ReplayOptions } from "./calls.ts"
import { callsOf } from "./context.ts"

export type Inspection = {
  /** the call looked at, 1-based; one more than `calls` is the call that would come next */
  call: number
  /** calls the session has made */
  calls: number
  hud?: string
  /** why there is no HUD */
  reason?: string
  /** estimated tokens of the HUD, 0 without one */
  tokens: number
  slot: Slot
  /** tokens in the context at that call as recorded, reported or estimated: what is folded counted whole */
  contextTokens?: number
  /** outputs that go out folded with that call, and the tokens that leaves out */
  folded: { outputs: number; savedTokens: number }
}

/**
 * What the HUD said at call `call`, by default at the call that would come next. `call` is 1 … calls + 1; of a later one
 * only the number of calls is told. What only live events tell (permissions, changes on disk) is not in a stored session.
 */
export function hudAtCall(
  messages: readonly Message[],
  call: number | undefined,
  options: ReplayOptions,
  env: Env,
): Inspection {
  const calls = callsOf(messages).length
  const wanted = call ?? calls + 1
  const result: Inspection = {
    call: wanted,
    calls,
    tokens: 0,
    slot: slotFor(options.hud.slot, undefined),
    folded: { outputs: 0, savedTokens: 0 },
  }
  for (const { number, send, price, state } of replayCalls(messages, options, env)) {
    const sent = send()
    if (number !== wanted) continue
    const contextTokens = contextNow(state.ledger.facts)?.tokens
    const reason = sent ? (options.hud.enabled ? sent.reason : OFF) : DISABLED
    return {
      ...result,
      slot: sent?.slot ?? slotFor(options.hud.slot, price.model),
      tokens: sent?.hud?.tokens ?? 0,
      folded: { outputs: sent?.outputs ?? 0, savedTokens: sent?.savedTokens ?? 0 },
      ...(sent?.hud ? { hud: sent.hud.text } : {}),
      ...(reason === undefined ? {} : { reason }),
      ...(contextTokens === undefined ? {} : { contextTokens }),
    }
  }
  return result
}

const OFF = "the options turn it off"
const DISABLED = "the options leave this agent alone"
