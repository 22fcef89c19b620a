// Loading a model: the engine's capabilities, its errors for invalid files, and the device it uses.

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { mkdir } from "node:fs/promises"
import { join } from "node:path"
import type { TinyModel } from "../support/gguf.ts"
import {
  cleanUp,
  documentOf,
  failureOf,
  loadOf,
  PATIENCE_MS,
  type Sidecar,
  startSidecar,
  TEST_GPU,
  tinyModel,
  workFolder,
  writeOf,
} from "./support.ts"

let sidecar: Sidecar
beforeAll(async () => {
  sidecar = await startSidecar()
}, PATIENCE_MS)
setDefaultTimeout(PATIENCE_MS)
afterAll(cleanUp)

test("it reports its capabilities", async () => {
  const modelPath = await tinyModel()
  const capabilities = await sidecar.request("engine/load", loadOf(modelPath))
  expect(capabilities).toEqual({
    gpu: TEST_GPU,
    devices: TEST_GPU === "off" ? [] : [expect.any(String)],
    model: { name: "Tiny" },
    contextTokens: 2048,
    threads: expect.any(Number),
    prefillTokensPerSecond: expect.any(Number),
    decodeTokensPerSecond: expect.any(Number),
    loadMs: expect.any(Number),
  })
  expect(capabilities.prefillTokensPerSecond).toBeGreaterThan(1)
  expect(capabilities.decodeTokensPerSecond).toBeGreaterThan(1)
  expect(capabilities.threads).toBeGreaterThan(0)
})

test("the context is as requested, but at most what the model was trained for, and at least 512 tokens", async () => {
  const contextOf = async (contextTokens: number) =>
    (await sidecar.request("engine/load", loadOf(await tinyModel(), { contextTokens }))).contextTokens
  expect(await contextOf(3000)).toBe(3072)
  expect(await contextOf(0)).toBe(512)
  expect(await contextOf(50_000_000)).toBe(8192)
})

for (const template of ["chatml", "gemma", "own", "none"] as const) {
  test(`a model with the chat template "${template}" has the instruction as a constant prefix and answers in the requested form`, async () => {
    await sidecar.request("engine/load", loadOf(await tinyModel({ template })))
    const { structured, usage } = await sidecar.request("digest/write", writeOf(documentOf(300)))
    expect(structured).not.toBeNull()
    expect(usage.evaluatedTokens).toBeLessThan(usage.promptTokens - 50)
  })
}

describe("an invalid file is refused with an explanation, and the process continues:", () => {
  const faults: [NonNullable<TinyModel["fault"]>, RegExp][] = [
    ["magic", /a file that begins with/],
    ["html", /a web page/],
    ["empty", /an empty file/],
    ["version", /version 99/],
    ["header", /failed to read/],
    ["truncated", /not within the file bounds/],
    ["nan", /invalid data/],
  ]
  for (const [fault, words] of faults) {
    test(fault, async () => {
      const failure = await failureOf(sidecar.request("engine/load", loadOf(await tinyModel({ fault }))))
      expect(failure).toEqual({ code: "MODEL_INVALID", message: expect.stringMatching(words) })
      expect(failure.message).toContain("fetch it again or choose another")
    })
  }

  test("a folder", async () => {
    const folder = join(await workFolder(), "folder.gguf")
    await mkdir(folder)
    expect((await failureOf(sidecar.request("engine/load", loadOf(folder)))).code).toBe("MODEL_INVALID")
  })

  test("a missing file", async () => {
    const failure = await failureOf(sidecar.request("engine/load", loadOf(join(await workFolder(), "nowhere.gguf"))))
    expect(failure).toEqual({
      code: "MODEL_MISSING",
      message: expect.stringMatching(/nowhere\.gguf.*hudfold model use NAME/),
    })
  })

  test("a model that needs more memory than allowed", async () => {
    const load = loadOf(await tinyModel(), { memoryBytes: 100_000_000, gpu: "off" })
    const failure = await failureOf(sidecar.request("engine/load", load))
    expect(failure).toEqual({ code: "MODEL_TOO_LARGE", message: expect.stringMatching(/needs \d+ MB.* 100 MB/) })
  })

  test("a model that needs more than the memory that is free now, which may be more later", async () => {
    // 3 kB for each token
    const contextTokens = 2 ** 26
    const load = loadOf(await tinyModel({ contextTokens }), { contextTokens, memoryBytes: 0, gpu: "off" })
    const failure = await failureOf(sidecar.request("engine/load", load))
    const message = expect.stringMatching(/needs \d+ MB, of \d+ MB free it may take \d+ MB; close programs or choose/)
    expect(failure).toEqual({ code: "OUT_OF_MEMORY", message })
  })

  test("an instruction that fills the context", async () => {
    const load = loadOf(await tinyModel(), { contextTokens: 512, instruction: documentOf(400) })
    const failure = await failureOf(sidecar.request("engine/load", load))
    expect(failure).toEqual({ code: "BAD_REQUEST", message: expect.stringMatching(/instruction has \d+ tokens/) })
  })

  test("after all of them no model is loaded, and a valid one can be", async () => {
    expect((await failureOf(sidecar.request("digest/write", writeOf("x")))).code).toBe("NOT_LOADED")
    await sidecar.request("engine/load", loadOf(await tinyModel()))
    expect((await sidecar.request("digest/write", writeOf("x"))).structured).not.toBeNull()
  })
})

test("after a cancelled load no model is loaded", async () => {
  // a load that is cancelled before it starts leaves the current model loaded, so begin without one
  await failureOf(sidecar.request("engine/load", loadOf(join(await workFolder(), "nowhere.gguf"))))
  const fresh = await startSidecar()
  const cancel = new AbortController()
  const load = fresh.request("engine/load", loadOf(await tinyModel()), cancel.signal)
  cancel.abort()
  await expect(load).rejects.toMatchObject({ code: -32800 })
  expect((await failureOf(fresh.request("digest/write", writeOf("x")))).code).toBe("NOT_LOADED")
  await fresh.end()
})

test("if loading on the GPU fails, the CPU is used, and the reason is told", async () => {
  // fails because the Vulkan engine is not installed, or because there is no such device
  const filtered = await startSidecar({ env: { GGML_VK_VISIBLE_DEVICES: "99" } })
  const load = loadOf(await tinyModel(), { gpu: "vulkan" })
  const first = await filtered.request("engine/load", load)
  expect(first.gpu).toBe("off")
  expect(first.fallback).toMatch(/^vulkan is not used: ./)
  const second = await filtered.request("engine/load", load)
  expect(second.fallback).toBe(first.fallback as string)
  expect((await filtered.request("digest/write", writeOf("x"))).structured).not.toBeNull()
  await filtered.end()
})
