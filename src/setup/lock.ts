// Lets only one setup at a time work on a target: a lock file beside it names the holder's process and is touched while
// the work lasts. Another setup waits, and takes over the lock of a dead holder.

import { randomUUID } from "node:crypto"
import { link, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises"
import { hostname } from "node:os"
import { dirname } from "node:path"
import { setTimeout as delay } from "node:timers/promises"
import { makePrivateFolder } from "../system/private-folder.ts"
import { isRunning } from "../system/process.ts"
import { asRecord } from "../system/values.ts"
import { SetupError, shortReason, systemCode } from "./errors.ts"

const POLL_MS = 200
const REFRESH_MS = 5_000
/** A holder that has not refreshed its lock for this long is gone or suspended. */
const STALE_MS = 30_000
const FAILED_WRITE_CODES: ReadonlySet<string> = new Set(["ENOSPC", "EDQUOT", "EFBIG", "EIO"])

export type LockOptions = {
  signal?: AbortSignal | undefined
  /** called once if another process holds the lock */
  onWait?: ((pid: number) => void) | undefined
}

type Holder = { pid: number; host: string; token: string }

/** Runs `work` while this process holds the lock at `path`. On abort while waiting, rejects with the signal's reason. */
export async function withLock<T>(path: string, { signal, onWait }: LockOptions, work: () => Promise<T>): Promise<T> {
  const own: Holder = { pid: process.pid, host: hostname(), token: randomUUID() }
  let staleSinceMs: number | undefined
  for (let looks = 0, waited = false; !(await create(path, own)); looks++) {
    signal?.throwIfAborted()
    const holder = await readHolder(path)
    const state = holder === "gone" ? "gone" : await stateOf(path, holder)
    staleSinceMs = state === "stale" ? (staleSinceMs ?? performance.now()) : undefined
    // a live holder gets time to refresh its lock, because the system clock may have been set
    const isOverdue = staleSinceMs !== undefined && performance.now() - staleSinceMs > 2 * REFRESH_MS
    if (holder !== "gone" && (state === "abandoned" || isOverdue)) await removeLock(path, holder)
    // a holder that has just made the file may not have written its name yet
    else if (holder !== "gone" && !waited && (holder || looks > 0)) {
      onWait?.(holder?.pid ?? 0)
      waited = true
    }
    await delay(POLL_MS, undefined, signal ? { signal } : {})
  }
  const refresh = setInterval(() => void utimes(path, new Date(), new Date()).catch(() => {}), REFRESH_MS)
  refresh.unref()
  try {
    signal?.throwIfAborted()
    return await work()
  } finally {
    clearInterval(refresh)
    const holder = await readHolder(path)
    if (holder !== "gone" && holder?.token === own.token) await rm(path, { force: true })
  }
}

async function create(path: string, own: Holder): Promise<boolean> {
  const refusal = (cause: unknown) => {
    const what = `${dirname(path)} is not writable (${shortReason(cause)})`
    return new SetupError("UNWRITABLE", `${what}; set HUDFOLD_DATA to another folder`, { cause })
  }
  try {
    makePrivateFolder(dirname(path))
  } catch (error) {
    throw refusal(error)
  }
  try {
    await writeFile(path, JSON.stringify(own), { flag: "wx", mode: 0o600 })
    return true
  } catch (error) {
    if (systemCode(error) === "EEXIST") return false
    // on a full disk the file exists but is empty
    if (FAILED_WRITE_CODES.has(systemCode(error) ?? "")) await rm(path, { force: true }).catch(() => {})
    throw refusal(error)
  }
}

/** undefined: the file exists, but its content is empty or invalid */
async function readHolder(path: string): Promise<Holder | "gone" | undefined> {
  try {
    return asRecord(JSON.parse(await readFile(path, "utf8"))) as Holder | undefined
  } catch (error) {
    return systemCode(error) === "ENOENT" ? "gone" : undefined
  }
}

/** `abandoned`: the holder is gone; `stale`: not refreshed, although the holder's process exists. */
async function stateOf(path: string, holder: Holder | undefined): Promise<"fresh" | "stale" | "abandoned"> {
  const touched = await stat(path).catch(() => undefined)
  if (!touched) return "fresh"
  const isHere = holder !== undefined && holder.host === hostname()
  if (isHere && !isRunning(holder.pid)) return "abandoned"
  // a time in the future counts as old: otherwise a clock set back by an hour would be waited for
  if (Math.abs(Date.now() - touched.mtimeMs) <= STALE_MS) return "fresh"
  return isHere ? "stale" : "abandoned"
}

/** Removes an abandoned lock. Renames it first, so that two waiting processes do not remove each other's new lock. */
async function removeLock(path: string, holder: Holder | undefined): Promise<void> {
  const aside = `${path}.${randomUUID()}`
  try {
    await rename(path, aside)
  } catch {
    return
  }
  const taken = await readHolder(aside)
  // another process was faster, and this is its new lock
  if (taken !== "gone" && taken?.token !== holder?.token) await link(aside, path).catch(() => {})
  await rm(aside, { force: true })
}
