// What a request does not say about a session's messages: usage, prices, times, and the metadata of tool calls. It comes from
// OpenCode's events and, when a session is resumed, from its stored messages.

import { asRecord, asString, renew } from "../../system/values.ts"
import type { HostMessage, HostMessageHead, HostPart } from "../v1/message.ts"

const MAX_SESSIONS = 20
const MAX_MESSAGES = 20_000
/** The metadata that is read. The rest, such as whole diffs, would fill the memory. */
const READ_METADATA = ["exit", "display", "files"]

export type Known = ReturnType<typeof createKnown>

export function createKnown() {
  const sessions = new Map<string, Map<string, HostMessage>>()
  const of = (sessionID: string) => {
    const messages = sessions.get(sessionID) ?? new Map<string, HostMessage>()
    renew(sessions, sessionID, messages, MAX_SESSIONS)
    return messages
  }
  return {
    /** by message id */
    of: (sessionID: string): ReadonlyMap<string, HostMessage> => of(sessionID),
    /** Adds to what is known of a message. Known parts that are not among `parts` stay. */
    add(sessionID: string, id: string, info: HostMessageHead, parts: readonly HostPart[] = []): void {
      const messages = of(sessionID)
      const known = messages.get(id) ?? { info: { id }, parts: [] }
      const head = { ...known.info, ...info, time: { ...known.info.time, ...info.time } }
      renew(messages, id, { info: head, parts: parts.flatMap(outline).reduce(withPart, known.parts) }, MAX_MESSAGES)
    },
    forget: (sessionID: string): void => void sessions.delete(sessionID),
  }
}

/** Adds a part, or merges it into the known part of the same call. */
function withPart(parts: HostPart[], part: HostPart): HostPart[] {
  const before = parts.find(({ type, callID }) => type === part.type && callID === part.callID)
  if (!before) return [...parts, part]
  const state = {
    metadata: { ...before.state?.metadata, ...part.state?.metadata },
    time: { ...before.state?.time, ...part.state?.time },
  }
  return parts.map((one) => (one === before ? { ...part, state } : one))
}

/** A part without its text; none for a part that nothing is read of. */
function outline(part: HostPart): HostPart[] {
  if (part.type === "text") return part.synthetic ? [{ type: "text", synthetic: true }] : []
  const callID = asString(part.callID)
  if (part.type !== "tool" || callID === undefined) return []
  const { metadata, time } = part.state ?? {}
  const read = Object.entries(asRecord(metadata) ?? {}).filter(([name]) => READ_METADATA.includes(name))
  return [{ type: "tool", callID, state: { metadata: Object.fromEntries(read), ...(time ? { time } : {}) } }]
}
