// The conformance suite of all backends, run against a local HTTP server that behaves like the real ones and against the
// sidecar with a tiny model in the real llama.cpp. A new backend is a new row.

import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { type Backend, BackendError } from "../../src/digest/backends/backend.ts"
import { createOpenai } from "../../src/digest/backends/openai.ts"
import { readAnswer } from "../../src/engine/wire/answer.ts"
import { root, temporaryFolder, until } from "../store/support.ts"
import { writeTinyModel } from "../support/gguf.ts"
import { testLarge } from "../support/large.ts"
import { openLlama } from "../support/llama.ts"
import { plantSidecar } from "../support/sidecar.ts"
import { completion, modelList, ollama, serve } from "./servers.ts"
import { promptOf } from "./support.ts"

type Opened = { backend: Backend; close(): Promise<void> }

type Row = {
  name: string
  /** why it cannot be tested here */
  skipped?: string | undefined
  open(): Promise<Opened>
  /** one whose writes take long enough to be aborted */
  openSlow(): Promise<Opened>
  /** one that cannot be reached or started */
  openBroken(): Promise<Opened>
}

async function openOpenai(behaviour: Parameters<typeof serve>[0]): Promise<Opened> {
  const server = await serve(behaviour)
  const backend = createOpenai({ url: server.url, timeoutMs: 20_000, allowRemote: false })
  return {
    backend,
    async close() {
      await backend.close()
      // a request that an aborted write left behind would still be open
      await until(() => server.open === 0)
      await server[Symbol.asyncDispose]()
    },
  }
}

const folder = temporaryFolder()
afterAll(() => folder[Symbol.dispose]())
const tiny = join(folder.path, "tiny.gguf")
const slow = join(folder.path, "slow.gguf")
const corrupt = join(folder.path, "corrupt.gguf")
let planted = 0

async function openTiny(model: string): Promise<Opened> {
  const { folder: dataFolder } = plantSidecar(join(folder.path, `host${planted++}`), {
    program: join(root, "sidecar/main.ts"),
    model,
  })
  const backend = await openLlama({
    dataFolder,
    options: { gpu: "off", idleMinutes: 5, memoryMB: 0, model: undefined, runtime: "auto", threads: 1 },
    report: () => {},
  })
  if ("off" in backend) throw new Error(backend.off)
  return { backend, close: () => backend.close() }
}

const rows: Row[] = [
  {
    name: "openai",
    open: () => openOpenai(ollama("tiny")),
    // the long one takes until the client hangs up, which may be before it gets here
    openSlow: () =>
      openOpenai(({ path, body }) => {
        if (path === "/v1/models") return modelList("tiny")
        return body.max_tokens === long.maxTokens ? undefined : completion("{}")
      }),
    openBroken: async () => {
      const { origin, ...gone } = await serve(() => "")
      await gone[Symbol.asyncDispose]()
      const backend = createOpenai({ url: origin, timeoutMs: 1000, allowRemote: false })
      return { backend, close: () => backend.close() }
    },
  },
  {
    name: "llama",
    skipped: existsSync(join(root, "sidecar/node_modules/node-llama-cpp"))
      ? undefined
      : "the engine is not installed; run npm ci in sidecar/",
    open: () => openTiny(tiny),
    openSlow: () => openTiny(slow),
    openBroken: () => openTiny(corrupt),
  },
]

beforeAll(async () => {
  await writeTinyModel(tiny)
  await writeTinyModel(slow, { layers: 10 })
  await writeTinyModel(corrupt, { fault: "truncated" })
})

const prompt = promptOf("a", 20)
const long = { ...promptOf("b", 40), maxTokens: 400 }
const never = new AbortController().signal

/** The error that a promise rejects with. */
async function rejection(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise
  } catch (error) {
    return error
  }
  throw new Error("it did not reject")
}

for (const { name, skipped, ...row } of rows) {
  const suite = skipped === undefined ? describe : describe.skip
  suite(skipped === undefined ? name : `${name} (skipped: ${skipped})`, () => {
    describe("a working backend", () => {
      let backend: Backend
      let close: () => Promise<void>
      beforeAll(async () => {
        ;({ backend, close } = await row.open())
      })
      afterAll(() => close())

      test("writes a draft that matches the schema, or reports that it does not, and is ready", async () => {
        expect(["idle", "starting"]).toContain(backend.state.kind)
        const { structured } = await backend.write(prompt, never)
        if (structured) expect(readAnswer(JSON.stringify(structured), prompt.answer)).toEqual(structured)
        expect(backend.state).toEqual({ kind: "ready" })
        expect(backend.model).toMatch(/\w/)
        expect(backend.maxDocumentTokens).toBeGreaterThan(500)
      }, 60_000)

      test("is deterministic, even for two writes at once", async () => {
        const first = await backend.write(prompt, never)
        const both = await Promise.all([backend.write(prompt, never), backend.write(prompt, never)])
        expect(both.map(({ structured }) => structured)).toEqual([first.structured, first.structured])
      }, 60_000)

      test("does not start a write that is already aborted", async () => {
        const reason = new Error("not wanted")
        expect(await rejection(backend.write(prompt, AbortSignal.abort(reason)))).toBe(reason)
      }, 60_000)
    })

    test("an aborted write rejects with the signal's reason, and the backend stays usable", async () => {
      const { backend, close } = await row.openSlow()
      const abort = new AbortController()
      const written = rejection(backend.write(long, abort.signal))
      await until(() => backend.state.kind === "ready", 60_000)
      const reason = new Error("reverted")
      abort.abort(reason)
      expect(await written).toBe(reason)
      expect(backend.state.kind).toBe("ready")
      expect(await backend.write(prompt, never)).toBeDefined()
      await close()
    }, 120_000)

    test("a paused write can be aborted, and a resumed one completes", async () => {
      const { backend, close } = await row.openSlow()
      const abort = new AbortController()
      const written = rejection(backend.write(long, abort.signal))
      await until(() => backend.state.kind === "ready", 60_000)
      backend.pause(true)
      backend.pause(true)
      const reason = new Error("deleted")
      abort.abort(reason)
      expect(await written).toBe(reason)
      const next = backend.write(prompt, never)
      backend.pause(false)
      expect(await next).toBeDefined()
      await close()
    }, 120_000)

    // the sidecar in place of llama.cpp shows it daily in test/engine
    const one = name === "llama" ? testLarge : test
    one(
      "closing rejects the running write and every later one, and is idempotent",
      async () => {
        const { backend, close } = await row.openSlow()
        const written = rejection(backend.write(long, never))
        await until(() => backend.state.kind === "ready", 60_000)
        await Promise.all([backend.close(), backend.close()])
        expect(await written).toBeInstanceOf(BackendError)
        expect(await rejection(backend.write(prompt, never))).toBeInstanceOf(BackendError)
        backend.pause(true)
        await close()
      },
      120_000,
    )

    test("a broken backend reports a code and a reason, and never hangs", async () => {
      const { backend, close } = await row.openBroken()
      const error = await rejection(backend.write(prompt, never))
      expect(error).toBeInstanceOf(BackendError)
      const { code, message } = error as BackendError
      expect(["UNAVAILABLE", "OFF"]).toContain(code)
      expect(backend.state.kind).toBe(code === "OFF" ? "off" : "degraded")
      expect(message.length).toBeGreaterThan(20)
      await close()
    }, 60_000)
  })
}
