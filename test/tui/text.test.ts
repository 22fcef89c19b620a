// Text on a terminal: cut to columns, not characters, and safe to display.

import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { fit, visible, wrap } from "../../src/tui/text.ts"

test.each([
  ["src/db.ts", 9, "src/db.ts"],
  ["src/db.ts", 8, "src/db.…"],
  ["two words here", 5, "two…"],
  ["試験の結果", 10, "試験の結果"],
  ["試験の結果", 9, "試験の結…"],
  ["試験の結果", 8, "試験の…"],
  ["ab👩‍👩‍👧cd", 4, "ab…"],
  ["abc", 1, "…"],
  ["abc", 0, ""],
])("%p in %p columns is %p", (text, width, expected) => {
  expect(fit(text, width)).toBe(expected)
})

test("for any text, the result is never wider than requested", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), fc.integer({ min: 0, max: 40 }), (text, width) => {
      expect(Bun.stringWidth(fit(text, width))).toBeLessThanOrEqual(width)
    }),
  )
})

test.each([
  ["login.test.ts:42 expected 200, got 401", 30, 2, ["login.test.ts:42 expected 200,", "got 401"]],
  ["one two three four", 8, 2, ["one two", "three f…"]],
  ["𐀀⺀⺀𐀀A\u0300", 6, 2, ["𐀀⺀⺀𐀀", "A\u0300"]],
  ["word", 10, 2, ["word"]],
  ["", 10, 2, []],
])("%p in %p columns and %p rows is %p", (text, width, rows, expected) => {
  expect(wrap(text, width, rows)).toEqual(expected)
})

test("for any text, no line is wider than requested and no grapheme is split", () => {
  const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" })
  const lettersOf = (text: string) => [...graphemes.segment(text)].map(({ segment }) => segment)
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), fc.integer({ min: 2, max: 40 }), (text, width) => {
      const lines = wrap(text, width, 3)
      for (const line of lines) expect(Bun.stringWidth(line)).toBeLessThanOrEqual(width)
      const letters = new Set(lettersOf(text))
      expect(lines.flatMap(lettersOf).filter((letter) => letter !== "…" && !letters.has(letter))).toEqual([])
    }),
    { numRuns: 1000 },
  )
})

describe("characters that a terminal would act on are shown by their codes", () => {
  test.each([
    ["text in several scripts", "plain text, naïve — 試験 🙂", "plain text, naïve — 試験 🙂"],
    ["line feeds", "one\ntwo\n", "one\ntwo\n"],
    ["other line ends", "one\r\ntwo\rthree", "one\ntwo\\x0dthree"],
    ["colours", "\u001b[31mred\u001b[0m", "\\x1b[31mred\\x1b[0m"],
    ["control characters", "a\u0000b\u0007\u007f", "a\\x00b\\x07\\x7f"],
    ["C1 control characters", "\u009b31m", "\\x9b31m"],
    ["marks of direction", "abc\u202edef", "abc\\u202edef"],
    ["tabs", "\tindented", "    indented"],
    ["a lone surrogate", "\ud800 alone", "\ufffd alone"],
  ])("%s", (_, text, expected) => {
    expect(visible(text)).toBe(expected)
  })

  test("a line longer than the screen draws is broken without losing anything", () => {
    const words = Array.from({ length: 20_000 }, (_, at) => `試🙂${at}`).join("\t")
    const lines = visible(`short\n${words}\nshort`).split("\n")
    expect(Math.max(...lines.map((line) => Bun.stringWidth(line)))).toBeLessThanOrEqual(65_535)
    expect(lines.slice(1, -1).join("")).toBe(words.replaceAll("\t", "    "))
    expect(visible("x".repeat(30_000))).toBe("x".repeat(30_000))
  })
})
