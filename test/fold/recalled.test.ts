// What a recall keeps from being folded.

import { expect, test } from "bun:test"
import type { Fold } from "../../src/fold/fold.ts"
import { newFolding, withRecalled } from "../../src/fold/folding.ts"

const fold = (partID: string, kind: Fold["kind"] = "output"): Fold => ({
  id: "r0000000",
  partID,
  messageID: kind === "step" ? partID : `msg_${partID}`,
  hash: "",
  kind,
  step: 1,
  text: "",
  what: "",
  reason: "pays",
  because: "",
  cutBecause: "",
  call: 1,
  tokens: 1000,
  textTokens: 20,
})

test("what was recalled is kept for a while", () => {
  const before = newFolding()
  const after = withRecalled(before, [fold("a"), fold("msg_b", "step")], 20)
  expect([...after.recalledUntil]).toEqual([
    ["a", 32],
    ["msg_b", 32],
  ])
  expect(before.recalledUntil.size).toBe(0)
  expect({ ...after, recalledUntil: before.recalledUntil }).toEqual(before)
  expect(withRecalled(after, [fold("a")], 21).recalledUntil.get("a")).toBe(33)
})

test("what is remembered of recalls stays small", () => {
  const before = newFolding()
  const many = withRecalled(
    before,
    Array.from({ length: 2000 }, (_, at) => fold(`p${at}`)),
    1,
  )
  expect(many.recalledUntil.size).toBe(500)
  expect(withRecalled(many, [fold("a")], 100).recalledUntil.size).toBe(1)
})
