// Text made to fit: columns, not letters.

import { expect, test } from "bun:test"
import fc from "fast-check"
import { fit, widthOf } from "../../src/tui/width.ts"

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
