// The hooks of one location, each behind its guard: `context` before every call of the agent, and `compaction`.

import { mustAlternate, slotFor } from "../../hud/slots.ts"
import { RECALL_TOOL } from "../../output/shows.ts"
import type { Message, ModelName } from "../../session/conversation.ts"
import { answeredWithin, LATE, within } from "../../system/process.ts"
import { asRecord, asString } from "../../system/values.ts"
import { factsForCompaction, type HookContext } from "../context.ts"
import { type Commit, guard } from "../guard.ts"
import { modelOf } from "../models.ts"
import type { Session } from "../sessions.ts"
import { shortenTranscript } from "../v1/compacting.ts"
import { conversationOf } from "../v1/conversation.ts"
import type { HostMessage } from "../v1/message.ts"
import { onMessages } from "../v1/messages.ts"
import { endsWithHud, joinedToUser, markBeforeHud, readArray } from "./array.ts"
import type { Known, Learning } from "./learning.ts"
import type { ContextEvent, WireMessageV2 } from "./message.ts"
import { recordSummary } from "./summary.ts"

export type HookContextV2 = HookContext & {
  /** the folder that commands run in; `directory` is the project's, which may be above it */
  cwd: string
  known: Known
  learning: Learning
}

/** The locations of this process. */
export const locations = new Set<HookContextV2>()

/** How long a request waits for OpenCode's list of models and the stored messages. */
const MAX_LEARNING_MS = 300
/** For what it learns, and once for the store: when a session is resumed, or has its first steps. */
const MAX_WAIT_MS = 1000

/** `replaced`: a body in place of every hook's. Tests pass a faulty one. */
export function hooksV2(context: HookContextV2, replaced?: typeof onContext) {
  const { options, log } = context
  const guarded = (hook: string, body: typeof onContext) =>
    guard(hook, options.deadlineMs, log.report, (event: ContextEvent) => body(context, event), MAX_WAIT_MS)
  return {
    context: guarded("context", replaced ?? onContext),
    compaction: guarded("compaction", replaced ?? onCompaction),
  }
}

/** context: the request in the shape of OpenCode 1, prepared by the same code, and written back. */
async function onContext(context: HookContextV2, event: ContextEvent): Promise<Commit | undefined> {
  const model = modelIn(event)
  const { learning } = context
  // a session that was moved here: the location it came from must not go on counting and showing it
  for (const other of locations) if (other !== context) other.sessions.delete(event.sessionID)
  const session = context.sessions.peek(event.sessionID)
  let isWaiting = true
  const newest = learning.newest(event.sessionID, event.messages, () => isWaiting)
  await within(Promise.allSettled([learning.models(), newest]), MAX_LEARNING_MS)
  isWaiting = false
  const array = readArray(event, model, context)
  if (!array || session?.deleted) return
  const known = context.models.circumstances(model, 0).model
  const slot = slotFor(context.options.hud.slot, known)
  const marks = model && context.models.pricing(model).lookback !== undefined
  return onMessages(context, {
    messages: array.messages,
    model,
    agent: asString(event.agent),
    canRecall: canRecall(event),
    onChanged() {
      let messages: readonly WireMessageV2[] = array.written()
      if (mustAlternate(known)) messages = joinedToUser(messages, event.messages)
      if (marks && slot !== "sticky" && endsWithHud(messages)) messages = markBeforeHud(messages, event.system)
      event.messages = messages
    },
  })
}

/** Whether the tool is among those that the agent may call. */
function canRecall({ tools }: ContextEvent): boolean {
  return asRecord(tools)?.[RECALL_TOOL] !== undefined
}

function modelIn({ model }: ContextEvent): ModelName | undefined {
  const providerID = asString(model?.providerID)
  const modelID = asString(model?.id)
  return providerID && modelID ? { providerID, modelID } : undefined
}

/** compaction: the facts for the summariser, and folds in a transcript that would not fit. */
async function onCompaction(context: HookContextV2, event: ContextEvent): Promise<Commit | undefined> {
  const model = modelIn(event)
  const soon = <T>(answer: Promise<T>) => answeredWithin(answer, MAX_LEARNING_MS)
  const [stored] = await Promise.all([soon(context.learning.all(event.sessionID)), soon(context.learning.models())])
  const array = readArray(event, model, context)
  if (!array) return
  const session = context.sessions.get(event.sessionID)
  const last = Array.isArray(event.messages) ? asRecord(event.messages.at(-1)) : undefined
  // the instruction to summarise has no id, since it is not a message of the session
  const isInstruction = last?.role === "user" && last.id === undefined
  const summarised = isInstruction ? array.messages.slice(0, -1) : array.messages
  const conversation = conversationOf(summarised)
  const kept = conversationOf(newerThan(summarised, stored === LATE ? [] : stored))
  const facts = await factsForCompaction(context, session, conversation, kept)
  const records = mustAlternate(context.models.circumstances(model, 0).model) ? "result" : "message"
  const shorten = shortenTranscript(context, session, array.messages, records)
  // another plugin's summary is kept
  const isOpen = event.result === undefined && canRecall(event)
  const summary = isOpen ? summaryFor(context, session, conversation, facts) : undefined
  if (summary && !session.deleted)
    return () => {
      event.result = { summary: summary.text }
      session.folding = summary.folding
      context.store.use((store) => store.saveFolds(session.id, summary.folded))
    }
  if (!shorten && facts === undefined) return
  return () => {
    shorten?.()
    const added = facts === undefined ? [] : [{ role: "user" as const, content: [{ type: "text", text: facts }] }]
    event.messages = joinedToUser([...array.written(), ...added], event.messages)
  }
}

/** The stored messages after those that are summarised, which OpenCode keeps in its own words. */
function newerThan(summarised: readonly HostMessage[], stored: readonly HostMessage[]): readonly HostMessage[] {
  const ids = new Set(summarised.map(({ info }) => info.id))
  const last = stored.findLastIndex(({ info }) => ids.has(info.id))
  return last < 0 ? [] : stored.slice(last + 1)
}

/** Share of the size at which OpenCode compacts that a summary of ours may take. */
const MAX_SUMMARY_SHARE = 0.25

/** Undefined when the model is to write it: by the options, or because ours would be incomplete, too long or not recallable. */
function summaryFor(
  { options, models, store, env }: HookContextV2,
  session: Session,
  conversation: readonly Message[],
  facts: string | undefined,
) {
  if (!options.fold.enabled || !options.fold.compaction || !store.isReady()) return
  const { fullAt, contextLimit } = models.circumstances(modelOf(session), Date.now())
  const summary = recordSummary(conversation, session.ledger.read(conversation), session.folding, facts, env)
  const most = MAX_SUMMARY_SHARE * (fullAt ?? contextLimit ?? 0)
  return summary && summary.tokens <= most ? summary : undefined
}
