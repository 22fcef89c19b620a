// Opens the plugin's own store and keeps it usable whatever happens to its file. It waits for a locked file and sets a
// corrupt one aside; otherwise it works in memory only. Each kind of problem is one warning, never an error.

import { setTimeout as delay } from "node:timers/promises"
import type { Fold } from "../fold/fold.ts"
import type { Anchor } from "../hud/slots.ts"
import { RETENTION_MS, storePath } from "../system/data-folder.ts"
import type { Connection } from "./connection.ts"
import { innermostReason, troubleOf } from "./errors.ts"
import { prepareFile, removeAside, setAside } from "./file.ts"
import { createMemory, type Kind } from "./memory.ts"
import { createWriter, type Recovery, type WriterOptions } from "./writer.ts"
import { addRows, inOrder, rowsOf, type StoreWrite, type Turn, turnWrite } from "./writes.ts"

type StoreOptions = {
  /** the database file, as in the option `store.path`; default: `hud.db` in the plugin's data folder */
  path?: string | undefined
  /** receives one line for the log, at most once for each kind of trouble */
  onWarning(message: string): void
} & Pick<WriterOptions, "maxWrites" | "delayMs">

/** A locked file is tried again for about three seconds; then the store stays in memory. */
const OPEN_PAUSES_MS = [50, 100, 200, 400, 800, 1600]
// Together well below the second for which the request of a resumed session waits.
const READ_PAUSES_MS = [25, 50, 100, 200]
const MAX_REPLACEMENTS = 2

/** The plugin's own store. */
export type Store = Awaited<ReturnType<typeof openStore>>

/**
 * Never rejects, and no method of the store throws or rejects. Saves may be called from a hook: they touch memory only, and reach
 * the disk later, in one transaction, outside the hook. Only folds are written at once. Other methods read the disk and must
 * not be called from a hook. If the file cannot be used, the store is memory only, and a warning says why.
 */
export async function openStore({ path: given, onWarning, ...queue }: StoreOptions) {
  let path = ""
  const memory = createMemory()
  const warned = new Set<string>()
  let connection: Connection | undefined
  /** undefined where the file cannot be used, so that nothing waits for it */
  let open: (() => Connection) | undefined
  let inode = 0
  let replacements = 0

  function warn(about: string, message: string): void {
    if (warned.has(about)) return
    warned.add(about)
    onWarning(message)
  }

  function useMemory(reason: string): void {
    closeFile()
    open = undefined
    warn("memory", `the store is kept in memory only and is lost at exit: ${reason}`)
  }

  function closeFile(): void {
    try {
      connection?.close()
    } catch {}
    connection = undefined
  }

  function replaceFile(error: unknown): void {
    closeFile()
    if (++replacements > MAX_REPLACEMENTS) throw error
    const aside = setAside(path, inode)
    if (aside)
      warn("corrupt", `the store was corrupt (${innermostReason(error)}); set aside as ${aside}, started a new one`)
  }

  function recover(error: unknown): Recovery {
    const trouble = troubleOf(error)
    const reason = innermostReason(error)
    if (trouble === "other") return "skip"
    if (trouble === "full")
      warn("full", `the disk is full, and writes of the store wait in memory until there is room: ${reason}`)
    if (trouble === "full" || trouble === "locked") return "retry"
    try {
      if (trouble === "unwritable") throw error
      replaceFile(error)
      // Everything in memory goes into the new file, so that sticky HUDs survive the next restart too.
      for (const write of memory.writes()) writer.add(write)
      return "again"
    } catch (cause) {
      useMemory(innermostReason(cause))
      return "stop"
    }
  }

  const writer = createWriter({
    ...queue,
    write(batch, haste) {
      connection ??= open?.()
      connection?.write(batch, haste)
    },
    recover,
    onLost: (why) => warn("lost", `the store lost a write: ${why}`),
  })

  async function start(): Promise<void> {
    // Inside the try: a relative path cannot be resolved if the working directory was deleted.
    path = storePath(given)
    const { loadSqlite } = await import("./sqlite.ts")
    const Database = await loadSqlite()
    const { openConnection } = await import("./connection.ts")
    open = () => {
      // before anything can fail, since setting a broken file aside needs it
      inode = prepareFile(path)
      return openConnection(Database, path)
    }
    for (;;)
      try {
        connection = await patiently(OPEN_PAUSES_MS, open)
        return
      } catch (error) {
        if (troubleOf(error) !== "corrupt") throw error
        replaceFile(error)
      }
  }

  try {
    await start()
    removeAside(path, Date.now() - RETENTION_MS)
  } catch (error) {
    // the writer goes on trying
    if (troubleOf(error) === "full") recover(error)
    else useMemory(innermostReason(error))
  }
  save({ kind: "prune", now: Date.now() })

  /** `isUrgent`: the write does not wait, unless the file is not open yet. */
  function save(given: StoreWrite, isUrgent = false): void {
    const write = "sessionID" in given ? { ...given, sessionID: given.sessionID.toWellFormed() } : given
    memory.apply(write)
    if (isUrgent && connection && "sessionID" in write) writer.addNow(write)
    else if (open) writer.add(write)
  }

  /** Nothing if the file cannot be read. */
  async function read<T>(query: (file: Connection) => T[]): Promise<T[]> {
    // A delete may be waiting in the queue.
    await writer.flush()
    try {
      return await patiently(READ_PAUSES_MS, () => (connection ? query(connection) : []))
    } catch (error) {
      warn("read", `the store could not be read: ${innermostReason(error)}`)
      return []
    }
  }

  /** What the file has of a session, and what this process has saved of it, which is newer. */
  async function load<K extends Kind, T>(kind: K, sessionID: string, query: (file: Connection, id: string) => T[]) {
    const id = sessionID.toWellFormed()
    return { stored: await read((file) => query(file, id)), saved: memory.of(kind, id) }
  }

  return {
    async loadAnchors(sessionID: string): Promise<readonly Anchor[]> {
      const { stored, saved } = await load("anchors", sessionID, (file, id) => file.anchors(id))
      return saved[0]?.anchors ?? stored
    },
    /** Replaces the session's anchors; an empty list removes them. */
    saveAnchors: (sessionID: string, anchors: readonly Anchor[]) =>
      save({ kind: "anchors", sessionID, anchors, at: Date.now() }),
    /** What the session carried across its newest compaction. */
    async loadCarried(sessionID: string): Promise<{ compactionID: string; data: string } | undefined> {
      const { stored, saved } = await load("carried", sessionID, (file, id) => file.carried(id))
      return saved[0]?.carried ?? stored[0]
    },
    /** Replaces what the session carries, at once, as with folds. */
    saveCarried(sessionID: string, compactionID: string, data: string) {
      const carried = { compactionID: compactionID.toWellFormed(), data: data.toWellFormed() }
      save({ kind: "carried", sessionID, carried, at: Date.now() }, true)
    },
    /** Inserts the turn or replaces the one with the same session and start. */
    saveTurn: (turn: Turn) => save(turnWrite(turn)),
    /** The session's turns in order. */
    async turns(sessionID: string): Promise<Turn[]> {
      const { stored, saved } = await load("turn", sessionID, (file, id) => file.turns(id))
      const known = new Map([...stored, ...saved.map(({ turn }) => turn)].map((turn) => [turn.startedAt, turn]))
      return [...known.values()].sort((a, b) => a.startedAt - b.startedAt)
    },
    /**
     * Adds the session's folds; a fold replaces an earlier one of the same part. The newest `MAX_FOLDS` of a session are kept.
     * They are in the file when this returns, so that they survive the process. If the file is locked, full or broken they wait
     * like other saves; a lock is waited for 5 ms at most.
     */
    saveFolds(sessionID: string, folds: readonly Fold[]): void {
      if (folds.length > 0) save({ kind: "folds", sessionID, rows: rowsOf(folds), at: Date.now() }, true)
    },
    dropFolds(sessionID: string, partIDs: readonly string[]): void {
      const rows = new Map(partIDs.map((partID) => [partID.toWellFormed(), undefined]))
      save({ kind: "folds", sessionID, rows, at: Date.now() })
    },
    /** The session's folds in the order of folding. */
    async loadFolds(sessionID: string): Promise<Fold[]> {
      const { stored, saved } = await load("folds", sessionID, (file, id) => file.folds(id))
      return inOrder(addRows(rowsOf(stored), saved[0]?.rows ?? []))
    },
    /** Folds on disk of any session with these recall ids. Reads all rows: not for every request. */
    findFolds: async (ids: readonly string[]): Promise<Fold[]> =>
      ids.length === 0 ? [] : read((file) => file.findFolds(ids)),
    /** Forgets everything about the session. */
    deleteSession: (sessionID: string) => save({ kind: "delete", sessionID }),
    /** Writes what is waiting. If the file is locked or the disk full it resolves with the writes kept, to be retried later. */
    flush: () => writer.flush(),
    /** Flushes for at most 1.5 seconds and closes the file. Idempotent; later saves are ignored. */
    async close() {
      await writer.close()
      closeFile()
    },
  }
}

/** Tries again after each pause while the trouble is temporary. */
async function patiently<T>(pausesMs: readonly number[], act: () => T): Promise<T> {
  for (const ms of pausesMs) {
    try {
      return act()
    } catch (error) {
      const trouble = troubleOf(error)
      if (trouble !== "locked" && trouble !== "full") throw error
    }
    await delay(ms)
  }
  return act()
}
