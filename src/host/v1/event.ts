// event: what OpenCode announces and the message array does not contain, such as permissions and the end of a turn.
// It is called for every delta of every answer, so an event that is not used must cost nothing.

import { readFile, stat } from "node:fs/promises"
import { isAbsolute, join } from "node:path"
import { paidUsd } from "../../fold/saving.ts"
import { toolKindOf } from "../../output/tools.ts"
import type { Circumstances } from "../../request/request.ts"
import type { Turn } from "../../store/writes.ts"
import { asRecord, asString } from "../../system/values.ts"
import { dollars } from "../../text/format.ts"
import { redactLine } from "../../text/redact/redact.ts"
import { cut } from "../../text/sanitize.ts"
import { beginTurn, finishTurn, recordReport, sessionSaving } from "../accounting.ts"
import type { HookContext } from "../context.ts"
import { modelOf } from "../models.ts"
import type { Session } from "../sessions.ts"
import { rulesDenyRecall } from "./host.ts"

/** Open permission requests in one session. More would be a runaway client. */
const MAX_PERMISSIONS = 20

export function onEvent(context: HookContext, input: { event?: { type?: unknown; properties?: unknown } }): undefined {
  const properties = asRecord(input?.event?.properties)
  if (!properties) return
  const { sessions } = context
  const type = input.event?.type
  if (type === "message.part.updated") return onPart(context, asRecord(properties.part))
  const info = asRecord(properties.info)
  const sessionID = asString(properties.sessionID) ?? (type === "session.deleted" ? asString(info?.id) : undefined)
  if (sessionID === undefined) return
  const known = sessions.peek(sessionID)
  switch (type) {
    case "session.status":
      return onStatus(context, sessionID, asRecord(properties.status)?.type)
    case "session.idle":
      return onStatus(context, sessionID, "idle")
    case "message.updated":
      if (known) changeAccount(context, known, (called) => recordReport(known.account, info, called))
      return
    case "permission.asked": {
      const id = asString(properties.id)
      const { permissions } = sessions.get(sessionID).signals
      if (id === undefined || permissions.size >= MAX_PERMISSIONS) return
      const patterns = Array.isArray(properties.patterns) ? properties.patterns : []
      const named = [properties.permission, ...patterns].filter((one) => typeof one === "string")
      // a name of invisible characters only is empty once sanitised
      permissions.set(id, cut(redactLine(named.join(" ")), 100) || "a tool")
      return
    }
    case "permission.replied":
      known?.signals.permissions.delete(asString(properties.requestID) ?? "")
      return
    case "session.compacted":
    case "session.error":
      // also when it failed or was empty, or the next array would be taken for its transcript
      if (known) known.compacting = false
      return
    case "session.created":
    case "session.updated": {
      // of a resumed session there may be no record yet
      const session = sessions.get(sessionID)
      // a new session has nothing stored to restore
      session.restored ||= type === "session.created"
      session.parentID ??= asString(info?.parentID)
      session.deniesRecall = rulesDenyRecall(info?.permission)
      return
    }
    case "session.deleted":
      sessions.delete(sessionID)
      context.digests.queue?.cancel({ sessionID })
      context.store.use((store) => store.deleteSession(sessionID))
      context.publisher.forget(sessionID)
  }
}

/**
 * Changes what a session has cost: `change` gets what holds for its model, and returns false if it changed nothing. Warns when
 * the cost passes the option's limit, unless a resumed session had passed it before.
 */
function changeAccount(context: HookContext, session: Session, change: (called: Circumstances) => unknown): void {
  const { options, models, log, publisher } = context
  const called = models.circumstances(modelOf(session), Date.now())
  const { pricing } = called
  const paidNow = () => paidUsd(sessionSaving(session.account, pricing, models.pricing), pricing)
  const most = options.warn.sessionCost
  const before = most === undefined ? undefined : paidNow()
  if (change(called) === false) return
  publisher.publish(session)
  if (most === undefined || (before ?? 0) >= most) return
  const paid = paidNow()
  if (paid !== undefined && paid >= most)
    log.warnUser(`session ${session.id} has cost ${dollars(paid)}; the option warn.sessionCost is ${dollars(most)}`)
}

/** Adds a subagent's finished turn to the sessions above it. */
function finishForParents(context: HookContext, session: Session, turn: Turn): void {
  const above = new Set([session])
  for (const { parentID } of above) {
    const parent = parentID === undefined ? undefined : context.sessions.peek(parentID)
    if (parent && !above.has(parent)) changeAccount(context, parent, () => parent.account.subagents.push(turn))
    if (parent) above.add(parent)
  }
}

/** Tells the digest queue when a command runs, since a local model would compete with it for the processor. */
function onPart({ digests }: HookContext, part: Record<string, unknown> | undefined): undefined {
  const callID = asString(part?.callID)
  if (!digests.queue || part?.type !== "tool" || callID === undefined) return
  if (toolKindOf(asString(part.tool) ?? "") !== "command") return
  const status = asString(asRecord(part.state)?.status)
  if (status === "running") digests.queue.toolStarted(callID)
  else if (status === "completed" || status === "error") digests.queue.toolEnded(callID)
}

function onStatus(context: HookContext, sessionID: string, status: unknown): undefined {
  context.log.showToasts()
  if (status === "busy" || status === "retry") {
    const session = context.sessions.get(sessionID)
    if (!session.restored) context.store.open()
    beginTurn(session.account, Date.now())
    void checkFiles(context, session)
    return
  }
  if (status !== "idle") return
  context.digests.queue?.drain()
  const session = context.sessions.peek(sessionID)
  // a session that was deleted while busy still becomes idle
  if (!session) return
  session.signals.permissions.clear()
  session.compacting = false
  const turn = finishTurn(session.account, sessionID, Date.now(), context.models.pricing(session.account.turn))
  context.publisher.publish(session)
  if (!turn) return
  finishForParents(context, session, turn)
  context.store.use((store) => {
    store.saveTurn(turn)
    void store.flush()
  })
}

/** Files checked at once, the newest first: more than the HUD names. */
const MAX_CHECKED_FILES = 40
/** File systems round modification times, by up to this much into the future. */
const MAX_AHEAD_MS = 2000
/** The content of a larger file is not read, and every write of it counts as a change. */
const MAX_READ_BYTES = 256 * 1024
/** Versions kept of a file, so that one which comes back after an undo is recognised. */
const MAX_VERSIONS = 20

/**
 * Looks at the files a session uses. What is found goes into the session's signals, where the next call's HUD finds it, so
 * nobody waits. Never rejects.
 */
export function checkFiles({ directory, env }: Pick<HookContext, "directory" | "env">, session: Session) {
  const { versions } = session.signals
  const wanted = new Set([...session.ledger.facts.files.keys()].slice(-MAX_CHECKED_FILES))
  for (const path of versions.keys()) if (!wanted.has(path)) versions.delete(path)
  const look = async (path: string) => {
    const place = isAbsolute(path) ? path : join(directory, path)
    const found = await stat(place).catch(({ code }) => code as string)
    const last = versions.get(path)?.at(-1)
    const add = (modifiedMs: number, hash: string) =>
      versions.set(path, [...(versions.get(path) ?? []), { modifiedMs, hash }].slice(-MAX_VERSIONS))
    // one that was never seen may not exist here: tools of MCP servers name files of other machines
    if (found === "ENOENT" && last) return last.hash !== "" && add(Date.now(), "")
    // a time in the future comes from another clock or a clock that was set back, so it cannot be compared
    if (typeof found === "string" || found.mtimeMs > Date.now() + MAX_AHEAD_MS) return versions.delete(path)
    const { mtimeMs, size } = found
    if (last?.hash !== "" && mtimeMs === last?.modifiedMs) return
    const isRead = found.isFile() && size > 0 && size <= MAX_READ_BYTES
    return add(mtimeMs, isRead ? env.hash(await readFile(place, "latin1")) : `${mtimeMs}`)
  }
  return Promise.all([...wanted].map((path) => look(path).catch(() => versions.delete(path))))
}
