// Folders and disk space: free space, and replacing one folder by another.

import { existsSync } from "node:fs"
import { mkdir, mkdtemp, readdir, rename, rm, statfs } from "node:fs/promises"
import { dirname, join } from "node:path"
import { byteSize } from "../text/format.ts"
import { SetupError, shortReason } from "./errors.ts"

const STAGING = ".new-"
/** Disk space that is always left free. */
const RESERVE_BYTES = 100_000_000

/** Makes a folder beside `place` for its replacement. Removes what killed runs left there, but puts back the old folder. */
export async function makeStagingFolder(place: string): Promise<string> {
  await mkdir(dirname(place), { recursive: true, mode: 0o700 })
  if (!existsSync(place)) await rename(`${place}.old`, place).catch(() => {})
  for (const path of await leftoversBeside(place)) await rm(path, { recursive: true, force: true }).catch(() => {})
  // a unique name, because the installer of a killed run may still be writing to its folder, which then stays as well
  return mkdtemp(`${place}${STAGING}`)
}

/** What killed runs left beside a place. */
export async function leftoversBeside(place: string): Promise<string[]> {
  const names = await readdir(dirname(place)).catch(() => [])
  const paths = names.map((name) => join(dirname(place), name))
  return paths.filter((path) => path.startsWith(`${place}${STAGING}`) || path === `${place}.old`)
}

/** Rejects with DISK_FULL. Makes the folder. Passes if the file system does not report its free space. */
export async function checkRoom(folder: string, bytes: number): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const free = (await freeIn(folder)) ?? Number.POSITIVE_INFINITY
  if (free >= bytes + RESERVE_BYTES) return
  const what = `${folder} needs ${byteSize(bytes + RESERVE_BYTES)} of disk space, and ${byteSize(free)} is free`
  throw new SetupError("DISK_FULL", `${what}; free some, or set HUDFOLD_DATA to a folder on another disk`)
}

/** Free bytes; undefined if the file system does not report them. */
export async function freeIn(folder: string): Promise<number | undefined> {
  const disk = await statfs(folder).catch(() => undefined)
  return disk && disk.bavail * disk.bsize
}

/**
 * Replaces the folder at `place`, if any, by a finished one. Readers never see a partial folder, but between the two renames
 * there is none. Rejects with IN_USE and leaves the old folder where it was.
 */
export async function replaceFolder(finished: string, place: string): Promise<void> {
  const old = `${place}.old`
  await rm(old, { recursive: true, force: true })
  const had = existsSync(place)
  try {
    if (had) await rename(place, old)
    await rename(finished, place)
  } catch (cause) {
    if (had && !existsSync(place)) await rename(old, place).catch(() => {})
    const what = `${place} could not be replaced (${shortReason(cause)})`
    throw new SetupError("IN_USE", `${what}; close OpenCode and run the command again`, { cause })
  }
  // on Windows, files in use stay until the next setup
  await rm(old, { recursive: true, force: true }).catch(() => {})
}
