// The store's file before and beside SQLite: making it private, looking at its header, setting a broken one aside.
import { closeSync, constants, lstatSync, openSync, readSync, renameSync, statSync } from "node:fs"
import { basename, dirname } from "node:path"
import { dataFolder, STORE_NAME } from "../system/data-folder.ts"
import { keepToOwner, makePrivateFolder, sharedWith } from "../system/private-folder.ts"
import { StoreError } from "./errors.ts"
import { applicationID, schemaVersion } from "./migrations/index.ts"

const LOGS = ["-wal", "-shm", "-journal"]

/**
 * Makes folder and file with modes 0700 and 0600 and answers the file's inode. Throws system errors, and where others
 * have a say in the folder or the file, or the file is a link.
 */
export function prepareFile(path: string): number {
  const folder = dirname(path)
  makePrivateFolder(folder, folder === dataFolder({ ...process.env, HUDFOLD_DATA: undefined }))
  const found = lstatSync(path, { throwIfNoEntry: false })
  // what it leads to would be written to, and set aside if it is no database
  if (found?.isSymbolicLink())
    throw new StoreError(
      "STORE_FOREIGN",
      `${path} is a symbolic link, and is not followed; put the file in its place, or set HUDFOLD_DATA to its folder`,
    )
  // opening a pipe would wait for who reads it
  if (found && !found.isFile() && !found.isDirectory()) throw new StoreError("STORE_FOREIGN", `${path} is no file`)
  // SQLite takes what a log holds for the file's newest pages, whoever put the log there
  const why = ["", ...LOGS].map((suffix) => sharedWith(path + suffix)).find((one) => one !== undefined)
  if (why !== undefined) throw new StoreError("STORE_FOREIGN", why)
  const { O_WRONLY, O_APPEND, O_CREAT, O_NOFOLLOW = 0 } = constants
  closeSync(openSync(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW, 0o600))
  return statSync(path).ino
}

/**
 * Looks at the file's header before SQLite has touched it. Throws STORE_NEWER when it says so: opening it for writing may
 * already move its write-ahead log into it. Throws STORE_FOREIGN for what is no database and not called as ours is: the
 * path is an option's, which a project may have set, and a file that counts as a broken store is moved out of the way.
 */
export function refuseOthers(path: string): void {
  const header = readHeader(path)
  if (header === undefined || header.toString("latin1", 0, 15) !== "SQLite format 3") {
    const isEmpty = !statSync(path, { throwIfNoEntry: false })?.size
    if (isEmpty || basename(path) === STORE_NAME) return
    throw foreign(path)
  }
  const version = header.readUInt32BE(60)
  if (version > schemaVersion) throw newer(path, version)
}

function foreign(path: string): StoreError {
  return new StoreError("STORE_FOREIGN", `${path} is no store of hudfold and is left alone; correct store.path`)
}

export function newer(path: string, version: number): StoreError {
  return new StoreError(
    "STORE_NEWER",
    `${path} was written by a newer opencode-hudfold (schema ${version}, this one knows ${schemaVersion}); update the plugin`,
  )
}

/** SQLite gives -wal and -shm the mode of the file; this is for files that came with another one. */
export function closeToOthers(path: string): void {
  for (const suffix of ["", "-wal", "-shm"]) keepToOwner(path + suffix, 0o600)
}

/**
 * Renames the file and its log out of the way and answers its new path; undefined when another process already has, so
 * that the file now at `path` is not the one found broken. Throws STORE_FOREIGN for one that is not called as ours is and does
 * not say that it is one, and system errors.
 */
export function setAside(path: string, inode: number): string | undefined {
  if (statSync(path, { throwIfNoEntry: false })?.ino !== inode) return undefined
  if (basename(path) !== STORE_NAME && readHeader(path)?.readUInt32BE(68) !== applicationID) throw foreign(path)
  const stamp = new Date().toISOString().replace(/[-:]/g, "")
  const aside = freeName(`${path}.corrupt-${stamp}`)
  // A file cannot be trusted to be private just because it is broken.
  closeToOthers(path)
  renameSync(path, aside)
  for (const suffix of ["-wal", "-shm"]) {
    if (statSync(path + suffix, { throwIfNoEntry: false })) renameSync(path + suffix, aside + suffix)
  }
  return aside
}

// Two broken ones in one millisecond: the second must not take the place of the first, which is the one with the data.
function freeName(path: string): string {
  for (let more = 1; ; more++) {
    const name = more === 1 ? path : `${path}.${more}`
    if (!statSync(name, { throwIfNoEntry: false })) return name
  }
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
