// One store for all directories and instances of this process: opened in the background by the first, closed by the
// last. Nothing here makes a request wait.

import type { Options } from "../options.ts"
import { openStore } from "../store/open.ts"
import type { Store } from "../store/record.ts"
import type { Log } from "./log.ts"

export type SharedStore = {
  /** undefined until the store is open, and when it is switched off */
  current(): Store | undefined
  release(): Promise<void>
}

type Opening = { users: number; opened: Promise<Store>; store?: Store }

const openings = new Map<string, Opening>()

export function shareStore({ enabled, path }: Options["store"], log: Log): SharedStore {
  if (!enabled) return { current: () => undefined, release: async () => {} }
  const key = path ?? ""
  const opening = openings.get(key) ?? begin(key, log)
  opening.users++
  let released = false
  return {
    current: () => opening.store,
    async release() {
      if (released) return
      released = true
      if (--opening.users > 0) return
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
  // loading drizzle takes longer than OpenCode should wait for a plugin
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
