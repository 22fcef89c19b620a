// What the newest tool calls found out, one line each, for a reader who will not see their outputs again.

import { cleanDigest } from "../output/digest.ts"
import type { ToolKind } from "../output/tools.ts"
import type { Message } from "./conversation.ts"
import { digestKey, sourceOf, withoutSecrets } from "./source.ts"
import { type Env, nameOf, toolEventOf } from "./tool-event.ts"

/** `what` names the call, `digest` says in one line what it printed. */
export type Finding = { what: string; digest: string }

const MAX_FINDINGS = 12
/** The outputs of other tools say no more than their arguments. */
const KINDS: ReadonlySet<ToolKind> = new Set(["command", "search", "list", "web", "task", "other"])

/**
 * The findings of the newest calls whose output says more than their arguments, newest first. Of repeated attempts at
 * the same thing only the last counts.
 */
export function findingsOf(messages: readonly Message[], env: Env): Finding[] {
  const found = new Map<string, Finding>()
  for (const { id, cwd, parts } of messages.toReversed())
    for (const part of parts.toReversed())
      try {
        if (part.type !== "tool" || found.size >= MAX_FINDINGS) continue
        const event = toolEventOf(part, { messageID: id, root: env.root, cwd }, env)
        const { attempt, outputHash, kind, shows } = event
        if (outputHash === undefined || !KINDS.has(kind) || shows === "recalled" || found.has(attempt)) continue
        const digest = env.digest(digestKey(event), withoutSecrets(sourceOf(part)))
        found.set(attempt, { what: nameOf(event), digest: cleanDigest(digest) })
      } catch {
        // another plugin wrote the part, or it is nested too deeply
      }
  return [...found.values()]
}
