// Which tool outputs are worth a model's digest, and how much. They go to the queue as soon as the ledger has read
// them, long before the digest is needed.

import type { DigestSource } from "../output/digest.ts"
import type { ToolKind } from "../output/tools.ts"
import type { Message, ToolPart } from "../session/conversation.ts"
import type { Entry } from "../session/entry.ts"
import type { ToolEvent } from "../session/event.ts"
import { digestKey, sourceOf, withoutSecrets } from "../session/normalize.ts"
import type { Owner } from "./waiting.ts"

/** A finished tool output that a model may write a digest of. */
export type DigestCandidate = Owner & {
  /** equal for equal arguments and content */
  key: string
  /** estimated size of the output */
  tokens: number
  /** tokens a digest is expected to save, weighted by how soon; the highest is written first */
  worth: number
  /** Reads the output, without its secrets. Keeps its text in memory. */
  source(): DigestSource
}

/** The digest of a smaller output saves next to nothing, and `extract` says as much. */
const MIN_OUTPUT_TOKENS = 300
/** Larger outputs are left to `extract`: what waits is kept in memory. */
const MAX_OUTPUT_TOKENS = 64_000

/**
 * How soon and how surely an output of this kind falls out of use: search results, listings and command outputs are
 * seldom needed again, a file that was read is about to be edited. Kinds that are never folded are missing.
 */
const WEIGHTS: Partial<Record<ToolKind, number>> = { command: 1, search: 1, list: 1, web: 1, other: 0.8, read: 0.5 }

/** The candidates among the outputs just read, oldest first. `fresh` are entries of `messages`. */
export function digestCandidates(messages: readonly Message[], fresh: readonly Entry[]): DigestCandidate[] {
  const entries = new Map(fresh.filter((entry) => entry.events.some(isWorthy)).map((entry) => [entry.id, entry]))
  if (entries.size === 0) return []
  const found: DigestCandidate[] = []
  for (const message of messages) {
    const entry = entries.get(message.id)
    const { sessionID } = message
    if (!entry || sessionID === undefined) continue
    for (const event of entry.events) {
      if (!isWorthy(event)) continue
      const part = message.parts.find((one) => one.type === "tool" && one.id === event.partID)
      if (part?.type === "tool") found.push(candidate(event, sessionID, part))
    }
  }
  return found
}

function isWorthy(event: ToolEvent): boolean {
  return (
    event.outputHash !== undefined &&
    !event.cleared &&
    // a recalled output has a digest already: the one it was folded to
    event.shows !== "recalled" &&
    event.outputTokens >= MIN_OUTPUT_TOKENS &&
    event.outputTokens <= MAX_OUTPUT_TOKENS &&
    WEIGHTS[event.kind] !== undefined
  )
}

function candidate(event: ToolEvent, sessionID: string, part: ToolPart): DigestCandidate {
  // without the part's metadata, which may be large
  const source = sourceOf(part)
  return {
    key: digestKey(event.inputHash, event.outputHash ?? ""),
    sessionID,
    messageID: event.messageID,
    subject: event.attempt,
    tokens: event.outputTokens,
    worth: event.outputTokens * (WEIGHTS[event.kind] ?? 0) * (event.ok ? 1 : 0.5),
    source: () => withoutSecrets(source),
  }
}
