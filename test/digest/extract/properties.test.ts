import { expect, test } from "bun:test"
import fc from "fast-check"
import { extract } from "../../../src/digest/extract/extract.ts"
import type { DigestSource } from "../../../src/output/digest.ts"
import type { ToolKind } from "../../../src/output/tools.ts"
import { verdictOf } from "../../../src/output/verdict.ts"
import { processorMs } from "../../support/processor.ts"
import * as js from "./fixtures/javascript.ts"
import * as sys from "./fixtures/systems.ts"
import * as tools from "./fixtures/tools.ts"

const KINDS: ToolKind[] = [
  ...(["read", "edit", "write", "patch", "command", "search", "list"] as const),
  ...(["web", "task", "todo", "skill", "question", "other"] as const),
]
const REAL = [...Object.values(js), ...Object.values(sys), ...Object.values(tools)]

const spliced = fc
  .tuple(
    fc.constantFrom(...REAL),
    fc.constantFrom(...REAL),
    fc.nat(),
    fc.nat(),
    fc.string({ unit: "binary", maxLength: 20 }),
  )
  .map(
    ([one, other, at, cut, noise]) =>
      one.slice(0, at % (one.length + 1)) + noise + other.slice(cut % (other.length + 1)),
  )
const coloured = fc.tuple(fc.constantFrom(...REAL), fc.array(fc.nat(), { maxLength: 30 })).map(([text, places]) =>
  places.reduce<string>((all, place) => {
    const at = place % (all.length + 1)
    return `${all.slice(0, at)}\x1b[${place % 48}m${all.slice(at)}`
  }, text),
)
const outputs = fc.oneof(
  fc.string({ maxLength: 400 }),
  fc.string({ unit: "binary", maxLength: 400 }),
  fc
    .array(
      fc.constantFrom(
        "\n",
        "\r",
        "\0",
        "\ud800",
        "\udfff",
        "\x1b[31m",
        "\x1b]0;",
        "é",
        "😀",
        "a.ts:1:2: error: x",
        " FAIL  ",
        "{",
        "[",
        '"',
      ),
      { maxLength: 200 },
    )
    .map((parts) => parts.join("")),
  fc.constantFrom(...REAL),
  spliced,
  coloured,
)
const commands = fc.constantFrom(
  "npm test",
  "cat a.ts",
  "git status",
  "git log",
  "git diff",
  "ls -la",
  "grep -rn x .",
  "sed -n 5,9p a.py",
  "npm install",
  "cat <<EOF\nx\nEOF",
  "'",
  "$(",
  "a | b && c ; d",
)
const sources = fc.record({
  tool: fc.constantFrom("bash", "websearch", "x"),
  kind: fc.constantFrom(...KINDS),
  input: fc.oneof(
    fc.record({
      command: commands,
      filePath: fc.constantFrom("a.ts", "b.md", "c.json", "d.yaml", "e.toml", "f.csv", "g"),
    }),
    fc.dictionary(fc.constantFrom("command", "filePath", "offset", "content", "oldString", "newString"), fc.anything()),
  ),
  output: outputs,
  failed: fc.boolean(),
  exit: fc.integer({ min: 0, max: 255 }),
}) as fc.Arbitrary<DigestSource>

test("a digest is within its bounds", () => {
  fc.assert(
    fc.property(sources, (source) => {
      expect(extract(source).digest).toMatch(/^[^\n\r\x00-\x1f]{1,160}$/)
    }),
    { numRuns: 1500 },
  )
})

test("the same source gives the same digest", () => {
  fc.assert(
    fc.property(sources, (source) => {
      expect(extract(structuredClone(source))).toEqual(extract(source))
    }),
    { numRuns: 200 },
  )
})

test("a verdict is a failure exactly when it states in one line what failed", () => {
  fc.assert(
    fc.property(sources, (source) => {
      const { verdict, failure } = verdictOf(source)
      expect(failure !== undefined).toBe(verdict === "fail")
      if (failure !== undefined) expect(failure).toMatch(/^[^\n\r\x00-\x1f]{1,160}$/)
    }),
    { numRuns: 1000 },
  )
})

const HUGE: [name: string, output: string][] = [
  ["one line", "x".repeat(10_000_000)],
  ["one line of brackets", "[".repeat(10_000_000)],
  ["many short lines", "a.ts:1:2: error: no\n".repeat(500_000)],
  ["many empty lines", "\n".repeat(10_000_000)],
  ["spaces", " ".repeat(10_000_000)],
  ["lines of spaces and a word", `${" ".repeat(900)}error\n`.repeat(10_000)],
  ["lines of parentheses", `${"(".repeat(900)}\n`.repeat(10_000)],
  ["lines of words", `${"aB1_".repeat(240)}(\n`.repeat(10_000)],
  ["lines of colons", `${"a:1:".repeat(240)}\n`.repeat(10_000)],
  ["unclosed escapes", "\x1b]0;".repeat(2_000_000)],
  ["headings", "# a\n".repeat(2_000_000)],
  ["failures", "  ● a › b\n\n    Expected: 1\n    Received: 2\n".repeat(200_000)],
  ["JSON", `[${'{"name":"a","status":"b"},'.repeat(400_000)}0]`],
]

test.each(HUGE)("ten megabytes of %s are digested in a moment", (_, output) => {
  for (const kind of KINDS) {
    const source: DigestSource = {
      tool: "bash",
      kind,
      input: { command: "npm test", filePath: "a.cpp" },
      output,
      failed: false,
      exit: 1,
    }
    extract({ ...source, output: output.slice(0, 2000) })
    // about 40 ms; what matters is that the time does not grow with the output
    expect(processorMs(() => extract(source))).toBeLessThan(400)
  }
})
