import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import type { Digest, DigestSource } from "../../src/core/digest.ts"
import { extract } from "../../src/core/extract/extract.ts"
import { digestLine, MOST_TOKENS } from "../../src/core/ground/line.ts"
import { ground } from "../../src/core/ground.ts"
import { INSTRUCTION } from "../../src/core/prompt.ts"
import { estimateTokens } from "../../src/core/tokens.ts"
import * as js from "./extract/fixtures/javascript.ts"
import * as sys from "./extract/fixtures/systems.ts"
import * as tools from "./extract/fixtures/tools.ts"

const OUTPUT = `src/login.test.ts
  ✓ logs in with a known password (12 ms)
  ✗ keeps the session cookie (7 ms)
    at src/login.ts:42 expected 200, got 401
Tests: 1 failed, 40 passed, 41 total
took 3.125 s`

const source = (more: Partial<DigestSource> = {}): DigestSource => ({
  tool: "bash",
  kind: "command",
  input: { command: "npm test -- login" },
  output: OUTPUT,
  failed: false,
  ...more,
})
const fallback: Digest = { kind: "log", gist: "six lines of a log", facts: [] }
const facts = (written: unknown[], from = source()) =>
  ground({ gist: "", facts: written }, from, fallback).digest.facts.map(({ text }) => text)
const gistOf = (gist: unknown, from = source(), known: Digest = fallback) => ground({ gist, facts: [] }, from, known)

describe("a fact", () => {
  test("that stands in the output is kept and typed by what it is", () => {
    const { digest, kept, dropped } = ground(
      {
        gist: "",
        facts: ["src/login.ts:42", "expected 200, got 401", "1 failed, 40 passed", "3.125 s", "session cookie"],
      },
      source(),
      fallback,
    )
    expect(digest.facts).toEqual([
      { type: "path", text: "src/login.ts:42" },
      { type: "symbol", text: "expected 200, got 401" },
      { type: "verdict", text: "1 failed, 40 passed" },
      { type: "number", text: "3.125 s" },
      { type: "symbol", text: "session cookie" },
    ])
    expect([kept, dropped]).toEqual([5, 0])
  })

  test("is dropped when a letter of it is another", () => {
    expect(facts(["src/Login.ts:42", "src/login.ts:43", "expected 200,  got 401"])).toEqual([])
  })

  test("may stand in quotes and between spaces of its own", () => {
    expect(facts(['  "src/login.ts:42" ', "`Tests: 1 failed`"])).toEqual(["src/login.ts:42", "Tests: 1 failed"])
  })

  test("that is a piece of a longer word or number is dropped", () => {
    expect(facts(["login.te", "src/log", "125 s", "sion cookie"])).toEqual([])
  })

  test("that says nothing, spans lines, hides or repeats is dropped", () => {
    expect(facts(["at", "in", "...", "  ", 7, null, {}, "(12 ms)\n  ✗", "expected 200", "expected 200"])).toEqual([
      "expected 200",
    ])
  })

  test("that holds a secret is dropped", () => {
    const token = `gh${"p_"}${"a1B2c3D4e5".repeat(4)}`
    expect(facts([`token ${token}`, "and more"], source({ output: `token ${token} and more` }))).toEqual(["and more"])
  })
})

describe("a gist", () => {
  test("in words of the source is taken", () => {
    const { digest, refused } = gistOf("The login test fails: it expected 200 and got 401.")
    expect(digest.gist).toBe("The login test fails: it expected 200 and got 401.")
    expect(refused).toBe(false)
  })

  test.each([
    ["a number", "The login test expected 200, got 404", "invented"],
    ["a number inside another", "The test took 125 s", "invented"],
    ["a path", "The failure of the session cookie is in src/auth/login.ts", "invented"],
    ["a file name", "The session cookie is set in cookie.ts", "invented"],
    ["an identifier", "The session cookie test fails in keepSession", "invented"],
    ["a constant", "The session cookie fails with ENOENT", "invented"],
    ["a quote", 'The test "drops the cookie" fails with the session', "invented"],
    ["the matter", "The weather in Berlin will be sunny tomorrow", "foreign"],
    ["nothing but filler", "This output contains the following information", "foreign"],
  ] as const)("that invents %s is refused", (_, gist, why) => {
    expect(gistOf(gist)).toMatchObject({ digest: { gist: fallback.gist }, refused: true, gistRefused: why })
  })

  test.each([
    ["All login tests passed", { verdict: "fail" as const }, {}],
    ["The login tests ran without errors", { verdict: "fail" as const }, {}],
    ["All login tests passed", {}, { exit: 1 }],
    ["All login tests passed", {}, { failed: true }],
    ["The session cookie test failed", { verdict: "pass" as const }, {}],
  ])("that claims another outcome is refused: %s", (gist, known, more) => {
    expect(gistOf(gist, source(more), { ...fallback, ...known })).toMatchObject({ gistRefused: "outcome" })
  })

  test("may say that there were no errors when the check passed", () => {
    expect(gistOf("login: 40 passed, no errors", source(), { ...fallback, verdict: "pass" }).refused).toBe(false)
  })

  test("may not claim an outcome of which nothing is known or said", () => {
    const quiet = source({
      output: "export function login(session: Session) {}",
      tool: "read",
      kind: "read",
      input: {},
    })
    expect(gistOf("The login session function was completed", quiet)).toMatchObject({ gistRefused: "outcome" })
  })

  test("that echoes the instruction or the HUD is refused", () => {
    expect(gistOf(INSTRUCTION.split("\n")[0])).toMatchObject({ gistRefused: "echo" })
    expect(gistOf("<hud>login test</hud>")).toMatchObject({ gistRefused: "echo" })
  })
})

test("a draft of which nothing is left is the fallback, and says so", () => {
  for (const draft of [null, undefined, 7, "x", [], {}, { gist: 7, facts: "x" }, { gist: "", facts: [[], {}] }])
    expect(ground(draft, source(), extract(source()))).toMatchObject({ refused: true, kept: 0 })
})

test("kind and verdict are never the model's", () => {
  const { digest } = ground({ kind: "poem", verdict: "pass", gist: "", facts: [] }, source(), {
    ...fallback,
    verdict: "fail",
  })
  expect([digest.kind, digest.verdict]).toEqual(["log", "fail"])
})

test("a draft that throws when it is read is an empty one", () => {
  const hostile = new Proxy({}, { get: () => raise() })
  expect(ground(hostile, source(), fallback).refused).toBe(true)
})

function raise(): never {
  throw new Error("read")
}

test("any draft leaves a digest that is true to its source, bounded, clean and the same again", () => {
  const real = fc.constantFrom(...Object.values(js), ...Object.values(sys), ...Object.values(tools))
  const output = fc.oneof(real, fc.string({ unit: "binary", maxLength: 300 }), fc.string({ maxLength: 300 }))
  const cases = output.chain((text) => {
    const span = fc.tuple(fc.nat(text.length), fc.nat(90)).map(([from, length]) => text.slice(from, from + length))
    const sentence = fc.array(fc.oneof(span, fc.lorem({ maxCount: 4 })), { maxLength: 3 }).map((all) => all.join(" "))
    return fc.record({
      text: fc.constant(text),
      kind: fc.constantFrom("command" as const, "read" as const, "search" as const, "other" as const),
      draft: fc.oneof(
        {
          weight: 4,
          arbitrary: fc.record({ gist: sentence, facts: fc.array(fc.oneof(span, sentence, fc.anything())) }),
        },
        fc.anything(),
      ),
    })
  })
  fc.assert(
    fc.property(cases, ({ text, kind, draft }) => {
      const from = source({ output: text, kind, exit: 0 })
      const result = ground(draft, from, extract(from))
      const { digest } = result
      expect(digest.gist).toMatch(/^[^\n\r\u0000-\u001f\u007f-\u009f]{1,160}$/)
      expect(digest.facts.length).toBeLessThanOrEqual(12)
      for (const fact of digest.facts) expect(text.includes(fact.text)).toBe(true)
      const shown = digestLine(digest)
      expect(shown).not.toMatch(/[\n\r\u0000-\u001f\u007f-\u009f]/)
      expect(shown.isWellFormed()).toBe(true)
      expect(estimateTokens(shown)).toBeLessThanOrEqual(MOST_TOKENS)
      expect(ground(draft, from, extract(from))).toEqual(result)
    }),
    { numRuns: 600 },
  )
})
