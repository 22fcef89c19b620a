import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { readAnswer } from "../../../src/engine/wire/answer.ts"

const form = { gist: 20, fact: 30 }
const read = (text: string) => readAnswer(text, form)
const whole = { gist: "two tests fail", fact: "a/b.ts, line 3" }
const json = JSON.stringify(whole)

describe("an answer is found", () => {
  const around: Record<string, string> = {
    "on its own": json,
    "in a code fence": `\`\`\`json\n${JSON.stringify(whole, null, 2)}\n\`\`\``,
    "after and before prose": `Sure! Here is the {digest} of it:\n${json}\nLet me know {if} that helps.`,
    "after a bracket and a quotation mark": `He wrote {"so, here: ${json}`,
    "after an echo of the schema": `${JSON.stringify({ properties: { gist: { type: "string" } } })}\n${json}`,
    "with its properties in another order": `{"fact":"a/b.ts, line 3","gist":"two tests fail"}`,
    "with commas before closing brackets": `${json.slice(0, -1)},}`,
    "with unknown properties": `{"thoughts":{"a":[1,{}]},"gists":"x",${json.slice(1)}`,
  }
  for (const [how, text] of Object.entries(around)) {
    test(how, () => expect(read(text)).toEqual(whole))
  }

  test("with line breaks in strings and unknown escapes", () => {
    const text = `{"gist":"one\ntwo \\"three\\"","fact":"src\\d+\\u00e9\\x"}`
    expect(read(text)).toEqual({ gist: 'one\ntwo "three"', fact: "src\\d+é\\x" })
  })

  test("without the surplus characters of a long string", () => {
    expect(read(JSON.stringify({ gist: "🦉".repeat(21), fact: "" }))).toEqual({
      gist: "🦉".repeat(20),
      fact: "",
    })
  })
})

describe("no answer", () => {
  const rows = [
    ...["", "I cannot do that.", "{}", "{", "null", '"{}"', '{"gist":"g"}', '{"fact":"cut of'],
    ...['{"gist":5,"fact":"f"}', '{"gist":["g"],"fact":"f"}', '{"fact":"f","gist":"cutof'],
  ]
  for (const text of rows) {
    test(JSON.stringify(text), () => expect(read(text)).toBeNull())
  }

  test("if it begins after the first 20,000 characters", () => {
    expect(read(" ".repeat(20_000) + json)).toBeNull()
  })
})

describe("properties", () => {
  const characters = (most: number) => fc.string({ unit: "binary", maxLength: most })
  const shape = fc.record({ gist: characters(20), fact: characters(30) }, { noNullPrototype: true })

  test("a conforming answer is unchanged, whatever its strings contain", () => {
    fc.assert(fc.property(shape, (value) => expect(read(JSON.stringify(value))).toEqual(value)))
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
        const structured = read(text)
        if (!structured) return
        expect(Object.keys(structured)).toEqual(["gist", "fact"])
        expect([...(structured.gist ?? "")].length).toBeLessThanOrEqual(20)
        expect([...(structured.fact ?? "")].length).toBeLessThanOrEqual(30)
      }),
      { numRuns: 1000 },
    )
  })

  test("a truncated sentence keeps its complete words", () => {
    expect(read('{"fact":"f","gist":"two tests fa')).toEqual({ gist: "two tests", fact: "f" })
  })

  test("an answer truncated anywhere keeps only what was complete", () => {
    fc.assert(
      fc.property(shape, fc.nat(), (value, at) => {
        const text = JSON.stringify(value)
        const structured = read(text.slice(0, at % text.length))
        if (structured === null) return
        expect(structured.gist).toBe(value.gist)
        expect(value.fact.startsWith(structured.fact ?? "x")).toBe(true)
      }),
      { numRuns: 500 },
    )
  })
})
