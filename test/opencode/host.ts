// Runs the real OpenCode isolated from the user's files: with its own HOME and XDG folders, its own git repository, a scripted
// provider, and only the environment variables listed in `config.ts`. `serve.ts` has the HTTP client.

import { execFileSync, spawn } from "node:child_process"
import {
  accessSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from "node:fs"
import { createRequire } from "node:module"
import { delimiter, dirname, join } from "node:path"
import { openOpencode } from "../../src/store/opencode.ts"
import { CATALOGUE, configFor, environmentFor, type HostOptions } from "./config.ts"
import { ownChild, ownFolder, removeFolder, stopChild } from "./owned.ts"
import { type Client, startServer } from "./serve.ts"
import type { StoredMessage } from "./stored.ts"

export type RunOptions = {
  /** resume this session */
  session?: string
  /** resume the newest session of the directory */
  continue?: boolean
  /** `provider/model`; the host's first model when absent */
  model?: string
  /** plain text for people instead of JSON lines */
  plain?: boolean
  /** further command line arguments */
  args?: readonly string[]
  stdin?: string
  directory?: string
  signal?: AbortSignal
}

/** The result of one `opencode run`; `events` are the lines of stdout that are JSON, in order. */
export type RunResult = {
  exitCode: number | null
  stdout: string
  stderr: string
  events: RunEvent[]
  /** the session it ran in, from its events; empty when it created none */
  session: string
}

export type RunEvent = { type: string; sessionID?: string; part?: Record<string, unknown>; error?: unknown }

export type Host = {
  /** holds HOME, the XDG folders and the repositories */
  readonly root: string
  /** the git repository OpenCode works in */
  readonly project: string
  /** one `opencode run`; resolves whatever its exit code, rejects only if the program cannot be started */
  run(prompt: string, options?: RunOptions): Promise<RunResult>
  /** starts `opencode serve`; the client's `close` or the host's stops it */
  serve(): Promise<Client>
  /** another git repository under the same HOME */
  addProject(name: string, files?: Readonly<Record<string, string>>): string
  /** everything that OpenCode's processes have logged so far */
  log(): string
  /** the stored messages of a session, from OpenCode's database */
  stored(session: string): Promise<StoredMessage[]>
  /** the same by `opencode export`, which starts a process */
  exported(session: string): Promise<StoredMessage[]>
  /** stops all processes and removes the folder */
  close(): Promise<void>
}

/** An isolated OpenCode, not yet started. Throws when the temporary folder cannot be created. */
export function createHost(options: HostOptions): Host {
  const root = ownFolder("scripted-opencode-")
  const env = environmentFor(root)
  for (const name of ["home", "config/opencode", "data", "state", "cache", "tmp"])
    mkdirSync(join(root, name), { recursive: true })
  const config = join(root, "config", "opencode")
  writeFileSync(join(config, "opencode.json"), JSON.stringify(configFor(options), null, 2))
  writeFileSync(join(root, CATALOGUE), "{}")
  skipInstall(config)

  const clients = new Set<Client>()
  const addProject = (name: string, files: Readonly<Record<string, string>> = { "README.md": "# A project\n" }) => {
    const project = join(root, name)
    writeFiles(project, files)
    commitAll(project, env)
    return project
  }
  const project = addProject("project", options.files)

  // stdout goes to a file: on exit OpenCode loses what a pipe has not accepted yet.
  const command = async (args: readonly string[], { directory = project, stdin, signal }: RunOptions = {}) => {
    const out = join(root, `stdout-${process.hrtime.bigint()}`)
    const fd = openSync(out, "w")
    const child = ownChild(
      spawn(options.opencode, args, {
        cwd: directory,
        // OpenCode trusts PWD over its working directory.
        env: { ...env, ...options.env, PWD: directory },
        stdio: [stdin === undefined ? "ignore" : "pipe", fd, "pipe"],
        detached: process.platform !== "win32",
      }),
    )
    child.stdin?.end(stdin)
    const abort = () => void stopChild(child)
    signal?.addEventListener("abort", abort, { once: true })
    try {
      const errors: Buffer[] = []
      child.stderr?.on("data", (chunk: Buffer) => errors.push(chunk))
      const exitCode = await new Promise<number | null>((resolve, reject) => {
        child.once("error", reject)
        child.once("close", resolve)
      })
      return { exitCode, stdout: readFileSync(out, "utf8"), stderr: Buffer.concat(errors).toString("utf8") }
    } finally {
      signal?.removeEventListener("abort", abort)
      closeSync(fd)
    }
  }

  return {
    root,
    project,
    addProject,
    run: async (prompt, run = {}) => {
      const args = ["run", ...(run.plain ? [] : ["--format", "json"]), "--model", run.model ?? configFor(options).model]
      if (run.session) args.push("--session", run.session)
      if (run.continue) args.push("--continue")
      const result = await command([...args, ...(run.args ?? []), prompt], run)
      const events = result.stdout.split("\n").flatMap(parseLine)
      return { ...result, events, session: events.find((event) => event.sessionID)?.sessionID ?? "" }
    },
    serve: async () => {
      const client = await startServer(options.opencode, project, { ...env, ...options.env, PWD: project })
      clients.add(client)
      return client
    },
    log: () => {
      const folder = join(root, "data", "opencode", "log")
      if (!existsSync(folder)) return ""
      return readdirSync(folder)
        .sort()
        .map((name) => readFileSync(join(folder, name), "utf8"))
        .join("\n")
    },
    stored: async (session) => {
      using database = await openOpencode({ env })
      return database.readSession(session).messages as unknown as StoredMessage[]
    },
    exported: async (session) => {
      const { stdout, stderr, exitCode } = await command(["export", session])
      if (exitCode !== 0) throw new Error(`opencode export ${session} ended with ${exitCode}: ${stderr}`)
      return (JSON.parse(stdout) as { messages: StoredMessage[] }).messages
    },
    close: async () => {
      for (const client of clients) await client.close()
      removeFolder(root)
    },
  }
}

/**
 * The OpenCode binary of the `opencode-ai` package near this file, else the first `opencode` on PATH. Throws when there is
 * neither.
 */
export function findOpencode(): string {
  try {
    const manifest = createRequire(import.meta.url).resolve("opencode-ai/package.json")
    const { bin } = JSON.parse(readFileSync(manifest, "utf8")) as { bin: string | Record<string, string> }
    const path = join(dirname(manifest), typeof bin === "string" ? bin : (bin.opencode ?? ""))
    if (existsSync(path)) return path
  } catch {
    // Not installed here; the user's own OpenCode is used instead.
  }
  const names = process.platform === "win32" ? ["opencode.exe", "opencode.cmd"] : ["opencode"]
  for (const folder of (process.env.PATH ?? "").split(delimiter)) {
    for (const name of names) {
      const path = join(folder, name)
      try {
        accessSync(path)
        return path
      } catch {
        // Not in this folder.
      }
    }
  }
  throw new Error(
    "OpenCode was not found: expected the opencode-ai package or `opencode` on PATH; npm i -D opencode-ai",
  )
}

export function writeFiles(folder: string, files: Readonly<Record<string, string>>): void {
  mkdirSync(folder, { recursive: true })
  for (const [name, text] of Object.entries(files)) {
    const path = join(folder, name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }
}

/**
 * At start OpenCode installs `@opencode-ai/plugin` from npm into every config folder, and plugins wait for it. It considers
 * a folder up to date when the lock file names the package, so this avoids the network.
 */
export function skipInstall(config: string): void {
  const dependencies = { "@opencode-ai/plugin": "*" }
  mkdirSync(join(config, "node_modules"), { recursive: true })
  writeFileSync(join(config, "package.json"), JSON.stringify({ dependencies }))
  writeFileSync(
    join(config, "package-lock.json"),
    JSON.stringify({ lockfileVersion: 3, packages: { "": { dependencies } } }),
  )
}

/** A repository with one commit: without a commit OpenCode stores every project under the id "global". */
function commitAll(folder: string, env: Record<string, string>): void {
  const identity = ["-c", "user.name=demo", "-c", "user.email=demo@localhost", "-c", "commit.gpgsign=false"]
  const git = (...args: string[]) => execFileSync("git", args, { cwd: folder, env, stdio: "ignore" })
  try {
    git("init", "--quiet")
    git("add", "--all")
    git(...identity, "commit", "--quiet", "--message", "Begin")
  } catch {
    // No git on this machine: OpenCode works without it and only skips snapshots.
  }
}

function parseLine(line: string): RunEvent[] {
  try {
    return [JSON.parse(line) as RunEvent]
  } catch {
    return []
  }
}
