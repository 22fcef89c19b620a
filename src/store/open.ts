// Opens the plugin's own store and keeps it usable whatever happens to its file: locked is waited for, corrupt is set
// aside, everything else means memory. Every such event is one warning, never an error.

import type { Fold } from "../fold/fold.ts"
import type { Digest } from "../output/digest.ts"
import { storePath } from "../system/data-folder.ts"
import { turnWrite, wellFormed } from "./clean.ts"
import type { Connection } from "./connection.ts"
import { reasonOf, StoreError, type Trouble, troubleOf } from "./errors.ts"
import { setAside } from "./file.ts"
import { addRows, droppedRows, type FoldRows, inOrder, lastNumber, rowsOf } from "./fold.ts"
import { createMemory } from "./memory.ts"
import type { Anchor, Store, StoreState, Turn, Write } from "./record.ts"
import { createWriter, type Recovery, type WriterOptions } from "./writer.ts"

export type { Anchor, Carried, Store, StoreCounters, StoreState, Turn } from "./record.ts"

export type StoreOptions = {
  /** the database file, as the option `store.path` has it; default: `hud.db` in the plugin's data folder */
  path?: string
  /** one line for the log, at most once for each kind of trouble */
  onWarning(message: string): void
} & Pick<WriterOptions, "maxWrites" | "delayMs">

const dayMs = 24 * 60 * 60 * 1000
const retentionMs = 90 * dayMs
const mostDigests = 20_000
const openPausesMs = [50, 100, 200, 400, 800]
// Together well below the second that the request of a resumed session waits.
const readPausesMs = [25, 50, 100, 200]
const maxReplacements = 2

/** Never rejects: what stands in the way of a file is in `state.reason`, and the store is memory. */
export async function openStore({ path: given, onWarning, ...queue }: StoreOptions): Promise<Store> {
  let path = ""
  const memory = createMemory()
  const warned = new Set<string>()
  let state: StoreState = { kind: "memory", reason: "not opened yet" }
  let connection: Connection | undefined
  let open: (() => Connection) | undefined
  let inode = 0
  let replacements = 0
  let skipped = 0

  function warn(about: string, message: string): void {
    if (warned.has(about)) return
    warned.add(about)
    try {
      onWarning(message)
    } catch {}
  }

  function useMemory(reason: string): void {
    letGo()
    state = { kind: "memory", reason }
    warn("memory", `the store is kept in memory only, and lost at exit: ${reason}`)
  }

  function letGo(): void {
    try {
      connection?.close()
    } catch {}
    connection = undefined
  }

  /** Loads before it counts as open: some damage shows only when the tables are read. */
  function openFile(): void {
    connection = open?.()
    const loaded = connection?.load()
    for (const write of loaded?.writes ?? []) memory.apply(write)
    skipped += loaded?.skipped ?? 0
    state = { kind: "sqlite", path }
  }

  function replaceFile(error: unknown): void {
    letGo()
    if (++replacements > maxReplacements) throw error
    const aside = setAside(path, inode)
    if (aside) warn("corrupt", `the store was corrupt (${reasonOf(error)}); set aside as ${aside}, started a fresh one`)
  }

  function recover(error: unknown): Recovery {
    const trouble = troubleOf(error)
    switch (trouble) {
      case "locked":
        return "retry"
      case "full":
        state = { kind: "memory", reason: reasonOf(error) }
        warn("full", `what the store is to keep waits in memory until there is room: ${reasonOf(error)}`)
        return "retry"
      case "other":
        return "skip"
      case "corrupt":
        try {
          replaceFile(error)
          connection = open?.()
          // What this process knows goes into the fresh file, so that sticky HUDs survive the next restart too.
          for (const write of memory.writes(Date.now())) writer.add(write)
          return "again"
        } catch (second) {
          useMemory(reasonOf(second))
          return "stop"
        }
      case "unwritable":
      case "newer":
      case "foreign":
        useMemory(reasonOf(error))
        return "stop"
      default:
        return trouble satisfies never
    }
  }

  const writer = createWriter({
    ...queue,
    write(batch, patienceMs) {
      if (!connection) return
      connection.write(batch, patienceMs)
      // it may have been full
      state = { kind: "sqlite", path }
    },
    recover,
    onLost: (_, why) => warn("lost", `the store gave up a write: ${why}`),
  })

  async function start(): Promise<void> {
    // In here, since a relative path cannot be resolved in a working directory that is gone.
    path = storePath(process.env, undefined, given)
    for (let attempt = 0; ; attempt++) {
      try {
        open ??= await loadOpen(path, (value) => {
          inode = value
        })
        return openFile()
      } catch (error) {
        letGo()
        const trouble = troubleOf(error)
        const pauseMs = openPausesMs[attempt]
        if (passes(trouble) && pauseMs !== undefined) {
          await new Promise((resolve) => setTimeout(resolve, pauseMs))
        } else if (trouble === "corrupt") replaceFile(error)
        else throw error
      }
    }
  }

  try {
    await start()
    save({ kind: "prune", now: Date.now(), keptMs: retentionMs, mostDigests })
  } catch (error) {
    // No SQLite in this host is a fact about the host, not trouble with the store.
    if (error instanceof StoreError && error.code === "NO_SQLITE") state = { kind: "memory", reason: reasonOf(error) }
    else useMemory(reasonOf(error))
  }

  function save(write: Write): void {
    memory.apply(write)
    if (connection) writer.add(write)
  }

  async function read<T>(what: string, query: (file: Connection) => T): Promise<T | undefined> {
    for (let attempt = 0; ; attempt++) {
      try {
        return connection && query(connection)
      } catch (error) {
        const pauseMs = passes(troubleOf(error)) ? readPausesMs[attempt] : undefined
        if (pauseMs === undefined) {
          warn(what, `the store's ${what} could not be read: ${reasonOf(error)}`)
          return undefined
        }
        await new Promise((resolve) => setTimeout(resolve, pauseMs))
      }
    }
  }

  async function turns(sessionID: string): Promise<Turn[]> {
    const id = wellFormed(sessionID)
    const known = new Map<number, Turn>()
    // A delete may be waiting.
    await writer.flush()
    for (const turn of (await read("turns", (file) => file.turns(id))) ?? []) known.set(turn.turn, turn)
    for (const turn of memory.turns(id)) known.set(turn.turn, turn)
    return [...known.values()].sort((a, b) => a.turn - b.turn)
  }

  async function loadDigests(givenWriter: string, keys: readonly string[]): Promise<Map<string, Digest>> {
    const writer = wellFormed(givenWriter)
    // The caller may stand in a hook.
    await new Promise((resolve) => setImmediate(resolve))
    const known = new Map<string, Digest>()
    const loaded = await read("digests", (file) => file.digests(writer, keys))
    skipped += loaded?.skipped ?? 0
    for (const { key, digest, usedAt } of loaded?.found ?? []) {
      known.set(key, digest)
      // Once a day is often enough to keep it from being pruned.
      if (usedAt < Date.now() - dayMs) save({ kind: "digest", writer, key, digest, at: Date.now() })
    }
    for (const key of keys) {
      const digest = memory.digest({ key, writer })
      if (digest) known.set(key, digest)
    }
    return known
  }

  function saveFoldRows(sessionID: string, rows: FoldRows): void {
    if (rows.size > 0) save({ kind: "folds", sessionID: wellFormed(sessionID), rows, at: Date.now() })
  }

  async function loadFolds(sessionID: string): Promise<Fold[]> {
    const id = wellFormed(sessionID)
    await writer.flush()
    const loaded = await read("folds", (file) => file.folds(id))
    skipped += loaded?.skipped ?? 0
    return inOrder(addRows(loaded?.rows ?? new Map(), memory.folds(id)))
  }

  async function lastFold(sessionID: string): Promise<number> {
    const id = wellFormed(sessionID)
    await writer.flush()
    const kept = await read("folds", (file) => file.lastFold(id))
    return Math.max(lastNumber(memory.folds(id)), kept ?? 0)
  }

  return {
    get state() {
      return state
    },
    get counters() {
      return { pending: writer.pending, dropped: writer.lost, skipped }
    },
    loadAnchors: () => new Map(Array.from(memory.anchors, ([id, list]): [string, Anchor[]] => [id, [...list]])),
    loadCarried: () => new Map(memory.carried),
    saveAnchors: (sessionID, anchors) =>
      save({ kind: "anchors", sessionID: wellFormed(sessionID), anchors: [...anchors], at: Date.now() }),
    saveCarried(sessionID, compactionID, data) {
      const carried = { compactionID: wellFormed(compactionID), data: wellFormed(data) }
      save({ kind: "carried", sessionID: wellFormed(sessionID), carried, at: Date.now() })
    },
    saveTurn: (turn) => save(turnWrite(turn)),
    turns,
    saveDigest: (writer, key, digest) =>
      save({ kind: "digest", writer: wellFormed(writer), key, digest, at: Date.now() }),
    loadDigests,
    saveFolds: (sessionID, folds) => saveFoldRows(sessionID, rowsOf(folds)),
    dropFolds: (sessionID, partIDs) => saveFoldRows(sessionID, droppedRows(partIDs)),
    loadFolds,
    lastFold,
    deleteSession: (sessionID) => save({ kind: "delete", sessionID: wellFormed(sessionID) }),
    flush: () => writer.flush(),
    async close() {
      await writer.close()
      letGo()
    },
  }
}

function passes(trouble: Trouble): boolean {
  return trouble === "locked" || trouble === "full"
}

async function loadOpen(path: string, onInode: (inode: number) => void): Promise<() => Connection> {
  const { loadSqlite } = await import("./sqlite.ts")
  const Database = await loadSqlite()
  const { connect } = await import("./connection.ts")
  return () => connect(Database, path, onInode)
}
