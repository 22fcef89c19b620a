// What the newest tool calls found out, a line each: for who will not see their outputs again.

import type { HostMessage, HostPart } from "../host/v1/message.ts"
import { nameOf, type ToolEvent } from "../session/event.ts"
import { type Env, normalize } from "../session/normalize.ts"

/** `what` is the call as a reader knows it again, `gist` its answer's digest in a line. */
export type Finding = { what: string; gist: string }

const MOST = 12

/**
 * Findings of the newest calls whose output says more than their arguments, newest first; of tries at the same thing the
 * last. Reads the messages only.
 */
export function findingsOf(messages: readonly HostMessage[], env: Env): Finding[] {
  const found = new Map<string, Finding>()
  for (const { info, parts } of messages.toReversed()) {
    for (const part of parts.toReversed()) {
      if (part?.type !== "tool") continue
      const event = eventOf(part, info.id ?? "", env)
      if (!event?.gist || event.shows === "recalled" || found.has(event.attempt)) continue
      found.set(event.attempt, { what: nameOf(event), gist: event.gist })
      if (found.size === MOST) return [...found.values()]
    }
  }
  return [...found.values()]
}

/** A part that cannot be read, of another plugin or too deep, has found nothing out. */
function eventOf(part: HostPart, messageID: string, env: Env): ToolEvent | undefined {
  try {
    return normalize(part, { messageID, call: 0, root: env.root, wantsGist: () => true }, env)
  } catch {
    return
  }
}
