// The context bar and the sparkline.

import { expect, test } from "bun:test"
import { bar, sparkline } from "../../src/tui/meter.ts"

const drawn = (...args: Parameters<typeof bar>) =>
  bar(...args)
    .map(({ text }) => text)
    .join("")

test.each([
  [0, 8, "        "],
  [1, 8, "████████"],
  [0.5, 8, "████    "],
  [0.44, 10, "████▍     "],
  [1 / 64, 8, "▏       "],
  [7, 4, "████"],
  [-1, 4, "    "],
  [Number.NaN, 4, "    "],
  [0.5, 0, ""],
])("%p of a bar of %p columns", (share, width, expected) => {
  expect(drawn(share, width)).toBe(expected)
})

test("the threshold is one cell, on the free part or on the used part", () => {
  expect(bar(0.25, 8, 0.75)).toEqual([
    { text: "██", part: "fill" },
    { text: "    ", part: "track" },
    { text: "│", part: "mark" },
    { text: " ", part: "track" },
  ])
  expect(bar(1, 4, 0.5)).toEqual([
    { text: "██", part: "fill" },
    { text: "│", part: "mark", onFill: true },
    { text: "█", part: "fill" },
  ])
})

test("a threshold at the end is in the last cell", () => {
  expect(drawn(0, 6, 1)).toBe("     │")
})

test("a sparkline shows the newest sizes, scaled to the maximum", () => {
  expect(sparkline([0, 25, 50, 75, 100], 5, 100)).toBe("▁▃▅▇█")
  expect(sparkline([0, 25, 50, 75, 100], 2, 100)).toBe("▇█")
  expect(sparkline([10, 20], 5)).toBe("▅█")
  expect(sparkline([0, 0], 5)).toBe("▁▁")
  expect(sparkline([], 5)).toBe("")
})
