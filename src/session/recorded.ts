// A stored session as it was at its calls: the context of each, with outputs not yet pruned, and the subagents it started. A
// live hook is given this; for a stored session it has to be derived.

import { asString } from "../system/values.ts"
import type { Message, Part, ToolPart } from "./conversation.ts"

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
  const summary = messages.findLastIndex(({ kind }, i) => i < at && kind === "summary")
  const request = messages.findLastIndex((message, i) => i < summary && compactionOf(message) !== undefined)
  if (request < 0) return messages.slice(0, at)
  const tailID = compactionOf(messages[request] as Message)?.tailStartID
  const tail = messages.findIndex((message, i) => i < request && message.id === tailID)
  return [
    ...messages.slice(request, summary + 1),
    ...(tail < 0 ? [] : messages.slice(tail, request)),
    ...messages.slice(summary + 1, at),
  ]
}

/** The request for a compaction in a message. */
export function compactionOf({ parts }: Message) {
  return parts.find((part) => part.type === "compaction")
}

/** The request for the compaction that a conversation begins with. Another plugin may have put a message in front of it. */
export function firstCompaction(messages: readonly Message[]): Message | undefined {
  const first = messages.find((message) => message.kind !== "user" || compactionOf(message) !== undefined)
  return first?.kind === "user" ? first : undefined
}

/** One copy of each part, since the replay remembers what it computed of a part by its object. */
const unclearedCopies = new WeakMap<Part, Part>()

/**
 * The message as it was at a time. OpenCode stamps an output it prunes with the time and keeps it in the record, so
 * calls before that time still had it.
 */
export function messageAt(message: Message, nowMs: number): Message {
  const isClearedLater = (part: Part): part is ToolPart =>
    part.type === "tool" && part.clearedMs !== undefined && !isClearedAt(part, nowMs)
  if (!message.parts.some(isClearedLater)) return message
  const parts = message.parts.map((part) => (isClearedLater(part) ? uncleared(part) : part))
  return Object.create(message, { parts: { value: parts, enumerable: true } })
}

/** Whether the output had been pruned by then. */
export function isClearedAt(part: Part, nowMs: number): boolean {
  return part.type === "tool" && part.clearedMs !== undefined && part.clearedMs <= nowMs
}

function uncleared(part: ToolPart): Part {
  const { clearedMs: _, ...rest } = part
  const copy = unclearedCopies.get(part) ?? rest
  unclearedCopies.set(part, copy)
  return copy
}

/** Ids of the sessions that the agent started as subagents. */
export function subagentsOf(messages: readonly Message[]): string[] {
  const ids = messages
    .flatMap(({ parts }) => parts)
    .map((part) => (part.type === "tool" && part.tool === "task" ? asString(part.metadata.sessionId) : undefined))
  return [...new Set(ids.filter((id) => id !== undefined))]
}
