// The grammar of a schema, tested by what llama.cpp lets a model with random weights write.

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import fc from "fast-check"
import { EngineError } from "../../sidecar/errors.ts"
import { grammarFor } from "../../sidecar/grammar.ts"
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

type Schema = Record<string, unknown>
const one = (value: unknown) => ({ type: "object", properties: { x: value }, required: ["x"] })
const properties = (value: Schema) => value.properties as Record<string, Schema>

let sidecar: Sidecar
beforeAll(async () => {
  sidecar = await startSidecar()
  await sidecar.request("engine/load", loadOf(await tinyModel(), { contextTokens: 4096 }))
}, PATIENCE_MS)
setDefaultTimeout(PATIENCE_MS)
afterAll(cleanUp)

/** Whether the value conforms to the schema exactly, with its properties in order. */
function isOfForm(value: unknown, schema: Schema): boolean {
  if (Array.isArray(schema.enum)) return schema.enum.includes(value)
  switch (schema.type) {
    case "object": {
      const names = Object.keys(properties(schema))
      return (
        typeof value === "object" &&
        JSON.stringify(Object.keys(value ?? {})) === JSON.stringify(names) &&
        names.every((name) => isOfForm((value as Schema)[name], properties(schema)[name] as Schema))
      )
    }
    case "array": {
      const { minItems = 0, maxItems, items } = schema as { minItems?: number; maxItems: number; items: Schema }
      return (
        Array.isArray(value) &&
        value.length >= minItems &&
        value.length <= maxItems &&
        value.every((item) => isOfForm(item, items))
      )
    }
    case "string": {
      const length = typeof value === "string" ? [...value].length : -1
      return length >= Number(schema.minLength ?? 0) && length <= Number(schema.maxLength)
    }
    case "integer":
      return Number.isInteger(value) && String(Math.abs(value as number)).length <= String(schema.maximum).length
    default:
      return typeof value === schema.type
  }
}

const range = (least: string, most: string, top: number) =>
  fc.tuple(fc.nat(top), fc.nat(top)).map(([one, other]) => ({
    [least]: Math.min(one, other),
    [most]: Math.max(one, other),
  }))
const scalar = fc.oneof(fc.string({ unit: "binary", maxLength: 8 }), fc.integer(), fc.boolean(), fc.constant(null))
const leaf = fc.oneof(
  range("minLength", "maxLength", 12).map((bounds) => ({ type: "string", ...bounds })),
  fc.uniqueArray(scalar, { minLength: 1, maxLength: 4 }).map((values) => ({ enum: values })),
  fc.record({ type: fc.constant("integer"), maximum: fc.integer({ min: 0, max: 99_999 }) }),
  fc.constant({ type: "boolean" }),
)
const objectOf = (part: fc.Arbitrary<Schema>) =>
  fc
    .uniqueArray(fc.tuple(fc.string({ unit: "binary", minLength: 1, maxLength: 6 }), part), {
      maxLength: 3,
      // JavaScript objects reorder numeric names
      selector: ([name]) => (/^\d+$/.test(name) ? "number" : name),
    })
    .map((entries) => ({
      type: "object",
      properties: Object.fromEntries(entries),
      required: entries.map(([name]) => name),
    }))
const { schema } = fc.letrec<{ any: Schema; schema: Schema }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 2 },
    leaf,
    fc
      .tuple(tie("any"), range("minItems", "maxItems", 3))
      .map(([items, bounds]) => ({ type: "array", items, ...bounds })),
    objectOf(tie("any")),
  ),
  schema: objectOf(tie("any")),
}))

test.skipIf(TEST_GPU !== "off")(
  "a complete answer conforms to the schema, on one line (skipped on a GPU)",
  async () => {
    let whole = 0
    await fc.assert(
      fc.asyncProperty(schema, fc.string(), async (form, text) => {
        const reply = await sidecar.request("digest/write", writeOf(text, { schema: form, maxTokens: 1000 }))
        if (reply.usage.outputTokens === 1000) return
        whole++
        const value = JSON.parse(reply.text)
        expect(isOfForm(value, form)).toBe(true)
        // the grammar allows the same escapes as JSON.stringify writes
        expect(reply.text).toBe(jsonOf(value))
      }),
      { numRuns: 60, seed: 7 },
    )
    expect(whole).toBeGreaterThan(40)
  },
)

test("llama.cpp accepts the largest bounds", async () => {
  const items = one({ type: "string", minLength: 1000, maxLength: 1000 })
  const most = one({ type: "array", minItems: 100, maxItems: 100, items })
  const reply = await sidecar.request("digest/write", writeOf("x", { schema: most, maxTokens: 20 }))
  expect(reply.text).toStartWith('{"x": [{"x": "')
})

describe("an unsupported schema is refused", () => {
  const rows: [string, unknown][] = [
    ["no object at the top", { type: "string", maxLength: 5 }],
    ["no type", one({})],
    ["another type", one({ type: "number" })],
    ["a list of types", one({ type: ["string", "null"], maxLength: 5 })],
    ["something that is not a schema", one("string")],
    ["a string without a bound", one({ type: "string" })],
    ["a string too long", one({ type: "string", maxLength: 1001 })],
    ["a string whose bounds contradict", one({ type: "string", minLength: 6, maxLength: 5 })],
    ["a pattern", one({ type: "string", maxLength: 5, pattern: "a+" })],
    ["a list without a bound", one({ type: "array", items: { type: "boolean" } })],
    ["a list without an item schema", one({ type: "array", maxItems: 5 })],
    ["an integer without a bound", one({ type: "integer" })],
    ["an integer whose bounds contradict", one({ type: "integer", minimum: 9, maximum: 5 })],
    ["an integer beyond the safe range", one({ type: "integer", maximum: 1e20 })],
    ["an empty enum", one({ enum: [] })],
    ["an enum of objects", one({ enum: [{}] })],
    ["anyOf", one({ anyOf: [{ type: "boolean" }] })],
    ["a description", { ...one({ type: "boolean" }), description: "x" }],
    ["open properties", { ...one({ type: "boolean" }), additionalProperties: true }],
    ["an unknown required property", { ...one({ type: "boolean" }), required: ["y"] }],
    ["an optional property", { ...one({ type: "boolean" }), required: [] }],
    ["no properties", { type: "object" }],
    ["deep nesting", one(one(one(one(one(one(one(one({ type: "boolean" }))))))))],
  ]
  for (const [what, value] of rows) {
    test(what, () => {
      let thrown: unknown
      try {
        grammarFor(value as Schema)
      } catch (error) {
        thrown = error
      }
      expect(thrown).toBeInstanceOf(EngineError)
      expect(thrown).toMatchObject({ code: "BAD_REQUEST", message: expect.stringMatching(/^schema: the answer/) })
    })
  }

  test("over the wire, with the place", async () => {
    const wrong = one({ type: "array", maxItems: 3, items: { type: "null" } })
    await expect(sidecar.request("digest/write", writeOf("x", { schema: wrong }))).rejects.toMatchObject({
      message: expect.stringContaining("the answer.x[] must have a type"),
      data: { code: "BAD_REQUEST" },
    })
  })
})
