// The status files as they change: who follows a session hears of it when what its files say is something else. No
// polling; where the folder cannot be watched, whoever knows that something may have changed says `refresh`.

import { type FSWatcher, mkdirSync, statSync, watch } from "node:fs"
import { readStatus, readSwitches } from "../status/files.ts"
import type { Status } from "../status/status.ts"
import type { Switches } from "../status/switches.ts"
import { withoutProcess } from "../status/words.ts"
import { isRunning } from "../system/process.ts"

export type Seen = { status: Status | undefined; switches: Switches }

export type Watch = {
  /** Hears at once, and whenever the session's status or switches change, until the answer is called. */
  follow(sessionID: string, hear: (seen: Seen) => void): () => void
  /** What was heard last of a session that somebody follows. */
  peek(sessionID: string): Seen | undefined
  /** Looks at the files of this session again, or of all that are followed. */
  refresh(sessionID?: string): void
  /** False when changes are not noticed by themselves. */
  isWatching(): boolean
  close(): void
}

type Followed = { hearers: Set<(seen: Seen) => void>; seen?: Seen; reading: boolean; again: boolean }

/**
 * Bun 1.3.14 loses what happens in a folder within about a millisecond of what it has just told: of a file that is written
 * aside and renamed it may tell the first alone, under the other name. So names mean nothing, and the look comes after.
 */
const SETTLED_MS = 30

/** Nothing is opened before the first session is followed. Never throws; `report` is told what who hears has thrown. */
export function watchSessions(folder: string, report: (cause: unknown) => void): Watch {
  const followed = new Map<string, Followed>()
  let watcher: FSWatcher | undefined
  let inode: number | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  let closed = false

  const start = () => {
    try {
      mkdirSync(folder, { recursive: true, mode: 0o700 })
      inode = inodeOf(folder)
      watcher = watch(folder, { persistent: false }, soon)
      watcher.on("error", stop)
    } catch {
      // a disk that is full, or no watch left to be had: `refresh` is what remains
      watcher = undefined
    }
  }
  const soon = () => {
    timer ??= setTimeout(() => {
      timer = undefined
      refresh()
    }, SETTLED_MS)
    timer.unref()
  }
  const stop = () => {
    clearTimeout(timer)
    timer = undefined
    watcher?.close()
    watcher = undefined
  }

  const read = async (id: string, entry: Followed) => {
    entry.reading = true
    do {
      entry.again = false
      const seen = await look(folder, id)
      if (closed || followed.get(id) !== entry) return
      if (entry.seen && isSame(entry.seen, seen)) continue
      entry.seen = seen
      for (const hear of entry.hearers) tell(hear, seen)
    } while (entry.again)
    entry.reading = false
  }
  const tell = (hear: (seen: Seen) => void, seen: Seen) => {
    try {
      hear(seen)
    } catch (cause) {
      report(cause)
    }
  }
  const refresh = (sessionID?: string) => {
    // a folder that was deleted is watched for ever, and says nothing of the one that is made in its place
    const found = inodeOf(folder)
    if (watcher && found !== inode) stop()
    // one that was just deleted is left to who has something to write
    if (!watcher && found !== undefined && followed.size > 0) start()
    for (const [id, entry] of followed) {
      if (sessionID !== undefined && id !== sessionID) continue
      if (entry.reading) entry.again = true
      else void read(id, entry)
    }
  }

  return {
    follow: (sessionID, hear) => {
      if (closed) return () => {}
      if (!watcher) start()
      const entry = followed.get(sessionID) ?? { hearers: new Set(), reading: false, again: false }
      followed.set(sessionID, entry)
      entry.hearers.add(hear)
      if (entry.seen) tell(hear, entry.seen)
      else refresh(sessionID)
      return () => {
        entry.hearers.delete(hear)
        if (entry.hearers.size > 0 || followed.get(sessionID) !== entry) return
        followed.delete(sessionID)
        if (followed.size === 0) stop()
      }
    },
    peek: (sessionID) => followed.get(sessionID)?.seen,
    refresh,
    isWatching: () => watcher !== undefined,
    close: () => {
      closed = true
      followed.clear()
      stop()
    },
  }
}

/** What the files of a session say now. Never rejects. */
export async function look(folder: string, sessionID: string): Promise<Seen> {
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

/** When it was written is not shown. */
function isSame(one: Seen, other: Seen): boolean {
  const what = ({ status, switches }: Seen) => JSON.stringify([status && { ...status, writtenMs: 0 }, switches])
  return what(one) === what(other)
}
