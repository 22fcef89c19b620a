// The child process: starting it, keeping its last lines, and stopping it reliably. Knows nothing of the protocol on
// its pipes.

import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process"
import { Readable, Writable } from "node:stream"
import { LATE, readLines, within } from "../system/process.ts"
import { lazy } from "../system/values.ts"
import { redact } from "../text/redact/redact.ts"
import { cut } from "../text/sanitize.ts"
import type { LaunchSpec } from "./launch.ts"

export type Exit = {
  /** `exit code 3`, `killed by SIGSEGV`, `could not be started: …` */
  how: string
  started: boolean
}

export type SidecarProcess = ReturnType<typeof notStarted>

/** From the end of stdin to SIGKILL. The sidecar ends itself a second after its stdin, even if its engine does not close. */
export const STOP_MS = 1_500
/** A process in uninterruptible sleep (a hanging driver) survives SIGKILL; it is not waited for any longer. */
const GIVE_UP_MS = 2_000
/** How long to read the pipes of a process that has exited. */
const DRAIN_MS = 200
const MAX_LINES = 50
const MAX_LINE_CHARS = 400

type StartOptions = {
  /** whether it keeps the host's event loop alive: it must not in a plugin, and must in a command that waits for it */
  holdsHost?: boolean
  stopMs?: number
}

/** Never throws. The process exits when its stdin ends, and therefore when the host does. */
export function startProcess(
  spec: LaunchSpec,
  { holdsHost = false, stopMs = STOP_MS }: StartOptions = {},
): SidecarProcess {
  let child: ChildProcessWithoutNullStreams
  try {
    child = spawn(spec.command, [...spec.args], {
      cwd: spec.cwd,
      env: { ...spec.env },
      stdio: ["pipe", "pipe", "pipe"],
      windowsHide: true,
    })
  } catch (error) {
    return notStarted(Promise.resolve({ how: `could not be started: ${String(error)}`, started: false }))
  }
  const exited = new Promise<Exit>((resolve) => {
    // not `once`: signals that cannot be sent are errors too, and an unhandled one ends the host
    child.on("error", (error) => {
      if (child.pid === undefined) resolve({ how: `could not be started: ${error.message}`, started: false })
    })
    child.once("exit", (code, signal) => {
      const exit = { how: signal ? `killed by ${signal}` : `exit code ${code}`, started: true }
      // output may still be in the pipe, which stays open for as long as another process has inherited it
      const timer = setTimeout(resolve, DRAIN_MS, exit)
      child.once("close", () => {
        clearTimeout(timer)
        resolve(exit)
      })
    })
  })
  // contrary to the types there are none when file descriptors run out; the error event follows
  if (!child.stdin || !child.stdout || !child.stderr) return notStarted(exited)
  const output = keepLastLines(child.stderr)
  // writers see failed writes themselves; without a listener the error would end the host
  child.stdin.on("error", () => {})
  child.stdout.on("error", () => {})
  // a hanging child does not notice the end of its stdin, and has nothing to save
  const onHostExit = () => child.kill("SIGKILL")
  process.once("exit", onHostExit)
  void exited.then(() => process.off("exit", onHostExit))
  if (!holdsHost) release(child)

  return {
    pid: child.pid,
    stdin: child.stdin,
    stdout: child.stdout,
    exited,
    ...output,
    stop: lazy(() => stopChild(child, exited, stopMs)),
  }
}

/** Stands in for a process that could not be started: it swallows its input and has no output. */
function notStarted(exited: Promise<Exit>) {
  return {
    /** undefined if it could not be started */
    pid: undefined as number | undefined,
    stdin: new Writable({ write: (_chunk, _encoding, done) => done() }),
    stdout: Readable.from([]),
    /** Resolves when it has exited or could not be started. Never rejects. */
    exited,
    /** the last lines of stderr and those noted, oldest first, redacted */
    lastLines: (): string[] => [],
    /** Keeps a line of other output. */
    note(_line: string): void {},
    /** Ends stdin, then sends SIGKILL. Resolves when it is gone. Idempotent. */
    stop: () => exited,
  }
}

/** An idle child and its pipes must not keep the host's event loop alive. */
function release(child: ChildProcessWithoutNullStreams): void {
  child.unref()
  for (const stream of [child.stdin, child.stdout, child.stderr]) {
    // pipes are sockets on Node; on Bun only readable ones have an unref, and only they need it
    const unref: unknown = Reflect.get(stream, "unref")
    if (typeof unref === "function") unref.call(stream)
  }
}

/** The waits keep the host alive for a second or so, so that the child is gone before the host is. */
async function stopChild(child: ChildProcessWithoutNullStreams, exited: Promise<Exit>, stopMs: number): Promise<Exit> {
  child.stdin.end()
  if ((await within(exited, stopMs)) === LATE) child.kill("SIGKILL")
  const exit = await within(exited, GIVE_UP_MS)
  return exit === LATE ? { how: "still there after SIGKILL", started: true } : exit
}

/** Reads a stream to its end, so that its writer never blocks, and keeps the last lines. */
function keepLastLines(stream: Readable) {
  const lines: string[] = []
  const note = (line: string) => {
    lines.push(cut(line.trimEnd(), MAX_LINE_CHARS))
    if (lines.length > MAX_LINES) lines.shift()
  }
  stream.on("error", () => {})
  readLines(stream, MAX_LINE_CHARS, note)
  return { lastLines: () => lines.map(redact), note }
}
