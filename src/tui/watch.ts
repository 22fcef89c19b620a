// Watches the status files. Listeners are called when the content of a session's files changes. There is no polling; where
// the folder cannot be watched, `refresh` is called on OpenCode's events instead.

import { type FSWatcher, mkdirSync, statSync, watch } from "node:fs"
import type { TuiPluginApi } from "@opencode-ai/plugin/tui"
import { readStatus, readSwitches } from "../status/files.ts"
import type { Status, Switches } from "../status/status.ts"
import { withoutProcess } from "../status/words.ts"
import { isRunning } from "../system/process.ts"

export type SessionSnapshot = { status: Status | undefined; switches: Switches }

type Listener = (state: SessionSnapshot) => void

export type SessionWatch = ReturnType<typeof watchSessions>

type Followed = { listeners: Set<Listener>; state?: SessionSnapshot; reading: boolean; again: boolean }

/**
 * Bun 1.3.14 loses events within about a millisecond of the last one: of a file written aside and renamed it may report
 * only the first step, under the temporary name. So names are ignored, and the files are read after this delay.
 */
const SETTLE_MS = 30

/** Watches nothing before the first session is followed. Never throws; `report` gets the errors of listeners. */
export function watchSessions(folder: string, report: (cause: unknown) => void) {
  const followed = new Map<string, Followed>()
  let watcher: FSWatcher | undefined
  let inode: number | undefined
  let closed = false

  const start = () => {
    try {
      mkdirSync(folder, { recursive: true, mode: 0o700 })
      inode = inodeOf(folder)
      watcher = watch(folder, { persistent: false }, soon.start)
      watcher.on("error", stop)
    } catch {
      // the disk is full, or the system has no watch left: only `refresh` remains
      watcher = undefined
    }
  }
  const soon = later(SETTLE_MS, () => refresh())
  const stop = () => {
    soon.cancel()
    watcher?.close()
    watcher = undefined
  }

  const read = async (id: string, entry: Followed) => {
    entry.reading = true
    do {
      entry.again = false
      const state = await readSessionSnapshot(folder, id)
      if (closed || followed.get(id) !== entry) return
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
  /** Reads the files of this session again, or of every followed one. */
  const refresh = (sessionID?: string): void => {
    // the watcher of a deleted folder stays silent about the folder created in its place
    const found = inodeOf(folder)
    if (watcher && found !== inode) stop()
    // a folder that was just deleted is created again by whoever writes to it
    if (!watcher && found !== undefined && followed.size > 0) start()
    for (const [id, entry] of followed) {
      if (sessionID !== undefined && id !== sessionID) continue
      if (entry.reading) entry.again = true
      else void read(id, entry)
    }
  }

  return {
    /** Calls the listener now and whenever the session's status or switches change. Returns what ends it. */
    follow: (sessionID: string, listener: Listener): (() => void) => {
      if (closed) return () => {}
      if (!watcher) start()
      const entry = followed.get(sessionID) ?? { listeners: new Set(), reading: false, again: false }
      followed.set(sessionID, entry)
      entry.listeners.add(listener)
      if (entry.state) notify(listener, entry.state)
      else refresh(sessionID)
      return () => {
        entry.listeners.delete(listener)
        if (entry.listeners.size > 0 || followed.get(sessionID) !== entry) return
        followed.delete(sessionID)
        if (followed.size === 0) stop()
      }
    },
    /** The last known state of a session that has a listener. */
    peek: (sessionID: string): SessionSnapshot | undefined => followed.get(sessionID)?.state,
    refresh,
    /** False when the folder cannot be watched, so that changes go unnoticed. */
    isWatching: (): boolean => watcher !== undefined,
    close: (): void => {
      closed = true
      followed.clear()
      stop()
    },
  }
}

/** The server writes a moment after the event, and message events come many a second. */
const REFRESH_AFTER_MS = 500

/**
 * Reads the files again at the end of each turn, in case the watcher lost an event, and after every message where the folder
 * cannot be watched.
 */
export function refreshOnEvents(api: Pick<TuiPluginApi, "event" | "lifecycle">, watch: SessionWatch): void {
  const soon = later(REFRESH_AFTER_MS, () => watch.refresh())
  api.lifecycle.onDispose(api.event.on("session.idle", soon.start))
  api.lifecycle.onDispose(
    api.event.on("message.updated", () => {
      if (!watch.isWatching()) soon.start()
    }),
  )
  api.lifecycle.onDispose(soon.cancel)
}

/** Calls `act` after `ms`, counted from the first of several starts. */
function later(ms: number, act: () => void) {
  let timer: ReturnType<typeof setTimeout> | undefined
  const cancel = () => {
    clearTimeout(timer)
    timer = undefined
  }
  const start = () => {
    timer ??= setTimeout(() => {
      timer = undefined
      act()
    }, ms)
    timer.unref()
  }
  return { start, cancel }
}

/** What the files of a session say now. Never rejects. */
export async function readSessionSnapshot(folder: string, sessionID: string): Promise<SessionSnapshot> {
  const status = await readStatus(folder, sessionID)
  return {
    status: status && !isRunning(status.pid) ? withoutProcess(status) : status,
    switches: readSwitches(folder, sessionID),
  }
}

function inodeOf(path: string): number | undefined {
  try {
    return statSync(path).ino
  } catch {
    return
  }
}

/** The time of writing is not displayed, so it does not count as a change. */
function isSame(one: SessionSnapshot, other: SessionSnapshot): boolean {
  const shown = ({ status, switches }: SessionSnapshot) =>
    JSON.stringify([status && { ...status, writtenMs: 0 }, switches])
  return shown(one) === shown(other)
}
