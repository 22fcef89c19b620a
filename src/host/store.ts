// One store for all directories and instances of this process. It is opened in the background when it is first needed; only
// a session's first requests wait for it, at most a second.

import type { Options } from "../options.ts"
import { openStore, type Store } from "../store/open.ts"
import { storePath } from "../system/data-folder.ts"
import { createShared, type Share } from "../system/shared.ts"
import { hasSqlite } from "../system/sqlite.ts"
import type { Log } from "./log.ts"

export type SharedStore = ReturnType<typeof shareStore>

type Opening = { opened: Promise<Store>; store?: Store }

const stores = createShared<Opening, object>(async ({ opened }) => (await opened).close())

export function shareStore({ enabled, path }: Options["store"], log: Log) {
  let share: Share<Opening, object> | undefined
  let released = false
  /** Starts to open the store in the background, unless it is switched off. Later calls do nothing. */
  const open = () => {
    // by the full path: a second store of one file in one process would release the first one's POSIX locks
    if (enabled && !released)
      share ??= stores.acquire(storePath(path), {}, (_, closed) => startOpening(path, log, closed))
    return share?.value
  }
  // Without SQLite the warning about that should come at startup, not in the middle of a session.
  if (!hasSqlite()) open()
  return {
    open,
    /** Starts to open the store and resolves when it is open; undefined when the store is switched off. */
    opening: (): Promise<Store> | undefined => open()?.opened,
    /** Whether the store is open, so that what is saved is on disk at once. Starts to open it. True when it is switched off. */
    isReady(): boolean {
      const opening = open()
      return !opening || opening.store !== undefined
    },
    /** Calls `action` with the store as soon as it is open, which may be now; never when it is switched off. */
    use(action: (store: Store) => void): void {
      const opening = open()
      if (opening?.store) action(opening.store)
      else void opening?.opened.then(action)
    },
    async release(): Promise<void> {
      released = true
      await share?.release()
    },
  }
}

/** Waits until an earlier store of the file is `closed`: it may still be writing. */
function startOpening(path: string | undefined, log: Log, closed: Promise<unknown> | undefined): Opening {
  // in a later tick: loading drizzle takes longer than a request should wait
  const opened = Promise.all([new Promise((resolve) => setTimeout(resolve, 0)), closed]).then(() =>
    openStore({ path, onWarning: (message) => log.say("warn", message) }),
  )
  const opening: Opening = { opened }
  void opened.then((store) => {
    opening.store = store
  })
  return opening
}
