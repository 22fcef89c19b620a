// One child process: started, its last words kept, stopped by a ladder that always gets to the bottom. Knows nothing of
// what is said over its pipes.

import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process"
import { Readable, Writable } from "node:stream"
import { redact } from "../text/redact/redact.ts"
import { cut } from "../text/text.ts"
import type { LaunchSpec } from "./launch.ts"

export type Exit = {
  /** in words: `exit code 3`, `killed by SIGSEGV`, `could not be started: …` */
  how: string
  started: boolean
}

export type SidecarProcess = {
  /** undefined when it could not be started */
  readonly pid: number | undefined
  readonly stdin: Writable
  readonly stdout: Readable
  /** Resolves once it is gone, or could not be started. Never rejects. */
  readonly exited: Promise<Exit>
  /** the last lines on its stderr, oldest first, without secrets */
  lastWords(): string[]
  /** Ends its stdin, then SIGTERM, then SIGKILL. Resolves when it is gone; idempotent. */
  stop(): Promise<Exit>
}

export type StopTimes = {
  /** from the end of its stdin to SIGTERM */
  termMs: number
  /** from SIGTERM to SIGKILL */
  killMs: number
}

export const STOP_TIMES: StopTimes = { termMs: 500, killMs: 1_000 }
/** After SIGKILL a process in uninterruptible sleep (a driver that hangs) may stay; nobody waits for it. */
const GIVE_UP_MS = 2_000
/** For reading what a process that is gone has left in its pipes. */
const READ_MS = 200
const MOST_LINES = 50
const LONGEST_LINE = 400

export type StartOptions = {
  /** whether it keeps the host's event loop going; a plugin's must not, a command that waits for it needs it */
  holdsHost?: boolean
  stopTimes?: StopTimes
}

/** Starts the process. Never throws. It ends itself when its stdin does, which is when the host is gone. */
export function startProcess(
  spec: LaunchSpec,
  { holdsHost = false, stopTimes = STOP_TIMES }: StartOptions = {},
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
    return unstarted(Promise.resolve({ how: `could not be started: ${String(error)}`, started: false }))
  }
  const exited = new Promise<Exit>((resolve) => {
    // on and not once: told also of a signal that could not be sent, and an error nobody listens to ends the host
    child.on("error", (error) => {
      if (child.pid === undefined) resolve({ how: `could not be started: ${error.message}`, started: false })
    })
    child.once("exit", (code, signal) => {
      const exit = { how: signal ? `killed by ${signal}` : `exit code ${code}`, started: true }
      // its last words may still be in the pipe; but that stays open when somebody else has inherited it
      const timer = setTimeout(resolve, READ_MS, exit)
      child.once("close", () => {
        clearTimeout(timer)
        resolve(exit)
      })
    })
  })
  // without a descriptor to spare there are none, whatever the types say; the error comes a moment later
  if (!child.stdin || !child.stdout || !child.stderr) return unstarted(exited)
  const words = keepLastLines(child.stderr)
  // a write to a child that is gone is told to the writer; without a listener it would end the host
  child.stdin.on("error", () => {})
  child.stdout.on("error", () => {})
  // A host that exits while its child hangs: that one does not see its stdin end. It holds nothing worth saving.
  const onHostExit = () => child.kill("SIGKILL")
  process.once("exit", onHostExit)
  void exited.then(() => process.off("exit", onHostExit))
  if (!holdsHost) release(child)

  let stopping: Promise<Exit> | undefined
  return {
    pid: child.pid,
    stdin: child.stdin,
    stdout: child.stdout,
    exited,
    lastWords: words,
    stop: () => {
      stopping ??= descend(child, exited, stopTimes)
      return stopping
    },
  }
}

/** In the place of a process that there is not. What is written to it goes nowhere, and it says nothing. */
function unstarted(exited: Promise<Exit>): SidecarProcess {
  const stdin = new Writable({ write: (_chunk, _encoding, done) => done() })
  const stdout = Readable.from([])
  return { pid: undefined, stdin, stdout, exited, lastWords: () => [], stop: () => exited }
}

/** An idle child and its pipes must not keep the host's event loop going. */
function release(child: ChildProcessWithoutNullStreams): void {
  child.unref()
  for (const stream of [child.stdin, child.stdout, child.stderr]) {
    // pipes are sockets on Node; on Bun what is read can be unref'd and what is written needs not be
    const unref: unknown = Reflect.get(stream, "unref")
    if (typeof unref === "function") unref.call(stream)
  }
}

async function descend(
  child: ChildProcessWithoutNullStreams,
  exited: Promise<Exit>,
  { termMs, killMs }: StopTimes,
): Promise<Exit> {
  // these timers do keep the host alive, for the second or so they last: what is stopped shall be gone
  let timer: ReturnType<typeof setTimeout> | undefined
  const after = (ms: number, action: () => void) => {
    timer = setTimeout(action, ms)
  }
  const stuck = new Promise<Exit>((resolve) => {
    after(termMs, () => {
      child.kill("SIGTERM")
      after(killMs, () => {
        child.kill("SIGKILL")
        after(GIVE_UP_MS, () => resolve({ how: "still there after SIGKILL", started: true }))
      })
    })
  })
  child.stdin.end()
  try {
    return await Promise.race([exited, stuck])
  } finally {
    clearTimeout(timer)
  }
}

/** Reads a stream for as long as it lasts, so that its writer never blocks, and keeps the end. */
function keepLastLines(stream: Readable): () => string[] {
  const lines: string[] = []
  let rest = ""
  const keep = (line: string) => {
    if (line.trim() === "") return
    lines.push(line)
    if (lines.length > MOST_LINES) lines.shift()
  }
  stream.setEncoding("utf8")
  stream.on("error", () => {})
  stream.on("data", (chunk: string) => {
    const pieces = (rest + chunk).split("\n")
    rest = (pieces.pop() ?? "").slice(-LONGEST_LINE)
    for (const piece of pieces) keep(cut(piece.trimEnd(), LONGEST_LINE))
  })
  return () => [...lines, ...(rest.trim() ? [rest] : [])].map(redact)
}
