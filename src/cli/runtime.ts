// Access to SQLite. The CLI runs on Node; where that has no SQLite, commands that need it run the CLI once more on Bun. Bun
// is available wherever OpenCode is, since OpenCode's binary contains it.
import { execFile, spawn } from "node:child_process"
import { realpathSync } from "node:fs"
import { constants as system } from "node:os"
import { dirname } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { findCommand } from "../engine/launch.ts"
import { StoreError } from "../store/errors.ts"
import { SIGNALS } from "./terminal.ts"

type BunCommand = { command: string; env: Record<string, string> }

/**
 * Set for the child process to the folder it works in, see `onBun`. Also says that it is the child, so that a `bun` which is
 * not Bun cannot start copies of the CLI endlessly.
 */
const CHILD_VARIABLE = "HUDFOLD_ON_BUN"
let isChild = false

/**
 * Must be called before anything reads the working directory, and before any process is started: an inherited BUN_BE_BUN
 * turns every `opencode` into plain Bun. Returns whether this is the child.
 */
export function clearBunEnvironment(env: NodeJS.ProcessEnv = process.env): boolean {
  const folder = env[CHILD_VARIABLE]
  isChild = folder !== undefined
  if (folder !== undefined) process.chdir(folder)
  delete env[CHILD_VARIABLE]
  delete env.BUN_BE_BUN
  return isChild
}

/** `bun` from PATH, else OpenCode's binary run as Bun; undefined when neither is installed, and in the child. */
function findBun(): BunCommand | undefined {
  if (isChild) return undefined
  const bun = findCommand("bun", process.env)
  if (bun) return { command: bun, env: {} }
  const opencode = findCommand("opencode", process.env)
  return opencode ? { command: opencode, env: { BUN_BE_BUN: "1" } } : undefined
}

export const canRunOnBun = (): boolean => findBun() !== undefined

/** Runs this CLI with the same arguments on Bun and resolves with its exit code. Rejects with NO_SQLITE. */
export async function runOnBun(args: readonly string[]): Promise<number> {
  const runtime = findBun()
  if (!runtime) {
    const what = "reading OpenCode's database needs Bun, and neither bun nor opencode is on PATH"
    const remedy =
      "add one of them, use Node 22.16 or newer, or give a file: opencode export <session id> > session.json"
    throw new StoreError("NO_SQLITE", `${what}; ${remedy}`)
  }
  const child = spawn(runtime.command, [ownPath(), ...args], { stdio: "inherit", ...onBun(runtime) })
  // A terminal signals both processes; this one stays alive to pass on the exit code.
  const forward = (signal: NodeJS.Signals) => child.kill(signal)
  for (const signal of SIGNALS) process.on(signal, forward)
  try {
    return await new Promise<number>((resolve, reject) => {
      child.once("error", (cause) => {
        reject(new StoreError("NO_SQLITE", `${runtime.command} could not be started: ${cause.message}`, { cause }))
      })
      child.once("exit", (code, signal) => resolve(code ?? 128 + (signal ? system.signals[signal] : 0)))
    })
  } finally {
    for (const signal of SIGNALS) process.off(signal, forward)
  }
}

const ANSWER_TIMEOUT_MS = 30_000

/**
 * What this CLI prints with these arguments on Bun. Undefined without Bun, which very old versions of OpenCode do not contain,
 * and without an answer. Rejects only with the signal's reason.
 */
export async function askOnBun(args: readonly string[], signal: AbortSignal): Promise<string | undefined> {
  const runtime = findBun()
  if (!runtime) return undefined
  const options = { ...onBun(runtime), signal, timeout: ANSWER_TIMEOUT_MS, maxBuffer: 16 * 1024 * 1024 }
  try {
    return (await promisify(execFile)(runtime.command, [ownPath(), ...args], options)).stdout
  } catch {
    signal.throwIfAborted()
    return undefined
  }
}

function onBun(runtime: BunCommand): { cwd: string; env: NodeJS.ProcessEnv } {
  return {
    // Bun loads the preloads of bunfig.toml and the .env file in its working directory. Those of a project that is only
    // inspected must not run, so it starts elsewhere and comes back.
    cwd: dirname(ownPath()),
    env: { ...process.env, ...runtime.env, [CHILD_VARIABLE]: process.cwd() },
  }
}

/** The file being run. The link in `node_modules/.bin` is resolved: it has no extension for Bun to recognise. */
function ownPath(): string {
  return realpathSync(process.argv[1] ?? fileURLToPath(import.meta.url))
}
