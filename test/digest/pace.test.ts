import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { createRunningTools, documentBudget, retryAfterMs } from "../../src/digest/pace.ts"

describe("the budget", () => {
  const rows = [
    { name: "270M on two cores, a call each 5 s", speed: { prefill: 245, decode: 36 }, tokens: 571 },
    { name: "350M on one core", speed: { prefill: 116, decode: 26.5 }, tokens: 201 },
    {
      name: "0.6B on one core: waits until the agent is idle",
      speed: { prefill: 58, decode: 13 },

      tokens: 0,
    },
    { name: "a GPU: the backend's maximum", speed: { prefill: 12_000, decode: 400 }, tokens: 2000 },
  ]
  for (const { name, speed, tokens } of rows) {
    test(name, () => expect(documentBudget(speed, false, 2000)).toBe(tokens))
  }

  test("ignores the pace while the agent is idle", () => {
    expect(documentBudget({ prefill: 1, decode: 1 }, true, 2000)).toBe(2000)
  })

  test("is small for a backend whose speed is not known", () => {
    expect(documentBudget(undefined, false, 2000)).toBe(400)
    expect(documentBudget(undefined, false, 300)).toBe(300)
  })

  test("is zero or at least 150 tokens, and never above the backend's maximum", () => {
    const rate = fc.double({ min: 0.1, max: 100_000, noNaN: true })
    fc.assert(
      fc.property(rate, rate, fc.boolean(), fc.integer({ min: 150, max: 8000 }), (prefill, decode, idle, most) => {
        const tokens = documentBudget({ prefill, decode }, idle, most)
        expect(tokens === 0 || (tokens >= 150 && tokens <= most)).toBe(true)
      }),
    )
  })
})

test("the delay after repeated failures grows, up to five minutes", () => {
  expect([1, 2, 3, 4, 5, 1000].map(retryAfterMs)).toEqual([1000, 5000, 25_000, 125_000, 300_000, 300_000])
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
