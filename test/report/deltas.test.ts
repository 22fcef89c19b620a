import { expect, test } from "bun:test"
import fc from "fast-check"
import { deltasOf, textsOf } from "../../src/report/deltas.ts"

/** Texts with repeated lines, changed and unchanged, as in HUDs. */
const line = fc.oneof(
  fc.constantFrom("<hud>", "</hud>", "", "context 12k of 200k", "files src/a.ts read"),
  fc.tuple(fc.constantFrom("context", "files", "task"), fc.string({ unit: "binary" })).map((words) => words.join(" ")),
)
const texts = fc.array(
  fc.option(
    fc.array(line, { minLength: 1 }).map((lines) => lines.join("\n")),
    { nil: undefined },
  ),
)

test("texts survive the round trip, through JSON too", () => {
  fc.assert(
    fc.property(texts, (given) => {
      expect(textsOf(JSON.parse(JSON.stringify(deltasOf(given))))).toEqual(given)
    }),
  )
})

test("an unchanged line is a number, a changed one only its difference", () => {
  const [, second] = deltasOf(["<hud>\ncontext 12k of 200k, 90% cached", "<hud>\ncontext 13k of 200k, 90% cached"])
  expect(second).toEqual([0, [1, 9, 21, "3"]])
})

test("a text after a gap is encoded relative to the one before the gap", () => {
  expect(deltasOf(["a line", undefined, "a line"])).toEqual([["a line"], null, [0]])
})
