// Folders of files as setup handles them: how big, whether there is room, and one put in another's place.

import { access, lstat, mkdir, mkdtemp, readdir, rename, rm, statfs } from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import { reasonOf, SetupError } from "./errors.ts"

const FRESH = ".new-"
/** Never take the last of a disk. */
const RESERVE_BYTES = 100_000_000

export async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}

/** A new folder beside a place, for what will be put there. The one left behind by a run that was killed is removed. */
export async function freshBeside(place: string): Promise<string> {
  for (const path of await leftBeside(place)) await rm(path, { recursive: true, force: true })
  // A name of its own each time: the installer of a run that was killed may still be writing into its one.
  return mkdtemp(`${place}${FRESH}`)
}

/** What runs that were killed have left beside a place. */
export async function leftBeside(place: string): Promise<string[]> {
  const name = basename(place)
  const names = await readdir(dirname(place)).catch(() => [])
  return names
    .filter((one) => one.startsWith(`${name}${FRESH}`) || one === `${name}.old`)
    .map((one) => join(dirname(place), one))
}

/** Of all files below it, or of the file; 0 when there is nothing. */
export async function sizeOf(path: string): Promise<number> {
  const found = await lstat(path).catch(() => undefined)
  if (!found) return 0
  if (!found.isDirectory()) return found.size
  const names = await readdir(path)
  const sizes = await Promise.all(names.map((name) => sizeOf(join(path, name))))
  return sizes.reduce((total, bytes) => total + bytes, 0)
}

/** Rejects with DISK_FULL. Makes the folder. Where the file system does not say what is free, it is taken for enough. */
export async function checkRoom(folder: string, bytes: number): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const free = (await freeIn(folder)) ?? Number.POSITIVE_INFINITY
  if (free >= bytes + RESERVE_BYTES) return
  const what = `${folder} needs room for ${megabytes(bytes + RESERVE_BYTES)}, and ${megabytes(free)} is free`
  throw new SetupError("DISK_FULL", `${what}; free some, or set HUDFOLD_DATA to a folder on another disk`)
}

/** Bytes; undefined where the file system does not say. */
export async function freeIn(folder: string): Promise<number | undefined> {
  return statfs(folder).then(
    (disk) => disk.bavail * disk.bsize,
    () => undefined,
  )
}

export function megabytes(bytes: number): string {
  if (bytes >= 1e9) return `${(bytes / 1e9).toFixed(1)} GB`
  return bytes >= 1e6 ? `${Math.round(bytes / 1e6)} MB` : `${Math.ceil(bytes / 1e3)} kB`
}

/**
 * Puts a finished folder in the place of another, or of none. There is no moment in which a reader finds half of one;
 * between two renames there may be none. Rejects with IN_USE, and the old one is then where it was.
 */
export async function putInPlace(finished: string, place: string): Promise<void> {
  const old = `${place}.old`
  await rm(old, { recursive: true, force: true })
  await mkdir(dirname(place), { recursive: true, mode: 0o700 })
  const had = await exists(place)
  try {
    if (had) await rename(place, old)
    await rename(finished, place)
  } catch (cause) {
    if (had && !(await exists(place))) await rename(old, place).catch(() => {})
    const why = reasonOf(cause)
    throw new SetupError("IN_USE", `${place} could not be replaced (${why}); close OpenCode and run it again`, {
      cause,
    })
  }
  // what still runs from it on Windows stays until the next time
  await rm(old, { recursive: true, force: true }).catch(() => {})
}
