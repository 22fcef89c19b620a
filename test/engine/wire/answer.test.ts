import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { readAnswer, readPartialJson } from "../../../src/engine/wire/answer.ts"

const schema = {
  type: "object",
  properties: {
    gist: { type: "string", maxLength: 20 },
    facts: {
      type: "array",
      maxItems: 3,
      items: {
        type: "object",
        properties: {
          type: { enum: ["path", "number"] },
          text: { type: "string", maxLength: 30 },
          line: { type: "integer", minimum: 1, maximum: 9999 },
        },
        required: ["type", "text"],
      },
    },
    sure: { type: "boolean" },
  },
  required: ["gist", "facts"],
}

type Fact = { type: "path" | "number"; text: string; line?: number }
type Shape = { gist: string; facts: Fact[]; sure?: boolean }

const characters = (most: number) => fc.string({ unit: "binary", maxLength: most })
const shape: fc.Arbitrary<Shape> = fc.record(
  {
    gist: characters(20),
    facts: fc.array(
      fc.record(
        {
          type: fc.constantFrom("path" as const, "number" as const),
          text: characters(30),
          line: fc.integer({ min: 1, max: 9999 }),
        },
        { requiredKeys: ["type", "text"], noNullPrototype: true },
      ),
      { maxLength: 3 },
    ),
    sure: fc.boolean(),
  },
  { requiredKeys: ["gist", "facts"], noNullPrototype: true },
)

/** Whether a value conforms to the schema exactly; an independent implementation without repair. */
function isShape(value: unknown): value is Shape {
  const { gist, facts, sure, ...rest } = value as Record<string, unknown>
  const isFact = ({ type, text, line, ...more }: Record<string, unknown>) =>
    (type === "path" || type === "number") &&
    typeof text === "string" &&
    [...text].length <= 30 &&
    (line === undefined || (Number.isInteger(line) && (line as number) >= 1 && (line as number) <= 9999)) &&
    Object.keys(more).length === 0
  return (
    typeof gist === "string" &&
    [...gist].length <= 20 &&
    Array.isArray(facts) &&
    facts.length <= 3 &&
    facts.every(isFact) &&
    (sure === undefined || typeof sure === "boolean") &&
    Object.keys(rest).length === 0
  )
}

const read = (text: string) => readAnswer(text, schema)
const whole = { gist: "two tests fail", facts: [{ type: "path", text: "a/b.ts", line: 3 }], sure: true }
const json = JSON.stringify(whole)

describe("an answer is found", () => {
  const around: Record<string, string> = {
    "on its own": json,
    "in a code fence": `\`\`\`json\n${JSON.stringify(whole, null, 2)}\n\`\`\``,
    "after and before prose": `Sure! Here is the {digest} of it:\n${json}\nLet me know {if} that helps.`,
    "after a bracket and a quotation mark": `He wrote {"so, here: ${json}`,
    "after an echo of the schema": `${JSON.stringify(schema)}\n${json}`,
    "with its properties in another order": `{"sure":true,"facts":${JSON.stringify(whole.facts)},"gist":"two tests fail"}`,
    "with commas before closing brackets": `{"gist":"two tests fail","facts":[{"type":"path","text":"a/b.ts","line":3,},],"sure":true,}`,
    "with unknown properties": `{"thoughts":{"a":[1,{}]},${json.slice(1)}`,
  }
  for (const [how, text] of Object.entries(around)) {
    test(how, () => expect(read(text)).toEqual({ structured: whole, schemaOk: true }))
  }

  test("with line breaks in strings and unknown escapes", () => {
    const text = `{"gist":"one\ntwo","facts":[{"type":"path","text":"src\\d+\\u00e9\\x"}]}`
    expect(read(text).structured).toEqual({ gist: "one\ntwo", facts: [{ type: "path", text: "src\\d+é\\x" }] })
  })

  test("as a list if the schema is a list", () => {
    expect(readAnswer('so [1] or [1,2,"x"]', { type: "array", minItems: 2, items: { type: "number" } })).toEqual({
      structured: [1, 2],
      schemaOk: true,
    })
  })
})

describe("what does not fit is dropped", () => {
  const facts = (...list: unknown[]) => JSON.stringify({ gist: "g", facts: list })
  const rows: [string, string, unknown][] = [
    ["an item of the wrong type", facts("path", whole.facts[0]), whole.facts],
    ["an item without a required property", facts({ type: "path" }, whole.facts[0]), whole.facts],
    ["an item with an unknown enum value", facts({ type: "url", text: "x" }), []],
    ["an optional property out of range", facts({ type: "path", text: "x", line: 0 }), [{ type: "path", text: "x" }]],
    ["a fraction for an integer", facts({ type: "path", text: "x", line: 1.5 }), [{ type: "path", text: "x" }]],
    [
      "surplus items",
      facts(...[1, 2, 3, 4].map((n) => ({ type: "number", text: `${n}` }))),
      [1, 2, 3].map((n) => ({ type: "number", text: `${n}` })),
    ],
    ["a list that is a string", '{"gist":"g","facts":"none"}', []],
    ["a list that is missing", '{"gist":"g"}', []],
  ]
  for (const [what, text, expected] of rows) {
    test(what, () => expect(read(text)).toEqual({ structured: { gist: "g", facts: expected }, schemaOk: true }))
  }

  test("surplus characters of a long string", () => {
    expect(read(JSON.stringify({ gist: "🦉".repeat(21), facts: [] })).structured).toEqual({
      gist: "🦉".repeat(20),
      facts: [],
    })
  })
})

describe("no answer", () => {
  const rows = [
    "",
    "I cannot do that.",
    "{}",
    "{",
    "null",
    '"{}"',
    '{"gist":5,"facts":[]}',
    '{"facts":[]}',
    '{"gist":"cutof',
  ]
  for (const text of rows) {
    test(JSON.stringify(text), () => expect(read(text)).toEqual({ structured: null, schemaOk: false }))
  }

  test("if it begins after the first 20,000 characters", () => {
    expect(read(" ".repeat(20_000) + json).schemaOk).toBe(false)
  })

  test("if it is nested deeper than any schema", () => {
    expect(read("{".repeat(1000)).schemaOk).toBe(false)
    expect(read('{"a":'.repeat(3000)).schemaOk).toBe(false)
  })
})

describe("properties", () => {
  test("a conforming answer is unchanged, whatever its strings contain", () => {
    fc.assert(fc.property(shape, (value) => expect(read(JSON.stringify(value)).structured).toEqual(value)))
  })

  test("every text gives a conforming answer or none", () => {
    const noise = fc.oneof(
      fc.string(),
      fc.json(),
      fc.tuple(shape, fc.string(), fc.nat()).map(([value, extra, at]) => {
        const text = JSON.stringify(value)
        return text.slice(0, at % text.length) + extra + text.slice(at % text.length)
      }),
    )
    fc.assert(
      fc.property(noise, (text) => {
        const { structured, schemaOk } = read(text)
        expect(schemaOk).toBe(structured !== null)
        if (schemaOk) expect(isShape(structured)).toBe(true)
      }),
      { numRuns: 1000 },
    )
  })

  test("no schema makes it throw", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), fc.dictionary(fc.string(), fc.anything()), (text, any) => {
        const { structured, schemaOk } = readAnswer(text, any)
        expect(schemaOk).toBe(structured !== null)
      }),
    )
  })

  test("a truncated sentence keeps its complete words, a truncated list its complete items", () => {
    expect(read('{"gist":"two tests fa').structured).toEqual({ gist: "two tests", facts: [] })
    expect(read('{"gist":"g","facts":[{"type":"path","text":"a b.ts"},{"type":"path","text":"a c').structured).toEqual({
      gist: "g",
      facts: [{ type: "path", text: "a b.ts" }],
    })
  })

  test("an answer truncated anywhere keeps only what was complete", () => {
    fc.assert(
      fc.property(shape, fc.nat(), (value, at) => {
        const text = JSON.stringify(value)
        const { structured } = read(text.slice(0, at % text.length))
        if (structured === null) return
        const { gist, facts } = structured as Shape
        expect(value.gist.startsWith(gist)).toBe(true)
        expect(facts.length).toBeLessThanOrEqual(value.facts.length)
        for (const [index, fact] of facts.entries()) expect(value.facts[index]).toMatchObject(fact)
      }),
      { numRuns: 500 },
    )
  })

  test("any JSON object is read as JSON.parse reads it", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 6 })), (value) => {
        const text = JSON.stringify(value)
        const found = readPartialJson(text, 0)
        expect(found).toEqual({ value: JSON.parse(text), whole: true, end: text.length })
      }),
    )
  })
})
