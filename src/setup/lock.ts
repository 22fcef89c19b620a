// Lets only one command at a time change what setup installs, by a lease. Another command waits. The lease's empty file stays,
// like that of the sidecar, until uninstalling removes both.

import { existsSync } from "node:fs"
import { rm } from "node:fs/promises"
import { dirname } from "node:path"
import { setTimeout as delay } from "node:timers/promises"
import { createLease, createLeaseFile } from "../engine/lease.ts"
import { SetupError, shortReason, systemCode } from "./errors.ts"

const POLL_MS = 200

export type LockOptions = {
  signal?: AbortSignal | undefined
  /** called once if another process holds the lock, with what to tell the user */
  onWait?: ((message: string) => void) | undefined
}

/**
 * Runs `work` while this process holds the lock at `path`; without a lock where there is no SQLite, or the file system has no
 * locks. On abort while waiting, rejects with the signal's reason; with UNWRITABLE if the file cannot be created.
 */
export async function withLock<T>(path: string, { signal, onWait }: LockOptions, work: () => Promise<T>): Promise<T> {
  try {
    createLeaseFile(path)
  } catch (cause) {
    const what = `${dirname(path)} is not writable (${shortReason(cause)}); set HUDFOLD_DATA to another folder`
    // an error without a code says itself what to do
    throw new SetupError("UNWRITABLE", systemCode(cause) ? what : shortReason(cause), { cause })
  }
  const lease = createLease(path)
  for (let waited = false; (await lease.acquire()) === "busy"; waited = true) {
    signal?.throwIfAborted()
    if (!waited) onWait?.("another setup is running; waiting for it")
    await delay(POLL_MS, undefined, { signal })
  }
  try {
    signal?.throwIfAborted()
    // uninstalling may have removed the file that was locked here, and the next command locks another
    return existsSync(path) ? await work() : await withLock(path, { signal, onWait }, work)
  } finally {
    lease.release()
  }
}

/** Removes the empty file of a lease, unless another process holds it. Never rejects. */
export async function removeLease(path: string): Promise<void> {
  const lease = createLease(path)
  if (!existsSync(path) || (await lease.acquire()) === "busy") return
  const remove = () => rm(path, { force: true }).catch((error: unknown) => error)
  // while it is held: the file may be another process's a moment later. Windows removes no open file.
  const failure = await remove()
  lease.release()
  if (failure) await remove()
}
