// Puts the HUD into OpenCode's array and takes an earlier one out.

import type { Anchor, Placement } from "../../hud/slots.ts"
import { replacePart } from "../copies.ts"
import type { HostMessage, HostPart } from "./message.ts"
import { isOwnMessage, isOwnPart, OWN_MESSAGE, OWN_PART } from "./own.ts"

/** Between a tool's result and the HUD behind it. */
const GAP = "\n\n"

/** Puts the HUD where it goes; without a text an earlier one is only taken out. */
export function placeHud(messages: HostMessage[], placement: Placement): void {
  removeHud(messages)
  if (placement.slot === "sticky") placeSticky(messages, placement.anchors)
  else if (placement.text === undefined) return
  else if (placement.slot === "tool") placeInside(messages, placement.text)
  else placeTail(messages, placement.text)
}

/** Tail slot: one synthetic user message, the last of the array. */
function placeTail(messages: HostMessage[], text: string): void {
  messages.push(hudMessage(messages, text, OWN_MESSAGE))
}

/**
 * Tool slot: behind the last tool result when the array ends with one; at the start of a turn, where it ends with the
 * user's message, as one more text part of that message.
 */
function placeInside(messages: HostMessage[], text: string): void {
  const last = messages.at(-1)
  const result = last?.info.role === "assistant" ? lastResult(last) : undefined
  if (last?.info.role === "user") last.parts.push(hudPart(last, text))
  else if (last && result?.part.state) {
    const { at, part, field } = result
    replacePart(last.parts, at, { ...part, state: { ...part.state, [field]: part.state?.[field] + GAP + text } })
  } else placeTail(messages, text)
}

/** Sticky slot: every anchor behind the message it was sent behind, in the order they were sent. */
function placeSticky(messages: HostMessage[], anchors: readonly Anchor[]): void {
  const placed = anchors.map((anchor, i) => ({
    after: anchor.after,
    message: hudMessage(messages, anchor.text, `${OWN_MESSAGE}_${i}`),
  }))
  for (const { after, message } of placed.toReversed()) {
    const at = messages.findLastIndex((other) => other.info.id === after)
    if (at >= 0) messages.splice(at + 1, 0, message)
  }
}

/** Takes every HUD message out of the array, in place, and a HUD that was added to the last message. */
export function removeHud(messages: HostMessage[]): void {
  for (let i = messages.length - 1; i >= 0; i--) if (isOwnMessage(messages[i]?.info?.id)) messages.splice(i, 1)
  const parts = messages.at(-1)?.parts
  const own = parts?.findLastIndex(isOwnPart) ?? -1
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
  const user = messages.findLast((message) => message.info.role === "user" && !isOwnMessage(message.info.id))
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
    id: OWN_PART,
    type: "text",
    text,
    synthetic: true,
    ...(info.id === undefined ? {} : { messageID: info.id }),
    ...(info.sessionID === undefined ? {} : { sessionID: info.sessionID }),
  }
}
