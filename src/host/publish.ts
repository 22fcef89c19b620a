// The status files: what the panel shows of a session, written a moment after it has changed, off every hook's path. The
// last word is written before the plugin goes.

import type { Options } from "../options.ts"
import { forget, prune, readSwitches, statusFolder, writeStatus } from "../status/files.ts"
import { type Status, ALL_ON, type Switches } from "../status/status.ts"
import { dataFolder } from "../system/data-folder.ts"
import { renew } from "../system/values.ts"
import type { Session } from "./sessions.ts"

export type Publisher = {
  /** What is shown of the session has changed. */
  publish(session: Session): void
  /** Something has changed that every session shows. */
  publishAll(): void
  /** What the user has switched off in the session. Reads one small file. */
  switches(sessionID: string): Switches
  forget(sessionID: string): void
  /** Writes what waits. Idempotent. */
  close(): Promise<void>
}

/** Several changes within so long are one write, in ms. */
const SOON_MS = 150
/** Sessions that are shown a change of something common to all: those somebody may be looking at. */
const MOST_WATCHED = 5
/** Sessions whose status waits to be written; more come together only where the disk does not answer. */
const MOST_DUE = 100
/** Sessions remembered as having no status file any more. */
const MOST_GONE = 200

/** Where nothing is to be stored nothing is shown, what an earlier process has written least of all. */
function unpublished(folder: string): Publisher {
  const gone = new Map<string, Promise<void>>()
  return {
    publish({ id }) {
      if (!gone.has(id)) renew(gone, id, forget(folder, id), MOST_GONE)
    },
    publishAll() {},
    switches: () => ALL_ON,
    forget() {},
    async close() {
      await Promise.all(gone.values())
    },
  }
}

/**
 * `statusOf` makes a session's status from the state of the moment. `onTrouble` hears once that the disk refuses: then
 * there is nothing to show, and nothing else is different.
 */
export function createPublisher(
  { store }: Pick<Options, "store">,
  statusOf: (session: Session) => Promise<Status>,
  onTrouble: (cause: unknown) => void,
  folder = statusFolder(dataFolder()),
): Publisher {
  if (!store.enabled) return unpublished(folder)
  const recent = new Map<string, Session>()
  const due = new Map<string, Session>()
  const written = new Map<string, string>()
  let timer: ReturnType<typeof setTimeout> | undefined
  let writing: Promise<void> = Promise.resolve()
  let queued = false
  let pruned = false
  let troubled = false

  function trouble(cause: unknown): void {
    if (!troubled) onTrouble(cause)
    troubled = true
  }

  async function write(session: Session): Promise<void> {
    const status = await statusOf(session)
    const text = JSON.stringify({ ...status, writtenMs: 0 })
    if (written.get(session.id) === text) return
    await writeStatus(folder, status)
    written.set(session.id, text)
    for (const id of written.keys()) if (!recent.has(id)) written.delete(id)
  }

  function writeDue(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    if (queued) return writing
    queued = true
    writing = writing.then(async () => {
      // taken only now: while a slow disk holds up one round, all that comes to be due waits for one more
      queued = false
      const sessions = [...due.values()]
      due.clear()
      for (const session of sessions) await write(session).catch(trouble)
      if (pruned) return
      pruned = true
      await prune(folder, Date.now(), new Set(written.keys()))
    })
    return writing
  }

  function publish(session: Session): void {
    // resumed, and no request was made yet: what the process before has written says more
    if (session.ledger.entries.length === 0) return
    recent.delete(session.id)
    recent.set(session.id, session)
    const [oldest] = recent.keys()
    if (recent.size > MOST_WATCHED && oldest !== undefined) recent.delete(oldest)
    renew(due, session.id, session, MOST_DUE)
    if (timer) return
    timer = setTimeout(() => void writeDue(), SOON_MS)
    timer.unref?.()
  }

  return {
    publish,
    publishAll() {
      for (const session of [...recent.values()]) publish(session)
    },
    switches: (sessionID) => readSwitches(folder, sessionID),
    forget(sessionID) {
      recent.delete(sessionID)
      due.delete(sessionID)
      written.delete(sessionID)
      writing = writing.then(() => forget(folder, sessionID))
    },
    close: () => writeDue(),
  }
}
