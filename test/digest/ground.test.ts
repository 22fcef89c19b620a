import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { extract } from "../../src/digest/extract/extract.ts"
import { gainsFromModel, ground } from "../../src/digest/ground/ground.ts"
import { INSTRUCTION } from "../../src/digest/prompt.ts"
import type { Digest, DigestSource } from "../../src/output/digest.ts"
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
const fallback: Digest = { kind: "text", gist: "text, 6 lines: src/login.test.ts" }
const gistOf = (gist: unknown, from = source(), known: Digest = fallback) => ground({ summary: gist }, from, known)

describe("a gist", () => {
  test("in the words of the source is used, after the head that says what the output is", () => {
    const { digest, refused } = gistOf("The test keeps the session cookie: it expected 200 and got 401.")
    expect(digest.gist).toBe("text, 6 lines: The test keeps the session cookie: it expected 200 and got 401.")
    expect(refused).toBeUndefined()
  })

  test("that attaches a number to the wrong thing is refused", () => {
    const output = [
      "# Vouchers",
      "A code that does not exist is answered with status 404, one that has expired with status 410.",
      "A shop can have 5,000 vouchers, and a voucher without a date of its own expires after 90 days.",
      "More than 20 requests a second are answered with status 429.",
    ].join("\n\n")
    const page: DigestSource = { tool: "webfetch", kind: "web", input: {}, output, failed: false }
    const said = (gist: string) => ground({ summary: gist }, page, extract(page)).refused
    expect(said("A code that does not exist is answered with status 429")).toBe("foreign")
    expect(said("A shop can have 429 vouchers, and a code that does not exist")).toBe("foreign")
    expect(said("A code that does not exist is answered with status 404")).toBeUndefined()
    expect(said("More than 20 requests a second are answered with status 429")).toBeUndefined()
  })

  test("loses its introduction and an unfinished last sentence", () => {
    const sentence = "The output shows that it keeps the session cookie, expected 200 and got 401."
    const cut = `${sentence} Tests took 3.125 s and logs in with a known passw`
    expect(cut.length).toBeGreaterThan(120)
    expect(gistOf(cut).digest.gist).toBe("text, 6 lines: it keeps the session cookie, expected 200 and got 401.")
  })

  test.each([
    ["a number", "The login test expected 200 but it got 404", "invented"],
    ["a number inside another", "The tests took 125 s in total", "invented"],
    ["a path", "The login test expected 200 in src/auth/login.ts", "invented"],
    ["a file name", "The test keeps the session cookie in cookie.ts", "invented"],
    ["an identifier", "The test keeps the session cookie in keepSession", "invented"],
    ["a constant", "It keeps the session cookie with an ENOENT", "invented"],
    ["a quote", 'The test "drops the cookie" keeps the session cookie', "invented"],
    ["another matter", "The weather in Berlin will be sunny tomorrow", "foreign"],
    ["a link between words", "The password of the total cookie logs the session of tests", "foreign"],
    ["nothing but filler", "This is the following information about the file", "foreign"],
    ["two words", "session cookie", "missing"],
    ["a line of code", "if it keeps the session cookie { expected = 200 }", "missing"],
    ["what the fallback says", "src/login.test.ts is a text of 6 lines", "invented"],
    ["no text", 7, "missing"],
    ["what was asked", "command npm test -- login --reporter dot", "echo"],
    ["itself again and again", "the session cookie, the session cookie, the session cookie", "echo"],
    ["its instruction", `${INSTRUCTION}`, "echo"],
    ["the HUD", "<hud>the test keeps the session cookie</hud>", "echo"],
  ] as const)("that says %s is refused", (_, gist, why) => {
    const from = source({ input: { command: "npm test -- login --reporter dot" } })
    expect(gistOf(gist, from)).toMatchObject({ digest: { gist: fallback.gist }, refused: why })
  })

  test.each([
    ["a success after an exit code", "All 41 tests passed, session cookie and all", { exit: 1 }],
    ["no errors after a failure", "logs in with a known password, without errors", { failed: true }],
    ["a crash that nothing speaks of", "The test keeps the session cookie and crashed", {}],
  ])("that claims %s is refused", (_, gist, more) => {
    expect(gistOf(gist, source(more))).toMatchObject({ refused: "outcome" })
  })

  test("is not asked for when code knows better", () => {
    const gist = "The test keeps the session cookie: it expected 200 and got 401."
    for (const known of [
      { ...fallback, kind: "list" },
      { ...fallback, verdict: "fail" as const },
    ]) {
      expect(gainsFromModel(known)).toBe(false)
      expect(gistOf(gist, source(), known)).toMatchObject({ refused: "known", digest: { gist: fallback.gist } })
    }
  })

  test("contains no secret", () => {
    const token = `gh${"p_"}${"a1B2c3D4e5".repeat(4)}`
    const from = source({ output: `the session cookie has the token ${token} in it` })
    expect(gistOf(`the session cookie has the token ${token} in it`, from).refused).toBe("missing")
  })
})

test("a draft with nothing usable yields the fallback and is refused", () => {
  for (const draft of [null, undefined, 7, "x", [], {}, { summary: 7 }, { summary: "" }])
    expect(ground(draft, source(), fallback)).toEqual({ digest: fallback, refused: "missing" })
})

test("kind and verdict never come from the model", () => {
  const { digest } = ground({ kind: "poem", verdict: "pass", summary: "" }, source(), { ...fallback, verdict: "fail" })
  expect([digest.kind, digest.verdict]).toEqual(["text", "fail"])
})

test("any draft yields a digest that is true to its source, bounded, clean and deterministic", () => {
  const real = fc.constantFrom(...Object.values(js), ...Object.values(sys), ...Object.values(tools))
  const output = fc.oneof(real, fc.string({ unit: "binary", maxLength: 300 }), fc.string({ maxLength: 300 }))
  const cases = output.chain((text) => {
    const span = fc.tuple(fc.nat(text.length), fc.nat(90)).map(([from, length]) => text.slice(from, from + length))
    const sentence = fc.array(fc.oneof(span, fc.lorem({ maxCount: 4 })), { maxLength: 3 }).map((all) => all.join(" "))
    return fc.record({
      text: fc.constant(text),
      kind: fc.constantFrom("command" as const, "read" as const, "search" as const, "other" as const),
      draft: fc.oneof(
        { weight: 4, arbitrary: fc.record({ summary: fc.oneof(span, sentence, fc.anything()) }) },
        fc.anything(),
      ),
    })
  })
  fc.assert(
    fc.property(cases, ({ text, kind, draft }) => {
      const from = source({ output: text, kind, exit: 0, input: {} })
      const result = ground(draft, from, extract(from))
      const { digest } = result
      expect(digest.gist).toMatch(/^[^\n\r\u0000-\u001f\u007f-\u009f]{1,160}$/)
      expect(digest.gist.isWellFormed()).toBe(true)
      expect(ground(draft, from, extract(from))).toEqual(result)
    }),
    { numRuns: 600 },
  )
})
