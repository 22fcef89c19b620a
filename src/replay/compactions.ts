// The compactions between the calls of a stored session, and those that folding would have avoided.

import { type Message, modelKey } from "../session/conversation.ts"
import { contextTokens } from "../session/facts.ts"
import { callsOf, compactionOf } from "../session/recorded.ts"

/**
 * The compactions of a session: those that OpenCode started, those that the user requested, and of the former those at which
 * the folded context would have been below the threshold.
 */
export const noCompactions = () => ({ automatic: 0, asked: 0, avoided: 0 })

/** The compaction that followed a call. */
export type CompactionKind = "asked" | "automatic" | "avoided"

/**
 * The record does not contain the models' limits. It shows how large a context grew without a compaction; only sizes up
 * to that are known to be below the threshold.
 */
export function readCompactions(messages: readonly Message[]) {
  const calls = callsOf(messages)
  const found = noCompactions()
  /** by the index of the call they followed */
  const after = new Map<number, "asked" | "automatic">()
  let asked: "asked" | "automatic" | undefined
  messages.forEach((message, i) => {
    const request = compactionOf(message)
    if (request) asked = request.automatic ? "automatic" : "asked"
    // only a summary shows that a compaction was made: a request for one may have failed
    if (message.kind !== "summary" || !asked) return
    const last = calls.findLast((at) => at < i)
    found[asked]++
    if (last !== undefined && after.get(last) !== "automatic") after.set(last, asked)
  })
  /** by model: the largest size without a compaction, and the smallest with one */
  const limits = new Map<string, { below: number; full?: number }>()
  for (const at of calls) {
    const message = messages[at] as Message
    const size = reportedSize(message)
    if (size === undefined) continue
    const limit = limits.get(modelKey(message.model)) ?? { below: 0 }
    if (after.get(at) === "automatic") limit.full = Math.min(limit.full ?? size, size)
    else limit.below = Math.max(limit.below, size)
    limits.set(modelKey(message.model), limit)
  }
  return {
    /** the size at which OpenCode compacts with this model: the smallest at which the record shows that it did */
    compactsAt: (model: string) => limits.get(model)?.full,
    found,
    /**
     * The compaction that followed the call at index `at`, if any; counted where it was avoided. `tokens` is the call's
     * estimated size without the plugin, `savedTokens` what the plugin saved.
     */
    compactionAfter(at: number, tokens: number, savedTokens: number): CompactionKind | undefined {
      const message = messages[at]
      const kind = after.get(at)
      if (kind !== "automatic" || !message || savedTokens <= 0) return kind
      const size = (reportedSize(message) ?? tokens) - savedTokens
      if (size > (limits.get(modelKey(message.model))?.below ?? 0)) return kind
      found.avoided++
      return "avoided"
    },
  }
}

/** The size OpenCode compares with the threshold: all tokens of the call. Undefined when the provider reported none. */
function reportedSize({ usage }: Message): number | undefined {
  return usage && contextTokens(usage) + usage.output
}
