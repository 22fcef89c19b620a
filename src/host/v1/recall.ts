// tool.hud_recall: finds the originals of folded outputs, in the array the call was made with or in OpenCode's own
// store. It answers within the session that asks, and in words: a tool that throws would stand there as a failed call.

import type { ToolContext, ToolDefinition } from "@opencode-ai/plugin"
import type { Fold } from "../../fold/fold.ts"
import { originalText } from "../../fold/original.ts"
import type { Limits } from "../../fold/pages.ts"
import { answerRecall, isFile, type Original, RECALL_ARGS, RECALL_DESCRIPTION, readRequest } from "../../fold/recall.ts"
import type { ToolPart } from "../../session/conversation.ts"
import { RECALL_TOOL } from "../../output/shows.ts"
import { LATE, within } from "../../system/process.ts"
import { asRecord } from "../../system/values.ts"
import { cut } from "../../text/sanitize.ts"
import { messageOf } from "./conversation.ts"
import { isMessage } from "./messages.ts"

export type RecallSources = {
  /** the session's folds by recall id */
  foldsOf(sessionID: string): ReadonlyMap<string, Fold>
  /** whether the part still holds what was folded, by its hash */
  isSame(part: ToolPart, fold: Fold): boolean
  /** `{info, parts}` as OpenCode stores it; undefined when it has no such message, a rejection when it does not answer */
  storedMessage(sessionID: string, messageID: string): Promise<unknown>
  /** what went wrong; the agent gets a sentence without it */
  report(cause: unknown): void
  /** the folds whose originals an answer is made from */
  recalled?(sessionID: string, folds: readonly Fold[]): void
  /** what OpenCode passes on whole of a tool's answer, where its configuration says */
  limits?(): Limits | undefined
}

/** How long OpenCode's server may take, in ms; it is the same process. */
const PATIENCE_MS = 3_000
/** Characters of the ids that a person is shown. */
const TITLE = 60

export function recallTool(sources: RecallSources, patienceMs: number = PATIENCE_MS): ToolDefinition {
  return {
    description: RECALL_DESCRIPTION,
    // the plugin package's types are those of another zod; OpenCode itself tells a schema by its `_zod`
    args: RECALL_ARGS as unknown as ToolDefinition["args"],
    async execute(args, context) {
      try {
        return await answer(sources, args, context, patienceMs)
      } catch (cause) {
        sources.report(cause)
        return `${RECALL_TOOL} failed; the call whose output was folded, made again, shows the present state.`
      }
    },
  }
}

async function answer(sources: RecallSources, args: unknown, context: ToolContext, patienceMs: number) {
  const request = readRequest(args)
  if (typeof request === "string") return request
  const { sessionID } = context
  const folds = sources.foldsOf(sessionID)
  const asked = request.ids.flatMap((id) => folds.get(id) ?? [])
  // OpenCode hands the array over beside what its types name
  const live = partsOf(asRecord(context)?.messages)
  const originals = await findAll(sources, sessionID, asked, live, patienceMs)
  const found = asked.filter(({ id }) => originals.get(id)?.kind === "found")
  if (found.length > 0) sources.recalled?.(sessionID, found)
  return {
    title: cut(request.ids.join(", "), TITLE),
    output: answerRecall(request, folds, originals, sources.limits?.()),
  }
}

async function findAll(
  { isSame, storedMessage }: RecallSources,
  sessionID: string,
  folds: readonly Fold[],
  live: readonly ToolPart[],
  patienceMs: number,
): Promise<ReadonlyMap<string, Original>> {
  const asked = new Map<string, Promise<unknown>>()
  const stored = (messageID: string) => {
    const answer = asked.get(messageID) ?? within(storedMessage(sessionID, messageID), patienceMs)
    asked.set(messageID, answer)
    return answer
  }
  const find = async (fold: Fold): Promise<Original> => {
    const taken = (parts: readonly ToolPart[]): Original => {
      const part = parts.find(({ id }) => id === fold.partID)
      if (part === undefined) return { kind: "gone" }
      if (!isSame(part, fold)) return { kind: "changed" }
      return { kind: "found", text: originalText(part, fold.side), isFile: isFile(part, fold.side) }
    }
    const here = taken(live)
    if (here.kind === "found") return here
    let message: unknown
    try {
      message = await stored(fold.messageID)
    } catch {
      return { kind: "unanswered" }
    }
    if (message === LATE) return { kind: "unanswered" }
    return taken(partsOf([message]))
  }
  return new Map(await Promise.all(folds.map(async (fold) => [fold.id, await find(fold)] as const)))
}

/** The tool calls in an array, as OpenCode has them. */
function partsOf(messages: unknown): ToolPart[] {
  if (!Array.isArray(messages)) return []
  return messages
    .filter(isMessage)
    .flatMap((message) => messageOf(message).parts.flatMap((part) => (part.type === "tool" ? [part] : [])))
}

