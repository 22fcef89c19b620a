// What a terminal would act on is shown instead.

import { expect, test } from "bun:test"
import { visible } from "../../src/tui/visible.ts"
import { widthOf } from "../../src/tui/width.ts"

test.each([
  ["letters of all kinds", "plain text, naïve — 試験 🙂", "plain text, naïve — 試験 🙂"],
  ["line feeds", "one\ntwo\n", "one\ntwo\n"],
  ["other line ends", "one\r\ntwo\rthree", "one\ntwo␍three"],
  ["colours", "\u001b[31mred\u001b[0m", "␛[31mred␛[0m"],
  ["control characters", "a\u0000b\u0007\u007f", "a␀b␇␡"],
  ["the newer control characters", "\u009b31m", "\\u009b31m"],
  ["marks of direction", "abc\u202edef", "abc\\u202edef"],
  ["tabs", "\tindented", "    indented"],
  ["half a letter", "\ud800 alone", "\ufffd alone"],
])("%s", (_, text, expected) => {
  expect(visible(text)).toBe(expected)
})

test("a line that is longer than the screen draws is broken, and nothing of it is lost", () => {
  const words = Array.from({ length: 20_000 }, (_, at) => `試🙂${at}`).join("\t")
  const lines = visible(`short\n${words}\nshort`).split("\n")
  expect(Math.max(...lines.map(widthOf))).toBeLessThanOrEqual(65_535)
  expect(lines.slice(1, -1).join("")).toBe(words.replaceAll("\t", "    "))
  expect(visible("x".repeat(30_000))).toBe("x".repeat(30_000))
})
