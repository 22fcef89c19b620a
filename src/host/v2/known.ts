// What a request does not say about a session's messages: usage, prices, times, and the metadata of tool calls. It comes from
// OpenCode's events and, when a session is resumed, from its stored messages.

import { asRecord, renew } from "../../system/values.ts"
import type { HostMessageHead, HostPart, HostToolState } from "../v1/message.ts"

const MAX_SESSIONS = 20
const MAX_MESSAGES = 20_000
/** The metadata that is read. The rest, such as whole diffs, would fill the memory. */
const READ_METADATA = ["exit", "display", "files"]

export type KnownMessage = {
  info: HostMessageHead
  /** it has a text that the user did not write */
  isByHost: boolean
  calls: Map<string, Pick<HostToolState, "metadata" | "time">>
}

export type Known = ReturnType<typeof createKnown>

export function createKnown() {
  const sessions = new Map<string, Map<string, KnownMessage>>()
  const of = (sessionID: string) => {
    const messages = sessions.get(sessionID) ?? new Map<string, KnownMessage>()
    renew(sessions, sessionID, messages, MAX_SESSIONS)
    return messages
  }
  return {
    /** by message id */
    of: (sessionID: string): ReadonlyMap<string, KnownMessage> => of(sessionID),
    /** Adds to what is known of a message. What is known of other parts stays. */
    add(sessionID: string, id: string, info: HostMessageHead, parts: readonly HostPart[] = []): void {
      const messages = of(sessionID)
      const known: KnownMessage = messages.get(id) ?? { info: { id }, isByHost: false, calls: new Map() }
      known.info = { ...known.info, ...info, time: { ...known.info.time, ...info.time } }
      for (const { type, synthetic, callID, state } of parts) {
        if (type === "text" && synthetic) known.isByHost = true
        if (type !== "tool" || typeof callID !== "string") continue
        const before = known.calls.get(callID)
        const read = Object.entries(asRecord(state?.metadata) ?? {}).filter(([name]) => READ_METADATA.includes(name))
        known.calls.set(callID, {
          metadata: { ...before?.metadata, ...Object.fromEntries(read) },
          time: { ...before?.time, ...state?.time },
        })
      }
      renew(messages, id, known, MAX_MESSAGES)
    },
    forget: (sessionID: string): void => void sessions.delete(sessionID),
  }
}
