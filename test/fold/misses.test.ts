import { expect, test } from "bun:test"
import { addMisses, countKinds, type MissCount, type ModelMisses, patienceOf } from "../../src/fold/misses.ts"
import type { Shows } from "../../src/output/shows.ts"
import type { Entry } from "../../src/session/entry.ts"
import { foldOf } from "../store/support.ts"

const misses = (...counts: [Shows, recalls: number, folded: number][]): ModelMisses =>
  new Map(counts.map(([shows, recalls, folded]): [Shows, MissCount] => [shows, { shows, recalls, folded }]))

const none: ReadonlyMap<Shows, number> = new Map()

test("nothing missed: no more steps", () => {
  expect(patienceOf(none, new Map(), "file")).toBe(0)
  expect(patienceOf(new Map([["run", 3]]), misses(["run", 9, 100]), "file")).toBe(0)
})

test("each miss of the session adds two steps, eight at most", () => {
  for (const [missed, patience] of [
    [1, 2],
    [4, 8],
    [40, 8],
  ] as const)
    expect(patienceOf(new Map([["file", missed]]), new Map(), "file")).toBe(patience)
})

test("the model's share of recalls adds up to four, linear up to 2 %", () => {
  for (const [recalls, folded, patience] of [
    [0, 1000, 0],
    [5, 1000, 1],
    [10, 1000, 2],
    [20, 1000, 4],
    [900, 1000, 4],
    // few folds: the share is of 100
    [1, 3, 2],
    [0, 0, 0],
  ] as const)
    expect(patienceOf(none, misses(["file", recalls, folded]), "file")).toBeCloseTo(patience)
  expect(patienceOf(new Map([["file", 9]]), misses(["file", 9, 9]), "file")).toBe(12)
})

test("counts are added by kind, and halved beyond 2,000 folds", () => {
  const sum = addMisses(misses(["file", 3, 1000], ["run", 1, 1]), misses(["file", 2, 1000], ["page", 0, 7]))
  expect([...sum.values()]).toEqual([...misses(["file", 5, 2000], ["run", 1, 1], ["page", 0, 7]).values()])
  expect(addMisses(sum, misses(["file", 0, 1])).get("file")).toEqual({ shows: "file", recalls: 2, folded: 1000 })
})

test("an output counts once for its kind, a step once for each kind it holds, and what is gone not at all", () => {
  const event = (partID: string, shows: Shows) => ({ partID, shows })
  const entries = [
    { id: "msg_1", events: [event("prt_1", "file"), event("prt_9", "run")] },
    { id: "msg_2", events: [event("prt_2", "file"), event("prt_3", "file"), event("prt_4", "matches")] },
  ] as unknown as Entry[]
  const folds = [foldOf(1), foldOf(2, { side: "step", partID: "msg_2" }), foldOf(3, { messageID: "msg_gone" })]
  expect([...countKinds(folds, entries, "folded").values()]).toEqual([
    { shows: "file", recalls: 0, folded: 2 },
    { shows: "matches", recalls: 0, folded: 1 },
  ])
  expect(countKinds(folds.slice(0, 1), entries, "recalls").get("file")).toEqual({
    shows: "file",
    recalls: 1,
    folded: 0,
  })
})
