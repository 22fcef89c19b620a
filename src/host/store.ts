// One store for all directories and instances of this process, opened in the background when it is first needed and
// closed by the last who uses it. Nothing here makes a request wait.

import type { Options } from "../options.ts"
import { openStore } from "../store/open.ts"
import type { Store } from "../store/record.ts"
import type { Log } from "./log.ts"

export type SharedStore = {
  /** Starts opening it, off the caller's path; opening it twice is opening it once. */
  open(): void
  /** The store once it is open, which begins with this; undefined when it is switched off. */
  opening(): Promise<Store> | undefined
  /** Does something with the store, at once when it is open, else when it is; never when it is switched off. */
  use(action: (store: Store) => void): void
  release(): Promise<void>
}

type Opening = { users: number; opened: Promise<Store>; store?: Store }

const openings = new Map<string, Opening>()

const NO_STORE: SharedStore = {
  open: () => {},
  opening: () => undefined,
  use: () => {},
  release: async () => {},
}

export function shareStore({ enabled, path }: Options["store"], log: Log): SharedStore {
  if (!enabled) return NO_STORE
  const key = path ?? ""
  let opening: Opening | undefined
  let released = false
  const open = () => {
    if (opening || released) return
    opening = openings.get(key) ?? begin(key, log)
    opening.users++
  }
  // a host without SQLite, which is a host without Bun, should say so when it starts and not in the middle of a session
  if (!process.versions.bun) open()
  return {
    open,
    opening() {
      open()
      return opening?.opened
    },
    use(action) {
      open()
      if (opening?.store) action(opening.store)
      else void opening?.opened.then(action)
    },
    async release() {
      if (released) return
      released = true
      if (!opening || --opening.users > 0) return
      openings.delete(key)
      await (await opening.opened).close()
    },
  }
}

function begin(key: string, log: Log): Opening {
  let warned = false
  const onWarning = (message: string) => {
    warned = true
    log.say("warn", message)
  }
  // loading drizzle takes longer than a request should wait
  const opened = new Promise((resolve) => setTimeout(resolve, 0)).then(() =>
    openStore({ ...(key ? { path: key } : {}), onWarning }),
  )
  const opening: Opening = { users: 0, opened }
  openings.set(key, opening)
  void opened.then((store) => {
    opening.store = store
    // a host without SQLite is no trouble with the file, so the store itself has nothing to warn of
    if (store.state.kind === "memory" && !warned)
      onWarning(`the store is kept in memory only, and lost at exit: ${store.state.reason}`)
  })
  return opening
}
