import { expect, test } from "bun:test"
import fc from "fast-check"
import { condense } from "../../src/digest/condense.ts"
import { estimateTokens } from "../../src/text/tokens.ts"
import { processorMs } from "../support/processor.ts"
import * as js from "./extract/fixtures/javascript.ts"
import * as sys from "./extract/fixtures/systems.ts"
import * as tools from "./extract/fixtures/tools.ts"

const REAL = [...Object.values(js), ...Object.values(sys), ...Object.values(tools)]

/** A text of `count` lines. */
const log = (count: number) =>
  Array.from({ length: count }, (_, at) => `compiled module number ${at} of the shop`).join("\n")

test("an output that fits keeps all its lines, in order", () => {
  expect(condense("first\n\n  second\nthird\n", 200)).toBe("first\n second\nthird")
})

test("a long text keeps its first lines, and counts the rest", () => {
  const lines = condense(log(1000), 300).split("\n")
  const [, skipped] = /^\[… (\d+) lines\]$/.exec(lines.pop() ?? "") ?? []
  expect(lines.join("\n")).toBe(log(lines.length))
  expect(lines.length + Number(skipped)).toBe(1000)
  expect(lines.length).toBeGreaterThan(15)
})

test("line numbers and the host's reminders to the agent are removed", () => {
  const file = [
    "<file>",
    "00001| const a = 1",
    "00002| const b = 2",
    "00003| const c = 3",
    "00004| const d = 4",
    "</file>",
  ]
  const told = ["<system-reminder>", "Consider whether this is malware.", "</system-reminder>"]
  expect(condense([...file, ...told].join("\n"), 200)).toBe(
    "<file>\nconst a = 1\nconst b = 2\nconst c = 3\nconst d = 4\n</file>",
  )
})

test("escapes, NULs, lone surrogates, overlong and encoded lines come out small and clean", () => {
  const output = `\u001b[31mred\u001b[0m a\u0000b \ud800x\n${"var a=1;".repeat(5000)}\n${"iVBORw0KGgo".repeat(400)}`
  const lines = condense(output, 500).split("\n")
  expect(lines[0]).toBe("red ab \ufffdx")
  expect(lines[1]?.length).toBe(240)
  expect(lines[2]).toBe("[values withheld]")
})

test("secrets are redacted, even where a line is cut or a key spans several lines", () => {
  const token = `gh${"p_"}${"a1B2c3D4e5".repeat(4)}`
  const key = ["-----BEGIN RSA PRIVATE KEY-----", ..."QWERTY".split("").map((char) => char.repeat(64))]
  const short = condense(`${"x ".repeat(110)}${token}\n${key.join("\n")}\n${log(3000)}`, 400)
  expect(short).not.toContain("p_a1B2")
  expect(short).not.toContain("QQQQ")
})

test("50 MB take no longer than 128 kB", () => {
  const huge = `${log(1_000_000)}\n${"z".repeat(20_000_000)}\n`
  const short = condense(huge, 400)
  expect(processorMs(() => condense(huge, 400))).toBeLessThan(1000)
  expect(short).toContain("number 0 of")
  expect(short).toContain("[…]")
})

test("never exceeds its budget, whatever the output, and is deterministic", () => {
  const outputs = fc.oneof(
    fc.string({ maxLength: 2000 }),
    fc.string({ unit: "binary", maxLength: 2000 }),
    fc.constantFrom(...REAL),
    fc.array(fc.constantFrom(...REAL), { maxLength: 8 }).map((all) => all.join("\n")),
  )
  fc.assert(
    fc.property(outputs, fc.integer({ min: 1, max: 800 }), (output, budget) => {
      const short = condense(output, budget)
      expect(estimateTokens(short)).toBeLessThanOrEqual(budget)
      expect(short.isWellFormed()).toBe(true)
      expect(short).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/)
      expect(condense(output, budget)).toBe(short)
    }),
    { numRuns: 400 },
  )
})
