// Where a program is, what makes it run as Bun, whether a process still runs, the lines it prints, and deadlines and aborts for
// promises.

import { accessSync, constants, statSync } from "node:fs"
import { delimiter, isAbsolute, join } from "node:path"
import type { Readable } from "node:stream"
import type { Environment } from "./data-folder.ts"

/** The variables that make OpenCode's binary run as plain Bun, and keep Bun from leaving a cache in the home folder. */
export const AS_BUN = { BUN_BE_BUN: "1", BUN_RUNTIME_TRANSPILER_CACHE_PATH: "0" }

/** Path of an executable on PATH. Relative entries are ignored: they depend on the working directory. */
export function findCommand(name: string, env: Environment): string | undefined {
  const folders = (env.PATH ?? env.Path ?? "").split(delimiter).filter((folder) => isAbsolute(folder))
  // On Windows npm installs a .cmd, which needs a shell to start; the binary is below it.
  const files =
    process.platform === "win32"
      ? [`${name}.exe`, join("node_modules", name === "opencode" ? "opencode-ai" : name, "bin", `${name}.exe`)]
      : [name]
  return folders.flatMap((folder) => files.map((file) => join(folder, file))).find(isExecutable)
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}

/** True for a process of another user as well. */
export function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM"
  }
}

/** What `within` resolves to when the deadline came first. */
export const LATE = Symbol("late")

/** The promise's value, or LATE at the deadline. A rejection after the deadline is swallowed: nobody waits for it. */
export async function within<T>(promise: Promise<T>, deadlineMs: number): Promise<T | typeof LATE> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<typeof LATE>((resolve) => {
    timer = setTimeout(() => resolve(LATE), deadlineMs)
  })
  promise.catch(() => {})
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}

/** The same where a rejection is as good as no answer. */
export function answeredWithin<T>(promise: Promise<T>, deadlineMs: number): Promise<T | typeof LATE> {
  return within(promise, deadlineMs).catch((): typeof LATE => LATE)
}

/** Settles as the promise does, or on abort rejects at once with the signal's reason. */
export function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason)
    if (signal.aborted) onAbort()
    else signal.addEventListener("abort", onAbort, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort))
  })
}

/**
 * Calls `onLine` for every line that is not blank. Of one that is longer than `maxChars` it gets a beginning of at least that
 * length. Not node:readline, which also ends lines at U+2028, legal inside JSON.
 */
export function readLines(input: Readable, maxChars: number, onLine: (text: string) => void): void {
  let rest = ""
  let skipping = false
  const end = (text: string) => {
    if (!skipping && text.trim() !== "") onLine(text)
    skipping = false
  }
  input.setEncoding("utf8")
  input.on("data", (chunk: string) => {
    const [first = "", ...others] = chunk.split("\n")
    rest += first
    for (const next of others) {
      end(rest)
      rest = next
    }
    if (rest.length <= maxChars) return
    end(rest)
    skipping = true
    rest = ""
  })
  // the last, incomplete line of a process that died often says why
  input.on("end", () => end(rest))
}
