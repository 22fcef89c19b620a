// experimental.chat.messages.transform: brings the ledger up to date with the array and puts the HUD in its place.

import type { HostMessage } from "../core/host.ts"
import { nextHud } from "../core/hud/hud.ts"
import { isHudID, remove, takeOut } from "../core/hud/place.ts"
import { slotFor } from "../core/hud/slots.ts"
import type { HookContext } from "./context.ts"
import type { Commit } from "./guard.ts"
import { modelOf } from "./models.ts"
import { restore } from "./restore.ts"
import { update } from "./update.ts"

export function onMessages(context: HookContext, output: { messages: unknown }): Commit | undefined {
  if (!Array.isArray(output?.messages)) return
  const messages = output.messages as HostMessage[]
  if (!messages.every(isMessage)) return
  const sessionID = messages.find(
    (message) => !isHudID(message.info.id ?? "") && typeof message.info.sessionID === "string",
  )?.info.sessionID
  if (sessionID === undefined) return
  const session = context.sessions.get(sessionID)
  // the array handed over right after `compacting` is the summariser's transcript
  if (session.compacting) {
    session.compacting = false
    return
  }
  restore(context, session)
  // the same array again, as after another plugin's retry: our own text must not be taken for a tool's
  if (session.hud.placed !== undefined) takeOut(messages, session.hud.placed)
  update(context, session, messages)
  const { facts } = session.ledger
  const { options } = context
  if (!options.hud.enabled || (facts.agent !== undefined && options.disabledAgents.includes(facts.agent)))
    return () => remove(messages)
  const model = modelOf(session)
  const contextLimit = context.models.contextLimit(model)
  const { hud, commit, state } = nextHud(
    messages,
    facts,
    session.signals,
    contextLimit === undefined ? {} : { contextLimit },
    slotFor(options.hud.slot, model),
    options.hud,
    session.hud,
  )
  return () => {
    commit()
    const before = session.hud.anchors
    session.hud = state
    session.turn.hudTokens += hud?.tokens ?? 0
    if (state.anchors.length !== before.length || state.anchors.at(-1) !== before.at(-1))
      context.store.use((store) => store.saveAnchors(sessionID, state.anchors))
  }
}

/** Whether a value has the outline of a message; what is in it is read with care. */
export function isMessage(value: unknown): value is HostMessage {
  const message = value as Partial<HostMessage> | null | undefined
  return typeof message?.info === "object" && message.info !== null && Array.isArray(message.parts)
}
