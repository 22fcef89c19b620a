// What a request does not say and OpenCode has to be asked for: the models' limits and prices, and stored messages. It may
// answer late or not at all, so each is asked for once in a while, and one that hangs is waited for once: a request that
// comes meanwhile goes out with an estimate.

import { asRecord, asString, renew } from "../../system/values.ts"
import type { Models } from "../models.ts"
import type { HostMessage, HostMessageHead } from "../v1/message.ts"
import type { Known } from "./known.ts"
import { isWireMessage, listOf, type SetupContext } from "./message.ts"

const MODELS_AGE_MS = 5 * 60_000
/** After a list that failed or was empty: providers may not have answered yet. */
const MODELS_RETRY_MS = 5000
const MAX_SESSIONS = 100

export type Learning = ReturnType<typeof createLearning>

/** `stored` reads a session's messages since the last compaction; `reported` is told what is learned of a step's usage. */
export function createLearning(
  host: SetupContext,
  models: Models,
  known: Known,
  stored: (sessionID: string) => Promise<readonly HostMessage[] | undefined>,
  reported: (sessionID: string, step: HostMessageHead) => void,
) {
  let listAgainMs = 0
  // by session, the messages that were asked for last
  const asked = new Map<string, string>()
  const asking = new Set<string>()

  async function learnMessages(sessionID: string, ids: readonly string[], isWaiting: () => boolean): Promise<void> {
    if (asked.get(sessionID) === `${ids}` || asking.has(sessionID)) return
    renew(asked, sessionID, `${ids}`, MAX_SESSIONS)
    asking.add(sessionID)
    try {
      const messages = (await stored(sessionID)) ?? []
      known.learn(sessionID, messages)
      // once the request is on its way, the step would be counted as its own
      if (!isWaiting()) return
      for (const { info } of messages) if (info.tokens && ids.includes(info.id ?? "")) reported(sessionID, info)
    } finally {
      asking.delete(sessionID)
    }
  }

  return {
    async models(): Promise<void> {
      if (Date.now() < listAgainMs) return
      listAgainMs = Number.POSITIVE_INFINITY
      let listed: readonly unknown[] = []
      try {
        listed = listOf(await host.model?.list?.()) ?? []
        models.list(listed)
      } finally {
        listAgainMs = Date.now() + (listed.length > 0 ? MODELS_AGE_MS : MODELS_RETRY_MS)
      }
    },
    /**
     * What is not known yet of a request's newest messages: of the user's, when it was written; of the agent's, its usage.
     * OpenCode announces a step's usage before the next request, but it may be heard after it. `isWaiting`: the request has
     * not gone out yet.
     */
    async newest(sessionID: string, messages: unknown, isWaiting: () => boolean): Promise<void> {
      const user = newestID(messages, "user")
      const step = newestID(messages, "assistant")
      const missing = () => [
        ...(user === undefined || known.has(sessionID, user) ? [] : [user]),
        ...(step === undefined || known.hasUsage(sessionID, step) ? [] : [step]),
      ]
      if (missing().length === 0) return
      // what was announced is heard once the event loop has turned
      await new Promise((resolve) => setTimeout(resolve))
      const ids = missing()
      if (ids.length > 0) await learnMessages(sessionID, ids, isWaiting)
    },
    /** All of the session's stored messages since the last compaction; none when OpenCode has no list. */
    async all(sessionID: string): Promise<readonly HostMessage[]> {
      const messages = (await stored(sessionID)) ?? []
      known.learn(sessionID, messages)
      return messages
    },
  }
}

function newestID(messages: unknown, role: string): string | undefined {
  if (!Array.isArray(messages)) return
  return asString(
    asRecord(messages.findLast((one) => isWireMessage(one) && one.role === role && one.id !== undefined))?.id,
  )
}
