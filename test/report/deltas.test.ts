import { expect, test } from "bun:test"
import fc from "fast-check"
import { deltasOf, textsOf } from "../../src/report/deltas.ts"

/** Texts in which lines come again, changed and unchanged, as those of HUDs do. */
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

test("texts come back as they were, through JSON too", () => {
  fc.assert(
    fc.property(texts, (given) => {
      expect(textsOf(JSON.parse(JSON.stringify(deltasOf(given))))).toEqual(given)
    }),
  )
})

test("a line that stays is a number, one that changes is told by what changed", () => {
  const [, second] = deltasOf(["<hud>\ncontext 12k of 200k, 90% cached", "<hud>\ncontext 13k of 200k, 90% cached"])
  expect(second).toEqual([0, [1, 9, 21, "3"]])
})

test("a text after a gap is told by the one before the gap", () => {
  expect(deltasOf(["a line", undefined, "a line"])).toEqual([["a line"], null, [0]])
})
