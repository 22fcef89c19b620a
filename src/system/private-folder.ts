// Folders and files that only their user may change: creating them, and detecting that others have access, or that a file has
// changed. Their content is trusted and executed, so a folder that somebody else can write to is not used at all.

import { randomUUID } from "node:crypto"
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from "node:fs"
import { stat } from "node:fs/promises"
import { basename, dirname, join } from "node:path"

const PRIVATE = 0o700
const OTHERS = 0o077
const OTHERS_WRITE = 0o002
/** In a sticky folder such as /tmp everybody may create files, but not rename or delete those of others. */
const STICKY = 0o1000

const ELSEWHERE = "choose another folder with HUDFOLD_DATA"

/**
 * Creates the folder, and missing ones above it, with mode 0700. An existing folder keeps its mode, since it may serve
 * other purposes too, unless `isOwn` says that only the plugin uses it. Throws system errors, and an error that says what
 * to do when others have access to the folder.
 */
export function makePrivateFolder(folder: string, isOwn = false): void {
  mkdirSync(folder, { recursive: true, mode: PRIVATE })
  const why = whyUntrusted(folder)
  if (why !== undefined) throw new Error(why)
  if (isOwn) restrictToOwner(realpathSync(folder), PRIVATE)
}

/**
 * Creates an empty file with mode 0600 if there is none. Never opens one that exists: a POSIX lock belongs to the process, and
 * closing any descriptor of the file releases it. Throws system errors.
 */
export function createPrivateFile(path: string): void {
  try {
    writeFileSync(path, "", { mode: 0o600, flag: "wx" })
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error
  }
}

/**
 * Why a file or folder must not be trusted, in a sentence that says what to do. Undefined when it can be trusted, and when
 * it does not exist or cannot be read, which opening it will report. It must belong to the user or root, as must a link to
 * it, and others must not be able to write to it. `mayBeSticky` accepts a folder such as /tmp, for callers that check each
 * file in it as well.
 */
export function whyUntrusted(path: string, mayBeSticky = true): string | undefined {
  // Windows has no numeric owners and no such modes; there the user's profile keeps others out
  if (process.getuid === undefined) return undefined
  const trusted = new Set([process.getuid(), 0])
  let found: { link: Stats; target: Stats }
  try {
    found = { link: lstatSync(path), target: statSync(path) }
  } catch {
    return undefined
  }
  const { link, target } = found
  if (!trusted.has(link.uid) || !trusted.has(target.uid))
    return `${path} belongs to another user, so it is not used; ${ELSEWHERE}`
  const isSticky = target.isDirectory() && (target.mode & STICKY) !== 0
  if ((target.mode & OTHERS_WRITE) !== 0 && !(isSticky && mayBeSticky))
    return `others can write to ${path}, so it is not used; chmod go-w it, or ${ELSEWHERE}`
  return undefined
}

/** Whether merely looking at the path makes Windows log in to another machine, with the user's name and password hash. */
export function isRemote(path: string): boolean {
  return /^[\\/]{2}/.test(path)
}

/**
 * Writes a file with mode 0600 under a temporary name and moves it into place, so readers find the old file or the new
 * one. The temporary name cannot be guessed and must not exist, so no link is followed. Synchronous, so that an interrupted
 * process leaves no temporary file. Throws the error of the file system.
 */
export function writePrivate(path: string, content: string | Uint8Array): void {
  const temporary = join(dirname(path), `.${basename(path)}.${randomUUID()}.tmp`)
  try {
    writeFileSync(temporary, content, { mode: 0o600, flag: "wx" })
    renameSync(temporary, path)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
}

/** Removes others' access to a folder and everything in it. Links are left alone. */
export function restrictTreeToOwner(folder: string): void {
  restrictToOwner(folder, PRIVATE)
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) restrictTreeToOwner(path)
    // executables stay executable
    else if (entry.isFile()) restrictToOwner(path, lstatSync(path).mode & PRIVATE)
  }
}

/**
 * Sets the mode if others have access. Failures are ignored: some file systems have no modes, and a file of another user
 * cannot be changed, but both can be used. Never follows a link, whose target may be anything.
 */
export function restrictToOwner(path: string, mode: number): void {
  try {
    const found = lstatSync(path)
    if (!found.isSymbolicLink() && (found.mode & OTHERS) !== 0) chmodSync(path, mode)
  } catch {}
}

/**
 * Identifies a file's state by size, mtime, ctime and inode. Only root can set the ctime, so a change that restores the
 * mtime is noticed too. Excludes the device, whose number changes with every mount of a network or container file system.
 * Undefined if there is no such file.
 */
export async function fileStamp(path: string): Promise<string | undefined> {
  const found = await stat(path, { bigint: true }).catch(() => undefined)
  return found?.isFile() ? [found.size, found.mtimeNs, found.ctimeNs, found.ino].join("-") : undefined
}
