import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { budgetOf, type Pace, paced, retryAfterMs } from "../../src/digest/pace.ts"

/** The pace after outputs offered at these times, one at a time. */
const paceOf = (...times: number[]) => times.reduce<Pace>((pace, at) => paced(pace, at, 1), {})

describe("the agent's pace", () => {
  test("is the mean time between outputs, the newest counting most", () => {
    expect(paceOf(0).gapMs).toBeUndefined()
    expect(paceOf(0, 4000).gapMs).toBe(4000)
    expect(paceOf(0, 4000, 14_000).gapMs).toBeCloseTo(0.7 * 4000 + 0.3 * 10_000)
  })

  test("counts outputs that come together as that many", () => {
    expect(paced(paceOf(0), 6000, 3).gapMs).toBe(2000)
  })

  test("does not count a pause of the user's", () => {
    const pace = paced(paceOf(0, 4000), 600_000, 1)
    expect(pace).toEqual({ lastMs: 600_000, gapMs: 4000 })
    expect(paced(pace, 604_000, 1).gapMs).toBe(4000)
  })

  test("does not count a session taken up again, which offers all it has", () => {
    expect(paced(paceOf(0, 4000), 4010, 5000).gapMs).toBe(4000)
  })
})

describe("the budget", () => {
  const rows = [
    { name: "270M on two cores, a call each 5 s", speed: { prefill: 245, decode: 36 }, gapMs: 5000, tokens: 571 },
    { name: "350M on one core", speed: { prefill: 116, decode: 26.5 }, gapMs: 5000, tokens: 201 },
    { name: "0.6B on one core: waits for idle", speed: { prefill: 58, decode: 13 }, gapMs: 5000, tokens: 0 },
    { name: "a GPU: as much as it takes", speed: { prefill: 12_000, decode: 400 }, gapMs: 5000, tokens: 2000 },
    { name: "a hurried agent", speed: { prefill: 245, decode: 36 }, gapMs: 1000, tokens: 0 },
  ]
  for (const { name, speed, gapMs, tokens } of rows) {
    test(name, () => expect(budgetOf(speed, { gapMs }, false, 2000)).toBe(tokens))
  }

  test("knows no pace while the agent rests", () => {
    expect(budgetOf({ prefill: 1, decode: 1 }, { gapMs: 100 }, true, 2000)).toBe(2000)
  })

  test("supposes a call each 5 s while it has seen none", () => {
    const speed = { prefill: 245, decode: 36 }
    expect(budgetOf(speed, {}, false, 2000)).toBe(budgetOf(speed, { gapMs: 5000 }, false, 2000))
  })

  test("is a small one for a backend not measured yet", () => {
    expect(budgetOf(undefined, {}, true, 2000)).toBe(400)
    expect(budgetOf(undefined, {}, false, 300)).toBe(300)
  })

  test("is nothing or at least 150 tokens, and never more than the backend takes", () => {
    const rate = fc.double({ min: 0.1, max: 100_000, noNaN: true })
    fc.assert(
      fc.property(
        rate,
        rate,
        rate,
        fc.boolean(),
        fc.integer({ min: 150, max: 8000 }),
        (prefill, decode, gapMs, idle, most) => {
          const tokens = budgetOf({ prefill, decode }, { gapMs }, idle, most)
          expect(tokens === 0 || (tokens >= 150 && tokens <= most)).toBe(true)
        },
      ),
    )
  })
})

test("a backend that keeps failing is left alone longer and longer, at most five minutes", () => {
  expect([1, 2, 3, 4, 9, 10, 1000].map(retryAfterMs)).toEqual([1000, 2000, 4000, 8000, 256_000, 300_000, 300_000])
})
