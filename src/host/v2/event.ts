// Translates the events of OpenCode 2 into those of OpenCode 1, which have other names for the same things.

import { asRecord, asString, defined } from "../../system/values.ts"
import type { HostMessageHead, HostUsage } from "../v1/message.ts"
import type { Known } from "./learning.ts"
import type { EventV2 } from "./message.ts"

export type EventV1 = { type: string; properties: Record<string, unknown> }

/** The equivalent event of OpenCode 1, if there is one. What an event says about messages is added to `known`. */
export function eventV1({ type, created, data }: EventV2, known: Known): EventV1 | undefined {
  const given = asRecord(data)
  const sessionID = asString(given?.sessionID)
  if (!given || sessionID === undefined) return
  const atMs = typeof created === "number" ? created : Date.now()
  const event = (name: string, properties: object = {}): EventV1 => ({
    type: name,
    properties: { sessionID, ...properties },
  })
  const messageID = asString(given.assistantMessageID) ?? asString(given.messageID)
  const callID = asString(given.id) ?? asString(given.callID)
  switch (type) {
    case "session.execution.started":
      return event("session.status", { status: { type: "busy" } })
    case "session.execution.succeeded":
    case "session.execution.failed":
    case "session.execution.interrupted":
      return event("session.idle")
    case "session.compaction.ended":
      return event("session.compacted")
    case "session.deleted":
      return event(type)
    case "session.step.started":
      // the time that OpenCode stores; earlier versions named none, and stored the event's
      if (messageID !== undefined)
        known.add(sessionID, messageID, { time: { created: typeof given.started === "number" ? given.started : atMs } })
      return
    case "session.step.ended": {
      const tokens = asRecord(given.tokens) as HostUsage | undefined
      if (messageID === undefined || !tokens) return
      const cost = typeof given.cost === "number" ? given.cost : 0
      known.add(sessionID, messageID, { tokens, cost, time: { completed: atMs } })
      return usageReport(sessionID, { id: messageID, tokens, cost })
    }
    case "session.tool.called":
      if (messageID !== undefined && callID !== undefined)
        known.add(sessionID, messageID, {}, [{ type: "tool", callID, state: { time: { start: atMs } } }])
      return event("message.part.updated", { part: { ...toolPart(callID, given), state: { status: "running" } } })
    case "session.tool.success":
    case "session.tool.failed":
      if (messageID !== undefined && callID !== undefined) {
        const state = { ...defined({ metadata: asRecord(given.metadata) }), time: { end: atMs } }
        known.add(sessionID, messageID, {}, [{ type: "tool", callID, state }])
      }
      return event("message.part.updated", { part: { ...toolPart(callID), state: { status: "completed" } } })
    case "permission.asked":
      return event(type, { id: given.id, permission: given.action, patterns: given.resources })
    case "permission.replied":
      return event(type, { requestID: given.requestID })
  }
  return
}

/** What the provider reported for a step. */
export function usageReport(sessionID: string, { id, tokens, cost = 0 }: HostMessageHead): EventV1 {
  return { type: "message.updated", properties: { sessionID, info: { id, role: "assistant", tokens, cost } } }
}

/** A call's events do not name its tool. The end of any call counts as a command's, which matters only if a command began. */
function toolPart(callID: string | undefined, called?: Record<string, unknown>) {
  const isCommand = !called || asString(asRecord(called.input)?.command) !== undefined
  return { type: "tool", callID, tool: isCommand ? "shell" : "other" }
}
