// What the newest tool calls found out, one line each, for a reader who will not see their outputs again.

import type { Message, ToolPart } from "./conversation.ts"
import { nameOf, type ToolEvent } from "./event.ts"
import { type Env, normalize } from "./normalize.ts"

/** `what` names the call, `gist` is the one-line digest of its output. */
export type Finding = { what: string; gist: string }

const MAX_FINDINGS = 12

/**
 * The findings of the newest calls whose output says more than their arguments, newest first. Of repeated attempts at
 * the same thing only the last counts.
 */
export function findingsOf(messages: readonly Message[], env: Env): Finding[] {
  const found = new Map<string, Finding>()
  for (const { id, parts } of messages.toReversed()) {
    for (const part of parts.toReversed()) {
      if (part.type !== "tool") continue
      const event = eventOf(part, id, env)
      if (!event?.gist || event.shows === "recalled" || found.has(event.attempt)) continue
      found.set(event.attempt, { what: nameOf(event), gist: event.gist })
      if (found.size === MAX_FINDINGS) return [...found.values()]
    }
  }
  return [...found.values()]
}

/** Undefined for a part that cannot be read because another plugin wrote it or it is nested too deeply. */
function eventOf(part: ToolPart, messageID: string, env: Env): ToolEvent | undefined {
  try {
    return normalize(part, { messageID, call: 0, root: env.root, wantsGist: () => true }, env)
  } catch {
    return
  }
}
