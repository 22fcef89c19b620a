// OpenCode stamps the time on an output it prunes, and the output stays in the record: calls made before that still had
// it before them.

import { type Message, type Part, type ToolPart, withParts } from "../session/conversation.ts"

/** One copy for each part, so that it is the same part from call to call. */
const copies = new WeakMap<Part, ToolPart>()

/** The message as it was at a time. */
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
  const before = copies.get(part)
  if (before) return before
  const { clearedMs: _, ...copy } = part
  copies.set(part, copy)
  return copy
}
