// Watches the status files. Listeners are called when the content of a session's files changes. The files are polled: events
// of a watched folder get lost, and some file systems have none. Not with watchFile: what is written before its first look
// is no change to it.

import { stat } from "node:fs/promises"
import { filesOf, readStatus, readSwitches } from "../status/files.ts"
import type { Status, Switches } from "../status/status.ts"
import { withoutProcess } from "../status/words.ts"
import { isRunning } from "../system/process.ts"

export type SessionSnapshot = { status: Status | undefined; switches: Switches }

type Listener = (state: SessionSnapshot) => void

export type SessionWatch = ReturnType<typeof watchSessions>

type Followed = {
  listeners: Set<Listener>
  state?: SessionSnapshot
  /** what the files looked like before `state` was read */
  stamp?: string
  next?: NodeJS.Timeout
}

const POLL_MS = 250

/** Watches nothing before the first session is followed. Never throws; `report` gets the errors of listeners. */
export function watchSessions(folder: string, report: (cause: unknown) => void) {
  const followed = new Map<string, Followed>()
  let closed = false

  const poll = async (id: string, entry: Followed): Promise<void> => {
    const stamp = await stampOf(folder, id)
    const state = stamp === entry.stamp ? entry.state : await readSessionSnapshot(folder, id)
    if (followed.get(id) !== entry) return
    entry.stamp = stamp
    if (state && !(entry.state && isSame(entry.state, state))) {
      entry.state = state
      for (const listener of entry.listeners) notify(listener, state)
    }
    entry.next = setTimeout(poll, POLL_MS, id, entry).unref()
  }
  const notify = (listener: Listener, state: SessionSnapshot) => {
    try {
      listener(state)
    } catch (cause) {
      report(cause)
    }
  }
  const end = (id: string, entry: Followed) => {
    followed.delete(id)
    clearTimeout(entry.next)
  }

  return {
    /** Calls the listener now and whenever the session's status or switches change. Returns what ends it. */
    follow: (sessionID: string, listener: Listener): (() => void) => {
      if (closed) return () => {}
      const known = followed.get(sessionID)
      const entry: Followed = known ?? { listeners: new Set() }
      entry.listeners.add(listener)
      if (entry.state) notify(listener, entry.state)
      if (!known) {
        followed.set(sessionID, entry)
        void poll(sessionID, entry)
      }
      return () => {
        entry.listeners.delete(listener)
        if (entry.listeners.size === 0 && followed.get(sessionID) === entry) end(sessionID, entry)
      }
    },
    /** The last known state of a session that has a listener. */
    peek: (sessionID: string): SessionSnapshot | undefined => followed.get(sessionID)?.state,
    close: (): void => {
      closed = true
      for (const [id, entry] of followed) end(id, entry)
    },
  }
}

/** Differs whenever one of the session's files was written, removed or replaced. Never rejects. */
async function stampOf(folder: string, sessionID: string): Promise<string> {
  const look = async (path: string) => {
    const found = await stat(path, { bigint: true }).catch(() => undefined)
    return found ? `${found.ino} ${found.mtimeNs} ${found.size}` : ""
  }
  return (await Promise.all(filesOf(folder, sessionID).map(look))).join("\n")
}

/** What the files of a session say now. Never rejects. */
export async function readSessionSnapshot(folder: string, sessionID: string): Promise<SessionSnapshot> {
  const status = await readStatus(folder, sessionID)
  return {
    status: status && !isRunning(status.pid) ? withoutProcess(status) : status,
    switches: readSwitches(folder, sessionID),
  }
}

/** The time of writing is not displayed, so it does not count as a change. */
function isSame(one: SessionSnapshot, other: SessionSnapshot): boolean {
  const shown = ({ status, switches }: SessionSnapshot) =>
    JSON.stringify([status && { ...status, writtenMs: 0 }, switches])
  return shown(one) === shown(other)
}
