// Lets only one setup at a time work on a target, by a lease beside it that is removed afterwards. Another setup waits.

import { statSync } from "node:fs"
import { rm } from "node:fs/promises"
import { dirname } from "node:path"
import { setTimeout as delay } from "node:timers/promises"
import { createLease, createLeaseFile, type Lease } from "../engine/lease.ts"
import { SetupError, shortReason } from "./errors.ts"

const POLL_MS = 200

export type LockOptions = {
  signal?: AbortSignal | undefined
  /** called once if another process holds the lock */
  onWait?: (() => void) | undefined
}

/**
 * Runs `work` while this process holds the lock at `path`; without a lock where there is no SQLite, or the file system has no
 * locks. On abort while waiting, rejects with the signal's reason; with UNWRITABLE if the file cannot be created.
 */
export async function withLock<T>(path: string, { signal, onWait }: LockOptions, work: () => Promise<T>): Promise<T> {
  const lease = createLease(path)
  for (let waited = false; !(await take(lease, path)); waited = true) {
    signal?.throwIfAborted()
    if (!waited) onWait?.()
    await delay(POLL_MS, undefined, signal ? { signal } : {})
  }
  try {
    signal?.throwIfAborted()
    return await work()
  } finally {
    await removeLease(lease, path)
  }
}

/** Removes the file of a lease that this process holds, and releases it. Never rejects. */
export async function removeLease(lease: Lease, path: string): Promise<void> {
  // while it is held: the file may be the next holder's a moment later. Windows removes no open file.
  const isRemoved = await rm(path, { force: true }).then(
    () => true,
    () => false,
  )
  lease.release()
  if (!isRemoved) await rm(path, { force: true }).catch(() => {})
}

async function take(lease: Lease, path: string): Promise<boolean> {
  try {
    createLeaseFile(path)
  } catch (cause) {
    const what = `${dirname(path)} is not writable (${shortReason(cause)})`
    throw new SetupError("UNWRITABLE", `${what}; set HUDFOLD_DATA to another folder`, { cause })
  }
  const created = inodeOf(path)
  if ((await lease.acquire()) === "busy") return false
  // its last holder may have removed the file that was locked here
  if (inodeOf(path) === created) return true
  lease.release()
  return false
}

function inodeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.ino
}
