// Shared by the CLI's tests: a session recorded by the real OpenCode, and the CLI as a child process.
import { expect } from "bun:test"
import { cpSync, realpathSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { createHost, findOpencode } from "../opencode/host.ts"
import { startProvider } from "../opencode/provider.ts"
import { root, spawnChild } from "../store/support.ts"
import type { SessionBuilder } from "../support/session.ts"

export const source = join(root, "src/cli/main.ts")

export type Recorded = {
  /** the environment OpenCode ran with: XDG_DATA_HOME locates its database */
  env: { XDG_DATA_HOME: string }
  session: string
  /** model calls the session made */
  calls: number
  /** a file as `opencode export` writes it */
  file: string
  close(): Promise<void>
}

let kept: Promise<Recorded> | undefined

/**
 * A session in which a check fails, a file is edited and the check fails again: enough for a HUD where folding is off. Under scripts/test.ts all
 * files of a run share one, which nobody may change: its folder is removed with the run's.
 */
export function recordSession(): Promise<Recorded> {
  const folder = process.env.HUDFOLD_RUN
  if (folder === undefined) return record()
  kept ??= keepIn(join(folder, "recorded"))
  return kept
}

async function keepIn(folder: string): Promise<Recorded> {
  const { env, file, close, ...rest } = await record()
  const moved = { data: join(folder, "data"), file: join(folder, "session.json") }
  cpSync(env.XDG_DATA_HOME, moved.data, { recursive: true })
  cpSync(file, moved.file)
  await close()
  return { ...rest, env: { XDG_DATA_HOME: moved.data }, file: moved.file, close: async () => {} }
}

async function record(): Promise<Recorded> {
  const provider = await startProvider()
  const host = createHost({
    opencode: findOpencode(),
    url: provider.url,
    models: [{ provider: "scripted", id: "scripted-1", npm: "@ai-sdk/openai-compatible" }],
    files: { "alpha.txt": "first\nsecond\n", "test.sh": 'echo "FAIL login.test.ts: expected 200, got 401"\nexit 1\n' },
  })
  const close = async () => {
    await host.close()
    await provider.close()
  }
  try {
    const check = { name: "bash", arguments: { command: "sh test.sh", description: "Runs the tests" } }
    const read = { name: "read", arguments: { filePath: "alpha.txt" } }
    const edit = { name: "edit", arguments: { filePath: "alpha.txt", oldString: "second", newString: "third" } }
    const script = [{ calls: [check] }, { calls: [read] }, { calls: [edit] }, { calls: [check] }, { text: "It fails." }]
    provider.play(script)
    const { session } = await host.run("Make the login test pass")
    const messages = await host.stored(session)
    const file = join(host.root, "session.json")
    writeFileSync(file, exportOf(session, messages))
    return { env: { XDG_DATA_HOME: join(host.root, "data") }, session, calls: script.length, file, close }
  } catch (cause) {
    await close()
    throw cause
  }
}

export function exportOf(id: string, messages: readonly unknown[], title = "A scripted session"): string {
  return JSON.stringify({ info: { id, title }, messages }, null, 2)
}

/** Writes an export into the folder and returns its path. */
export function writeExport(folder: string, name: string, { messages }: SessionBuilder, title = `The ${name}`): string {
  const path = join(folder, `${name}.json`)
  writeFileSync(path, exportOf(`ses_${name}`, messages, title))
  return path
}

export type Result = { code: number; stdout: string; stderr: string }

/** Nothing but one line on stderr, which says what the user can do. */
export function expectRefusal({ code, stdout, stderr }: Result, says: string): void {
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" })
  expect(stderr).toMatch(/^hudfold: [^\n\u001b]+\n$/)
  expect(stderr).toContain(says)
}

/** Under scripts/test.ts, which runs after the build, what ships, since it starts in half the time of the sources. */
const program = process.env.HUDFOLD_RUN === undefined ? source : join(root, "dist/cli.js")

/** Runs the CLI on this Bun. */
export async function cli(args: readonly string[], env: Record<string, string> = {}): Promise<Result> {
  using child = spawnChild([process.execPath, program, ...args], { NO_COLOR: "1", ...env })
  return await child.finish()
}

/** Builds the CLI as one file for Node and returns its path. */
export async function bundleInto(folder: string): Promise<string> {
  const built = await Bun.build({
    entrypoints: [source],
    target: "node",
    external: ["bun:sqlite"],
    naming: "cli.js",
    outdir: folder,
  })
  if (!built.success) throw new AggregateError(built.logs, "the CLI does not bundle")
  return join(folder, "cli.js")
}

/** Links these commands into a folder that can serve as PATH, and returns it. */
export function linkCommands(folder: string, commands: Record<string, string>): string {
  for (const [name, target] of Object.entries(commands)) symlinkSync(realpathSync(target), join(folder, name))
  return folder
}
