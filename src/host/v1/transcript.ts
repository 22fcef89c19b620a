// The array that OpenCode hands over to be summarised when it compacts: left as it is, unless it would not fit.

import type { HookContext } from "../context.ts"
import type { Commit } from "../guard.ts"
import { modelOf } from "../models.ts"
import type { Session } from "../sessions.ts"
import { applyFolds } from "./apply.ts"
import type { HostMessage } from "./message.ts"

/** Characters of a tool's output that OpenCode puts into the summariser's transcript, in tokens. */
const TRANSCRIBED = 500

/**
 * What was folded lets a session outgrow its context, and a transcript that does not fit ends it: OpenCode calls it too
 * large to compact. Then the transcript has the folds; one that fits is left as it is.
 */
export function shortenTranscript(
  { models, options }: HookContext,
  session: Session,
  messages: HostMessage[],
): Commit | undefined {
  const { folding, ledger } = session
  const { compactsAt, contextLimit } = models.circumstances(modelOf(session), Date.now())
  const most = compactsAt ?? contextLimit
  if (!options.fold.enabled || most === undefined) return
  const ids = new Set(messages.map(({ info }) => info.id))
  let tokens = 0
  for (const entry of ledger.entries) {
    if (!ids.has(entry.id)) continue
    tokens += entry.tokens
    for (const { outputTokens, cleared } of entry.events)
      if (!cleared) tokens -= Math.max(0, outputTokens - TRANSCRIBED)
  }
  return tokens * ledger.facts.ratio < most ? undefined : () => applyFolds(messages, folding.folds)
}
