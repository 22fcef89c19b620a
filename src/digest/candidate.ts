// Which tool outputs are worth a model's digest, and how much. They go to the queue as soon as the ledger has read
// them, long before the digest is needed.

import type { ToolKind } from "../output/tools.ts"
import type { Message } from "../session/conversation.ts"
import type { Entry } from "../session/entry.ts"
import { digestKey, sourceOf, withoutSecrets } from "../session/source.ts"
import type { ToolEvent } from "../session/tool-event.ts"

/** A finished tool output that a model may write a digest of. */
export type DigestCandidate = ReturnType<typeof digestCandidates>[number]

/** The digest of a smaller output saves next to nothing, and `extract` says as much. */
const MIN_OUTPUT_TOKENS = 300
/** Larger outputs are left to `extract`: what waits is kept in memory. */
const MAX_OUTPUT_TOKENS = 64_000

/** Search results and listings are names, which `extract` shows as well; what an edit answers is not worth a digest. */
const KINDS: ReadonlySet<ToolKind> = new Set(["command", "read", "web", "other"])

/** The candidates among the outputs just read, oldest first. `fresh` are entries of `messages`. */
export function digestCandidates(messages: readonly Message[], fresh: readonly Entry[]) {
  const worthy = new Map<string, ToolEvent[]>()
  for (const { id, events } of fresh) if (events.some(isWorthy)) worthy.set(id, events.filter(isWorthy))
  // most calls bring nothing, and a session may have 20,000 messages
  if (worthy.size === 0) return []
  const [oldest] = worthy.keys()
  // what is fresh is nearly always at the end
  const first = messages.findLastIndex(({ id }) => id === oldest)
  return messages.slice(first).flatMap((message) => {
    const { id, sessionID } = message
    if (sessionID === undefined) return []
    return (worthy.get(id) ?? []).flatMap(({ partID, attempt, inputHash, outputHash = "", outputTokens }) => {
      const part = message.parts.find((one) => one.type === "tool" && one.id === partID)
      if (part?.type !== "tool") return []
      // without the part's metadata, which may be large
      const source = sourceOf(part)
      return {
        /** equal for equal arguments and content */
        key: digestKey({ inputHash, outputHash }),
        sessionID,
        messageID: id,
        /** what the output is about, such as a path or a command; newer output about the same subject replaces older */
        subject: attempt,
        /** estimated size of the output; the highest is written first */
        worth: outputTokens,
        /** Reads the output, without its secrets, which takes time: only that of a job in work is read. Keeps its text in memory. */
        source: () => withoutSecrets(source),
      }
    })
  })
}

function isWorthy(event: ToolEvent): boolean {
  return (
    event.outputHash !== undefined &&
    !event.cleared &&
    // a recalled output has a digest already: the one it was folded to
    event.shows !== "recalled" &&
    event.outputTokens >= MIN_OUTPUT_TOKENS &&
    event.outputTokens <= MAX_OUTPUT_TOKENS &&
    KINDS.has(event.kind)
  )
}
