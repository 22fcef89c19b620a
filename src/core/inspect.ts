// The HUD of a stored session at any of its calls, by replaying the calls before it through the same code the hooks
// run. Reads the messages only.

import { callsOf, contextAt } from "./context.ts"
import type { HostMessage } from "./host.ts"
import { type HudOptions, newHudState, nextHud } from "./hud/hud.ts"
import { isHudID } from "./hud/place.ts"
import { contextNow } from "./hud/sections.ts"
import { type Slot, slotFor } from "./hud/slots.ts"
import { createLedger } from "./ledger/ledger.ts"
import { noSignals } from "./ledger/signals.ts"
import type { Env } from "./normalize.ts"

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
  /** tokens in the context at that call, reported or estimated */
  contextTokens?: number
}

export type InspectOptions = HudOptions & { slot: Slot | "auto" }

/**
 * What the HUD said at call `call`, by default at the call that would come next. `call` is 1 … calls + 1.
 * What only live events tell (permissions, changes on disk) is not in a stored session.
 */
export function hudAtCall(
  messages: readonly HostMessage[],
  call: number | undefined,
  options: InspectOptions,
  env: Env,
): Inspection {
  const at = [...callsOf(messages), messages.length]
  const wanted = call ?? at.length
  const ledger = createLedger(env, isHudID)
  const signals = noSignals()
  let state = newHudState()
  let result: Inspection = { call: wanted, calls: at.length - 1, tokens: 0, slot: "tail" }
  for (const index of at.slice(0, wanted)) {
    const context = contextAt(messages, index)
    ledger.update(context)
    const slot = slotFor(options.slot, ledger.facts.model)
    const { hud, reason, state: next } = nextHud(context, ledger.facts, signals, {}, slot, options, state)
    state = next
    const contextTokens = contextNow(ledger.facts)?.tokens
    result = {
      call: wanted,
      calls: at.length - 1,
      tokens: hud?.tokens ?? 0,
      slot,
      ...(hud ? { hud: hud.text } : {}),
      ...(reason === undefined ? {} : { reason }),
      ...(contextTokens === undefined ? {} : { contextTokens }),
    }
  }
  return result
}
