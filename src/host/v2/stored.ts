// A session's stored messages. OpenCode 2 answers a plugin with what followed the last compaction; a recall of what was
// before it reads OpenCode's database.

import { fromStored } from "../../store/stored-v2.ts"
import type { HookContext } from "../context.ts"
import type { HostMessage } from "../v1/message.ts"
import { listOf, type SetupContext } from "./message.ts"

type Sources = Pick<HookContext, "messages" | "message"> & {
  /** what followed the last compaction; undefined when there is no list, rejects when OpenCode does not answer */
  recent(sessionID: string): Promise<HostMessage[] | undefined>
}

export function storedSources(host: SetupContext): Sources {
  // one recall asks for several messages at once
  const reading = new Map<string, Promise<HostMessage[] | undefined>>()
  const all = (sessionID: string) => {
    const read = reading.get(sessionID) ?? databaseOf(sessionID).finally(() => reading.delete(sessionID))
    reading.set(sessionID, read)
    return read
  }
  const recent = async (sessionID: string) => {
    const list = listOf(await host.session?.context?.({ sessionID }))
    return list && fromStored(list, sessionID)
  }
  return {
    recent,
    messages: async (sessionID) => (await all(sessionID)) ?? (await recent(sessionID).catch(() => undefined)),
    async message(sessionID, messageID) {
      const one = (messages: HostMessage[] | undefined) => messages?.find(({ info }) => info.id === messageID)
      const answered = await recent(sessionID).catch(() => undefined)
      const found = one(answered)
      if (found) return found
      const stored = await all(sessionID)
      if (!answered && !stored) throw new Error("OpenCode did not return the stored messages")
      return one(stored)
    },
  }
}

/** Undefined when there is no database, or none with this session. */
async function databaseOf(sessionID: string): Promise<HostMessage[] | undefined> {
  try {
    const { withOpencode } = await import("../../store/opencode.ts")
    const { info, messages } = await withOpencode((database) => database.readSession(sessionID))
    return info.id === sessionID ? messages : undefined
  } catch {
    return
  }
}
