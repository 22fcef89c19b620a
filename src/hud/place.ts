// Puts the HUD into the message array and takes an earlier one out. `plan…` functions only look; the function they
// return does the change, all of it, so that a request goes out either with the whole HUD or as it came.

import { replacePart } from "../host/copies.ts"
import type { HostMessage, HostPart } from "../host/v1/message.ts"

/** Constant ids: other plugins count the ids they meet. */
const HUD_ID = "msg_hudfold"
const PART_ID = "prt_hudfold"
/** Between a tool's result and the HUD behind it. */
const GAP = "\n\n"

/** A HUD text that was sent, and the message it was put behind. */
export type Anchor = { after: string; text: string }

export type Commit = () => void

/** Whether a message id is one of ours. */
export function isHudID(id: string): boolean {
  return id.startsWith(HUD_ID)
}

/** Tail slot: one synthetic user message, the last of the array. Without a text the earlier HUD is only removed. */
export function planTail(messages: HostMessage[], text: string | undefined): Commit {
  const hud = text === undefined ? undefined : hudMessage(messages, text, HUD_ID)
  return () => {
    remove(messages)
    if (hud) messages.push(hud)
  }
}

/**
 * Tool slot: behind the last tool result, when the array ends with one; at the start of a turn, where it ends with the
 * user's message, as one more text part of that message.
 */
export function planTool(messages: HostMessage[], text: string | undefined): Commit {
  const last = messages.findLast((message) => !isHudID(message.info.id ?? ""))
  if (!last || text === undefined) return planTail(messages, text)
  if (last.info.role === "user") {
    const part = hudPart(last, text)
    return () => {
      remove(messages)
      last.parts.push(part)
    }
  }
  if (last.info.role !== "assistant" || !lastResult(last)) return planTail(messages, text)
  return () => {
    remove(messages)
    // looked for only now: what was folded is another part by this time
    const { at, part, field } = lastResult(last) ?? {}
    if (at === undefined || !part?.state || !field) return
    replacePart(last.parts, at, { ...part, state: { ...part.state, [field]: part.state[field] + GAP + text } })
  }
}

/** Sticky slot: every anchor behind the message it was sent behind, in the order they were sent. */
export function planSticky(messages: HostMessage[], anchors: readonly Anchor[]): Commit {
  const placed = anchors.map((anchor, i) => ({
    after: anchor.after,
    message: hudMessage(messages, anchor.text, `${HUD_ID}_${i}`),
  }))
  return () => {
    remove(messages)
    for (const { after, message } of placed.toReversed()) {
      const at = messages.findLastIndex((other) => other.info.id === after)
      if (at >= 0) messages.splice(at + 1, 0, message)
    }
  }
}

/** Takes every HUD message out of the array, in place, and a HUD that was added to the last message. */
export function remove(messages: HostMessage[]): void {
  for (let i = messages.length - 1; i >= 0; i--) if (isHudID(messages[i]?.info?.id ?? "")) messages.splice(i, 1)
  const parts = messages.at(-1)?.parts
  const own = parts?.findLastIndex((part) => part?.id === PART_ID) ?? -1
  if (own >= 0) parts?.splice(own, 1)
}

type Result = { at: number; part: HostPart; field: "output" | "error" }

/** The last tool result of a message that a provider will see as text: a completed one's output or a failed one's error. */
function lastResult({ parts }: HostMessage): Result | undefined {
  for (let at = parts.length - 1; at >= 0; at--) {
    const part = parts[at]
    const state = part?.type === "tool" ? part.state : undefined
    if (!part || !state) continue
    if (state.status === "completed" && typeof state.output === "string" && !state.time?.compacted)
      return { at, part, field: "output" }
    if (state.status === "error" && typeof state.error === "string") return { at, part, field: "error" }
  }
  return
}

/** A user message as OpenCode makes them: `synthetic`, or title generation would take it for the user's words. */
function hudMessage(messages: readonly HostMessage[], text: string, id: string): HostMessage {
  const user = messages.findLast((message) => message.info.role === "user" && !isHudID(message.info.id ?? ""))
  const { sessionID, agent, model } = user?.info ?? messages.at(-1)?.info ?? {}
  const info = {
    id,
    role: "user",
    time: { created: user?.info.time?.created ?? 0 },
    ...(sessionID === undefined ? {} : { sessionID }),
    ...(agent === undefined ? {} : { agent }),
    ...(model === undefined ? {} : { model }),
  }
  return { info, parts: [hudPart({ info, parts: [] }, text)] }
}

function hudPart({ info }: HostMessage, text: string): HostPart {
  return {
    id: PART_ID,
    type: "text",
    text,
    synthetic: true,
    ...(info.id === undefined ? {} : { messageID: info.id }),
    ...(info.sessionID === undefined ? {} : { sessionID: info.sessionID }),
  }
}
