// The counting of `eval:digest --jobs`: which outputs it takes, what a line holds of what was needed, and how sure a gain is.

import { describe, expect, test } from "bun:test"
import { byBoth, type Case, casesIn, fill, gain, type Held, heldBy, linesOf } from "../../bench/eval/jobs.ts"
import { scoresOf } from "../../bench/eval/rank.ts"
import type { Backend } from "../../src/digest/backends/backend.ts"
import { bash, edit, read, SessionBuilder, tool } from "../support/session.ts"

const HOUR = 3_600_000
const FILLER = Array.from({ length: 120 }, (_, at) => `a plain line of words, number ${at}, as a log has them`).join(
  "\n",
)
const FILE = `${FILLER}\nexport function formatPriceOfBasket() {\nexport const roundedToCents = likeCentsOfPrice`

/** A file is read, folded with much else after a pause, and a name in it is used. */
function session(name: string) {
  const built = new SessionBuilder().user("make the price of the basket right").assistant([read("src/price.ts", FILE)])
  for (let at = 0; at < 25; at++) built.assistant([bash(`make part-${at}`, `${FILLER} ${at}`)])
  const late = built.timeOf(built.messages.length) + HOUR
  built.assistant([edit("src/other.ts")], { time: { created: late, completed: late } })
  return built.assistant([tool("grep", { pattern: name }, "no match")])
}

const casesOf = (name: string) =>
  casesIn("s.json", { info: { id: "ses_1" }, messages: session(name).messages } as never)

const line = (text: string) => ({ text, ms: 0 })
const held = (session: string, names: number): Held => ({ session, names, lines: 0, tokens: 1, ms: 0 })

describe("the outputs", () => {
  test("are those whose names a later call uses after they were folded", () => {
    const [one, ...others] = casesOf("roundedToCents")
    expect(others).toEqual([])
    expect(one?.source).toMatchObject({ tool: "read", kind: "read" })
    expect(one?.needs).toEqual([{ text: "roundedToCents", isLine: false }])
    expect(one?.names).toContain("roundedToCents")
    expect(one?.task).toContain("make the price of the basket right")
  })

  test("are none if nothing folded is used", () => {
    expect(casesOf("nothingOfTheKind")).toEqual([])
  })
})

describe("the lines", () => {
  const one: Case = {
    ...{ session: "s.json", task: "task", budgetTokens: 19 },
    source: { tool: "read", kind: "read", input: { filePath: "src/price.ts" }, output: FILE, failed: false },
    names: ["firstOfTheNamesOfTheRule", "secondOfTheNames", "thirdOfTheNames", "likeCentsOfPrice"],
    needs: [{ text: "likeCentsOfPrice", isLine: false }],
  }
  const backend = { name: "extract", close: async () => {} }
  const prefers = (wanted: string) => async (_task: string, candidates: readonly string[]) =>
    candidates.map((text) => Number(text.includes(wanted)))

  test("follow the model's ranking where a model ranks, and the rule elsewhere", async () => {
    const lines = await linesOf(one, backend, prefers("likeCentsOfPrice"), 6000)
    expect(lines.names.text).toContain("likeCentsOfPrice")
    expect(lines.lines.text).toStartWith("export const roundedToCents = likeCentsOfPrice")
    expect(lines["best names"].text).toContain("likeCentsOfPrice")
    expect(lines["best lines"].text).toStartWith("export const roundedToCents = likeCentsOfPrice")
    expect(lines.nothing.text).toStartWith("122 lines firstOfTheNamesOfTheRule")
    for (const job of ["rule", "nothing", "sentence"] as const)
      expect(lines[job].text).not.toContain("likeCentsOfPrice")
    expect(lines.sentence.text).toBe(lines.rule.text)
  })

  test("have the model's sentence in place of the rule's digest if the output bears it out", async () => {
    const says = (summary: string) => ({
      ...backend,
      backend: { write: async () => ({ structured: { summary } }) } as unknown as Backend,
    })
    const written = await linesOf(one, says("a plain line of words, as a log has them"), prefers("none"), 600)
    expect(written.sentence.text).toStartWith("122 lines: a plain line of words")
    const invented = await linesOf(
      one,
      says("Handles the payment of orders in three currencies."),
      prefers("none"),
      600,
    )
    expect(invented.sentence.text).toBe(invented.rule.text)
  })

  test("none is longer than the budget", async () => {
    for (const { text } of Object.values(await linesOf(one, backend, prefers("second"), 600)))
      expect(text.length).toBeLessThanOrEqual(19 * 4)
  })

  test("a piece that does not fit or is said already is left out", () => {
    expect(fill("head", ["ahead", "head", "x".repeat(100), "tail"], 4)).toBe("head ahead tail")
    expect(fill("", ["one"], 4)).toBe("one")
  })
})

describe("the count", () => {
  const needs = [
    { text: "formatPrice", isLine: false },
    { text: "return formatPrice(basket)", isLine: true },
    { text: "somethingElse", isLine: false },
  ]

  test("tells names from lines", () => {
    const counted = (text: string) => heldBy({ session: "s", needs }, line(text))
    expect(counted("read formatPrice")).toMatchObject({ names: 1, lines: 0 })
    expect(counted("return formatPrice(basket)")).toMatchObject({ names: 1, lines: 1 })
    expect(counted("nothing")).toMatchObject({ names: 0, lines: 0 })
  })

  test("a gain in every session is sure, one in a single session is not", () => {
    const rule = ["a", "b", "c", "d", "e", "f"].map((session) => held(session, 1))
    const everywhere = rule.map((one) => ({ ...one, names: 3 }))
    expect(gain(everywhere, rule, 1)).toEqual({ more: 12, from: 12, to: 12 })
    const once = rule.map((one, at) => ({ ...one, names: at === 0 ? 13 : 1 }))
    expect(gain(once, rule, 1)).toMatchObject({ more: 12, from: 0 })
    expect(gain(rule, rule, 1)).toEqual({ more: 0, from: 0, to: 0 })
  })
})

test("a server's numbers become scores, the first the highest", () => {
  expect(scoresOf("3, 1, 9, 3", 4)).toEqual([0.5, 0, 1, 0])
  expect(scoresOf("none of them", 2)).toEqual([0, 0])
})

test("two orders make one", () => {
  expect(byBoth(["a", "b", "c", "d"], ["c", "b", "d", "a"])).toEqual(["b", "c", "a", "d"])
})
