// What the planner learns from a recall.

import { expect, test } from "bun:test"
import type { Fold } from "../../src/fold/fold.ts"
import { newFolding, withMiss } from "../../src/fold/folding.ts"
import type { Shows } from "../../src/output/shows.ts"

const fold = (partID: string, side: Fold["side"] = "output"): Fold => ({
  id: "r0000000",
  partID,
  messageID: side === "step" ? partID : `msg_${partID}`,
  hash: "",
  side,
  step: 1,
  text: "",
  what: "",
  reason: "pays",
  because: "",
  call: 1,
  tokens: 1000,
  textTokens: 20,
})

const shows =
  (...kinds: Shows[]) =>
  () =>
    kinds

test("what was recalled is pinned for a while, and each kind of it counts once", () => {
  const before = newFolding()
  const after = withMiss(before, [fold("a"), fold("msg_b", "step")], 20, shows("file", "matches", "file"))
  expect([...after.pinned]).toEqual([
    ["a", 32],
    ["msg_b", 32],
  ])
  expect([...after.missed]).toEqual([
    ["file", 1],
    ["matches", 1],
  ])
  expect(before.pinned.size + before.missed.size).toBe(0)
  expect({ ...after, pinned: before.pinned, missed: before.missed }).toEqual(before)
})

test("the next page of the same is no new miss; the same after a while is", () => {
  const once = withMiss(newFolding(), [fold("a")], 20, shows("file"))
  const page = withMiss(once, [fold("a")], 21, shows("file"))
  expect(page.missed.get("file")).toBe(1)
  expect(page.pinned.get("a")).toBe(33)
  expect(withMiss(page, [fold("a")], 33, shows("file")).missed.get("file")).toBe(2)
})

test("nothing recalled changes nothing, and what is remembered stays small", () => {
  const before = newFolding()
  expect(withMiss(before, [], 1, shows("file"))).toBe(before)
  const many = withMiss(
    before,
    Array.from({ length: 2000 }, (_, at) => fold(`p${at}`)),
    1,
    shows("file"),
  )
  expect(many.pinned.size).toBe(500)
  expect(withMiss(many, [fold("a")], 100, shows("file")).pinned.size).toBe(1)
})
