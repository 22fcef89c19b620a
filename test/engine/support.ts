// Shared by the sidecar's tests: a folder as setup installs it, the sidecar started from there as a real process, and a
// client for it.

import { type ChildProcess, execFileSync, spawn } from "node:child_process"
import { existsSync } from "node:fs"
import { mkdir, mkdtemp, rm, symlink } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type Params, REQUESTS, type RequestName, type Result } from "../../src/engine/wire/messages.ts"
import { openPeer } from "../../src/engine/wire/peer.ts"
import { type TinyModel, writeTinyModel } from "../support/gguf.ts"

const root = join(import.meta.dir, "../..")
const installed = join(root, "sidecar/node_modules")

/** The programs that can run the sidecar, with their environment. */
export const RUNTIMES = {
  bun: { command: process.execPath, env: {} },
  opencode: { command: join(root, "node_modules/.bin/opencode"), env: { BUN_BE_BUN: "1" } },
  node: { command: "node", env: {} },
} as const

/**
 * The default device of the tests: `off`, or `vulkan` if HUDFOLD_TEST_GPU says so. The sidecar inherits the variables that
 * select a device (GGML_VK_VISIBLE_DEVICES, VK_DRIVER_FILES).
 */
export const TEST_GPU = (process.env.HUDFOLD_TEST_GPU || "off") as "off" | "vulkan"

/**
 * For `setDefaultTimeout` in every file: the sidecar yields to other programs, and a software device compiles for 20 s
 * before its first token.
 */
export const PATIENCE_MS = TEST_GPU === "off" ? 120_000 : 900_000

let work: Promise<string> | undefined
let folder: Promise<string> | undefined
const running = new Set<ChildProcess>()

/** This test file's temporary folder; `cleanUp` removes it. */
export function workFolder(): Promise<string> {
  work ??= mkdtemp(join(tmpdir(), "hud-sidecar-"))
  return work
}

/** A folder with the bundled `main.js` and the engine, as setup installs it. Built once per test file. */
export function sidecarFolder(): Promise<string> {
  folder ??= buildFolder()
  return folder
}

async function buildFolder(): Promise<string> {
  if (!existsSync(join(installed, "node-llama-cpp")))
    throw new Error("the engine is not installed in sidecar/node_modules; run: npm run sidecar")
  const path = join(await workFolder(), "sidecar")
  await mkdir(path)
  const built = await Bun.build({
    entrypoints: [join(root, "sidecar/main.ts")],
    outdir: path,
    target: "node",
    format: "esm",
    external: ["node-llama-cpp"],
  })
  if (!built.success) throw new AggregateError(built.logs, "the sidecar does not build")
  await symlink(installed, join(path, "node_modules"), "dir")
  return path
}

/** The path of a tiny model in the work folder; the same options give the same file. */
export async function tinyModel(options: TinyModel = {}): Promise<string> {
  const name = Object.values(options).join("-") || "tiny"
  const path = join(await workFolder(), `${name}.gguf`)
  if (!existsSync(path)) await writeTinyModel(path, options)
  return path
}

/** Slow enough to be interrupted: about 20 s for a full context on one core. */
export const SLOW: TinyModel = { layers: 24, contextTokens: 16_384 }

export const INSTRUCTION = "You take notes on what a tool printed. Answer in JSON: a gist, and a fact copied exactly."

export const FORM = { gist: 20, fact: 8 }

/** An answer of more than 9000 characters, which takes a slow model half a minute. */
export const LONG_FORM = Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`property_number_${at}`, 100]))
export const LONG_ANSWER = { answer: LONG_FORM, maxTokens: 8000 }

export function loadOf(modelPath: string, over: Partial<Params<"engine/load">> = {}): Params<"engine/load"> {
  return {
    modelPath,
    gpu: TEST_GPU,
    contextTokens: 2048,
    threads: 0,
    memoryBytes: 0,
    instruction: INSTRUCTION,
    ...over,
  }
}

export function writeOf(text: string, over: Partial<Params<"digest/write">> = {}): Params<"digest/write"> {
  return { text, instruction: INSTRUCTION, answer: FORM, maxTokens: 96, ...over }
}

/** JSON in the format of the engine's grammar: on one line, with one space after each colon and comma. */
export const jsonOf = (value: unknown): string =>
  JSON.stringify(value, null, 1)
    .replace(/,\n\s*/g, ", ")
    .replace(/\n\s*/g, "")

/** A document of about this many tokens for a tiny model, which has one per letter; differs by seed. */
export function documentOf(tokens: number, seed = 1): string {
  let text = ""
  for (let line = seed; text.length < tokens; line++) text += `${line} ${(line * 7919) % 10_007} passed\n`
  return text.slice(0, tokens)
}

export type Sidecar = Awaited<ReturnType<typeof startSidecar>>

export async function startSidecar(
  options: { runtime?: keyof typeof RUNTIMES; env?: Record<string, string>; folder?: string } = {},
) {
  const { command, env } = RUNTIMES[options.runtime ?? "bun"]
  const child = spawn(command, [join(options.folder ?? (await sidecarFolder()), "main.js")], {
    env: { ...process.env, ...env, ...options.env },
    stdio: "pipe",
  })
  running.add(child)
  const noise: string[] = []
  const peer = openPeer(child.stdout, child.stdin, {
    onNoise: (line) => noise.push(line),
    onClose() {},
  })
  let asked = 0
  /** Resolves or rejects with the sidecar's answer, even after a cancellation. */
  const ask = (method: string, params: unknown, signal?: AbortSignal): Promise<unknown> => {
    const id = asked++
    signal?.addEventListener("abort", () => peer.notify("$/cancelRequest", { id }))
    return peer.request(method, params, new AbortController().signal)
  }
  const exited = new Promise<{ code: number | null; signal: string | null }>((resolve) => {
    child.on("exit", (code, signal) => {
      running.delete(child)
      resolve({ code, signal })
    })
  })
  let stderr = ""
  child.stderr.on("data", (chunk) => {
    stderr += chunk
  })
  return {
    child,
    exited,
    noise,
    get stderr() {
      return stderr
    },
    ask,
    /** Rejects with a `ReplyError`; a malformed result fails the test. */
    request: async <Name extends RequestName>(name: Name, params: Params<Name>, signal?: AbortSignal) =>
      REQUESTS[name].result.parse(await ask(name, params, signal)) as Result<Name>,
    notify: peer.notify,
    /** Ends stdin, as a host does. */
    async end() {
      child.stdin.end()
      return exited
    },
  }
}

/** Resolves once the sidecar has computed for about a second more: it is in the middle of a request. */
export async function untilComputing({ child }: Sidecar): Promise<void> {
  const start = processorSeconds(child)
  while (processorSeconds(child) < start + 1) await Bun.sleep(50)
}

function processorSeconds({ pid }: ChildProcess): number {
  // hours, minutes and seconds
  const used = execFileSync("ps", ["-o", "cputime=", "-p", `${pid}`], { encoding: "utf8" }).trim()
  return used.split(":").reduce((sum, one) => sum * 60 + Number(one), 0)
}

/** Code and message of the error that a request rejects with. */
export async function failureOf(request: Promise<unknown>): Promise<{ code: string; message: string }> {
  const error = await request.then(
    () => {
      throw new Error("the request did not fail")
    },
    (reason: { message: string; data?: { code: string } }) => reason,
  )
  return { code: error.data?.code ?? "", message: error.message }
}

/** For `afterAll`: kills all processes and removes the folder. */
export async function cleanUp(): Promise<void> {
  await Promise.all(
    [...running].map((child) => {
      const gone = new Promise((resolve) => child.on("exit", resolve))
      child.kill("SIGKILL")
      return gone
    }),
  )
  if (work) await rm(await work, { recursive: true, force: true })
  // bun runs all test files in one process
  work = undefined
  folder = undefined
}
