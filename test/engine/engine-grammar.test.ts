// The grammar of an answer, tested by what llama.cpp lets a model with random weights write.

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import fc from "fast-check"
import { REQUESTS } from "../../src/engine/wire/messages.ts"
import {
  cleanUp,
  jsonOf,
  loadOf,
  PATIENCE_MS,
  type Sidecar,
  startSidecar,
  TEST_GPU,
  tinyModel,
  writeOf,
} from "./support.ts"

let sidecar: Sidecar
beforeAll(async () => {
  sidecar = await startSidecar()
  await sidecar.request("engine/load", loadOf(await tinyModel(), { contextTokens: 4096 }))
}, PATIENCE_MS)
setDefaultTimeout(PATIENCE_MS)
afterAll(cleanUp)

test.skipIf(TEST_GPU !== "off")(
  "a complete answer has the form that was asked for, on one line (skipped on a GPU)",
  async () => {
    const limits = fc.dictionary(fc.stringMatching(/^[a-z_]\w{0,5}$/), fc.integer({ min: 1, max: 12 }), { maxKeys: 3 })
    let whole = 0
    await fc.assert(
      fc.asyncProperty(limits, fc.string(), async (form, text) => {
        const reply = await sidecar.request("digest/write", writeOf(text, { answer: form, maxTokens: 1000 }))
        if (reply.usage.outputTokens === 1000) return
        whole++
        const value = JSON.parse(reply.text) as Record<string, string>
        expect(Object.keys(value)).toEqual(Object.keys(form))
        for (const [name, max] of Object.entries(form)) expect([...(value[name] ?? "")].length).toBeLessThanOrEqual(max)
        // the grammar allows the same escapes as JSON.stringify writes
        expect(reply.text).toBe(jsonOf(value))
      }),
      { numRuns: 20, seed: 7 },
    )
    expect(whole).toBeGreaterThan(15)
  },
)

test("llama.cpp accepts the largest bounds", async () => {
  const reply = await sidecar.request("digest/write", writeOf("x", { answer: { x: 1000 }, maxTokens: 20 }))
  expect(reply.text).toStartWith('{"x": "')
})

test.each([
  ["no object", 5],
  ["a limit that is no number", { x: "5" }],
  ["a string without a limit", { x: 0 }],
  ["a string too long", { x: 1001 }],
  ["a name that is no word", { 'x"': 5 }],
])("an answer of %s is refused", (_, answer) => {
  expect(REQUESTS["digest/write"].params.safeParse(writeOf("x", { answer: answer as never })).success).toBe(false)
})

test("a refused form is a BAD_REQUEST over the wire", async () => {
  await expect(sidecar.request("digest/write", writeOf("x", { answer: { x: 1001 } }))).rejects.toMatchObject({
    message: expect.stringContaining("protocol"),
    data: { code: "BAD_REQUEST" },
  })
})
