// Which messages of a stored session a call had before it, in the order OpenCode sends them. The live hook is handed
// them; what reads a stored session has to work it out.

import type { Message } from "../session/conversation.ts"

/** Indexes of the messages that are calls of the agent; a compaction's summary is none. */
export function callsOf(messages: readonly Message[]): number[] {
  return messages.flatMap(({ kind }, i) => (kind === "step" ? [i] : []))
}

/**
 * The context of the call made at index `at`: everything before it, from the newest finished compaction on. After one
 * OpenCode 1.18 sends the request for it, its summary, the tail it kept (from `tail_start_id`), then what is newer.
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
