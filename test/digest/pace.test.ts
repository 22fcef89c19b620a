import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { createRunningTools, documentBudget, type Pace, retryAfterMs, updatePace } from "../../src/digest/pace.ts"

/** The pace after outputs offered at these times, one at a time. */
const paceOf = (...times: number[]) => times.reduce<Pace>((pace, at) => updatePace(pace, at, 1), {})

describe("the agent's pace", () => {
  test("is the mean time between outputs, weighted towards the newest", () => {
    expect(paceOf(0).gapMs).toBeUndefined()
    expect(paceOf(0, 4000).gapMs).toBe(4000)
    expect(paceOf(0, 4000, 14_000).gapMs).toBeCloseTo(0.7 * 4000 + 0.3 * 10_000)
  })

  test("divides a gap by the number of outputs that arrive together", () => {
    expect(updatePace(paceOf(0), 6000, 3).gapMs).toBe(2000)
  })

  test("ignores the user's pauses", () => {
    const pace = updatePace(paceOf(0, 4000), 600_000, 1)
    expect(pace).toEqual({ lastMs: 600_000, gapMs: 4000 })
    expect(updatePace(pace, 604_000, 1).gapMs).toBe(4000)
  })

  test("ignores a resumed session, which offers all its outputs at once", () => {
    expect(updatePace(paceOf(0, 4000), 4010, 5000).gapMs).toBe(4000)
  })
})

describe("the budget", () => {
  const rows = [
    { name: "270M on two cores, a call each 5 s", speed: { prefill: 245, decode: 36 }, gapMs: 5000, tokens: 571 },
    { name: "350M on one core", speed: { prefill: 116, decode: 26.5 }, gapMs: 5000, tokens: 201 },
    {
      name: "0.6B on one core: waits until the agent is idle",
      speed: { prefill: 58, decode: 13 },
      gapMs: 5000,
      tokens: 0,
    },
    { name: "a GPU: the backend's maximum", speed: { prefill: 12_000, decode: 400 }, gapMs: 5000, tokens: 2000 },
    { name: "a fast agent", speed: { prefill: 245, decode: 36 }, gapMs: 1000, tokens: 0 },
  ]
  for (const { name, speed, gapMs, tokens } of rows) {
    test(name, () => expect(documentBudget(speed, { gapMs }, false, 2000)).toBe(tokens))
  }

  test("ignores the pace while the agent is idle", () => {
    expect(documentBudget({ prefill: 1, decode: 1 }, { gapMs: 100 }, true, 2000)).toBe(2000)
  })

  test("assumes a call every 5 s until one was seen", () => {
    const speed = { prefill: 245, decode: 36 }
    expect(documentBudget(speed, {}, false, 2000)).toBe(documentBudget(speed, { gapMs: 5000 }, false, 2000))
  })

  test("is small for a backend that has not been measured", () => {
    expect(documentBudget(undefined, {}, true, 2000)).toBe(400)
    expect(documentBudget(undefined, {}, false, 300)).toBe(300)
  })

  test("is zero or at least 150 tokens, and never above the backend's maximum", () => {
    const rate = fc.double({ min: 0.1, max: 100_000, noNaN: true })
    fc.assert(
      fc.property(
        rate,
        rate,
        rate,
        fc.boolean(),
        fc.integer({ min: 150, max: 8000 }),
        (prefill, decode, gapMs, idle, most) => {
          const tokens = documentBudget({ prefill, decode }, { gapMs }, idle, most)
          expect(tokens === 0 || (tokens >= 150 && tokens <= most)).toBe(true)
        },
      ),
    )
  })
})

test("the delay after repeated failures doubles, up to five minutes", () => {
  expect([1, 2, 3, 4, 9, 10, 1000].map(retryAfterMs)).toEqual([1000, 2000, 4000, 8000, 256_000, 300_000, 300_000])
})

describe("running tools", () => {
  test("report when the first one starts and when the last one ends", () => {
    const said: boolean[] = []
    const tools = createRunningTools((any) => said.push(any))
    tools.started("a")
    tools.started("b")
    tools.ended("a")
    tools.ended("never started")
    expect([tools.any, said]).toEqual([true, [true]])
    tools.ended("b")
    expect([tools.any, said]).toEqual([false, [true, false]])
  })

  test("forget one whose end was never reported", async () => {
    const forgotten = new Promise<boolean>((resolve) => {
      const tools = createRunningTools((any) => any || resolve(tools.any), 10)
      tools.started("a")
    })
    expect(await forgotten).toBe(false)
  })

  test("are bounded in number", () => {
    const tools = createRunningTools(() => {})
    for (let n = 0; n < 200; n++) tools.started(`${n}`)
    for (let n = 0; n < 100; n++) tools.ended(`${n}`)
    expect(tools.any).toBe(false)
  })
})
