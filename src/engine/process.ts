// The child process: starting it, keeping its last lines, and stopping it reliably. Knows nothing of the protocol on its pipes.

import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync } from "node:fs"
import { LATE, readLines, within } from "../system/process.ts"
import { errorMessage, lazy } from "../system/values.ts"
import { redact } from "../text/redact/redact.ts"
import { cut } from "../text/sanitize.ts"
import { SidecarError } from "./errors.ts"
import type { LaunchSpec } from "./launch.ts"

/** A process in uninterruptible sleep (a hanging driver) survives SIGKILL; it is not waited for any longer. */
const GIVE_UP_MS = 2_000
/** How long to read the pipes of a process that has exited. */
const DRAIN_MS = 200
const MAX_LINES = 50
const MAX_LINE_CHARS = 400
/** What Bun prints around the reason of a crash, also of one in the engine: itself, and where to report its bugs. */
const BUN_BANNER =
  /^(?:=+$|Bun v|Linux Kernel |CPU: |Args: |Features: |Builtins: |Elapsed: |RSS: |oh no: Bun |To send a redacted |please file a | *https:\/\/bun\.report)/

/**
 * Rejects with START_FAILED. The process exits when its stdin ends, and therefore when the host does. `holdsHost`: it keeps the
 * host's event loop alive, which it must not in a plugin, and must in a command that waits for it.
 */
export async function startProcess({ command, args, cwd, env }: LaunchSpec, holdsHost: boolean, stopMs: number) {
  let child: ChildProcessWithoutNullStreams
  let exited: Promise<string>
  try {
    child = spawn(command, [...args], { cwd, env: { ...env }, stdio: ["pipe", "pipe", "pipe"], windowsHide: true })
    // signals that cannot be sent are errors too, and an unhandled one ends the host
    child.on("error", () => {})
    const closed = new Promise((resolve) => child.once("close", resolve))
    exited = new Promise((resolve) => {
      child.once("exit", async (code, signal) => {
        // output may still be in the pipe, which stays open for as long as another process has inherited it
        await within(closed, DRAIN_MS)
        resolve(signal ? `killed by ${signal}` : `exit code ${code}`)
      })
    })
    await once(child, "spawn")
  } catch (cause) {
    // the system's error would blame the program
    const why = existsSync(cwd) ? errorMessage(cause) : `${cwd} is missing; to install it again: hudfold setup`
    throw new SidecarError("START_FAILED", `${command} could not be started: ${why}`, { cause })
  }
  for (const stream of [child.stdin, child.stdout, child.stderr]) {
    // writers see failed writes themselves; without a listener the error would end the host
    stream.on("error", () => {})
    // pipes are sockets on Node; on Bun only readable ones have an unref, and only they need it
    const unref: unknown = holdsHost ? undefined : Reflect.get(stream, "unref")
    if (typeof unref === "function") unref.call(stream)
  }
  if (!holdsHost) child.unref()
  const lines: string[] = []
  const note = (line: string) => {
    lines.push(cut(line.trimEnd(), MAX_LINE_CHARS))
    if (lines.length > MAX_LINES) lines.shift()
  }
  // read to its end, so that the process never blocks on it
  readLines(child.stderr, MAX_LINE_CHARS, note)
  // a hanging child does not notice the end of its stdin, and has nothing to save
  const onHostExit = () => child.kill("SIGKILL")
  process.once("exit", onHostExit)
  void exited.then(() => process.off("exit", onHostExit))

  return {
    pid: child.pid,
    stdin: child.stdin,
    stdout: child.stdout,
    /** Resolves when it has exited, with `exit code 3` or `killed by SIGSEGV`. Never rejects. */
    exited,
    /** the last lines of stderr and those noted, oldest first, redacted */
    lastLines: () => lines.filter((line) => !BUN_BANNER.test(line)).map(redact),
    /** Keeps a line of other output. */
    note,
    /**
     * Ends stdin, then sends SIGKILL. Resolves as `exited` does when it is gone. Idempotent. The waits keep the host alive for a
     * second or so, so that the child is gone before the host is.
     */
    stop: lazy(async () => {
      child.stdin.end()
      if ((await within(exited, stopMs)) === LATE) child.kill("SIGKILL")
      const how = await within(exited, GIVE_UP_MS)
      return how === LATE ? "still there after SIGKILL" : how
    }),
  }
}
