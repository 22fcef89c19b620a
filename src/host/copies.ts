// Changes to the host's parts are made in copies that take their place in the array: the objects the host handed over
// are never written to, and from a copy there is a way back to its original for as long as the copy lives.

import type { HostMessage, HostPart } from "./v1/message.ts"

const originals = new WeakMap<HostPart, HostPart>()

/** Puts a copy in the place of a part. */
export function replacePart(parts: HostPart[], at: number, copy: HostPart): void {
  const part = parts[at]
  if (!part) return
  originals.set(copy, originalOf(part))
  parts[at] = copy
}

/** The host's own part that a copy stands for; of a part that is no copy itself. */
export function originalOf(part: HostPart): HostPart {
  return originals.get(part) ?? part
}

/** Puts the originals back, should an array that was changed before come again. */
export function putBack(messages: readonly HostMessage[]): void {
  for (const { parts } of messages)
    for (let at = 0; at < parts.length; at++) {
      const part = parts[at]
      const original = part && originals.get(part)
      if (original) parts[at] = original
    }
}
