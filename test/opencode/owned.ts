// Processes and folders that must not outlive this program. OpenCode leaves its children behind when it is killed, and a
// temporary HOME contains a database. Both are registered here, and removed on a normal close, on exit and on Ctrl-C.

import type { ChildProcess } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { constants, tmpdir } from "node:os"
import { join } from "node:path"

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const
const KILL_AFTER_MS = 3_000

const children = new Set<ChildProcess>()
const folders = new Set<string>()
let watching = false

/** Takes ownership of a child spawned with `detached: true`, so that its whole group can be ended. */
export function ownChild<T extends ChildProcess>(child: T): T {
  children.add(child)
  child.once("exit", () => children.delete(child))
  watch()
  return child
}

/** A new temporary folder, removed at the latest when this program ends. */
export function ownFolder(prefix: string): string {
  const folder = mkdtempSync(join(tmpdir(), prefix))
  folders.add(folder)
  watch()
  return folder
}

export function removeFolder(folder: string): void {
  // Windows locks a file for a moment after its process has ended; elsewhere the retries cost nothing.
  rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
  folders.delete(folder)
}

/** Ends a child and its group: SIGTERM, then SIGKILL after a grace period. Resolves once the child has exited. */
export async function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()))
  signalGroup(child, "SIGTERM")
  const timer = setTimeout(() => signalGroup(child, "SIGKILL"), KILL_AFTER_MS)
  await gone
  clearTimeout(timer)
  // The leader has exited, but a tool it started may still run and keep the folder busy.
  signalGroup(child, "SIGKILL")
}

/** Ends a child and its group at once, as a crash does. Resolves once the child has exited. */
export async function killChild(child: ChildProcess): Promise<void> {
  const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()))
  signalGroup(child, "SIGKILL")
  if (child.exitCode === null && child.signalCode === null) await gone
}

function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return
  try {
    if (process.platform === "win32") child.kill(signal)
    else process.kill(-child.pid, signal)
  } catch {
    // ESRCH: it has already exited.
  }
}

function endAll(): void {
  for (const child of children) signalGroup(child, "SIGKILL")
  children.clear()
  for (const folder of folders) {
    try {
      removeFolder(folder)
    } catch {
      // The process is exiting, and the system clears its temporary directory.
    }
  }
}

function watch(): void {
  if (watching) return
  watching = true
  process.once("exit", endAll)
  for (const signal of SIGNALS) {
    process.on(signal, () => {
      endAll()
      process.exit(128 + constants.signals[signal])
    })
  }
}
