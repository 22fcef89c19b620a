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

/**
 * When the store is disabled, no status is written, and files that an earlier process wrote are removed. `statusOf` makes a
 * session's current status, once `prepare` has resolved. `report` is called with the first write error; apart from the status
 * nothing depends on these files.
 */
export function createPublisher(
  { store }: Pick<Options, "store">,
  { prepare, statusOf }: { prepare(): Promise<void>; statusOf(session: Session): Status },
  report: (cause: unknown) => void,
  folder = statusFolder(dataFolder()),
) {
  const recent = new Map<string, Session>()
  const due = new Map<string, Session>()
  let timer: ReturnType<typeof setTimeout> | undefined
  let isPrepared = false
  let isReported = false
  const prepared = lazy(async () => {
    await prepare()
    void prune(folder, Date.now())
  })

  // once: an error names its temporary file, so that to the log each is another line
  const trouble = (cause: unknown) => {
    if (!isReported) report(cause)
    isReported = true
  }

  /** Synchronous except the first time: OpenCode waits for the last one, and each turn of its event loop takes long then. */
  async function writeDue(): Promise<void> {
    clearTimeout(timer)
    if (!isPrepared) await prepared()
    isPrepared = true
    timer = undefined
    for (const session of due.values()) {
      try {
        if (store.enabled) writeStatus(folder, statusOf(session))
        else forget(folder, session.id)
      } catch (cause) {
        trouble(cause)
      }
    }
    due.clear()
  }

  function publish(session: Session): void {
    // a resumed session without a request yet: the status from the previous process says more
    if (session.deleted || session.ledger.entries.length === 0) return
    renew(recent, session.id, session, MAX_RECENT)
    due.set(session.id, session)
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
      forget(folder, sessionID)
    },
    /** Writes what is still due. Idempotent. */
    close: writeDue,
  }
}
