// experimental.chat.messages.transform: reads the conversation and prepares the request, with folds and records in
// place of what is settled and the HUD in its place. The body only reads; the commit it returns writes.

import { sourcesAhead } from "../../fold/ahead.ts"
import { appliedFolds, type Fold, NOTHING_FOLDED, stepFold } from "../../fold/fold.ts"
import { lastCall, NOTICE_TOKENS, onlyRecalls } from "../../fold/saving.ts"
import { accept, isDisabledFor, prepareRequest } from "../../request/request.ts"
import { type ModelName, modelKey } from "../../session/conversation.ts"
import type { Switches } from "../../status/status.ts"
import { answeredWithin } from "../../system/process.ts"
import { asRecord } from "../../system/values.ts"
import { beginRequest } from "../accounting.ts"
import { acceptReading, type HookContext, recordReading, restoreSession } from "../context.ts"
import type { Commit } from "../guard.ts"
import { modelOf } from "../models.ts"
import type { Session } from "../sessions.ts"
import { applyChange, NO_CHANGE } from "./apply.ts"
import { shortenTranscript } from "./compacting.ts"
import { conversationOf } from "./conversation.ts"
import { matchesRecall } from "./host.ts"
import { type HostMessage, isMessage, isOwnMessage } from "./message.ts"

/** How long the first requests with steps wait for the store to open, unless they are a resumed session's first. */
const MAX_STORE_WAIT_MS = 500

/** A request to prepare. OpenCode 1 passes only the messages; the other fields come from OpenCode 2. */
type MessagesRequest = {
  messages: unknown
  /** the model that is called */
  model?: ModelName | undefined
  agent?: string | undefined
  /** the agent may call `hud_recall` */
  canRecall?: boolean
  /** Called in the commit once the messages are changed, before anything else is updated. */
  onChanged?(): void
}

export function onMessages(context: HookContext, request: MessagesRequest) {
  const messages: unknown = request?.messages
  if (!Array.isArray(messages) || !messages.every(isMessage)) return
  const sessionID = messages.find((message) => !isOwnMessage(message) && typeof message.info.sessionID === "string")
    ?.info.sessionID
  if (sessionID === undefined) return
  const session = context.sessions.get(sessionID)
  // the array passed right after `compacting` is the summariser's transcript
  if (session.compacting) {
    session.compacting = false
    return shortenTranscript(context, session, messages)
  }
  const isFirst = !session.restoring
  const opening = context.store.opening()
  const isRead = session.restored && session.ledger.entries.length > 0
  const restoring = isRead ? undefined : restoreSession(context, session, conversationOf(messages))
  // nothing is folded before the store is open and its folds are known, so the first requests with steps wait a moment
  const waits = session.ledger.facts.calls === 0 && messages.length > 1 && (restoring || !context.store.isReady())
  const ready = (isFirst && restoring) || (waits && opening && answeredWithin(restoring ?? opening, MAX_STORE_WAIT_MS))
  if (!ready) return prepare(context, session, messages, request)
  return ready.then(() => (session.deleted ? undefined : prepare(context, session, messages, request)))
}

function prepare(context: HookContext, session: Session, messages: HostMessage[], request: MessagesRequest): Commit {
  const conversation = conversationOf(messages)
  const reading = session.ledger.read(conversation)
  const { facts, entries } = reading
  const agent = request.agent ?? facts.agent
  if (isDisabledFor(agent, context.options)) {
    return () => {
      applyChange(messages, NO_CHANGE)
      request.onChanged?.()
      acceptReading(context, session, conversation, reading)
      beginRequest(session.account, Date.now())
      session.shown = NOTHING_FOLDED
      context.publisher.publish(session)
    }
  }
  const model = request.model ?? modelOf(session, facts.model)
  const nowMs = Date.now()
  const { hud, folding, whole: wholeUntil, foldNow: wish } = context.publisher.switches(session.id)
  const circumstances = {
    ...context.models.circumstances(model, nowMs),
    // OpenCode 2 gives `build` and `plan` the same tools
    agent: request.agent === undefined ? agent : undefined,
    hudPaused: hud === "paused",
    foldingPaused: folding === "paused",
    wholeUntil,
    foldNow: wish?.askedMs === session.fulfilledMs ? undefined : wish?.what,
  }
  // nothing is folded, and earlier folds are not sent, before the folds of earlier processes are known and new ones can be
  // kept at once, or for an agent that cannot recall
  const isKnown = context.store.isReady() && (session.restored || context.store.opening() === undefined)
  const denied = session.deniesRecall || (agent !== undefined && context.withoutRecall.has(agent))
  const canRecall = request.canRecall ?? (!denied && !deniesRecall(messages))
  const wanted = context.requestOptions
  const options = isKnown && canRecall ? wanted : { ...wanted, fold: { enabled: false } }
  const { env } = context
  const prepared = prepareRequest({ messages: conversation, reading, state: session, circumstances, options, env })
  return () => {
    applyChange(messages, prepared.change)
    request.onChanged?.()
    if (request.model) session.called = { named: modelKey(facts.model), model: request.model }
    const { anchors } = session.hud
    const foldedBefore = appliedFolds(entries, session.folding.folds).savedTokens
    accept(session, prepared)
    recordReading(context, session, conversation, reading, prepared.dropped)
    const { newFolds, steps, outputs, savedTokens } = prepared
    // before anything else, since the request must not go out with folds that would be lost if the process is killed
    context.store.use((store) => store.saveFolds(session.id, newFolds))
    if (wish && options.fold.enabled) fulfilWish(context, session, wish, newFolds)
    const { calibration } = session.folding
    if (calibration.stopped !== undefined)
      context.log.say("warn", `folding stops in session ${session.id}: ${calibration.stopped}`)
    // the compactor and other sessions may still use these digests
    context.digests.queue?.defer(prepared.digested)
    session.shown = { steps, outputs, savedTokens }
    session.early = prepared.early
    // what the provider's cache held before a compaction says nothing about the requests after it
    if (reading.carried) session.account.reported = undefined
    beginRequest(session.account, nowMs, {
      foldedTokens: savedTokens - facts.recalledTokens,
      isExtra: onlyRecalls(entries),
      earlier: reading.carried ? undefined : lastCall(entries, (foldedBefore - facts.recalledTokens) * facts.ratio),
      changed: newFolds.length + prepared.dropped.length > 0,
      lostTokens: prepared.lostTokens,
      sentTokens: prepared.sentTokens,
      hudTokens: prepared.hud?.tokens ?? 0,
      noticeTokens: context.options.fold.enabled ? NOTICE_TOKENS : 0,
      ratio: facts.ratio,
      nowMs,
      model: modelKey(model),
      pricing: circumstances.pricing,
    })
    // the folds of later requests are prepared between this one and the next
    const ahead = { entries, messages: conversation, folds: prepared.change.folds }
    if (options.fold.enabled && !circumstances.foldingPaused && calibration.stopped === undefined)
      context.background.start(session.id, sourcesAhead(ahead, env))
    context.publisher.publish(session)
    const now = session.hud.anchors
    if (now.length !== anchors.length || now.at(-1) !== anchors.at(-1))
      context.store.use((store) => store.saveAnchors(session.id, now))
  }
}

/**
 * Has the folds that the user asked for made only once. A forced cut takes all that is settled; single steps that it does not
 * take wait for the next request.
 */
function fulfilWish(
  { publisher }: HookContext,
  session: Session,
  { what, askedMs }: NonNullable<Switches["foldNow"]>,
  newFolds: readonly Fold[],
): void {
  const isForced = newFolds.some(({ reason }) => reason === "must")
  const isMade = (messageID: string) => stepFold(session.folding.folds, messageID) !== undefined
  if (isForced && what !== "all" && !what.every(isMade)) return
  session.fulfilledMs = askedMs
  publisher.fulfilled(session.id, askedMs)
}

/** A prompt sent through OpenCode's API can switch the tool off for a session, until another prompt switches it on. */
function deniesRecall(messages: readonly HostMessage[]): boolean {
  const rulesOf = ({ info }: HostMessage) => (info.role === "user" ? Object.entries(asRecord(info.tools) ?? {}) : [])
  const last = messages.findLast((message) => rulesOf(message).length > 0)
  return last !== undefined && rulesOf(last).findLast(([name]) => matchesRecall(name))?.[1] === false
}
