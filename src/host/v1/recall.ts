// tool.hud_recall: returns the originals of what is folded, from the array the call was made with or from OpenCode's own
// store. It serves only folds of the asking session. Problems are answered in words, since a tool that throws would be
// recorded as a failed call.

import type { ToolContext, ToolDefinition } from "@opencode-ai/plugin"
import type { Fold, Folds } from "../../fold/fold.ts"
import type { PageLimits } from "../../fold/pages.ts"
import type { NumberRange } from "../../fold/ranges.ts"
import { answerRecall, RECALL_ARGS, RECALL_DESCRIPTION, readRequest } from "../../fold/recall.ts"
import { namedFolds, type Original, originalIn } from "../../fold/select.ts"
import { RECALL_TOOL } from "../../output/shows.ts"
import type { Message } from "../../session/conversation.ts"
import { LATE, within } from "../../system/process.ts"
import { asRecord } from "../../system/values.ts"
import { conversationOf } from "./conversation.ts"
import { isMessage } from "./message.ts"

export type RecallSources = {
  /** the session's folds by recall id */
  foldsOf(sessionID: string): Folds
  /** the numbers of the steps that its conversation has, folded or not; undefined when they are not known */
  stepsOf?(sessionID: string): NumberRange | undefined
  /** whether the message still has the content that was folded, by its hash */
  isSame(message: Message, fold: Fold): boolean
  /** `{info, parts}` as OpenCode stores it; undefined when there is no such message, rejects when it does not answer */
  storedMessage(sessionID: string, messageID: string): Promise<unknown>
  /** all of the session's messages in that form; undefined when OpenCode does not answer */
  storedMessages(sessionID: string): Promise<unknown>
  /** Logs what went wrong. The agent gets a sentence without the cause. */
  report(cause: unknown): void
  /** Called with the folds whose originals were found. */
  recalled?(sessionID: string, folds: readonly Fold[]): void
  /** how much of a tool's answer OpenCode passes on uncut, if its configuration says so */
  limits?(): PageLimits | undefined
}

/** How long OpenCode's server, which is in the same process, may take to answer. */
const MAX_WAIT_MS = 3_000
/** Messages requested one by one; for more, all of the session are requested at once. */
const MAX_SINGLE_REQUESTS = 5

export function recallTool(sources: RecallSources, maxWaitMs: number = MAX_WAIT_MS): ToolDefinition {
  return {
    description: RECALL_DESCRIPTION,
    // the plugin package's types come from another copy of zod; OpenCode recognises a schema by its `_zod`
    args: RECALL_ARGS as unknown as ToolDefinition["args"],
    async execute(args, context) {
      try {
        return await answer(sources, args, context, maxWaitMs)
      } catch (cause) {
        sources.report(cause)
        return `${RECALL_TOOL} failed; repeat the call whose output was folded to see the present state.`
      }
    },
  }
}

async function answer(sources: RecallSources, args: unknown, context: ToolContext, maxWaitMs: number) {
  const request = readRequest(args)
  if (typeof request === "string") return request
  const { sessionID } = context
  const folds = sources.foldsOf(sessionID)
  const named = namedFolds(request, folds)
  // OpenCode passes the array although its types do not mention it
  const live = messagesIn(asRecord(context)?.messages)
  const originals = await findAll(sources, sessionID, named, live, maxWaitMs)
  const inConversation = sources.stepsOf?.(sessionID)
  const { text, attached, recalled } = answerRecall(
    { request, folds, named, originals, inConversation },
    sources.limits?.(),
  )
  if (recalled.length > 0) sources.recalled?.(sessionID, recalled)
  return { output: text, ...(attached.length > 0 ? { attachments: [...attached] } : {}) }
}

async function findAll(
  sources: RecallSources,
  sessionID: string,
  folds: readonly Fold[],
  live: readonly Message[],
  maxWaitMs: number,
): Promise<ReadonlyMap<string, Original>> {
  // of messages with one id, as forks make them, the first
  const inArray = new Map(live.toReversed().map((message) => [message.id, message]))
  const look = (message: Message | undefined, fold: Fold): Original => {
    const original = message && originalIn(message, fold)
    return original && !sources.isSame(message, fold) ? { kind: "changed" } : (original ?? { kind: "gone" })
  }
  const originals = new Map(folds.map((fold) => [fold.id, look(inArray.get(fold.messageID), fold)]))
  const missing = folds.filter(({ id }) => originals.get(id)?.kind !== "found")
  const ids = new Set(missing.map(({ messageID }) => messageID))
  const stored = await storedIn(sources, sessionID, [...ids], maxWaitMs)
  for (const fold of missing) {
    const message = stored(fold.messageID)
    originals.set(fold.id, message === LATE ? { kind: "unanswered" } : look(message, fold))
  }
  return originals
}

type Stored = (messageID: string) => Message | undefined | typeof LATE

/** The stored messages with these ids, with few requests however many they are. `LATE`: there was no answer. */
async function storedIn(
  { storedMessage, storedMessages }: RecallSources,
  sessionID: string,
  ids: readonly string[],
  maxWaitMs: number,
): Promise<Stored> {
  if (ids.length > MAX_SINGLE_REQUESTS) {
    const all = await within(storedMessages(sessionID), maxWaitMs).catch(() => LATE)
    const byID = new Map(messagesIn(all).map((message) => [message.id, message]))
    return (id) => (Array.isArray(all) ? byID.get(id) : LATE)
  }
  const one = async (id: string) => {
    const message = await within(storedMessage(sessionID, id), maxWaitMs).catch(() => LATE)
    return [id, message === LATE ? LATE : messagesIn([message]).find((found) => found.id === id)] as const
  }
  const byID = new Map(await Promise.all(ids.map(one)))
  return (id) => byID.get(id)
}

/** OpenCode's messages as the conversation they were before anything was folded. */
function messagesIn(messages: unknown): Message[] {
  return Array.isArray(messages) ? conversationOf(messages.filter(isMessage)) : []
}
