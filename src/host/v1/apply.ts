// Writes a request's change into OpenCode's array: folds in place of outputs, and the HUD. No other file writes to it.

import type { Fold } from "../../fold/fold.ts"
import type { Anchor, Placement } from "../../hud/slots.ts"
import type { Change } from "../../request/request.ts"
import { asString } from "../../system/values.ts"
import { originalOf, putBack, replacePart } from "./copies.ts"
import {
  type HostMessage,
  type HostPart,
  isOwnMessage,
  isOwnPart,
  isRemoved,
  markOf,
  OWN_MESSAGE,
  OWN_PART,
  stateOf,
  withoutMark,
} from "./message.ts"

export function applyChange(messages: HostMessage[], { folds, hud }: Change): void {
  const swap = foldSwaps(messages, folds)
  putBack(messages)
  swap()
  placeHud(messages, hud)
}

/** Writes the folds only. */
export function applyFolds(messages: HostMessage[], folds: ReadonlyMap<string, Fold>): void {
  foldSwaps(messages, folds)()
}

/** Makes all copies before anything is written, so that a failure changes nothing. Outputs that OpenCode cleared stay. */
function foldSwaps(messages: readonly HostMessage[], folds: ReadonlyMap<string, Fold>): () => void {
  const swaps: { parts: HostPart[]; at: number; copy: HostPart }[] = []
  if (folds.size > 0)
    for (const { info, parts } of messages)
      for (let at = 0; at < parts.length; at++) {
        const part = parts[at]
        const fold = part?.type === "tool" && part.id !== undefined ? folds.get(part.id) : undefined
        // forks and other plugins make messages whose parts share an id
        if (!part || !fold || fold.messageID !== info.id) continue
        const copy = foldedCopy(originalOf(part), fold)
        if (copy) swaps.push({ parts, at, copy })
      }
  return () => {
    for (const { parts, at, copy } of swaps) replacePart(parts, at, copy)
  }
}

function foldedCopy(part: HostPart, fold: Fold): HostPart | undefined {
  const state = stateOf(part)
  if (!state || state.time?.compacted !== undefined) return
  const field = state.status === "error" ? "error" : "output"
  const output = asString(state[field]) ?? ""
  if (fold.side === "output" && isRemoved(withoutMark(output))) return
  const changed =
    fold.side === "output"
      ? { ...state, [field]: fold.text + markOf(output) }
      : { ...state, input: JSON.parse(fold.text) as Record<string, unknown> }
  // before OpenCode 1.0 the part itself was the state
  return part.state === undefined ? { ...part, ...changed } : { ...part, state: changed }
}

/** Separates a tool's result from the HUD after it. */
const GAP = "\n\n"

/** Removes an earlier HUD and adds the new one, if there is one. */
export function placeHud(messages: HostMessage[], placement: Placement): void {
  removeHud(messages)
  if (placement.slot === "sticky") placeSticky(messages, placement.anchors)
  else if (placement.text === undefined) return
  else if (placement.slot === "tool") placeInside(messages, placement.text)
  else placeTail(messages, placement.text)
}

/** Tail slot: one synthetic user message at the end of the array. */
function placeTail(messages: HostMessage[], text: string): void {
  messages.push(hudMessage(messages, text, OWN_MESSAGE))
}

/**
 * Tool slot: after the last tool result when the array ends with one. At the start of a turn, when the array ends with
 * the user's message, one more text part of that message.
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

/** Sticky slot: every text after the message it was first sent after, in the order they were sent. */
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

/** Removes all HUD messages, and a HUD part that was added to the last message. */
export function removeHud(messages: HostMessage[]): void {
  for (let i = messages.length - 1; i >= 0; i--) if (isOwnMessage(messages[i]?.info?.id)) messages.splice(i, 1)
  const parts = messages.at(-1)?.parts
  const own = parts?.findLastIndex(isOwnPart) ?? -1
  if (own >= 0) parts?.splice(own, 1)
}

type Result = { at: number; part: HostPart; field: "output" | "error" }

/** The last tool result of a message that the provider gets as text: an output or an error. */
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

/** A user message like OpenCode's own. It is `synthetic`, or title generation would use it as the user's words. */
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
