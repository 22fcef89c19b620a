// OpenCode stamps the time on an output it prunes, and the output stays in the record: calls made before that still had
// it before them.

import { stateOf } from "../fields.ts"
import type { HostPart } from "../host/v1/message.ts"

/** One copy for each part, so that it is the same part from call to call. */
const copies = new WeakMap<HostPart, HostPart>()

/** The parts as they were at a time. The array is a new one. */
export function partsAt(parts: readonly HostPart[], nowMs: number): HostPart[] {
  return parts.map((part) => {
    const time = part?.type === "tool" ? stateOf(part)?.time : undefined
    return time?.compacted === undefined || isClearedAt(part, nowMs) ? part : wholeOf(part)
  })
}

/** Whether the output had been pruned by then. */
export function isClearedAt(part: HostPart, nowMs: number): boolean {
  const compacted = stateOf(part)?.time?.compacted
  return compacted !== undefined && compacted <= nowMs
}

function wholeOf(part: HostPart): HostPart {
  const before = copies.get(part)
  if (before) return before
  const state = stateOf(part)
  const { compacted: _, ...time } = state?.time ?? {}
  const copy = part.state === undefined ? { ...part, time } : { ...part, state: { ...state, time } }
  copies.set(part, copy as HostPart)
  return copy as HostPart
}
