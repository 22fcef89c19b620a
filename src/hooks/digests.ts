// One queue of digests and one model for all directories and instances of this process, ended by the last who uses
// them. Nothing is started before a tool output is worth a digest.

import { createBackend } from "../digest/backends/choose.ts"
import { createDigests, type Digests } from "../digest/digests.ts"
import type { Shelf } from "../digest/shelf.ts"
import type { Options } from "../options.ts"
import { dataFolder } from "../store/paths.ts"
import type { Log } from "./log.ts"
import { type SharedStore, shareStore } from "./store.ts"

export type SharedDigests = Digests & { release(): Promise<void> }

type Shared = { users: number; digests: Digests; close(): Promise<void> }

const shared = new Map<string, Shared>()

export function shareDigests(options: Options, log: Log): SharedDigests {
  const key = JSON.stringify([options.digest, options.store])
  const ours = shared.get(key) ?? begin(key, options, log)
  ours.users++
  let released = false
  return {
    of: ours.digests.of,
    queue: ours.digests.queue,
    async release() {
      if (released) return
      released = true
      if (--ours.users > 0) return
      shared.delete(key)
      await ours.close()
    },
  }
}

function begin(key: string, { digest, store: storeOptions }: Options, log: Log): Shared {
  const backend = createBackend({ options: digest, dataFolder, report: log.say })
  const store = shareStore(storeOptions, log)
  const digests = createDigests({
    ...(backend ? { backend } : {}),
    shelf: storeOptions.enabled ? shelfOf(store) : undefined,
    onTrouble: (code, message) => {
      // a model that was asked for by name and does not work is the user's to put right; `auto` takes what there is
      if (code === "OFF" && digest.backend !== "auto") log.warnUser(message)
      else log.say(code === "OFF" ? "info" : "warn", message)
    },
  })
  const ours: Shared = {
    users: 0,
    digests,
    async close() {
      account(digests, log)
      await digests.queue?.close()
      await backend?.close()
      await store.release()
    },
  }
  shared.set(key, ours)
  return ours
}

/** What the model did, in one line, when anything was asked of it. */
function account({ queue }: Digests, log: Log): void {
  if (!queue) return
  const { written, fromCache, refused, failed, cancelled, factsKept, factsDropped, ms } = queue.counters
  if (written + fromCache + refused + failed === 0) return
  const facts = `facts ${factsKept} kept, ${factsDropped} dropped`
  const others = `${fromCache} known before, ${refused} refused, ${failed} failed, ${cancelled} given up`
  log.say("info", `digests: ${written} written (${facts}; ${(ms / 1000).toFixed(1)} s of work), ${others}`)
}

function shelfOf(store: SharedStore): Shelf {
  return {
    loadDigests: (writer, keys) =>
      new Promise((resolve) => store.use((opened) => resolve(opened.loadDigests(writer, keys)))),
    saveDigest: (writer, key, digest) => store.use((opened) => opened.saveDigest(writer, key, digest)),
  }
}
