// OpenCode's parts are never modified. A changed copy takes a part's place in the array, and as long as the copy exists its
// original can be looked up.

import { type HostMessage, type HostPart, isOwnPart } from "./message.ts"

const originals = new WeakMap<HostPart, HostPart>()

/** Replaces a part by a copy. */
export function replacePart(parts: HostPart[], at: number, copy: HostPart): void {
  const part = parts[at]
  if (!part) return
  originals.set(copy, originalOf(part))
  parts[at] = copy
}

/** OpenCode's part that a copy replaces; a part that is not a copy is its own original. */
export function originalOf(part: HostPart): HostPart {
  return originals.get(part) ?? part
}

/** Puts the originals back and removes what was added, in case OpenCode passes an array that was changed before. */
export function putBack(messages: readonly HostMessage[]): void {
  for (const { parts } of messages)
    for (let at = 0; at < parts.length; at++) {
      const part = parts[at]
      const original = part && originals.get(part)
      if (original) parts[at] = original
      else if (part && isOwnPart(part)) parts.splice(at--, 1)
    }
}

const replaced = new WeakMap<HostMessage, readonly HostMessage[]>()

/** Remembers which of OpenCode's messages a message of ours stands for; returns it. */
export function standIn(message: HostMessage, originals: readonly HostMessage[]): HostMessage {
  replaced.set(message, originals)
  return message
}

/** The array as OpenCode passed it: each message of ours is replaced by those it stands for. */
export function unfolded(messages: readonly HostMessage[]): HostMessage[] {
  return messages.flatMap((message) => replaced.get(message) ?? message)
}
