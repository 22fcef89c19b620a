// One queue of digests and one model for all directories and instances of this process, ended by the last who uses
// them. Nothing is started before a tool output is worth a digest.

import type { Backend } from "../digest/backends/backend.ts"
import { createBackend } from "../digest/backends/choose.ts"
import { createDigests, type Digests } from "../digest/digests.ts"
import type { Shelf } from "../digest/shelf.ts"
import type { Options } from "../options.ts"
import type { WriterStatus } from "../status/status.ts"
import { dataFolder } from "../system/data-folder.ts"
import { redact } from "../text/redact/redact.ts"
import { cut, line } from "../text/text.ts"
import type { Log } from "./log.ts"
import { type SharedStore, shareStore } from "./store.ts"

export type SharedDigests = Digests & {
  /** Has a look taken at what is set up, once; never rejects. */
  prepare(): Promise<void>
  /** who writes them now, and how that goes */
  writer(): WriterStatus
  /** Hears when `writer` has something else to say, until it is released. */
  onChange(listener: () => void): void
  release(): Promise<void>
}

type Shared = {
  digests: Digests
  backend: Backend | undefined
  prepared: Promise<void> | undefined
  users: Set<{ listener: (() => void) | undefined }>
  close(): Promise<void>
}

const shared = new Map<string, Shared>()

export function shareDigests(options: Options, log: Log): SharedDigests {
  const key = JSON.stringify([options.digest, options.store])
  const ours = shared.get(key) ?? begin(key, options, log)
  const user: { listener: (() => void) | undefined } = { listener: undefined }
  ours.users.add(user)
  return {
    of: ours.digests.of,
    queue: ours.digests.queue,
    async prepare() {
      ours.prepared ??= ours.backend?.prepare?.()
      await ours.prepared
    },
    writer: () => writerOf(ours, options),
    onChange(listener) {
      user.listener = listener
    },
    async release() {
      if (!ours.users.delete(user) || ours.users.size > 0) return
      shared.delete(key)
      await ours.close()
    },
  }
}

function begin(key: string, { digest, store: storeOptions }: Options, log: Log): Shared {
  const users: Shared["users"] = new Set()
  const onChange = () => {
    for (const { listener } of users) listener?.()
  }
  const backend = createBackend({ options: digest, dataFolder, report: log.say, onChange })
  const store = shareStore(storeOptions, log)
  const digests = createDigests({
    ...(backend ? { backend } : {}),
    shelf: storeOptions.enabled ? shelfOf(store) : undefined,
    onChange,
    onTrouble: (code, message) => {
      // a model that was asked for by name and does not work is the user's to put right; `auto` takes what there is
      if (code === "OFF" && digest.backend !== "auto") log.warnUser(message)
      else log.say(code === "OFF" ? "info" : "warn", message)
    },
  })
  const ours: Shared = {
    users,
    digests,
    backend,
    prepared: undefined,
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

function writerOf({ digests: { queue }, backend }: Shared, { digest }: Options): WriterStatus {
  const state = backend?.state ?? { kind: "idle" }
  // nobody asked for a model by name, and none was set up: there is nothing wrong
  const isAbsent = digest.backend === "auto" && state.kind === "off" && state.absent === true
  if (!backend || isAbsent) return { backend: "extract", state: "ready", waiting: 0, working: false, written: 0 }
  const [, model] = backend.id.split(/^\w+\//)
  return {
    backend: digest.backend === "openai" ? "openai" : "llama",
    state: state.kind,
    ...("reason" in state ? { why: cut(redact(line(state.reason)), LONGEST_REASON) } : {}),
    ...(model === undefined ? {} : { model: line(model) }),
    ...(backend.device === undefined ? {} : { device: backend.device }),
    ...(backend.speed ? { speed: backend.speed } : {}),
    waiting: queue?.waiting ?? 0,
    working: queue?.working ?? false,
    written: queue?.counters.written ?? 0,
  }
}

const LONGEST_REASON = 400

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
