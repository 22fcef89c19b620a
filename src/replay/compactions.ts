// The compactions of a recorded session: at which of them would the context have been small enough to go on?

import type { Message } from "../session/conversation.ts"
import { callsOf } from "./context.ts"
import { modelName } from "./pricing.ts"

export type Compactions = {
  /** OpenCode's own, and those the user asked for */
  automatic: number
  asked: number
  /** automatic ones before which the folded context would have stood below the threshold */
  avoided: number
}

/** A compaction as it is told of the call before it. */
export type CompactionKind = "asked" | "automatic" | "avoided"

export type CompactionWatch = {
  /** the size from which OpenCode compacts with this model, as far as the record shows it: it did so at this one */
  compactsAt(model: string): number | undefined
  /**
   * Takes in the call at index `at`: its size without the plugin as estimated, and what the plugin made it smaller.
   * Answers the compaction that came after it, if one did.
   */
  call(at: number, tokens: number, savedTokens: number): CompactionKind | undefined
  readonly found: Compactions
}

/**
 * The models' limits are not in the record. What it shows is how large a context grew without a compaction: only what
 * is no larger than that is known to be below the threshold.
 */
export function watchCompactions(messages: readonly Message[]): CompactionWatch {
  const calls = callsOf(messages)
  const found: Compactions = { automatic: 0, asked: 0, avoided: 0 }
  /** by the index of the call they came after */
  const after = new Map<number, "asked" | "automatic">()
  messages.forEach(({ parts }, i) => {
    const request = parts.find((part) => part.type === "compaction")
    if (!request) return
    const last = calls.findLast((at) => at < i)
    const kind = request.automatic ? "automatic" : "asked"
    found[kind]++
    if (last !== undefined && after.get(last) !== "automatic") after.set(last, kind)
  })
  /** by model: the largest size that stood, and the smallest at which it was compacted */
  const limits = new Map<string, { stood: number; full?: number }>()
  for (const at of calls) {
    const message = messages[at] as Message
    const size = reportedSize(message)
    if (size === undefined) continue
    const limit = limits.get(modelName(message)) ?? { stood: 0 }
    if (after.get(at) === "automatic") limit.full = Math.min(limit.full ?? size, size)
    else limit.stood = Math.max(limit.stood, size)
    limits.set(modelName(message), limit)
  }
  return {
    compactsAt: (model) => limits.get(model)?.full,
    found,
    call(at, tokens, savedTokens) {
      const message = messages[at]
      const kind = after.get(at)
      if (kind !== "automatic" || !message || savedTokens <= 0) return kind
      const size = (reportedSize(message) ?? tokens) - savedTokens
      if (size > (limits.get(modelName(message))?.stood ?? 0)) return kind
      found.avoided++
      return "avoided"
    },
  }
}

/** The size OpenCode holds against the threshold: all tokens of the call. Undefined where the provider reported none. */
function reportedSize({ usage }: Message): number | undefined {
  return usage && usage.input + usage.cacheRead + usage.cacheWrite + usage.output
}
