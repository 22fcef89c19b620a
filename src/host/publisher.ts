// Writes the status files that the panel reads: shortly after a session has changed, never during a hook, and once more
// before the plugin ends.

import type { Options } from "../options.ts"
import { forget, prune, readSwitches, statusFolder, writeStatus, writeSwitches } from "../status/files.ts"
import { ALL_ON, type Status, type Switches } from "../status/status.ts"
import { dataFolder } from "../system/data-folder.ts"
import { lazy, renew } from "../system/values.ts"
import type { Session } from "./sessions.ts"

export type Publisher = ReturnType<typeof createPublisher>

/** Changes within this time are written together. */
const WRITE_DELAY_MS = 150
/** Recent sessions, which are rewritten when something common to all changes: one of them may be on screen. */
const MAX_RECENT = 5
/** Sessions waiting to be written. More can accumulate only if the disk does not respond. */
const MAX_DUE = 100

/**
 * When the store is disabled, no status is written, and files that an earlier process wrote are removed. `statusOf` makes a
 * session's current status. `report` is called with the first write error; apart from the status nothing depends on these files.
 */
export function createPublisher(
  { store }: Pick<Options, "store">,
  statusOf: (session: Session) => Promise<Status>,
  report: (cause: unknown) => void,
  folder = statusFolder(dataFolder()),
) {
  const recent = new Map<string, Session>()
  const due = new Map<string, Session>()
  let timer: ReturnType<typeof setTimeout> | undefined
  let writing = Promise.resolve()
  let isReported = false
  const pruned = lazy(() => prune(folder, Date.now()))

  // once: an error names its temporary file, so that to the log each is another line
  const trouble = (cause: unknown) => {
    if (!isReported) report(cause)
    isReported = true
  }

  const write = async (session: Session) =>
    store.enabled ? writeStatus(folder, await statusOf(session)) : forget(folder, session.id)

  function writeDue(): Promise<void> {
    clearTimeout(timer)
    writing = writing.then(async () => {
      // collected only now: what becomes due while a slow disk holds up one round is written in the next
      timer = undefined
      const sessions = [...due.values()]
      due.clear()
      for (const session of sessions) await write(session).catch(trouble)
      await pruned()
    })
    return writing
  }

  function publish(session: Session): void {
    // a resumed session without a request yet: the status from the previous process says more
    if (session.ledger.entries.length === 0) return
    renew(recent, session.id, session, MAX_RECENT)
    renew(due, session.id, session, MAX_DUE)
    timer ??= setTimeout(() => void writeDue(), WRITE_DELAY_MS)
    timer.unref?.()
  }

  return {
    /** Call when a session's status has changed. */
    publish,
    /** Call when something has changed that every session's status contains. */
    publishAll() {
      for (const session of [...recent.values()]) publish(session)
    },
    /** What the user has paused or asked for in the session. Reads one small file. */
    switches: (sessionID: string): Switches => (store.enabled ? readSwitches(folder, sessionID) : ALL_ON),
    /** Call when the folds that the user asked for at `askedMs` were made, so that they are made only once. */
    fulfilled(sessionID: string, askedMs: number): void {
      const { foldNow, ...switches } = readSwitches(folder, sessionID)
      if (foldNow?.askedMs === askedMs) void writeSwitches(folder, sessionID, switches).catch(trouble)
    },
    forget(sessionID: string): void {
      recent.delete(sessionID)
      due.delete(sessionID)
      writing = writing.then(() => forget(folder, sessionID))
    },
    /** Writes what is still due. Idempotent. */
    close: writeDue,
  }
}
