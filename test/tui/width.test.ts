// Text made to fit: columns, not letters.

import { expect, test } from "bun:test"
import fc from "fast-check"
import { fit, widthOf, wrap } from "../../src/tui/width.ts"

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

test("whatever it is given, the answer is never wider than asked for", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), fc.integer({ min: 0, max: 40 }), (text, width) => {
      expect(widthOf(fit(text, width))).toBeLessThanOrEqual(width)
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

test("whatever it is given, no line is wider than asked for, and no letter is broken", () => {
  const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" })
  const lettersOf = (text: string) => [...graphemes.segment(text)].map(({ segment }) => segment)
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), fc.integer({ min: 2, max: 40 }), (text, width) => {
      const lines = wrap(text, width, 3)
      for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(width)
      const letters = new Set(lettersOf(text))
      expect(lines.flatMap(lettersOf).filter((letter) => letter !== "…" && !letters.has(letter))).toEqual([])
    }),
    { numRuns: 1000 },
  )
})
