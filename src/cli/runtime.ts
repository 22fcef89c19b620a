// Access to SQLite. The CLI runs on Node; where that has no SQLite, it runs itself once more on Bun. Bun is available wherever
// OpenCode is, since OpenCode's binary contains it.
import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { realpathSync } from "node:fs"
import { constants as system } from "node:os"
import { dirname } from "node:path"
import { fileURLToPath } from "node:url"
import { AS_BUN, findCommand } from "../system/process.ts"
import { hasSqlite } from "../system/sqlite.ts"
import { SIGNALS } from "./terminal.ts"

/** Set for the child process to the folder it works in, see `onBun`. */
const CHILD_VARIABLE = "HUDFOLD_ON_BUN"

/**
 * Must be called before anything reads the working directory, and before any process is started: an inherited BUN_BE_BUN
 * turns every `opencode` into plain Bun. Returns whether this is the child.
 */
export function clearBunEnvironment(env: NodeJS.ProcessEnv = process.env): boolean {
  const folder = env[CHILD_VARIABLE]
  if (folder !== undefined) process.chdir(folder)
  delete env[CHILD_VARIABLE]
  delete env.BUN_BE_BUN
  return folder !== undefined
}

const ANSWER_TIMEOUT_MS = 10_000

function isBun(command: string): boolean {
  const args = ["-e", 'console.log("bun", process.versions.bun)']
  const { stdout } = spawnSync(command, args, { ...onBun(), timeout: ANSWER_TIMEOUT_MS })
  return /^bun \d/.test(String(stdout))
}

/**
 * If this runtime has no SQLite and there is a Bun, runs this CLI with the same arguments on it and resolves with its exit
 * code; otherwise resolves with undefined. Must not be called before `clearBunEnvironment`.
 */
export async function runOnBun(args: readonly string[]): Promise<number | undefined> {
  const found = hasSqlite() ? [] : ["bun", "opencode"].flatMap((name) => findCommand(name, process.env) ?? [])
  // an old OpenCode, or something else of these names, is no Bun
  const bun = found.find(isBun)
  if (bun === undefined) return undefined
  const child = spawn(bun, [ownPath(), ...args], { stdio: "inherit", ...onBun() })
  // This process stays alive to pass on the exit code. A terminal signals both, and a second signal would end the child before
  // it has cleaned up.
  const forward = (signal: NodeJS.Signals) => {
    if (signal === "SIGTERM" || !process.stdin.isTTY) child.kill(signal)
  }
  for (const signal of SIGNALS) process.on(signal, forward)
  try {
    const [code, signal] = (await once(child, "exit")) as [number | null, NodeJS.Signals | null]
    return code ?? 128 + (signal ? system.signals[signal] : 0)
  } finally {
    for (const signal of SIGNALS) process.off(signal, forward)
  }
}

function onBun(): { cwd: string; env: NodeJS.ProcessEnv } {
  return {
    // Bun loads the preloads of bunfig.toml and the .env file in its working directory. Those of a project that is only
    // inspected must not run, so it starts elsewhere and comes back.
    cwd: dirname(ownPath()),
    env: { ...process.env, ...AS_BUN, [CHILD_VARIABLE]: process.cwd() },
  }
}

/** The file being run. The link in `node_modules/.bin` is resolved: it has no extension for Bun to recognise. */
function ownPath(): string {
  return realpathSync(process.argv[1] ?? fileURLToPath(import.meta.url))
}
