// The backend with fixture sidecars: why there may be none, its properties and errors, and sharing within a process.

import { expect, setDefaultTimeout, test } from "bun:test"
import { mkdirSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { BackendError, type BackendErrorCode } from "../../src/digest/backends/backend.ts"
import { createQueue } from "../../src/digest/queue.ts"
import { createLease } from "../../src/engine/lease.ts"
import { createSidecar } from "../../src/engine/sidecar.ts"
import { PROTOCOL } from "../../src/engine/wire/messages.ts"
import { optionsSchema } from "../../src/options.ts"
import { candidateOf } from "../digest/support.ts"
import { temporaryFolder, until } from "../store/support.ts"
import { openLlama } from "../support/llama.ts"
import { type Planted, plantSidecar } from "../support/sidecar.ts"
import { errorOf, fixture, fixtures, LOAD, never, writing } from "./host.ts"

// processes are started, on a machine that may be busy
setDefaultTimeout(60_000)

const prompt = writing("a log")

type Given = { options?: { model?: string }; spoil?: (planted: Planted, options: { model?: string }) => void }

/** The backend with this fixture as its sidecar, in a separate data folder that `spoil` may change first. */
async function open(
  name: string,
  { options = {}, spoil = (_: Planted, _options: { model?: string }) => {} }: Given = {},
) {
  const home = temporaryFolder()
  const planted = plantSidecar(home.path, {
    program: join(fixtures, `${name}.ts`),
    model: "/models/Some-Model-Q8_0.gguf",
  })
  spoil(planted, options)
  const { digest } = optionsSchema.parse({ digest: options })
  const backend = await openLlama({ dataFolder: planted.folder, options: digest, report: () => {} })
  return {
    backend,
    async [Symbol.asyncDispose]() {
      if (!("off" in backend)) await backend.close()
      home[Symbol.dispose]()
    },
  }
}

test("there is none if nothing is set up, which is not an error", async () => {
  await using opened = await open("plain", { spoil: ({ engineRecord }) => rmSync(engineRecord) })
  const off = "the local model is not set up; run `hudfold setup`"
  expect(opened.backend).toEqual({ off, absent: true })
})

test.each([
  [
    "the installed sidecar has another protocol version",
    {
      spoil: ({ engineRecord }: Planted) =>
        writeFileSync(engineRecord, '{"engine":"3.21.1","protocol":1,"variants":[]}'),
    },
    `the installed sidecar speaks protocol 1, this plugin ${PROTOCOL}; run \`hudfold setup\` again`,
  ],
  [
    "the engine's record is invalid",
    { spoil: ({ engineRecord }: Planted) => writeFileSync(engineRecord, '{"engine":') },
    expect.stringMatching(/installed\.json cannot be read; run `hudfold setup` again$/),
  ],
  [
    "no model is chosen",
    { spoil: ({ modelRecord }: Planted) => rmSync(modelRecord) },
    "no model is chosen; run `hudfold setup`",
  ],
  [
    "the model's path is relative",
    { options: { model: "models/mine.gguf" } },
    'option digest.model: expected the absolute path of a GGUF file, got "models/mine.gguf"',
  ],
])("there is none if %s, and the reason says what to do", async (_, given, reason) => {
  await using opened = await open("plain", given)
  expect(opened.backend).toEqual({ off: reason })
})

test("a fetched model needs no record, and names the backend", async () => {
  let fetched = ""
  await using opened = await open("plain", {
    spoil({ models, modelRecord }, options: { model?: string }) {
      fetched = join(models, "owner", "repo", "Mine.Q4.GGUF")
      mkdirSync(dirname(fetched), { recursive: true })
      writeFileSync(fetched, "")
      rmSync(modelRecord)
      options.model = fetched
    },
  })
  expect(opened.backend).toMatchObject({ model: "Mine.Q4", state: { kind: "idle" } })
})

test("on a GPU it does not share the CPU, and its document limit follows from the model's context", async () => {
  await using opened = await open("on-gpu")
  if ("off" in opened.backend) throw new Error(opened.backend.off)
  expect([opened.backend.model, opened.backend.sharesProcessor]).toEqual(["Some-Model-Q8_0", true])
  const written = await opened.backend.write(prompt, never)
  expect(written).toMatchObject({
    structured: { text: "A LOG" },
    usage: { promptTokens: 1, outputTokens: 1 },
    elapsedMs: 1,
  })
  expect([opened.backend.sharesProcessor, opened.backend.maxDocumentTokens]).toEqual([false, 1143])
  expect(opened.backend.speed).toEqual({ prefill: 10_000, decode: 1_000 })
})

test.each([
  ["exits", "UNAVAILABLE"],
  ["broken-engine", "TIMEOUT"],
  ["bad-replies", "TIMEOUT"],
  ["wrong-version", "OFF"],
  ["crawls", "UNAVAILABLE"],
] satisfies [string, BackendErrorCode][])("the sidecar %s gives the backend error %s", async (name, code) => {
  await using opened = await open(name)
  if ("off" in opened.backend) throw new Error(opened.backend.off)
  const error = await errorOf(opened.backend.write(prompt, never))
  expect([error instanceof BackendError, error.code]).toEqual([true, code])
})

test("a document on which the sidecar crashes is not given to it again, and the others get their turn", async () => {
  await using opened = await open("crashes-on-poison")
  if ("off" in opened.backend) throw new Error(opened.backend.off)
  const final: string[] = []
  const queue = createQueue({
    backend: opened.backend,
    isFinal: (key) => final.includes(key),
    onFinal: (key) => final.push(key),
  })
  // the worthiest is taken first, and again and again if it is kept
  queue.offer([candidateOf("a"), candidateOf("poison", { worth: 9 }), candidateOf("b")])
  await until(() => final.length === 3, 30_000)
  expect(final[0]).toBe("key-poison")
  expect(queue.counters).toMatchObject({ failed: 1, refused: 2 })
  await queue.close()
})

test("a sidecar with other options starts when the one before is gone", async () => {
  using folder = temporaryFolder()
  const withThreads = (threads: number) => {
    const lease = createLease(join(folder.path, "sidecar.lease"))
    const load = { ...LOAD, threads }
    return createSidecar({ spec: fixture("plain"), load, lease, idleMs: 60_000, report: () => {} })
  }
  const [before, after] = [withThreads(1), withThreads(2)]
  await before.write(prompt, never)
  const closing = before.close()
  expect((await after.write(prompt, never)).structured).not.toBeNull()
  await Promise.all([closing, after.close()])
})
