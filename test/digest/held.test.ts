import { heapStats } from "bun:jsc"
import { expect, test } from "bun:test"
import { extract } from "../../src/digest/extract/extract.ts"
import { held, isBinary } from "../../src/digest/held.ts"
import { promptFor } from "../../src/digest/prompt.ts"
import { outputOf, sourceOf } from "./support.ts"

const long = sourceOf("long", { output: outputOf("long", 9000) })

test("the same prompt and the same extract come of what is held as of the whole", () => {
  expect(long.output.length).toBeGreaterThan(300_000)
  const kept = held(long)
  expect(kept.output.length).toBeLessThan(132_000)
  expect(promptFor(kept, { budgetTokens: 800 })).toEqual(promptFor(long, { budgetTokens: 800 }))
  expect(extract(kept)).toEqual(extract(long))
})

test("a short output is held as it is, and so are its arguments", () => {
  const source = sourceOf("a", { input: { command: "build a", timeout: 5, background: false } })
  expect(held(source)).toEqual(source)
})

test("long arguments are cut, and lists and objects are left out", () => {
  const { input } = held(sourceOf("a", { input: { command: "x".repeat(9000), edits: [1], env: { A: "b" } } }))
  expect(input).toEqual({ command: "x".repeat(2000) })
})

test("what is held does not keep the whole output alive", () => {
  const size = () => {
    Bun.gc(true)
    const { heapSize, extraMemorySize } = heapStats()
    return heapSize + extraMemorySize
  }
  const before = size()
  const kept = Array.from({ length: 8 }, (_, n) => {
    const output = Buffer.alloc(20_000_000, `line of output number ${n}\n`).toString()
    return held(sourceOf(`n${n}`, { output, input: { command: output } }))
  })
  expect(size() - before).toBeLessThan(20_000_000)
  expect(kept.length).toBe(8)
})

test("an image is binary; colours, other scripts and progress are not", () => {
  const bytes = Buffer.from(Array.from({ length: 3000 }, (_, n) => (n * 37) % 256))
  expect(isBinary(bytes.toString("utf8").replaceAll("\0", "\ufffd"))).toBe(true)
  expect(isBinary("\u001b[32mok\u001b[0m\r\n".repeat(200))).toBe(false)
  expect(isBinary("テストは成功しました\t🦉\n".repeat(100))).toBe(false)
  expect(isBinary("")).toBe(false)
})
