// Translates the events of OpenCode 2 into those of OpenCode 1, which have other names for the same things.

import { asNumber, asRecord, asString, defined } from "../../system/values.ts"
import type { HostMessageHead } from "../v1/message.ts"
import type { Known } from "./learning.ts"

export type EventV1 = { type: string; properties: Record<string, unknown> }

/** The equivalent event of OpenCode 1, if there is one. What an event says about messages is added to `known`. */
export function eventV1({ type, created, data }: Record<string, unknown>, known: Known): EventV1 | undefined {
  const given = asRecord(data)
  const sessionID = asString(given?.sessionID)
  if (!given || sessionID === undefined) return
  const atMs = asNumber(created) ?? Date.now()
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
    case "session.step.started": {
      if (messageID === undefined) return
      // the time that OpenCode stores; earlier versions named none, and stored that of a step's first event, before any retry
      const before = known.of(sessionID).get(messageID)?.info.time?.created
      known.add(sessionID, messageID, { time: { created: asNumber(given.started) ?? before ?? atMs } })
      return
    }
    // one that was interrupted while its tools ran reports usage too
    case "session.step.failed":
    case "session.step.ended": {
      const tokens = asRecord(given.tokens)
      if (messageID === undefined || !tokens) return
      const cost = asNumber(given.cost) ?? 0
      known.add(sessionID, messageID, { tokens, cost, time: { completed: atMs } })
      return usageReport(sessionID, { id: messageID, tokens, cost })
    }
    case "session.tool.called":
    case "session.tool.success":
    case "session.tool.failed": {
      const isRunning = type === "session.tool.called"
      const time = isRunning ? { start: atMs } : { end: atMs }
      const state = { ...defined({ metadata: asRecord(given.metadata) }), time }
      if (messageID !== undefined && callID !== undefined)
        known.add(sessionID, messageID, {}, [{ type: "tool", callID, state }])
      // The tool is not named. The end of any call counts as a command's, which matters only if a command began.
      const tool = isRunning && asString(asRecord(given.input)?.command) === undefined ? "other" : "shell"
      const status = isRunning ? "running" : "completed"
      return event("message.part.updated", { part: { type: "tool", callID, tool, state: { status } } })
    }
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
