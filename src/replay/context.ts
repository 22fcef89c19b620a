// Which messages of a stored session a call had before it, in the order OpenCode sends them. The live hook is handed
// this array; what reads a stored session has to work it out.

import type { HostMessage } from "../host/v1/message.ts"

/** Indexes of the messages that are calls of the agent; a compaction's summary is none. */
export function callsOf(messages: readonly HostMessage[]): number[] {
  return messages.flatMap(({ info }, i) => (info.role === "assistant" && info.summary !== true ? [i] : []))
}

/**
 * The context of the call made at index `at`: everything before it, from the newest finished compaction on. After one
 * OpenCode 1.18 sends the request for it, its summary, the tail it kept (from `tail_start_id`), then what is newer.
 */
export function contextAt(messages: readonly HostMessage[], at: number): HostMessage[] {
  for (let summary = at - 1; summary > 0; summary--) {
    const { info } = messages[summary] as HostMessage
    if (info.role !== "assistant" || info.summary !== true || info.error) continue
    const request = messages.findLastIndex((message, i) => i < summary && compactionOf(message) !== undefined)
    if (request < 0) continue
    const tailID = compactionOf(messages[request] as HostMessage)?.tail_start_id
    const tail = messages.findIndex((message, i) => i < request && message.info.id === tailID)
    return [
      ...messages.slice(request, summary + 1),
      ...(tailID !== undefined && tail >= 0 ? messages.slice(tail, request) : []),
      ...messages.slice(summary + 1, at),
    ]
  }
  return messages.slice(0, at)
}

function compactionOf(message: HostMessage): Record<string, unknown> | undefined {
  return message.parts.find((part) => part?.type === "compaction")
}
