// Lets only one of several processes do something, such as load the model: the one that holds the lock of a SQLite file. The
// system releases the lock however its holder ends, on every platform. Nothing is ever written to the file. See decisions/010.

import { lstatSync } from "node:fs"
import { dirname } from "node:path"
import { createPrivateFile, makePrivateFolder } from "../system/private-folder.ts"
import { findSqlite, type SqliteDatabase } from "../system/sqlite.ts"
import { errorMessage } from "../system/values.ts"

export type Lease = ReturnType<typeof createLease>

/** SQLite's number for a lock that another has, where Node reports one. */
const BUSY = 5

/** `path` is the file. Keep a reference while it is held: Bun closes a database that is garbage collected. */
export function createLease(path: string) {
  let held: SqliteDatabase | undefined
  return {
    /**
     * - `held`: this process has it
     * - `busy`: another process has it
     * - `unavailable`: no lease is possible here (no SQLite in the host, a file system without locks), with the reason;
     *   the caller proceeds without one
     */
    async acquire(): Promise<"held" | "busy" | { unavailable: string }> {
      if (held) return "held"
      const Database = await findSqlite()
      if (!Database) return { unavailable: "the host has no SQLite" }
      let database: SqliteDatabase | undefined
      try {
        createLeaseFile(path)
        database = new Database(path, { readwrite: true, create: true })
        // in memory: otherwise BEGIN EXCLUSIVE on an empty file leaves a journal beside it
        database.exec("PRAGMA busy_timeout = 0; PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE")
        held = database
        return "held"
      } catch (error) {
        database?.close()
        const { code, errcode } = error as { code?: unknown; errcode?: unknown }
        if (String(code).startsWith("SQLITE_BUSY") || errcode === BUSY) return "busy"
        return { unavailable: errorMessage(error) }
      }
    },
    /** Idempotent. */
    release(): void {
      held?.close()
      held = undefined
    },
  }
}

/** Creates the file and its folder, with access for their owner only. Throws what the file system does. */
export function createLeaseFile(path: string): void {
  makePrivateFolder(dirname(path))
  // SQLite would follow the link and lock its target
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink())
    throw new Error(`${path} is a symbolic link; remove it`)
  createPrivateFile(path)
}
