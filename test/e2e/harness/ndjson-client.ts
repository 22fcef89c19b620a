// A program that drives `opencode run --format json` as a child process: it reads lines of JSON off the child's stdout as
// they come, takes the session's id from the first, and judges by the exit code.

import { spawn } from "node:child_process"
import { StringDecoder } from "node:string_decoder"
import { ownChild } from "../../opencode/owned.ts"

export type RunLine = {
  type: string
  timestamp: number
  sessionID: string
  part?: Record<string, unknown>
  error?: { name: string; data?: { message?: string } }
}

export type Tokens = { input: number; output: number; reasoning: number; cache: { read: number; write: number } }

export type Ended = {
  exitCode: number | null
  signal: NodeJS.Signals | null
  /** of the first line; empty when there was none */
  session: string
  lines: RunLine[]
  /** lines on stdout that are not JSON */
  noise: string[]
  stderr: string
  /** all text the model wrote */
  text: string
  tools: { tool: string; callID: string; status: string; output: string }[]
  /** summed over the steps */
  tokens: Tokens
  errors: string[]
}

export type Running = {
  pid: number
  /** The first matching line, past or future; rejects when the run ends without one. */
  line(matches: (line: RunLine) => boolean): Promise<RunLine>
  kill(signal: NodeJS.Signals): void
  ended: Promise<Ended>
}

export type RunOptions = {
  opencode: string
  directory: string
  env: Readonly<Record<string, string>>
  args: readonly string[]
  /** written to stdin, which is then closed; closed at once when absent */
  stdin?: string
}

/** Starts one run. `ended` resolves however it ends, and rejects only when it cannot be started. */
export function startRun({ opencode, directory, env, args, stdin }: RunOptions): Running {
  const child = ownChild(
    spawn(opencode, ["run", "--format", "json", ...args], {
      cwd: directory,
      // OpenCode believes PWD before its working directory
      env: { ...env, PWD: directory },
      stdio: [stdin === undefined ? "ignore" : "pipe", "pipe", "pipe"],
      detached: process.platform !== "win32",
    }),
  )
  child.stdin?.end(stdin)
  const lines: RunLine[] = []
  const noise: string[] = []
  const watchers = new Set<() => void>()
  let stderr = ""

  // Split at newlines alone: U+2028 and its like are letters inside JSON.
  const decoder = new StringDecoder("utf8")
  let rest = ""
  const take = (text: string) => {
    const whole = (rest + text).split("\n")
    rest = whole.pop() ?? ""
    for (const one of whole) {
      const line = parse(one)
      if (line) lines.push(line)
      else noise.push(one)
    }
    for (const watcher of watchers) watcher()
  }
  child.stdout?.on("data", (chunk: Buffer) => take(decoder.write(chunk)))
  child.stderr?.on("data", (chunk: Buffer) => {
    stderr += chunk.toString("utf8")
  })

  const ended = new Promise<Ended>((resolve, reject) => {
    child.once("error", reject)
    child.once("close", (exitCode, signal) => {
      if (rest + decoder.end() !== "") noise.push(rest)
      resolve({ exitCode, signal, session: lines[0]?.sessionID ?? "", lines, noise, stderr, ...summary(lines) })
    })
  })
  return {
    pid: child.pid ?? 0,
    kill: (signal) => void child.kill(signal),
    ended,
    line: (matches) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const found = lines.find(matches)
          if (!found) return
          watchers.delete(look)
          resolve(found)
        }
        watchers.add(look)
        look()
        ended.then(() => reject(new Error(`the run ended without such a line; stderr: ${stderr}`)), reject)
      }),
  }
}

function parse(text: string): RunLine | undefined {
  try {
    const line = JSON.parse(text) as RunLine
    return typeof line?.type === "string" && typeof line.sessionID === "string" ? line : undefined
  } catch {
    return
  }
}

function summary(lines: readonly RunLine[]): Pick<Ended, "text" | "tools" | "tokens" | "errors"> {
  const parts = (type: string) => lines.flatMap((line) => (line.type === type && line.part ? [line.part] : []))
  const tokens: Tokens = { input: 0, output: 0, reasoning: 0, cache: { read: 0, write: 0 } }
  for (const { tokens: step } of parts("step_finish") as { tokens: Tokens }[]) {
    tokens.input += step.input
    tokens.output += step.output
    tokens.reasoning += step.reasoning
    tokens.cache.read += step.cache.read
    tokens.cache.write += step.cache.write
  }
  return {
    text: parts("text")
      .map(({ text }) => String(text))
      .join("\n"),
    tools: parts("tool_use").map(({ tool, callID, state }) => {
      const { status, output, error } = state as { status: string; output?: string; error?: string }
      return { tool: String(tool), callID: String(callID), status, output: output ?? error ?? "" }
    }),
    tokens,
    errors: lines.flatMap(({ type, error }) => (type === "error" ? [error?.data?.message ?? error?.name ?? ""] : [])),
  }
}
