// Compaction: the hook `experimental.session.compacting`, which gives the facts to the summarising model, and the transcript
// to be summarised, which OpenCode passes to the messages hook right after it.

import { stepFolds } from "../../fold/fold.ts"
import type { RecordPlace } from "../../request/request.ts"
import { contextNow } from "../../session/facts.ts"
import { contextAt } from "../../session/recorded.ts"
import { factsForCompaction, type HookContext, storedConversation } from "../context.ts"
import type { Commit } from "../guard.ts"
import { modelOf } from "../models.ts"
import type { Session } from "../sessions.ts"
import { applyChange, NO_CHANGE } from "./apply.ts"
import { conversationOf } from "./conversation.ts"
import type { HostMessage } from "./message.ts"

export async function onCompacting(
  context: HookContext,
  input: { sessionID: string },
  output: { context: unknown },
): Promise<Commit | undefined> {
  if (typeof input?.sessionID !== "string") return
  const session = context.sessions.get(input.sessionID)
  session.compacting = true
  // without them the facts are those of the last request
  const all = await storedConversation(context, session)
  const facts = await factsForCompaction(context, session, contextAt(all, all.length))
  const lines = output?.context
  if (facts === undefined || !Array.isArray(lines)) return
  return () => void lines.push(facts)
}

/** OpenCode 1 cuts each tool output in the transcript to this size, and leaves its files out. */
const TRANSCRIBED_OUTPUT_TOKENS = 500

/**
 * Folds the transcript if it would not fit the model's context. A session with folds may be larger than the context once it is
 * unfolded, and OpenCode ends a session whose transcript is too large to compact. A transcript that fits is not changed.
 * `at`: where records go in OpenCode 2, which sends messages, with their whole outputs.
 */
export function shortenTranscript(context: HookContext, session: Session, messages: HostMessage[], at?: RecordPlace) {
  if (!context.options.fold.enabled) return
  const { folding, ledger } = session
  const { fullAt, contextLimit } = context.models.circumstances(modelOf(session), Date.now())
  // in a process that has called no model yet, what the last call had fits for certain
  const maxTokens = fullAt ?? contextLimit ?? contextNow(ledger.facts)?.tokens ?? 0
  const { entries } = ledger.read(conversationOf(messages))
  let tokens = 0
  for (const entry of entries) {
    tokens += entry.tokens
    for (const { outputTokens, fileTokens, cleared } of entry.events)
      if (!cleared && !at) tokens -= fileTokens + Math.max(0, outputTokens - TRANSCRIBED_OUTPUT_TOKENS)
  }
  if (tokens * ledger.facts.ratio < maxTokens) return
  const { folds } = folding
  return () =>
    applyChange(messages, { ...NO_CHANGE, records: at ?? "message", folds, steps: stepFolds(entries, folds) })
}
