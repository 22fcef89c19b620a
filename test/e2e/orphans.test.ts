// However OpenCode ends, its sidecar ends with it.

import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { type ChildProcess, execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { environmentFor } from "../opencode/config.ts"
import { findOpencode } from "../opencode/host.ts"
import { ownChild, stopChild } from "../opencode/owned.ts"
import { writeTinyModel } from "../support/gguf.ts"
import { LARGE, testLarge } from "../support/large.ts"
import { type Planted, plantSidecar, running } from "../support/sidecar.ts"
import { sample } from "../support/size.ts"
import { eventually, FILES, openWorld, PATIENCE_MS, PLUGIN, read, say, use, type World } from "../support/world.ts"

const ROUTES = Array.from({ length: 120 }, (_, n) => `route ${n}: handled by src/handlers/route-${n}.ts`).join("\n")
const SIGNALS = [["SIGINT"], ["SIGTERM"], ["SIGHUP"], ["SIGKILL"]] as const
/** A sidecar that outlived its OpenCode would stay for good; ending takes moments, or many seconds on a busy machine. */
const GONE_MS = 60_000

let world: World
let planted: Planted

beforeAll(async () => {
  world = await openWorld({ plugin: [PLUGIN, { digest: { gpu: "off" } }], files: { ...FILES, "routes.txt": ROUTES } })
  const model = join(world.host.root, "tiny.gguf")
  await writeTinyModel(model)
  planted = plantSidecar(world.host.root, { model })
}, PATIENCE_MS)
afterAll(() => world.close())

/** An OpenCode of this world, with the variables every one of it has. */
function start(command: string, args: readonly string[], env: Record<string, string> = {}): ChildProcess {
  const { root, project } = world.host
  return ownChild(
    spawn(command, args, {
      cwd: project,
      env: { ...environmentFor(root), PWD: project, ...env },
      // OpenCode reads a prompt from a stdin that is a pipe; `script` ends when its own does
      stdio: [command === "script" ? "pipe" : "ignore", "pipe", "ignore"],
      detached: true,
    }),
  )
}

const started = () => eventually("the sidecar to start", () => running(planted.main)[0], PATIENCE_MS)

async function endsWith(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit")
  await eventually("the sidecar to be gone", () => (running(planted.main).length ? undefined : true), GONE_MS)
}

/** A turn that reads what is worth a digest, and then never ends. */
const WORK = [use(read("routes.txt")), { text: "I begin and never end", hang: true }]

describe("no sidecar is left of `opencode run`", () => {
  const run = () => start(findOpencode(), ["run", "--model", "scripted/scripted-1", "Look at the routes"])

  testLarge(
    "that comes to its end",
    async () => {
      // one look for both: this OpenCode may be gone before a second one looks
      const begun = started()
      world.provider.play([use(read("routes.txt")), { ...say("Done."), after: () => begun }])
      const child = run()
      await begun
      await endsWith(child)
      expect(child.exitCode).toBe(0)
    },
    2 * PATIENCE_MS,
  )

  test.each(sample(SIGNALS, ["SIGKILL"]))(
    "ended by %s",
    async (signal) => {
      world.provider.play(WORK)
      const child = run()
      await started()
      child.kill(signal)
      await endsWith(child)
    },
    2 * PATIENCE_MS,
  )
})

describe("no sidecar is left of `opencode serve`", () => {
  // under `npm test` two-processes.test.ts represents these
  test.each(sample(SIGNALS, LARGE ? ["SIGTERM"] : []))(
    "ended by %s",
    async (signal) => {
      const child = start(findOpencode(), ["serve", "--port", "0", "--hostname", "127.0.0.1"])
      try {
        const url = await address(child)
        world.provider.play(WORK)
        const { id } = (await ask(`${url}/session`, {})) as { id: string }
        await ask(`${url}/session/${id}/prompt_async`, { parts: [{ type: "text", text: "Look at the routes" }] })
        await started()
        child.kill(signal)
        await endsWith(child)
      } finally {
        await stopChild(child)
      }
    },
    2 * PATIENCE_MS,
  )
})

async function address(child: ChildProcess): Promise<string> {
  let said = ""
  for await (const chunk of child.stdout ?? []) {
    said += String(chunk)
    const url = /http:\/\/[\d.]+:\d+/.exec(said)?.[0]
    if (url) return url
  }
  throw new Error(`opencode serve named no address: ${said}`)
}

async function ask(url: string, body: object): Promise<unknown> {
  const reply = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  })
  if (!reply.ok) throw new Error(`${url} answered ${reply.status}: ${await reply.text()}`)
  return reply.status === 204 ? undefined : reply.json()
}

// `script` gives a program a terminal; the one of macOS takes other arguments
const terminal = process.platform === "linux" && hasCommand("script")
const why = terminal ? "" : " (skipped: it needs Linux and the command `script`)"

describe.skipIf(!terminal)(`no sidecar is left of the TUI${why}`, () => {
  // identifies the process, since another run of these tests may have its own
  const PROMPT = `Look at the routes, all of them, ${process.pid}`
  const tui = () => start("script", ["-qfec", `${findOpencode()} --prompt '${PROMPT}'`, "/dev/null"], { TERM: "xterm" })
  const opencode = () => running(PROMPT).find(({ command }) => !/^(script|sh|bash)\b/.test(command))?.pid

  // under `npm test` the closed terminal below represents these
  test.each(sample(SIGNALS, []))(
    "ended by %s",
    async (signal) => {
      world.provider.play(WORK)
      const child = tui()
      child.stdout?.resume()
      try {
        await started()
        process.kill(opencode() ?? 0, signal)
        await endsWith(child)
      } finally {
        await stopChild(child)
      }
    },
    2 * PATIENCE_MS,
  )

  test(
    "whose terminal is closed",
    async () => {
      world.provider.play(WORK)
      const child = tui()
      child.stdout?.resume()
      await started()
      child.kill("SIGKILL")
      await endsWith(child)
    },
    2 * PATIENCE_MS,
  )
})

function hasCommand(name: string): boolean {
  try {
    execFileSync("which", [name], { stdio: "ignore" })
    return true
  } catch {
    return false
  }
}
