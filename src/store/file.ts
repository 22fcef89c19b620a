// The store's file before and beside SQLite: making it private, looking at its header, setting a broken one aside.
import { chmodSync, closeSync, mkdirSync, openSync, readSync, renameSync, statSync } from "node:fs"
import { dirname } from "node:path"
import { StoreError } from "./errors.ts"
import { schemaVersion } from "./migrations/index.ts"
import { dataFolder } from "./paths.ts"

/** Makes folder and file with modes 0700 and 0600 and answers the file's inode. Throws system errors. */
export function prepareFile(path: string): number {
  const folder = dirname(path)
  const made = mkdirSync(folder, { recursive: true, mode: 0o700 })
  // A folder somebody else made may serve other purposes as well; only ours is closed to others.
  if (made === undefined && folder === dataFolder({ ...process.env, OPENCODE_HUD_DATA: undefined }))
    tryChmod(folder, 0o700)
  closeSync(openSync(path, "a", 0o600))
  return statSync(path).ino
}

/**
 * Throws STORE_NEWER when the file's own header says so, before SQLite has touched it: opening it for writing may
 * already move its write-ahead log into it.
 */
export function refuseNewer(path: string): void {
  const header = readHeader(path)
  if (header === undefined || header.toString("latin1", 0, 15) !== "SQLite format 3") return
  const version = header.readUInt32BE(60)
  if (version > schemaVersion) throw newer(path, version)
}

export function newer(path: string, version: number): StoreError {
  return new StoreError(
    "STORE_NEWER",
    `${path} was written by a newer opencode-hud (schema ${version}, this one knows ${schemaVersion}); update the plugin`,
  )
}

/** SQLite gives -wal and -shm the mode of the file; this is for files that came with another one. */
export function closeToOthers(path: string): void {
  for (const suffix of ["", "-wal", "-shm"]) tryChmod(path + suffix, 0o600)
}

/**
 * Renames the file and its log out of the way and answers its new path; undefined when another process already has, so
 * that the file now at `path` is not the one found broken. Throws system errors.
 */
export function setAside(path: string, inode: number): string | undefined {
  if (statSync(path, { throwIfNoEntry: false })?.ino !== inode) return undefined
  const stamp = new Date().toISOString().replace(/[-:]/g, "")
  const aside = `${path}.corrupt-${stamp}`
  // A file cannot be trusted to be private just because it is broken.
  closeToOthers(path)
  renameSync(path, aside)
  for (const suffix of ["-wal", "-shm"]) {
    if (statSync(path + suffix, { throwIfNoEntry: false })) renameSync(path + suffix, aside + suffix)
  }
  return aside
}

function readHeader(path: string): Buffer | undefined {
  const header = Buffer.alloc(100)
  try {
    const file = openSync(path, "r")
    try {
      return readSync(file, header, 0, header.length, 0) === header.length ? header : undefined
    } finally {
      closeSync(file)
    }
  } catch {
    // Missing is fine, and what else is wrong with it is for SQLite to say.
    return undefined
  }
}

// Not every file system knows modes, and a file of another user's refuses: neither is a reason not to use it.
function tryChmod(path: string, mode: number): void {
  try {
    chmodSync(path, mode)
  } catch {}
}
