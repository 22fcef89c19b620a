// experimental.chat.messages.transform: brings the ledger up to date with the array and prepares what goes out: old outputs
// folded, the HUD in its place.

import { record } from "../../fields.ts"
import { noticeTokens } from "../../fold/saving.ts"
import { isHudID, remove } from "../../hud/place.ts"
import { RECALL_TOOL } from "../../output/shows.ts"
import { prepareCall } from "../../request/request.ts"
import { beginRequest } from "../account.ts"
import type { HookContext } from "../context.ts"
import { putBack } from "../copies.ts"
import type { Commit } from "../guard.ts"
import { modelOf } from "../models.ts"
import { restore } from "../restore.ts"
import type { Session } from "../sessions.ts"
import { update } from "../update.ts"
import { matches } from "./host.ts"
import type { HostMessage } from "./message.ts"
import { shortenTranscript } from "./transcript.ts"

/** In tokens saved. Still worth writing when nothing else waits: the compactor and other sessions are handed digests too. */
const LEAST_WORTH = 1

export function onMessages(
  context: HookContext,
  output: { messages: unknown },
): Commit | undefined | Promise<Commit | undefined> {
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
    return shortenTranscript(context, session, messages)
  }
  const request = ++session.requests
  const restored = restore(context, session)
  if (!restored) return prepare(context, session, messages)
  // what was waited for too long may come when the next request is on its way: then this one's array is of the past
  return restored.then(() => (session.requests === request ? prepare(context, session, messages) : undefined))
}

function prepare(context: HookContext, session: Session, messages: HostMessage[]): Commit {
  putBack(messages)
  update(context, session, messages)
  beginRequest(session.account)
  const { agent } = session.ledger.facts
  if (agent !== undefined && context.options.disabledAgents.includes(agent)) {
    return () => {
      remove(messages)
      session.turn.startedMs ||= Date.now()
      session.shown = { outputs: 0, savedTokens: 0 }
      context.publisher.publish(session)
    }
  }
  const model = modelOf(session)
  const nowMs = Date.now()
  const switches = context.publisher.switches(session.id)
  const around = {
    ...context.models.circumstances(model, nowMs),
    hudPaused: switches.hud === "paused",
    foldingPaused: switches.folding === "paused",
  }
  // what an earlier process folded must be known before anything is folded anew; what cannot be undone is not folded
  const isKnown = session.restored || context.store.opening() === undefined
  const canRecall = (agent === undefined || !context.agents.withoutRecall.has(agent)) && !deniesRecall(messages)
  const options = isKnown && canRecall ? context.callOptions : { ...context.callOptions, fold: { enabled: false } }
  const call = prepareCall(messages, session, around, options, context.env)
  return () => {
    const before = session.hud.anchors
    const { stopped } = session.folding.account
    call.commit()
    const { account } = session.folding
    if (account.stopped !== undefined && stopped === undefined)
      context.log.say("warn", `folding stops in session ${session.id}: ${account.stopped}`)
    // others may still be of use where they are folded
    context.digests.queue?.rank(new Map(call.digested.map((key) => [key, LEAST_WORTH])))
    session.turn.startedMs ||= nowMs
    session.turn.hudTokens += call.hud?.tokens ?? 0
    session.turn.foldedTokens += call.savedTokens
    session.shown = { outputs: call.outputs, savedTokens: call.savedTokens }
    session.account.sent = {
      foldedTokens: call.savedTokens,
      newlyFolded: call.folded.length > 0,
      hudTokens: call.hud?.tokens ?? 0,
      noticeTokens: noticeTokens({ hud: context.options.hud.enabled, folds: context.options.fold.enabled }),
      ratio: session.ledger.facts.ratio,
      nowMs,
      model: model ? `${model.providerID}/${model.modelID}` : "",
      tariff: around.tariff,
    }
    context.publisher.publish(session)
    const { anchors } = session.hud
    context.store.use((store) => {
      if (call.folded.length) store.saveFolds(session.id, call.folded)
      if (anchors.length !== before.length || anchors.at(-1) !== before.at(-1)) store.saveAnchors(session.id, anchors)
    })
  }
}

/** Who prompts by OpenCode's API can leave a session without the tool; that stands until a prompt says otherwise. */
function deniesRecall(messages: readonly HostMessage[]): boolean {
  const toolsOf = ({ info }: HostMessage) => Object.entries((info.role === "user" && record(info.tools)) || {})
  const said = messages.findLast((message) => toolsOf(message).length > 0)
  return said !== undefined && toolsOf(said).findLast(([name]) => matches(name, RECALL_TOOL))?.[1] === false
}

/** Whether a value has the outline of a message; what is in it is read with care. */
export function isMessage(value: unknown): value is HostMessage {
  const message = value as Partial<HostMessage> | null | undefined
  return typeof message?.info === "object" && message.info !== null && Array.isArray(message.parts)
}
