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
  reading: boolean
  again: boolean
  /** ends the polling */
  end: () => void
}

const POLL_MS = 250

/** Watches nothing before the first session is followed. Never throws; `report` gets the errors of listeners. */
export function watchSessions(folder: string, report: (cause: unknown) => void) {
  const followed = new Map<string, Followed>()
  let closed = false

  const begin = (sessionID: string): Followed => {
    const timer = setInterval(async () => {
      if ((await stampOf(folder, sessionID)) !== entry.stamp) refresh(sessionID)
    }, POLL_MS)
    timer.unref()
    const end = () => {
      followed.delete(sessionID)
      clearInterval(timer)
    }
    const entry: Followed = { listeners: new Set(), reading: false, again: false, end }
    followed.set(sessionID, entry)
    return entry
  }
  const read = async (id: string, entry: Followed) => {
    entry.reading = true
    do {
      entry.again = false
      const stamp = await stampOf(folder, id)
      const state = await readSessionSnapshot(folder, id)
      if (followed.get(id) !== entry) return
      entry.stamp = stamp
      if (entry.state && isSame(entry.state, state)) continue
      entry.state = state
      for (const listener of entry.listeners) notify(listener, state)
    } while (entry.again)
    entry.reading = false
  }
  const notify = (listener: Listener, state: SessionSnapshot) => {
    try {
      listener(state)
    } catch (cause) {
      report(cause)
    }
  }
  /** Reads the files of a followed session again, now. */
  const refresh = (sessionID: string): void => {
    const entry = followed.get(sessionID)
    if (entry?.reading) entry.again = true
    else if (entry) void read(sessionID, entry)
  }

  return {
    /** Calls the listener now and whenever the session's status or switches change. Returns what ends it. */
    follow: (sessionID: string, listener: Listener): (() => void) => {
      if (closed) return () => {}
      const entry = followed.get(sessionID) ?? begin(sessionID)
      entry.listeners.add(listener)
      if (entry.state) notify(listener, entry.state)
      else refresh(sessionID)
      return () => {
        entry.listeners.delete(listener)
        if (entry.listeners.size === 0 && followed.get(sessionID) === entry) entry.end()
      }
    },
    /** The last known state of a session that has a listener. */
    peek: (sessionID: string): SessionSnapshot | undefined => followed.get(sessionID)?.state,
    refresh,
    close: (): void => {
      closed = true
      for (const entry of followed.values()) entry.end()
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
