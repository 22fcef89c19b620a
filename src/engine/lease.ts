// Who of several OpenCode processes may load the model: whoever holds the lock of one SQLite file. The system gives it
// back however its holder ends, on every platform, and nothing is ever written to the file. See decisions/010.

import type { Database } from "bun:sqlite"
import { closeSync, lstatSync, openSync } from "node:fs"
import { join } from "node:path"
import { makePrivateFolder } from "../system/private-folder.ts"

/** To be kept for as long as it is held: Bun closes a database that nobody refers to any more. */
export type Lease = {
  /**
   * - `held`: this process has it, from now on or already
   * - `busy`: another one has it
   * - `unavailable`: there can be none here (no SQLite in the host, a file system without locks), and `why` says so;
   *   one goes without
   */
  acquire(): Promise<"held" | "busy" | { unavailable: string }>
  /** Idempotent. */
  release(): void
}

export function createLease(folder: string): Lease {
  const path = join(folder, "sidecar.lease")
  let held: Database | undefined
  return {
    async acquire() {
      if (held) return "held"
      if (!process.versions.bun) return { unavailable: "the host has no SQLite" }
      try {
        const { Database } = await import("bun:sqlite")
        makePrivate(folder, path)
        const database = new Database(path, { readwrite: true, create: true })
        try {
          // the journal in memory: BEGIN EXCLUSIVE on an empty file would otherwise leave one beside it
          database.exec("PRAGMA busy_timeout = 0; PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE")
        } catch (error) {
          database.close()
          throw error
        }
        held = database
        return "held"
      } catch (error) {
        const code = error instanceof Error && "code" in error ? String(error.code) : ""
        if (code.startsWith("SQLITE_BUSY")) return "busy"
        return { unavailable: error instanceof Error ? error.message : String(error) }
      }
    },
    release() {
      held?.close()
      held = undefined
    },
  }
}

/**
 * Only ever creates: a lock of POSIX belongs to the process, and closing any descriptor of the file, as a chmod of an
 * open one or another look at it would, gives it up for all of them.
 */
function makePrivate(folder: string, path: string): void {
  makePrivateFolder(folder)
  // SQLite would follow it, and lock whatever database it leads to
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) throw new Error(`${path} is a symbolic link`)
  try {
    closeSync(openSync(path, "wx", 0o600))
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error
  }
}
