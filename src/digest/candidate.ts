// Which tool outputs are worth a model's digest, and how much: handed to the queue as soon as the ledger has read them,
// long before anybody needs the digest.

import type { HostMessage, HostPart } from "../host/v1/message.ts"
import type { DigestSource } from "../output/digest.ts"
import type { ToolKind } from "../output/tools.ts"
import type { Entry } from "../session/entry.ts"
import type { ToolEvent } from "../session/event.ts"
import { digestKey, sourceOf } from "../session/normalize.ts"
import { withoutSecrets } from "../session/withheld.ts"

/** One finished tool output that a digest may be written of. */
export type Candidate = {
  /** equal for equal arguments and content */
  key: string
  sessionID: string
  messageID: string
  /** what the output is about, as a file's path or a command: of two with one subject the newer counts */
  subject: string
  kind: ToolKind
  /** estimated size of the output */
  tokens: number
  /** tokens that a digest is expected to save, sooner ones counting more; the highest is written first */
  worth: number
  /** The output itself. Holds on to it, so it is to be called or dropped soon. */
  source(): DigestSource
}

/** Below this a digest saves next to nothing, and `extract` says as much. In tokens. */
const LEAST_TOKENS = 300

/**
 * How soon and how surely an output of this kind goes out of use: what was searched, listed or run is seldom looked at
 * again, a file that was read is about to be edited. Kinds that are never folded are left out.
 */
const WEIGHT: Partial<Record<ToolKind, number>> = { command: 1, search: 1, list: 1, web: 1, other: 0.8, read: 0.5 }

/** The candidates among outputs just read, oldest first. `fresh` are entries of `messages`. */
export function candidatesOf(messages: readonly HostMessage[], fresh: readonly Entry[]): Candidate[] {
  const entries = new Map(fresh.filter((entry) => entry.events.some(isWorthy)).map((entry) => [entry.id, entry]))
  if (entries.size === 0) return []
  const found: Candidate[] = []
  for (const { info, parts } of messages) {
    const entry = entries.get(info.id ?? "")
    const sessionID = info.sessionID
    if (!entry || sessionID === undefined) continue
    for (const event of entry.events) {
      if (!isWorthy(event)) continue
      const part = parts.find((one) => one?.id === event.partID && one.type === "tool")
      if (part) found.push(candidate(event, sessionID, part))
    }
  }
  return found
}

function isWorthy(event: ToolEvent): boolean {
  return (
    event.outputHash !== undefined &&
    !event.cleared &&
    // of what was handed back there is a digest: the one it was folded to
    event.shows !== "recalled" &&
    event.outputTokens >= LEAST_TOKENS &&
    WEIGHT[event.kind] !== undefined
  )
}

function candidate(event: ToolEvent, sessionID: string, part: HostPart): Candidate {
  return {
    key: digestKey(event.inputHash, event.outputHash ?? ""),
    sessionID,
    messageID: event.messageID,
    subject: event.attempt,
    kind: event.kind,
    tokens: event.outputTokens,
    worth: event.outputTokens * (WEIGHT[event.kind] ?? 0) * (event.ok ? 1 : 0.5),
    source: () => withoutSecrets(sourceOf(part)),
  }
}
