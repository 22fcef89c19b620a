// A soak of every day's size; `bench/soak.ts` runs it at full size, and holds the times against each other as well.

import { afterAll, beforeAll, expect, test } from "bun:test"
import { sized } from "../support/size.ts"
import { type Soaked, soak } from "../support/soak.ts"

const CALLS = sized(1_500, 3_000)
/** What 2,000 calls leave behind at most: of 100 sessions the facts, of 500 outputs the digests. */
const GROWTH = 20_000_000
/** Objects that each stand for something unfinished or listened to: a few more or less mean nothing. */
const LASTING = ["Promise", "Timeout", "AbortSignal", "AbortController", "AsyncFunction", "Socket", "WeakMap"]

let soaked: Soaked
beforeAll(async () => {
  soaked = await soak(CALLS, CALLS / 3)
}, 240_000)
afterAll(() => Bun.gc(true))

test("after many calls the heap is as large as after few", () => {
  expect(soaked.calls).toBeGreaterThanOrEqual(CALLS)
  expect(soaked.after.heap - soaked.before.heap).toBeLessThan(GROWTH)
})

test.each(LASTING)("after many calls there are no more living objects of type %s than after few", (type) => {
  const count = ({ counts }: Soaked["before"]) => counts[type] ?? 0
  expect(count(soaked.after) - count(soaked.before)).toBeLessThan(200)
})

test("nothing fails, is late or is given up over many calls, and digests are written beside them", () => {
  expect(soaked.logged.filter((line) => /failed;|not done|gave up/.test(line))).toEqual([])
  expect(soaked.asked).toBeGreaterThan(0)
})
