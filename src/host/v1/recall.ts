// tool.hud_recall: returns the originals of folded outputs, from the array the call was made with or from OpenCode's own
// store. It serves only folds of the asking session. Problems are answered in words, since a tool that throws would be
// recorded as a failed call.

import type { ToolContext, ToolDefinition } from "@opencode-ai/plugin"
import { type Fold, originalText } from "../../fold/fold.ts"
import type { PageLimits } from "../../fold/pages.ts"
import { answerRecall, isFile, type Original, RECALL_ARGS, RECALL_DESCRIPTION, readRequest } from "../../fold/recall.ts"
import { RECALL_TOOL } from "../../output/shows.ts"
import type { Message } from "../../session/conversation.ts"
import { LATE, within } from "../../system/process.ts"
import { asRecord } from "../../system/values.ts"
import { cut } from "../../text/sanitize.ts"
import { conversationOf } from "./conversation.ts"
import { isMessage } from "./message.ts"

export type RecallSources = {
  /** the session's folds by recall id */
  foldsOf(sessionID: string): ReadonlyMap<string, Fold>
  /** whether the message still has the content that was folded, by its hash */
  isSame(message: Message, fold: Fold): boolean
  /** `{info, parts}` as OpenCode stores it; undefined when there is no such message, rejects when it does not answer */
  storedMessage(sessionID: string, messageID: string): Promise<unknown>
  /** Logs what went wrong. The agent gets a sentence without the cause. */
  report(cause: unknown): void
  /** Called with the folds whose originals were found. */
  recalled?(sessionID: string, folds: readonly Fold[]): void
  /** how much of a tool's answer OpenCode passes on uncut, if its configuration says so */
  limits?(): PageLimits | undefined
}

/** How long OpenCode's server, which is in the same process, may take to answer. */
const MAX_WAIT_MS = 3_000
/** Length of the call's title, which lists the ids. */
const MAX_TITLE_CHARS = 60

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
        return `${RECALL_TOOL} failed; the call whose output was folded, made again, shows the present state.`
      }
    },
  }
}

async function answer(sources: RecallSources, args: unknown, context: ToolContext, maxWaitMs: number) {
  const request = readRequest(args)
  if (typeof request === "string") return request
  const { sessionID } = context
  const folds = sources.foldsOf(sessionID)
  const asked = request.ids.flatMap((id) => folds.get(id) ?? [])
  // OpenCode passes the array although its types do not mention it
  const live = messagesIn(asRecord(context)?.messages)
  const originals = await findAll(sources, sessionID, asked, live, maxWaitMs)
  const found = asked.filter(({ id }) => originals.get(id)?.kind === "found")
  if (found.length > 0) sources.recalled?.(sessionID, found)
  return {
    title: cut(request.ids.join(", "), MAX_TITLE_CHARS),
    output: answerRecall(request, folds, originals, sources.limits?.()),
  }
}

async function findAll(
  { isSame, storedMessage }: RecallSources,
  sessionID: string,
  folds: readonly Fold[],
  live: readonly Message[],
  maxWaitMs: number,
): Promise<ReadonlyMap<string, Original>> {
  const asked = new Map<string, Promise<unknown>>()
  const stored = (messageID: string) => {
    const answer = asked.get(messageID) ?? within(storedMessage(sessionID, messageID), maxWaitMs)
    asked.set(messageID, answer)
    return answer
  }
  const find = async (fold: Fold): Promise<Original> => {
    const originalIn = (messages: readonly Message[]): Original => {
      const found = messages.find(({ id }) => id === fold.messageID)
      const text = found && originalText(found, fold)
      if (found === undefined || text === undefined) return { kind: "gone" }
      return isSame(found, fold) ? { kind: "found", text, isFile: isFile(found, fold) } : { kind: "changed" }
    }
    const inArray = originalIn(live)
    if (inArray.kind === "found") return inArray
    let message: unknown
    try {
      message = await stored(fold.messageID)
    } catch {
      return { kind: "unanswered" }
    }
    if (message === LATE) return { kind: "unanswered" }
    return originalIn(messagesIn([message]))
  }
  return new Map(await Promise.all(folds.map(async (fold) => [fold.id, await find(fold)] as const)))
}

/** OpenCode's messages as the conversation they were before anything was folded. */
function messagesIn(messages: unknown): Message[] {
  return Array.isArray(messages) ? conversationOf(messages.filter(isMessage)) : []
}
