// OpenCode's messages are never modified. A changed copy takes a message's place in the array, and as long as the copy exists
// the originals can be looked up: OpenCode hands the array to tools as it was sent, and may pass it to the hook again.

import { type HostMessage, isOwnMessage, isOwnPart } from "./message.ts"

const REPLACED = Symbol.for("opencode-hudfold.replaced")

/**
 * One for all copies of this plugin in the process: installed for all projects and again for one, it may be loaded from two
 * folders. Then the second would take the records of the first for its own, and leave out the steps they stand for.
 */
const shared = globalThis as { [REPLACED]?: WeakMap<HostMessage, readonly HostMessage[]> }
shared[REPLACED] ??= new WeakMap()
const replaced = shared[REPLACED]

/** Remembers which messages a message of ours stands for; returns it. */
export function standIn(message: HostMessage, originals: readonly HostMessage[]): HostMessage {
  replaced.set(message, originals)
  return message
}

/** The array as OpenCode passed it: each message of ours is replaced by those it stands for, or left out. */
export function unfolded(messages: readonly HostMessage[]): HostMessage[] {
  const whole: HostMessage[] = []
  for (const message of messages) {
    const originals = replaced.get(message)
    if (originals) whole.push(...unfolded(originals))
    else if (!isOwnMessage(message)) whole.push(withoutOwnParts(message))
  }
  return whole
}

/** A clone of the array has parts of ours in user messages whose originals are not known. */
function withoutOwnParts(message: HostMessage): HostMessage {
  if (message.info.role !== "user" || !message.parts.some(isOwnPart)) return message
  return { ...message, parts: message.parts.filter((part) => !isOwnPart(part)) }
}
