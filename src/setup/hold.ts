// One setup at a time for one thing: a lock file beside it, with its holder's process, kept fresh while the work lasts. A
// second setup waits; a lock whose holder has died is taken over.

import { randomUUID } from "node:crypto"
import { link, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises"
import { hostname } from "node:os"
import { dirname } from "node:path"
import { setTimeout as delay } from "node:timers/promises"
import { makePrivateFolder } from "../system/private-folder.ts"
import { reasonOf, SetupError, systemCode } from "./errors.ts"

const POLL_MS = 200
const REFRESH_MS = 5_000
/** A holder that has not refreshed its lock for this long is gone, or asleep with its machine. */
const STALE_MS = 30_000
const FULL: ReadonlySet<string> = new Set(["ENOSPC", "EDQUOT", "EFBIG", "EIO"])

export type HoldOptions = {
  signal?: AbortSignal | undefined
  /** called once if another process holds it */
  onWait?: ((pid: number) => void) | undefined
}

type Holder = { pid: number; host: string; token: string }

/** Runs `work` while no other process is in here for the same path. Rejects with the signal's reason while it waits. */
export async function holding<T>(path: string, { signal, onWait }: HoldOptions, work: () => Promise<T>): Promise<T> {
  const own: Holder = { pid: process.pid, host: hostname(), token: randomUUID() }
  let unfreshMs: number | undefined
  for (let waited = false; !(await create(path, own)); ) {
    signal?.throwIfAborted()
    const holder = await readHolder(path)
    const state = holder === "gone" ? "fresh" : await stateOf(path, holder)
    if (state !== "unfresh") unfreshMs = undefined
    else unfreshMs ??= performance.now()
    // one that is alive is given the time to refresh its lock: it may be the clock that was set
    const isLeft = state === "left" || performance.now() - (unfreshMs ?? Number.POSITIVE_INFINITY) > 2 * REFRESH_MS
    if (holder !== "gone" && isLeft) await takeAway(path, holder)
    else if (holder !== "gone" && !waited) {
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
  const refuse = (cause: unknown) => {
    const what = `${dirname(path)} cannot be written to (${reasonOf(cause)})`
    throw new SetupError("UNWRITABLE", `${what}; HUDFOLD_DATA can name another folder`, { cause })
  }
  try {
    makePrivateFolder(dirname(path))
  } catch (error) {
    refuse(error)
  }
  try {
    await writeFile(path, JSON.stringify(own), { flag: "wx", mode: 0o600 })
    return true
  } catch (error) {
    if (systemCode(error) === "EEXIST") return false
    // on a full disk it is there, and empty
    if (FULL.has(systemCode(error) ?? "")) await rm(path, { force: true }).catch(() => {})
    return refuse(error)
  }
}

/** undefined: the file is there and says nothing yet, or something else */
async function readHolder(path: string): Promise<Holder | "gone" | undefined> {
  try {
    const value: unknown = JSON.parse(await readFile(path, "utf8"))
    return typeof value === "object" && value !== null ? (value as Holder) : undefined
  } catch (error) {
    return systemCode(error) === "ENOENT" ? "gone" : undefined
  }
}

/** `left`: its holder is gone; `unfresh`: it is not as a holder would keep it, and yet the process is there. */
async function stateOf(path: string, holder: Holder | undefined): Promise<"fresh" | "unfresh" | "left"> {
  const touched = await stat(path).catch(() => undefined)
  if (!touched) return "fresh"
  const isHere = holder !== undefined && holder.host === hostname()
  if (isHere && !isAlive(holder.pid)) return "left"
  // from a time still to come is no fresher than old: else a clock put back by an hour would be waited for
  if (Math.abs(Date.now() - touched.mtimeMs) <= STALE_MS) return "fresh"
  return isHere ? "unfresh" : "left"
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return systemCode(error) === "EPERM"
  }
}

/**
 * Removes the lock of a holder that is gone. By renaming it first: two that found it stale at the same time could else
 * remove each other's new one.
 */
async function takeAway(path: string, holder: Holder | undefined): Promise<void> {
  const aside = `${path}.${randomUUID()}`
  try {
    await rename(path, aside)
  } catch {
    return
  }
  const taken = await readHolder(aside)
  // the wrong one: somebody was faster and it is theirs
  if (taken !== "gone" && taken?.token !== holder?.token) await link(aside, path).catch(() => {})
  await rm(aside, { force: true })
}
