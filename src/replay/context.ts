// What each call of a stored session had before it: its context as recorded, with outputs not yet pruned, and the
// compactions between calls. A live hook is given this; for a stored session it has to be derived.

import { type Message, modelKey, type Part, type ToolPart, withParts } from "../session/conversation.ts"

/** Indexes of the messages that are calls of the agent; a compaction's summary is not one. */
export function callsOf(messages: readonly Message[]): number[] {
  return messages.flatMap(({ kind }, i) => (kind === "step" ? [i] : []))
}

/**
 * The context of the call made at index `at`, in the order OpenCode sends it: everything before the call, from the
 * newest finished compaction on. After a compaction, OpenCode 1.18 sends the request for it, its summary, the tail it
 * kept (from `tail_start_id`), then what is newer.
 */
export function contextAt(messages: readonly Message[], at: number): Message[] {
  for (let summary = at - 1; summary > 0; summary--) {
    if (messages[summary]?.kind !== "summary") continue
    const request = messages.findLastIndex((message, i) => i < summary && compactionOf(message) !== undefined)
    if (request < 0) continue
    const tailID = compactionOf(messages[request] as Message)?.tailStartID
    const tail = messages.findIndex((message, i) => i < request && message.id === tailID)
    return [
      ...messages.slice(request, summary + 1),
      ...(tailID !== undefined && tail >= 0 ? messages.slice(tail, request) : []),
      ...messages.slice(summary + 1, at),
    ]
  }
  return messages.slice(0, at)
}

function compactionOf({ parts }: Message) {
  return parts.find((part) => part.type === "compaction")
}

/** One copy for each part, so that it is the same object from call to call. */
const unclearedCopies = new WeakMap<Part, ToolPart>()

/**
 * The message as it was at a time. OpenCode stamps an output it prunes with the time and keeps it in the record, so
 * calls before that time still had it.
 */
export function messageAt(message: Message, nowMs: number): Message {
  const isAsRecorded = (part: Part) => part.type !== "tool" || part.clearedMs === undefined || isClearedAt(part, nowMs)
  if (message.parts.every(isAsRecorded)) return message
  return withParts(
    message,
    message.parts.map((part) => (isAsRecorded(part) ? part : uncleared(part as ToolPart))),
  )
}

/** Whether the output had been pruned by then. */
export function isClearedAt(part: Part, nowMs: number): boolean {
  return part.type === "tool" && part.clearedMs !== undefined && part.clearedMs <= nowMs
}

function uncleared(part: ToolPart): ToolPart {
  const before = unclearedCopies.get(part)
  if (before) return before
  const { clearedMs: _, ...copy } = part
  unclearedCopies.set(part, copy)
  return copy
}

/** The compactions of a session, and those that folding would have avoided. */
export type Compactions = {
  /** started by OpenCode, and requested by the user */
  automatic: number
  asked: number
  /** automatic ones at which the folded context would have been below the threshold */
  avoided: number
}

/** The compaction that followed a call. */
export type CompactionKind = "asked" | "automatic" | "avoided"

/**
 * The record does not contain the models' limits. It shows how large a context grew without a compaction; only sizes up
 * to that are known to be below the threshold.
 */
export function watchCompactions(messages: readonly Message[]) {
  const calls = callsOf(messages)
  const found: Compactions = { automatic: 0, asked: 0, avoided: 0 }
  /** by the index of the call they followed */
  const after = new Map<number, "asked" | "automatic">()
  messages.forEach((message, i) => {
    const request = compactionOf(message)
    if (!request) return
    const last = calls.findLast((at) => at < i)
    const kind = request.automatic ? "automatic" : "asked"
    found[kind]++
    if (last !== undefined && after.get(last) !== "automatic") after.set(last, kind)
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
     * Counts the call at index `at`, with its estimated size without the plugin and the tokens the plugin saved. Returns
     * the compaction that followed the call, if any.
     */
    call(at: number, tokens: number, savedTokens: number): CompactionKind | undefined {
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
  return usage && usage.input + usage.cacheRead + usage.cacheWrite + usage.output
}
