// What the arguments of OpenCode 2's hooks do not contain. Of a session's messages these are usage, prices, times, and the
// metadata of tool calls: they come from events and, when a session is resumed, from stored messages. Those and the models'
// limits and prices have to be requested. OpenCode may answer late or never; later requests do not wait and use estimates.

import { fromStored } from "../../store/stored-v2.ts"
import { asRecord, asString, renew } from "../../system/values.ts"
import type { Models } from "../models.ts"
import type { HostMessage, HostMessageHead, HostPart, HostToolState } from "../v1/message.ts"
import { isWireMessage, listOf, type SetupContext } from "./message.ts"

const MAX_KNOWN_SESSIONS = 20
const MAX_MESSAGES = 20_000
/** The metadata that is read. The rest, such as whole diffs, would fill the memory. */
const READ_METADATA = ["exit", "display", "files"]

export type KnownMessage = {
  info: HostMessageHead
  /** how many of a user message's texts, from the first on, the user did not write */
  byHost: number
  calls: Map<string, Pick<HostToolState, "metadata" | "time">>
}

export type Known = ReturnType<typeof createKnown>

export function createKnown() {
  const sessions = new Map<string, Map<string, KnownMessage>>()
  const of = (sessionID: string) => {
    const messages = sessions.get(sessionID) ?? new Map<string, KnownMessage>()
    renew(sessions, sessionID, messages, MAX_KNOWN_SESSIONS)
    return messages
  }
  return {
    /** by message id */
    of: (sessionID: string): ReadonlyMap<string, KnownMessage> => of(sessionID),
    /** Adds to what is known of a message. What is known of other parts stays. */
    add(sessionID: string, id: string, info: HostMessageHead, parts: readonly HostPart[] = []): void {
      const messages = of(sessionID)
      const known: KnownMessage = messages.get(id) ?? { info: { id }, byHost: 0, calls: new Map() }
      known.info = { ...known.info, ...info, time: { ...known.info.time, ...info.time } }
      const texts = parts.filter(({ type }) => type === "text")
      const own = texts.findIndex(({ synthetic }) => !synthetic)
      if (texts.length > 0) known.byHost = own < 0 ? Number.POSITIVE_INFINITY : own
      for (const { type, callID, state } of parts) {
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

const MODELS_AGE_MS = 5 * 60_000
/** Until the next try after no answer, a failure, or an empty list, as while providers have not answered yet. */
const RETRY_MS = 5000

export type Learning = ReturnType<typeof createLearning>

/** `onUsage` is called with each step whose usage was read before the request went out. */
export function createLearning(
  host: SetupContext,
  models: Models,
  known: Known,
  onUsage: (sessionID: string, step: HostMessageHead) => void,
) {
  let listAgainMs = 0
  /** by what is known of a session: the ids of its messages that were last asked for, and until when the answer may come */
  const asked = new WeakMap<ReadonlyMap<string, KnownMessage>, { ids: string; untilMs: number }>()

  async function learnStored(sessionID: string): Promise<readonly HostMessage[]> {
    const messages = (await recentMessages(host, sessionID)) ?? []
    for (const { info, parts } of messages) if (info.id !== undefined) known.add(sessionID, info.id, info, parts)
    return messages
  }

  return {
    async models(): Promise<void> {
      if (Date.now() < listAgainMs) return
      listAgainMs = Date.now() + RETRY_MS
      const listed = listOf(await host.model?.list?.()) ?? []
      for (const model of listed) models.note(inShapeV1(model))
      if (listed.length > 0) listAgainMs = Date.now() + MODELS_AGE_MS
    },
    /**
     * Learns what is missing about a request's newest messages: when the user's was written, and the time and usage of the
     * agent's. OpenCode announces both before the next request, but the event may arrive after it, or never. `isWaiting`: the
     * request has not gone out yet.
     */
    async newest(sessionID: string, messages: unknown, isWaiting: () => boolean): Promise<void> {
      const user = newestID(messages, "user")
      const step = newestID(messages, "assistant")
      const messageOf = (id: string | undefined) => known.of(sessionID).get(id ?? "")
      const missing = () => {
        const { tokens, time } = messageOf(step)?.info ?? {}
        const isKnown = tokens !== undefined && time?.created !== undefined
        return [messageOf(user) ? undefined : user, isKnown ? undefined : step].filter((id) => id !== undefined)
      }
      if (missing().length === 0) return
      // events that were already sent arrive within one turn of the event loop
      await new Promise((resolve) => setTimeout(resolve))
      const ids = missing()
      const last = asked.get(known.of(sessionID))
      if (ids.length === 0 || last?.ids === `${ids}` || Date.now() < (last?.untilMs ?? 0)) return
      const now = { ids: `${ids}`, untilMs: Date.now() + RETRY_MS }
      asked.set(known.of(sessionID), now)
      const stored = await learnStored(sessionID)
      now.untilMs = 0
      // once the request has gone out, this usage would be counted as that request's
      if (!isWaiting()) return
      for (const { info } of stored) if (info.tokens && ids.includes(info.id ?? "")) onUsage(sessionID, info)
    },
    /** All of the session's stored messages since the last compaction; none when OpenCode has no list. */
    all: learnStored,
  }
}

/** As `aisdk:@ai-sdk/anthropic@3.0.111` or `@opencode/ai/providers/anthropic-compatible`. */
const PACKAGE = /^(?:aisdk:@ai-sdk|@opencode(?:-ai)?\/ai\/providers)\/(anthropic(?=-compatible)|[\w-]+)/

/** A model of OpenCode 2's list, in OpenCode 1's shape. Of several prices the one without a tier is its own. */
function inShapeV1(model: unknown): object {
  const { id, providerID, modelID, limit, cost, package: by } = asRecord(model) ?? {}
  const prices = Array.isArray(cost) ? cost.map(asRecord) : [asRecord(cost)]
  const price = { ...(prices.find((one) => one && one.tier === undefined) ?? prices[0]), tiers: prices }
  const name = PACKAGE.exec(asString(by) ?? "")?.[1]
  return { id, providerID, limit, cost: price, api: { id: modelID, npm: name ? `@ai-sdk/${name}` : by } }
}

function newestID(messages: unknown, role: string): string | undefined {
  if (!Array.isArray(messages)) return
  return asString(messages.findLast((one) => isWireMessage(one) && one.role === role && one.id !== undefined)?.id)
}

/** The messages since the last compaction; undefined when there is no list, rejects when OpenCode does not answer. */
async function recentMessages(host: SetupContext, sessionID: string): Promise<HostMessage[] | undefined> {
  const list = listOf(await host.session?.context?.({ sessionID }))
  return list && fromStored(list, sessionID)
}

/** As `HookContext` has it. OpenCode 2 returns only messages since the last compaction; its database has the others. */
export async function storedMessagesV2(host: SetupContext, sessionID: string, ids?: readonly string[]) {
  const listed = await recentMessages(host, sessionID).catch(() => undefined)
  if (listed && ids?.every((id) => listed.some(({ info }) => info.id === id))) return listed
  const stored = (await databaseOf(sessionID)) ?? listed
  if (!stored) throw new Error("OpenCode did not return the stored messages")
  return stored
}

/** Undefined when there is no database, or none with this session. */
async function databaseOf(sessionID: string): Promise<HostMessage[] | undefined> {
  try {
    const { openOpencode } = await import("../../store/opencode.ts")
    using database = await openOpencode()
    const { info, messages } = database.readSession(sessionID)
    return info.id === sessionID ? messages : undefined
  } catch {
    return
  }
}
