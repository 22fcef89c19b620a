// Numbers and ranges in the forms that agents write them.

import { expect, test } from "bun:test"
import fc from "fast-check"
import { isWithin, namedSteps, rangesOf, rangesText, readRanges } from "../../src/fold/ranges.ts"

const END = Number.POSITIVE_INFINITY

test.each([
  ["12", [{ from: 12, to: 12 }]],
  [12, [{ from: 12, to: 12 }]],
  ["3-41", [{ from: 3, to: 41 }]],
  ["41-3", [{ from: 3, to: 41 }]],
  ["3–41", [{ from: 3, to: 41 }]],
  ["3 - 41", [{ from: 3, to: 41 }]],
  ["3..41", [{ from: 3, to: 41 }]],
  ["3 to 41", [{ from: 3, to: 41 }]],
  ["steps 3-41", [{ from: 3, to: 41 }]],
  ["Step #3", [{ from: 3, to: 3 }]],
  ['["3-41"]', [{ from: 3, to: 41 }]],
  [
    "3,7-9",
    [
      { from: 3, to: 3 },
      { from: 7, to: 9 },
    ],
  ],
  [
    "7-9; 3 and 12",
    [
      { from: 3, to: 3 },
      { from: 7, to: 9 },
      { from: 12, to: 12 },
    ],
  ],
  [[3, 4, "5-7", 6], [{ from: 3, to: 7 }]],
  ["30-", [{ from: 30, to: END }]],
  ["30-end", [{ from: 30, to: END }]],
  ["0-5", [{ from: 1, to: 5 }]],
  ["0, 7", [{ from: 7, to: 7 }]],
])("%j is understood", (given, ranges) => {
  expect(readRanges(given)).toEqual(ranges)
})

test.each([
  [""],
  ["0"],
  ["none"],
  ["-3"],
  ["3-x"],
  ["1.5"],
  [{}],
  [{ from: 3, to: 41 }],
  [[]],
  [null],
  [undefined],
  [true],
])("%j is not", (given) => {
  expect(readRanges(given)).toBeUndefined()
})

test("a long text is not", () => {
  expect(readRanges("1,".repeat(3000))).toBeUndefined()
})

const range = fc
  .tuple(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 1, max: 60 }))
  .map(([one, other]) => ({ from: Math.min(one, other), to: Math.max(one, other) }))

test("ranges written are read as the same numbers", () => {
  fc.assert(
    fc.property(fc.array(range, { minLength: 1, maxLength: 8 }), (ranges) => {
      const read = readRanges(rangesText(ranges)) ?? []
      for (let number = 0; number <= 61; number++) expect(isWithin(read, number)).toBe(isWithin(ranges, number))
      for (let at = 1; at < read.length; at++) expect(read[at]?.from).toBeGreaterThan((read[at - 1]?.to ?? END) + 1)
    }),
  )
})

test("numbers as ranges are the same numbers", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(60)), (numbers) => {
      const ranges = rangesOf(numbers)
      for (let number = 0; number <= 60; number++) expect(isWithin(ranges, number)).toBe(numbers.includes(number))
    }),
  )
})

test("reading never throws", () => {
  fc.assert(
    fc.property(fc.anything({ withNullPrototype: true, withBigInt: true, withDate: true, withMap: true }), (value) => {
      readRanges(value)
    }),
  )
})

test("a sentence names few of many ranges", () => {
  expect(namedSteps([{ from: 3, to: 3 }])).toBe("step 3")
  expect(namedSteps([{ from: 3, to: END }])).toBe("steps 3-")
  const many = Array.from({ length: 30 }, (_, at) => ({ from: 2 * at, to: 2 * at }))
  expect(namedSteps(many)).toEndWith("36, 38 and 10 more ranges")
})
