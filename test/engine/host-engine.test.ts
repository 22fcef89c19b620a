// The backend with the real sidecar and engine, on a model of half a megabyte: what happens when the process, or its host,
// is stopped, killed or idle.

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { BackendError } from "../../src/digest/backends/backend.ts"
import type { LlamaConfig } from "../../src/digest/backends/llama.ts"
import { optionsSchema } from "../../src/options.ts"
import { type Child, opencode, root, spawnChild, temporaryFolder, until } from "../store/support.ts"
import { writeTinyModel } from "../support/gguf.ts"
import { LARGE, largeName, testLarge } from "../support/large.ts"
import { openLlama } from "../support/llama.ts"
import { plantSidecar, running } from "../support/sidecar.ts"
import { children, errorOf, fixtures, never } from "./host.ts"

// processes are started, on a machine that may be busy
setDefaultTimeout(60_000)

const program = join(root, "sidecar/main.ts")
const engine = existsSync(join(root, "sidecar/node_modules/node-llama-cpp"))
const real = engine ? test : test.skip
const realLarge = engine ? testLarge : test.skip
const why = engine ? "" : " (skipped: npm ci in sidecar/ was not run)"

const models = temporaryFolder()
const model = join(models.path, "tiny.gguf")
beforeAll(() => writeTinyModel(model))
afterAll(() => {
  models[Symbol.dispose]()
  expect(children().filter(({ command }) => command.includes("main.js"))).toEqual([])
})

const prompt = {
  instruction: "Say in one line what this is.",
  text: "FAIL login.test.ts: expected 200, got 401",
  answer: { gist: 20 },
  maxTokens: 60,
}

/** A backend over the real engine in a data folder of its own. */
async function open(over: Partial<LlamaConfig> = {}, options: object = {}, inUse = model) {
  const home = temporaryFolder()
  const planted = plantSidecar(home.path, { program, model: inUse })
  const reports: string[] = []
  const backend = await openLlama({
    dataFolder: planted.folder,
    options: optionsSchema.parse({ digest: { gpu: "off", threads: 1, ...options } }).digest,
    report: (level, message) => reports.push(`${level} ${message}`),
    ...over,
  })
  if ("off" in backend) throw new Error(backend.off)
  return {
    backend,
    reports,
    ...planted,
    pids: () => running(planted.main).map(({ pid }) => pid),
    async [Symbol.asyncDispose]() {
      await backend.close()
      home[Symbol.dispose]()
    },
  }
}

describe(`the backend${why}`, () => {
  real("knows its name before the sidecar runs, and its speed and limits after the first write", async () => {
    await using opened = await open()
    const { backend, pids } = opened
    expect([backend.model, backend.state.kind, backend.speed, pids()]).toEqual(["tiny", "idle", undefined, []])
    expect([backend.sharesProcessor, backend.maxDocumentTokens]).toEqual([true, 2986])
    const written = await backend.write(prompt, never)
    expect(written).toMatchObject({ structured: { gist: expect.any(String) } })
    expect(backend.state.kind).toBe("ready")
    expect(backend.speed?.prefill).toBeGreaterThan(1)
    expect(backend.speed?.decode).toBeGreaterThan(1)
    expect(backend.sharesProcessor).toBe(true)
    expect(pids()).toHaveLength(1)
  })

  realLarge("gives the same answer after an aborted write", async () => {
    await using opened = await open()
    const first = await opened.backend.write(prompt, never)
    const abort = new AbortController()
    const failed = errorOf(opened.backend.write({ ...prompt, text: "word ".repeat(2000) }, abort.signal))
    abort.abort(new Error("reverted"))
    expect((await failed).message).toBe("reverted")
    expect((await opened.backend.write(prompt, never)).structured).toEqual(first.structured)
  })

  realLarge("closing it ends a process suspended by SIGSTOP, and rejects the pending write", async () => {
    await using opened = await open()
    await opened.backend.write(prompt, never)
    for (const pid of opened.pids()) process.kill(pid, "SIGSTOP")
    const failed = errorOf(opened.backend.write(prompt, never))
    await opened.backend.close()
    const error = await failed
    expect([error instanceof BackendError, error.code]).toEqual([true, "UNAVAILABLE"])
    expect(opened.pids()).toEqual([])
  })

  real("restarts a killed process at the next write", async () => {
    await using opened = await open()
    await opened.backend.write(prompt, never)
    for (const pid of opened.pids()) process.kill(pid, "SIGKILL")
    await until(() => opened.backend.state.kind !== "ready")
    expect((await opened.backend.write(prompt, never)).structured).not.toBeNull()
  })

  realLarge("ends an idle process, and restarts it on demand with the same answer", async () => {
    await using opened = await open({}, { idleMinutes: 0.05 })
    const first = await opened.backend.write(prompt, never)
    await until(() => opened.pids().length === 0)
    expect(opened.backend.state.kind).toBe("idle")
    expect((await opened.backend.write(prompt, never)).structured).toEqual(first.structured)
  })

  real("is off if the model is missing, and says so", async () => {
    await using opened = await open({}, {}, "/nowhere/none.gguf")
    expect(opened.backend.model).toBe("none")
    expect((await errorOf(opened.backend.write(prompt, never))).code).toBe("OFF")
    expect(opened.backend.state.kind).toBe("off")
    expect(opened.reports).toHaveLength(1)
    expect(opened.reports[0]).toMatch(/^warn .*none\.gguf/)
  })
})

const BUSY =
  "another OpenCode, or a project with other options, has loaded the model; until it ends, digests are made without it"
const HOSTS = [
  [`OpenCode's binary${why}`, { BUN_BE_BUN: "1" }, opencode, true],
  [largeName(`bun${why}`), {}, process.execPath, LARGE],
] as const

describe.each(HOSTS)("a host on %s", (_, env, command, runs) => {
  const real = engine && runs ? test : test.skip
  const realLarge = engine && runs ? testLarge : test.skip
  const start = (folder: string, mode = "") => spawnChild([command, join(fixtures, "host.ts"), folder, mode], env)

  realLarge("that is killed leaves no sidecar behind", async () => {
    using home = temporaryFolder()
    const { folder, main } = plantSidecar(home.path, { program, model })
    {
      using host = start(folder)
      await host.printed("written")
      expect(running(main)).toHaveLength(1)
    }
    await until(() => running(main).length === 0, 60_000)
  })

  real("exits although its sidecar is idle, and the sidecar with it", async () => {
    using home = temporaryFolder()
    const { folder, main } = plantSidecar(home.path, { program, model })
    using host = start(folder, "idle")
    await host.printed("written")
    expect((await host.finish()).code).toBe(0)
    await until(() => running(main).length === 0, 60_000)
  })

  real("does without the model while another host has it, and takes over when that is killed", async () => {
    using home = temporaryFolder()
    const { folder, main } = plantSidecar(home.path, { program, model })
    const started: Child[] = []
    using _ = { [Symbol.dispose]: () => started.at(-1)?.[Symbol.dispose]() }
    {
      using first = start(folder)
      await first.printed("written")
      started.push(start(folder))
      await started[0]?.printed(BUSY)
      expect(running(main)).toHaveLength(1)
    }
    // the first one is killed now, and the system releases its lock
    await started[0]?.printed("written")
    await until(() => running(main).length === 1)
  })
})
