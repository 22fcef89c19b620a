// The store's file outside of SQLite: making it private, checking its header, setting a broken one aside.
import { randomBytes } from "node:crypto"
import { closeSync, lstatSync, openSync, readdirSync, readSync, renameSync, rmSync, statSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { dataFolder, STORE_NAME } from "../system/data-folder.ts"
import { createPrivateFile, makePrivateFolder, restrictToOwner, whyUntrusted } from "../system/private-folder.ts"
import { StoreError } from "./errors.ts"
import { applicationID, schemaVersion } from "./migrations.ts"

const LOGS = ["-wal", "-shm", "-journal"]

/** Throws STORE_FOREIGN for a link, a pipe or a folder. */
export function refuseSpecial(path: string): void {
  const found = lstatSync(path, { throwIfNoEntry: false })
  // following it would write to its target, or set the target aside if that is not a database
  if (found?.isSymbolicLink())
    throw new StoreError(
      "STORE_FOREIGN",
      `${path} is a symbolic link and is not followed; replace it with the file, or set HUDFOLD_DATA to the file's folder`,
    )
  // opening a pipe would wait for its reader
  if (found && !found.isFile()) throw new StoreError("STORE_FOREIGN", `${path} is not a file`)
}

/**
 * Creates folder and file with modes 0700 and 0600 and returns the file's inode. Throws system errors, and STORE_FOREIGN if
 * others can write to the folder or the file, or if it is no regular file.
 */
export function prepareFile(path: string): number {
  const folder = dirname(path)
  makePrivateFolder(folder, folder === dataFolder({ ...process.env, HUDFOLD_DATA: undefined }))
  refuseSpecial(path)
  // SQLite reads the file's newest pages from a log, whoever put the log there
  const why = ["", ...LOGS].map((suffix) => whyUntrusted(path + suffix)).find((one) => one !== undefined)
  if (why !== undefined) throw new StoreError("STORE_FOREIGN", why)
  createPrivateFile(path)
  return statSync(path).ino
}

/**
 * Checks the file's header before SQLite opens it. Throws STORE_NEWER for a newer schema: opening the file for writing could
 * already checkpoint its write-ahead log. Throws STORE_FOREIGN for a file that is neither a database nor named like ours: the
 * path may come from a project's options, and a file taken for a broken store would be moved away.
 */
export function refuseOthers(path: string): void {
  const header = readHeader(path)
  if (header === undefined || header.toString("latin1", 0, 15) !== "SQLite format 3") {
    const isEmpty = !statSync(path, { throwIfNoEntry: false })?.size
    if (isEmpty || basename(path) === STORE_NAME) return
    throw foreign(path)
  }
  refuseNewer(path, header.readUInt32BE(60))
}

function foreign(path: string): StoreError {
  return new StoreError("STORE_FOREIGN", `${path} is not a hudfold store and is left alone; correct store.path`)
}

/** Throws STORE_NEWER. For the `user_version` too, since the header may be older than the write-ahead log. */
export function refuseNewer(path: string, version: number): void {
  if (version <= schemaVersion) return
  throw new StoreError(
    "STORE_NEWER",
    `${path} was written by a newer opencode-hudfold (schema ${version}, this one knows ${schemaVersion}); update the plugin, or name another file in store.path`,
  )
}

/** SQLite gives -wal and -shm the mode of the file; this corrects existing files with another mode. */
export function closeToOthers(path: string): void {
  for (const suffix of ["", "-wal", "-shm"]) restrictToOwner(path + suffix, 0o600)
}

/**
 * Renames the file and its log and returns the new path; undefined if another process already did, so that the file now at
 * `path` is not the broken one. Throws STORE_FOREIGN for a file that is neither named nor marked as ours, and system errors.
 */
export function setAside(path: string, inode: number): string | undefined {
  if (statSync(path, { throwIfNoEntry: false })?.ino !== inode) return undefined
  if (basename(path) !== STORE_NAME && readHeader(path)?.readUInt32BE(68) !== applicationID) throw foreign(path)
  // If two files break within a millisecond, the second must not replace the first, which is the one with the data.
  const aside = `${path}${ASIDE}${stampOf(Date.now())}.${randomBytes(4).toString("hex")}`
  // A broken file may still hold private data.
  closeToOthers(path)
  renameSync(path, aside)
  for (const suffix of ["-wal", "-shm"]) {
    if (statSync(path + suffix, { throwIfNoEntry: false })) renameSync(path + suffix, aside + suffix)
  }
  return aside
}

const ASIDE = ".corrupt-"

/** A time that sorts as text and is part of a file's name. */
function stampOf(ms: number): string {
  return new Date(ms).toISOString().replace(/[-:]/g, "")
}

/** Removes what was set aside before that time, in ms since 1970; what cannot be removed stays. */
export function removeAside(path: string, beforeMs: number): void {
  const prefix = `${basename(path)}${ASIDE}`
  const remove = (name: string) => {
    try {
      rmSync(join(dirname(path), name))
    } catch {}
  }
  try {
    // the century: other names are not ours
    for (const name of readdirSync(dirname(path)))
      if (name.startsWith(`${prefix}2`) && name < prefix + stampOf(beforeMs)) remove(name)
  } catch {}
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
    // A missing file is fine, and SQLite reports any other problem.
    return undefined
  }
}
