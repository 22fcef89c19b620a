// tool.hud_recall: returns the originals of what is folded, from the array the call was made with or from OpenCode's own
// store. It serves only folds of the asking session. Problems are answered in words, since a tool that throws would be
// recorded as a failed call.

import type { ToolContext, ToolDefinition } from "@opencode-ai/plugin"
import { type Fold, isIntact } from "../../fold/fold.ts"
import { addFolds, withRecalled } from "../../fold/folding.ts"
import { answerRecall, RECALL_ARGS, RECALL_DESCRIPTION, readRecallRequest } from "../../fold/recall.ts"
import { isFoldText } from "../../fold/record.ts"
import { namedFolds, type Original, originalIn } from "../../fold/select.ts"
import { RECALL_TOOL } from "../../output/shows.ts"
import type { Message } from "../../session/conversation.ts"
import { type Entry, fingerprint, readEntry } from "../../session/entry.ts"
import { answeredWithin, LATE } from "../../system/process.ts"
import { asRecord } from "../../system/values.ts"
import type { HookContext } from "../context.ts"
import { conversationOf } from "./conversation.ts"
import { isMessage } from "./message.ts"

/** How long OpenCode's server, which is in the same process, may take to answer. */
const MAX_WAIT_MS = 3_000

/** The tool handles its own errors, so it needs no guard. The log gets the cause, the agent a sentence without it. */
export function recallTool(context: HookContext): ToolDefinition {
  return {
    description: RECALL_DESCRIPTION,
    // the plugin package's types come from another copy of zod; OpenCode recognises a schema by its `_zod`
    args: RECALL_ARGS as unknown as ToolDefinition["args"],
    async execute(args, call) {
      try {
        return await answer(context, args, call)
      } catch (cause) {
        context.log.report(RECALL_TOOL, "failed", cause)
        return `${RECALL_TOOL} failed; look again to see the present state.`
      }
    },
  }
}

async function answer(context: HookContext, args: unknown, call: ToolContext) {
  const request = readRecallRequest(args)
  if (typeof request === "string") return request
  const session = context.sessions.get(call.sessionID)
  // a plugin loaded since the last request finds its folds in the store
  const opening = session.folding.recallable.size === 0 ? context.store.opening() : undefined
  const loading = opening?.then((store) => store.loadFolds(session.id))
  const stored = loading && (await answeredWithin(loading, MAX_WAIT_MS))
  if (stored && stored !== LATE) session.folding = addFolds(session.folding, stored.filter(isFoldText))
  const { recallable: folds } = session.folding
  const named = namedFolds(request, folds)
  // OpenCode passes the array although its types do not mention it
  const live = messagesIn(asRecord(call)?.messages)
  const originals = await findAll(context, call.sessionID, named, live)
  const { entries } = session.ledger
  const inConversation = entries.length > 0 ? entries.filter(({ kind }) => kind === "step") : undefined
  const source = { request, folds, named, originals, inConversation }
  const { text, attached, recalled } = answerRecall(source, context.models.answerLimits())
  if (recalled.length > 0) {
    session.account.turn.recalls++
    session.folding = withRecalled(session.folding, recalled, session.ledger.facts.calls)
  }
  return { output: text, ...(attached.length > 0 ? { attachments: [...attached] } : {}) }
}

async function findAll(context: HookContext, sessionID: string, folds: readonly Fold[], live: readonly Message[]) {
  const { env } = context
  // of messages with one id, as forks make them, the first
  const inArray = new Map(live.toReversed().map((message) => [message.id, message]))
  // one message may have several folds
  const entries = new Map<Message, Entry>()
  const look = (message: Message | undefined, fold: Fold): Original => {
    const original = message && originalIn(message, fold)
    if (!original) return { kind: "gone" }
    const entry = entries.get(message) ?? readEntry(message, fingerprint(message), 0, env)
    entries.set(message, entry)
    return isIntact(entry, fold, env) ? original : { kind: "changed" }
  }
  const originals = new Map(folds.map((fold) => [fold.id, look(inArray.get(fold.messageID), fold)]))
  const missing = folds.filter(({ id }) => originals.get(id)?.kind !== "found")
  if (missing.length === 0) return originals
  const ids = new Set(missing.map(({ messageID }) => messageID))
  const stored = await answeredWithin(context.storedMessages(sessionID, [...ids]), MAX_WAIT_MS)
  const byID = new Map(messagesIn(stored).map((message) => [message.id, message]))
  const silent = stored === LATE ? ids : new Set(stored.map((one) => asRecord(one)?.unanswered))
  for (const fold of missing)
    originals.set(fold.id, silent.has(fold.messageID) ? { kind: "unanswered" } : look(byID.get(fold.messageID), fold))
  return originals
}

/** OpenCode's messages as the conversation they were before anything was folded. */
function messagesIn(messages: unknown): Message[] {
  return Array.isArray(messages) ? conversationOf(messages.filter(isMessage)) : []
}
