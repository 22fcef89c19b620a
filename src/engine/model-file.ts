// Whether a model's file is the one that was checked when it was taken into use: by what the file system says of it where
// that is unchanged, else by its checksum. What llama.cpp is given to parse, this has looked at first.

import { createHash, type Hash } from "node:crypto"
import { createReadStream } from "node:fs"
import { stat } from "node:fs/promises"
import type { ModelRecord } from "./installed.ts"

type HashOptions = { signal?: AbortSignal; onProgress?: (doneBytes: number) => void }

/** In hexadecimal; undefined when there is no such file. Rejects when it is aborted or the disk does. */
export async function hashFile(path: string, options: HashOptions = {}): Promise<string | undefined> {
  const found = await stat(path).catch(() => undefined)
  return found?.isFile() ? (await feedFile(createHash("sha256"), path, options)).digest("hex") : undefined
}

/** Puts all of a file into the hash. */
export async function feedFile(hash: Hash, path: string, { signal, onProgress }: HashOptions = {}): Promise<Hash> {
  let doneBytes = 0
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20, ...(signal ? { signal } : {}) })) {
    hash.update(chunk as Buffer)
    doneBytes += (chunk as Buffer).length
    onProgress?.(doneBytes)
  }
  return hash
}

/**
 * What changes when a file does: size, times and inode. Nobody but root can set the time of the last change of the inode,
 * so that bytes put in place with the old time of modification are noticed too. Not the device: its number is another
 * each time that a network's or a container's file system is mounted. Undefined when there is no such file.
 */
export async function stampOf(path: string): Promise<string | undefined> {
  const found = await stat(path, { bigint: true }).catch(() => undefined)
  return found?.isFile() ? [found.size, found.mtimeNs, found.ctimeNs, found.ino].join("-") : undefined
}

/** Files whose checksum was right, by path, with their stamps: a gigabyte takes a second or more to hash. */
const verified = new Map<string, string>()

/**
 * In a sentence why the file is not to be loaded; undefined when it is as it was, or not there, which is for the engine
 * to say. Rejects when it is aborted or the disk does.
 */
export async function changedSince(
  { path, sha256, stamp: recorded }: Pick<ModelRecord, "path" | "sha256" | "stamp">,
  signal?: AbortSignal,
): Promise<string | undefined> {
  const stamp = await stampOf(path)
  if (stamp === undefined || stamp === recorded || stamp === verified.get(path)) return undefined
  if ((await hashFile(path, signal ? { signal } : {})) === sha256) {
    verified.set(path, stamp)
    return undefined
  }
  const again =
    "fetch it again with `npx opencode-hudfold setup`, or take it as it is with `npx opencode-hudfold model use`"
  return `${path} is not the file that was taken into use: its checksum is another one; ${again}`
}
