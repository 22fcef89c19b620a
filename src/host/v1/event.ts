// event: what OpenCode announces and the message array does not hold. Called for every delta of every answer, so an
// event that means nothing here must cost nothing.

import { toolKindOf } from "../../output/tools.ts"
import { readTodos } from "../../session/entry.ts"
import { asRecord, asString } from "../../system/values.ts"
import { redact } from "../../text/redact/redact.ts"
import { cut, line } from "../../text/sanitize.ts"
import { closeTurn, settle } from "../account.ts"
import type { HookContext } from "../context.ts"
import { checkDisk } from "../disk.ts"
import { modelOf } from "../models.ts"
import type { Session } from "../sessions.ts"
import { countCall, endTurn, newTurn } from "../turn.ts"

/** Permissions waiting in one session; more than this is a runaway client. */
const MOST_PERMISSIONS = 20

export function onEvent(context: HookContext, input: { event?: { type?: unknown; properties?: unknown } }): undefined {
  const properties = asRecord(input?.event?.properties)
  if (!properties) return
  const { sessions } = context
  const sessionID = asString(properties.sessionID)
  switch (input.event?.type) {
    case "session.status":
      return onStatus(context, sessionID, asString(asRecord(properties.status)?.type))
    case "session.idle":
      return onStatus(context, sessionID, "idle")
    case "message.updated": {
      const session = sessionID === undefined ? undefined : sessions.peek(sessionID)
      if (session) onMessage(context, session, properties.info)
      return
    }
    case "message.part.updated":
      return onPart(context, asRecord(properties.part))
    case "todo.updated": {
      const todos = readTodos(properties.todos)
      if (sessionID === undefined || !todos) return
      const session = sessions.get(sessionID)
      session.signals.todos = todos
      context.publisher.publish(session)
      return
    }
    case "permission.asked": {
      const id = asString(properties.id)
      const permissions = sessionID === undefined ? undefined : sessions.get(sessionID).signals.permissions
      if (id === undefined || !permissions || permissions.size >= MOST_PERMISSIONS) return
      const patterns = Array.isArray(properties.patterns)
        ? properties.patterns.filter((one) => typeof one === "string")
        : []
      const asked = redact(line([asString(properties.permission) ?? "", ...patterns].join(" ")))
      // of a name that shows as nothing nothing is left
      permissions.set(id, cut(asked, 100) || "a tool")
      return
    }
    case "permission.replied":
      if (sessionID !== undefined)
        sessions.peek(sessionID)?.signals.permissions.delete(asString(properties.requestID) ?? "")
      return
    case "session.compacted":
    case "session.error":
      if (sessionID !== undefined) lowerGate(sessions.peek(sessionID))
      return
    case "session.created":
      // what is new has left nothing to take back
      if (sessionID !== undefined) sessions.get(sessionID).restored = true
      return
    case "session.deleted": {
      const id = sessionID ?? asString(asRecord(properties.info)?.id)
      if (id === undefined) return
      sessions.delete(id)
      context.digests.queue?.cancel({ sessionID: id })
      context.store.use((store) => store.deleteSession(id))
      context.publisher.forget(id)
      return
    }
  }
}

function onMessage({ publisher, models }: HookContext, session: Session, message: unknown): void {
  const { account, turn } = session
  const id = asString(asRecord(message)?.id)
  // a call of the turn before, said once more
  if (id !== undefined && account.reported?.id === id && !turn.calls.has(id)) return
  const call = countCall(turn, message)
  if (!call) return
  // at a process's first request the model's prices are not known yet: OpenCode names them after it was prepared
  if (account.sent) account.sent.tariff = models.circumstances(modelOf(session), account.sent.nowMs).tariff
  settle(account, call)
  publisher.publish(session)
}

/** A command runs on the same processor as a local model may. */
function onPart({ digests }: HookContext, part: Record<string, unknown> | undefined): undefined {
  const callID = asString(part?.callID)
  if (!digests.queue || part?.type !== "tool" || callID === undefined) return
  if (toolKindOf(asString(part.tool) ?? "") !== "command") return
  const status = asString(asRecord(part.state)?.status)
  if (status === "running") digests.queue.toolStarted(callID)
  else if (status === "completed" || status === "error") digests.queue.toolEnded(callID)
}

function onStatus(context: HookContext, sessionID: string | undefined, status: string | undefined): undefined {
  if (sessionID === undefined) return
  context.log.attend()
  if (status === "busy" || status === "retry") {
    const session = context.sessions.get(sessionID)
    if (!session.restored) context.store.open()
    session.turn.startedMs ||= Date.now()
    checkDisk(context.directory, session)
    return
  }
  if (status !== "idle") return
  context.digests.queue?.drain()
  const session = context.sessions.peek(sessionID)
  // one that was deleted while it was at work comes to rest as well
  if (!session) return
  session.signals.permissions.clear()
  lowerGate(session)
  const turn = endTurn(session.turn, sessionID, Date.now())
  closeTurn(session.account, session.turn)
  session.turn = newTurn()
  context.publisher.publish(session)
  if (!turn) return
  context.store.use((store) => {
    store.saveTurn(turn)
    void store.flush()
  })
}

/** A compaction that failed or had nothing to summarise must not silence the next HUD. */
function lowerGate(session: Session | undefined): void {
  if (session) session.compacting = false
}
