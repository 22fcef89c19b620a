// Getting at SQLite: the CLI runs on Node, OpenCode's database is read with Bun's SQLite. Where a command needs it, the
// CLI runs itself once more on Bun, which is at hand wherever OpenCode is: its binary is one.
import { execFile, spawn } from "node:child_process"
import { realpathSync } from "node:fs"
import { constants as system } from "node:os"
import { dirname, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { findCommand } from "../engine/find.ts"
import { StoreError } from "../store/errors.ts"
import type { Environment } from "../system/data-folder.ts"

export type Runtime = { command: string; env: Record<string, string> }

/** Set for the child, so that a `bun` that is no Bun cannot start copies of itself without end. */
const marker = "HUDFOLD_ON_BUN"
let isChild = false

export const hasSqlite = (): boolean => process.versions.bun !== undefined

/** To be called before anything starts a process: inherited, BUN_BE_BUN turns every `opencode` below into a plain Bun. */
export function forgetRuntime(env: NodeJS.ProcessEnv = process.env): void {
  isChild = env[marker] !== undefined
  delete env[marker]
  delete env.BUN_BE_BUN
}

/** `bun` from PATH, else OpenCode's own binary told to be Bun; undefined when neither is there. */
function findRuntime(env: Environment = process.env): Runtime | undefined {
  const bun = findCommand("bun", env)
  if (bun) return { command: bun, env: {} }
  const opencode = findCommand("opencode", env)
  return opencode ? { command: opencode, env: { BUN_BE_BUN: "1" } } : undefined
}

/** Runs this CLI with the same arguments on Bun and resolves with its exit code. Rejects with NO_SQLITE. */
export async function runOnBun(args: readonly string[], env: Environment = process.env): Promise<number> {
  const runtime = isChild ? undefined : findRuntime(env)
  if (!runtime) {
    const what = "reading OpenCode's database needs Bun, and neither bun nor opencode is on PATH"
    const remedy = "put one there, or give a file: opencode export <session id> > session.json"
    throw new StoreError("NO_SQLITE", `${what}; ${remedy}`)
  }
  const child = spawn(runtime.command, [ownPath(), ...args], { stdio: "inherit", ...onBun(runtime, env) })
  // The terminal sends its signals to both; this process stays to pass on the exit code.
  const forward = (signal: NodeJS.Signals) => child.kill(signal)
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const
  for (const signal of signals) process.on(signal, forward)
  try {
    return await new Promise<number>((resolve, reject) => {
      child.once("error", (cause) => {
        reject(new StoreError("NO_SQLITE", `${runtime.command} could not be started: ${cause.message}`, { cause }))
      })
      child.once("exit", (code, signal) => resolve(code ?? 128 + (signal ? system.signals[signal] : 0)))
    })
  } finally {
    for (const signal of signals) process.off(signal, forward)
  }
}

const ANSWER_WITHIN_MS = 30_000

/**
 * What this CLI prints with these arguments on Bun; undefined when there is none, or none that answers: an OpenCode of
 * long ago is no Bun. Rejects with the signal's reason alone.
 */
export async function askOnBun(
  args: readonly string[],
  signal: AbortSignal,
  env: Environment = process.env,
): Promise<string | undefined> {
  const runtime = isChild ? undefined : findRuntime(env)
  if (!runtime) return undefined
  const options = { ...onBun(runtime, env), signal, timeout: ANSWER_WITHIN_MS, maxBuffer: 16 * 1024 * 1024 }
  try {
    return (await promisify(execFile)(runtime.command, [ownPath(), ...args], options)).stdout
  } catch {
    signal.throwIfAborted()
    return undefined
  }
}

function onBun(runtime: Runtime, env: Environment): { cwd: string; env: NodeJS.ProcessEnv } {
  return {
    // Bun runs what a bunfig.toml in the working directory preloads and takes over its .env: not those of a project
    // that is only being looked at. What the environment says relative to the old one is made absolute.
    cwd: dirname(ownPath()),
    env: { ...absolute(env), ...runtime.env, [marker]: "1" },
  }
}

/** The file being run, without the link in `node_modules/.bin` that Bun could not tell the language of. */
function ownPath(): string {
  return realpathSync(process.argv[1] ?? fileURLToPath(import.meta.url))
}

function absolute(env: Environment): Environment {
  const folders = ["XDG_DATA_HOME", "HUDFOLD_DATA"].flatMap((name) => {
    const value = env[name]
    return value ? [[name, resolve(value)] as const] : []
  })
  return { ...env, ...Object.fromEntries(folders) }
}
