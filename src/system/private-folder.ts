// Folders and files that are their user's alone: making them, and finding out when others have a say in one. What lies in
// such a folder is believed and run, so that a folder somebody else can write to is not used at all.

import { randomUUID } from "node:crypto"
import { chmodSync, lstatSync, mkdirSync, readdirSync, realpathSync, type Stats, statSync } from "node:fs"
import { rename, rm, writeFile } from "node:fs/promises"
import { basename, dirname, join } from "node:path"

const PRIVATE = 0o700
const OTHERS = 0o077
const OTHERS_WRITE = 0o002
/** In a folder such as /tmp everybody can write, but not take away what is another's. */
const STICKY = 0o1000

const ELSEWHERE = "choose another folder with HUDFOLD_DATA"

/**
 * Makes the folder, and what is missing above it, with mode 0700. One that was there keeps its mode, since it may serve
 * other purposes too, unless `isOwn` says that it is the plugin's alone. Throws system errors, and one in words for a
 * folder that others have a say in.
 */
export function makePrivateFolder(folder: string, isOwn = false): void {
  mkdirSync(folder, { recursive: true, mode: PRIVATE })
  const why = sharedWith(folder)
  if (why !== undefined) throw new Error(why)
  if (isOwn) keepToOwner(realpathSync(folder), PRIVATE)
}

/**
 * Why a file or folder is not to be believed, in a sentence that says what to do; undefined when it is, and when it is not
 * there or cannot be looked at, which who opens it will be told. It has to belong to the user, or to root, and others must
 * not be able to write to it; nor, where it is a link, may the link be somebody else's. `mayBeSticky`: a folder such as
 * /tmp will do, since who asks looks at each file in it too.
 */
export function sharedWith(path: string, mayBeSticky = true): string | undefined {
  // Windows has neither owners as numbers nor such modes: there the user's profile keeps others out
  if (process.getuid === undefined) return undefined
  const own = new Set([process.getuid(), 0])
  const [link, found] = [lstatSync, statSync].map((look) => lookAt(path, look))
  if (!link || !found) return undefined
  if (!own.has(link.uid) || !own.has(found.uid))
    return `${path} belongs to another user, and so it is not used; ${ELSEWHERE}`
  const isSticky = found.isDirectory() && (found.mode & STICKY) !== 0
  if ((found.mode & OTHERS_WRITE) !== 0 && !(isSticky && mayBeSticky))
    return `others can write to ${path}, and so it is not used; chmod go-w it, or ${ELSEWHERE}`
  return undefined
}

/** Whether the mere look at a path would make Windows log in at another machine, with the user's name and password's hash. */
export function isRemote(path: string): boolean {
  return /^[\\/]{2}/.test(path)
}

function lookAt(path: string, look: (path: string) => Stats): Stats | undefined {
  try {
    return look(path)
  } catch {
    return undefined
  }
}

export type WriteOptions = {
  signal?: AbortSignal | undefined
  /** Asked right before the file is moved in place; throws where nothing may be put. */
  check?: (path: string) => Promise<void>
}

/**
 * Writes a file with mode 0600 aside and moves it in place, so that there is the old one or the new one. Aside under a name
 * that nobody can guess, and only where nothing is, so that no link is followed. Rejects when the disk does, with the
 * signal's reason, and with what `check` throws.
 */
export async function writePrivate(
  path: string,
  content: string | Uint8Array,
  { signal, check }: WriteOptions = {},
): Promise<void> {
  const fresh = join(dirname(path), `.${basename(path)}.${randomUUID()}.tmp`)
  try {
    await writeFile(fresh, content, { mode: 0o600, flag: "wx", ...(signal ? { signal } : {}) })
    await check?.(path)
    await rename(fresh, path)
  } catch (error) {
    await rm(fresh, { force: true }).catch(() => {})
    throw error
  }
}

/** Takes from others what they may do with a folder and all that is in it. Links are left alone. */
export function keepAllToOwner(folder: string): void {
  keepToOwner(folder, PRIVATE)
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) keepAllToOwner(path)
    // what can be executed stays so
    else if (entry.isFile()) keepToOwner(path, lstatSync(path).mode & PRIVATE)
  }
}

/**
 * Takes from others what they may do with it. Not every file system knows modes, and a file of another user's refuses:
 * neither is a reason not to use it. Never through a link, whose target may be anything.
 */
export function keepToOwner(path: string, mode: number): void {
  try {
    const found = lstatSync(path)
    if (!found.isSymbolicLink() && (found.mode & OTHERS) !== 0) chmodSync(path, mode)
  } catch {}
}
