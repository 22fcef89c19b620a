// A short soak; `bench/soak.ts` runs it at full size and compares times as well.

import { afterAll, beforeAll, expect, test } from "bun:test"
import { sized } from "../support/size.ts"
import { type Soaked, soak } from "../support/soak.ts"

const CALLS = sized(300, 3_000, 1_500)
/** Maximum that 2,000 calls may leave behind: the facts of 100 sessions and the digests of 500 outputs. */
const GROWTH = 20_000_000
/** Objects that belong to unfinished work or listeners. Small differences are normal. */
const LASTING = ["Promise", "Timeout", "AbortSignal", "AbortController", "AsyncFunction", "Socket", "WeakMap"]

let soaked: Soaked
beforeAll(async () => {
  soaked = await soak(CALLS, CALLS / 3)
}, 240_000)
afterAll(() => Bun.gc(true))

test("after many calls the heap is no larger than after few", () => {
  expect(soaked.calls).toBeGreaterThanOrEqual(CALLS)
  expect(soaked.after.heap - soaked.before.heap).toBeLessThan(GROWTH)
})

test.each(LASTING)("after many calls there are no more live objects of type %s than after few", (type) => {
  const count = ({ counts }: Soaked["before"]) => counts[type] ?? 0
  expect(count(soaked.after) - count(soaked.before)).toBeLessThan(200)
})

test("over many calls nothing fails, is late or is dropped, and digests are written meanwhile", () => {
  expect(soaked.logged.filter((line) => /failed;|not done|gave up/.test(line))).toEqual([])
  expect(soaked.asked).toBeGreaterThan(0)
})
