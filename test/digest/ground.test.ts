import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { extract } from "../../src/digest/extract/extract.ts"
import { ground } from "../../src/digest/ground/ground.ts"
import { INSTRUCTION } from "../../src/digest/prompt.ts"
import type { DigestSource } from "../../src/output/digest.ts"
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
const known = "text, 6 lines: src/login.test.ts"
/** Undefined if it is refused. */
const digestOf = (summary: string, from = source()) => ground(summary, from, known)

describe("a summary", () => {
  test("in the words of the source is used, after the head that says what the output is", () => {
    const summary = "The test keeps the session cookie: it expected 200 and got 401."
    expect(digestOf(summary)).toBe(`text, 6 lines: ${summary}`)
  })

  test("that attaches a number to the wrong thing is refused", () => {
    const output = [
      "# Vouchers",
      "A code that does not exist is answered with status 404, one that has expired with status 410.",
      "A shop can have 5,000 vouchers, and a voucher without a date of its own expires after 90 days.",
      "More than 20 requests a second are answered with status 429.",
    ].join("\n\n")
    const page: DigestSource = { tool: "webfetch", kind: "web", input: {}, output, failed: false }
    const isRefused = (summary: string) => ground(summary, page, extract(page).digest) === undefined
    expect(isRefused("A code that does not exist is answered with status 429")).toBe(true)
    expect(isRefused("A shop can have 429 vouchers, and a code that does not exist")).toBe(true)
    expect(isRefused("A code that does not exist is answered with status 404")).toBe(false)
    expect(isRefused("More than 20 requests a second are answered with status 429")).toBe(false)
  })

  test("that negates what the output does not is refused", () => {
    const output = [
      "A voucher takes a fixed amount or a percentage off an order, before tax and after discounts.",
      "Old vouchers are never deleted by the server, and their codes don't come free again.",
    ].join("\n\n")
    const isRefused = (summary: string) => digestOf(summary, source({ output })) === undefined
    const rest = "take a fixed amount or a percentage off an order, before tax and after discounts"
    for (const how of ["does not", "doesn't", "cannot", "can never"])
      expect([how, isRefused(`A voucher ${how} ${rest}`)]).toEqual([how, true])
    expect(isRefused(`A voucher can ${rest}`)).toBe(false)
    expect(isRefused("The server does not delete old vouchers, and their codes never come free again")).toBe(false)
  })

  test("loses its introduction and an unfinished last sentence", () => {
    const sentence = "The output shows that it keeps the session cookie, expected 200 and got 401."
    const cut = `${sentence} Tests took 3.125 s and logs in with a known passw`
    expect(cut.length).toBeGreaterThan(120)
    expect(digestOf(cut)).toBe("text, 6 lines: it keeps the session cookie, expected 200 and got 401.")
  })

  test("that calls the output what its first line calls something else loses that claim", () => {
    const output = "The HUD is a small status message, computed again for every request from the session's calls."
    const summary =
      "The tool's output is a small status message, computed again for every request from the session's calls."
    expect(digestOf(summary, source({ output }))).toBe(
      "text, 6 lines: a small status message, computed again for every request from the session's calls.",
    )
  })

  test.each([
    ["a number", "The login test expected 200 but it got 404"],
    ["a number inside another", "The tests took 125 s in total"],
    ["a path", "The login test expected 200 in src/auth/login.ts"],
    ["a file name", "The test keeps the session cookie in cookie.ts"],
    ["an identifier", "The test keeps the session cookie in keepSession"],
    ["a constant", "It keeps the session cookie with an ENOENT"],
    ["a quote", 'The test "drops the cookie" keeps the session cookie'],
    ["another matter", "The weather in Berlin will be sunny tomorrow"],
    ["a link between words", "The password of the total cookie logs the session of tests"],
    ["nothing but filler", "This is the following information about the file"],
    ["two words", "session cookie"],
    ["a line of code", "if it keeps the session cookie { expected = 200 }"],
    ["what the fallback says", "src/login.test.ts is a text of 6 lines"],
    ["what was asked", "command npm test -- login --reporter dot"],
    ["itself again and again", "the session cookie, the session cookie, the session cookie"],
    ["its instruction", `${INSTRUCTION}`],
    ["the HUD", "<hud>the test keeps the session cookie</hud>"],
  ])("that says %s is refused", (_, summary) => {
    const from = source({ input: { command: "npm test -- login --reporter dot" } })
    expect(digestOf(summary, from)).toBeUndefined()
  })

  test("that claims a crash that nothing speaks of is refused", () => {
    expect(digestOf("The test keeps the session cookie and crashed")).toBeUndefined()
  })

  test("contains no secret", () => {
    const token = `gh${"p_"}${"a1B2c3D4e5".repeat(4)}`
    const from = source({ output: `the session cookie has the token ${token} in it` })
    expect(digestOf(`the session cookie has the token ${token} in it`, from)).toBeUndefined()
  })
})

test("a summary with nothing usable is refused", () => {
  for (const summary of [undefined, "", "x"]) expect(ground(summary, source(), known)).toBeUndefined()
})

test("any summary yields a digest that is true to its source, bounded, clean and deterministic", () => {
  const real = fc.constantFrom(...Object.values(js), ...Object.values(sys), ...Object.values(tools))
  const output = fc.oneof(real, fc.string({ unit: "binary", maxLength: 300 }), fc.string({ maxLength: 300 }))
  const cases = output.chain((text) => {
    const span = fc.tuple(fc.nat(text.length), fc.nat(90)).map(([from, length]) => text.slice(from, from + length))
    const sentence = fc.array(fc.oneof(span, fc.lorem({ maxCount: 4 })), { maxLength: 3 }).map((all) => all.join(" "))
    return fc.record({
      text: fc.constant(text),
      kind: fc.constantFrom("command" as const, "read" as const, "search" as const, "other" as const),
      summary: fc.oneof(span, sentence, fc.string({ unit: "binary" })),
    })
  })
  fc.assert(
    fc.property(cases, ({ text, kind, summary }) => {
      const from = source({ output: text, kind, exit: 0, input: {} })
      const result = ground(summary, from, extract(from).digest)
      const digest = result ?? "refused"
      expect(digest).toMatch(/^[^\n\r\u0000-\u001f\u007f-\u009f]{1,160}$/)
      expect(digest.isWellFormed()).toBe(true)
      expect(ground(summary, from, extract(from).digest)).toEqual(result)
    }),
    { numRuns: 600 },
  )
})
