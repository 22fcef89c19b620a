// Comparing the provider's reports with what folding expected.

import { describe, expect, test } from "bun:test"
import {
  type Calibration,
  calibrated,
  correctedPricing,
  newCalibration,
  requestTokens,
} from "../../src/fold/calibration.ts"
import type { Pricing } from "../../src/fold/pricing.ts"
import { emptyFacts } from "../../src/session/facts.ts"
import { PRICING } from "../support/pricing.ts"

type Report = { read: number; fresh?: number; folded?: number; expected?: number; ratio?: number }

/** The calibration after calls of 50,000 tokens or so, of which 2,000 were expected to be fresh. */
function settled(reports: readonly Report[], before: Calibration = newCalibration()): Calibration {
  let calibration = before
  for (const [i, { read, fresh = 50_000 - read, folded = 3, expected = 2_000, ratio = 1 }] of reports.entries()) {
    calibration.expected = { call: i + 1, sentTokens: 48_000, freshTokens: expected, foldedCount: folded }
    const usage = { input: fresh, cacheRead: read, cacheWrite: 0, output: 100 }
    calibration = calibrated(calibration, { ...emptyFacts(), calls: i + 1, ratio }, usage, PRICING)
  }
  return calibration
}

const GOOD = { read: 48_000 }
const SHORT = { read: 10_000 }

describe("folding", () => {
  test("stops when three calls in a row read less from the cache than expected, and says by how much", () => {
    expect(settled([GOOD, SHORT, SHORT]).stopped).toBeUndefined()
    expect(settled([GOOD, SHORT, SHORT, SHORT]).stopped).toBe(
      "3 calls in a row read less from the provider's cache than expected (the last one 10000 of about 48000 tokens)",
    )
  })

  test("continues when one of them was as expected", () => {
    expect(settled([SHORT, SHORT, GOOD, SHORT, SHORT]).stopped).toBeUndefined()
    expect(settled([SHORT, SHORT, GOOD, SHORT, SHORT, SHORT]).stopped).toBeDefined()
  })

  test("stays stopped, for the same reason", () => {
    const { stopped } = settled([GOOD, SHORT, SHORT, SHORT])
    expect(settled([GOOD, GOOD], { ...newCalibration(), stopped: stopped ?? "" }).stopped).toBe(stopped as string)
    expect(settled([GOOD, SHORT, SHORT, SHORT, { read: 9_000 }]).stopped).toBe(stopped as string)
  })

  test("is not blamed while nothing is folded", () => {
    const unfolded = { ...SHORT, folded: 0 }
    expect(settled([GOOD, unfolded, unfolded, unfolded, unfolded])).toMatchObject({ shortCalls: 0 })
  })

  test("is not blamed for small deviations, nor when almost nothing should have been cached", () => {
    const little = { read: 46_000 }
    const cold = { read: 0, expected: 49_500 }
    expect(settled([GOOD, little, little, little, cold, cold, cold])).toMatchObject({ shortCalls: 0 })
  })

  test("compares with the provider's counts, which differ from the estimates", () => {
    // 2,000 estimated tokens are 40,000 of this provider's: 10,000 were to be read
    const scaled = { ...SHORT, ratio: 20 }
    expect(settled([GOOD, scaled, scaled, scaled])).toMatchObject({ shortCalls: 0 })
  })

  test("waits for the report of the call it expected", () => {
    const calibration = {
      ...newCalibration(),
      expected: { call: 7, sentTokens: 48_000, freshTokens: 2_000, foldedCount: 3 },
    }
    const usage = { input: 50_000, cacheRead: 0, cacheWrite: 0, output: 100 }
    expect(calibrated(calibration, { ...emptyFacts(), calls: 6 }, usage, PRICING)).toEqual({ ...newCalibration() })
  })
})

describe("a provider that reports no cache read", () => {
  const NONE = { read: 0 }

  test("three times when one was due is treated as having no cache", () => {
    expect(correctedPricing(PRICING, settled([NONE, NONE]))).toEqual(PRICING)
    const calibration = settled([NONE, NONE, NONE])
    expect(correctedPricing(PRICING, calibration)).toEqual({ ...PRICING, read: 1, write: 1, lifetimeMs: 0 })
    // folding is not the cause
    expect(calibration.stopped).toBeUndefined()
  })

  test("is not after it has reported one", () => {
    expect(correctedPricing(PRICING, settled([GOOD, NONE, NONE, NONE]))).toEqual(PRICING)
  })

  test("is not where requests cost nothing: local servers keep the last prompt and do not say so", () => {
    const local: Pricing = { ...PRICING, billing: "nothing" }
    expect(correctedPricing(local, settled([NONE, NONE, NONE]))).toEqual(local)
  })

  test("has a cache again when it reports a read late, even if none was due", () => {
    const late = [NONE, NONE, NONE, GOOD]
    expect(correctedPricing(PRICING, settled(late))).toEqual(PRICING)
    // assumed to have no cache, so all of the next request is expected to be fresh
    expect(correctedPricing(PRICING, settled([NONE, NONE, NONE, { ...GOOD, expected: 50_000 }]))).toEqual(PRICING)
  })
})

describe("the size of the next request", () => {
  /** After a call with so many reported tokens, 10,000 of them of the system prompt and the tools. */
  const sized = (total: number, foldedCount: number) => {
    const expected = { call: 2, sentTokens: 4_000, freshTokens: 4_000, foldedCount }
    const usage = { input: total, cacheRead: 0, cacheWrite: 0, output: 100 }
    return calibrated(
      { ...newCalibration(), overhead: 10_000, expected },
      { ...emptyFacts(), calls: 2 },
      usage,
      PRICING,
    )
  }

  test("is the reported one, unless its messages cannot amount to that", () => {
    expect(requestTokens(sized(14_000, 0), 15_000, 8_000)).toBe(15_000)
    expect(requestTokens(sized(14_000, 0), 90_000, 8_000)).toBe(10_000 + 1.25 * 8_000)
  })

  test("counts images and dense texts as the provider did while nothing was folded", () => {
    expect(requestTokens(sized(22_000, 0), 90_000, 8_000)).toBe(10_000 + 3 * 8_000)
    expect(requestTokens(sized(22_000, 1), 90_000, 8_000)).toBe(10_000 + 1.25 * 8_000)
  })

  /** The reports of a session: the request's messages, how much of it is folded, and what the provider reported. */
  const after = (...reports: [sentTokens: number, foldedCount: number, total: number][]) => {
    let calibration = newCalibration()
    for (const [at, [sentTokens, foldedCount, input]] of reports.entries()) {
      const expected = { call: at + 1, sentTokens, freshTokens: sentTokens, foldedCount }
      const usage = { input, cacheRead: 0, cacheWrite: 0, output: 100 }
      calibration = calibrated({ ...calibration, expected }, { ...emptyFacts(), calls: at + 1 }, usage, PRICING)
    }
    return calibration
  }

  test("counts a PDF that came after a fold, once a report has fallen with a fold", () => {
    const sized = after([40_000, 0, 50_000], [11_000, 5, 21_000], [12_000, 5, 52_000])
    expect(requestTokens(sized, 52_000, 12_000)).toBe(52_000)
  })

  test("does not where reports are those of a session that was recorded without the plugin", () => {
    const sized = after([40_000, 0, 50_000], [11_000, 5, 51_000], [12_000, 5, 52_000])
    expect(requestTokens(sized, 52_000, 12_000)).toBe(10_000 + 1.25 * 12_000)
  })

  test("nor where such a report happened to fall, and is still more than what is sent can be", () => {
    const sized = after([40_000, 0, 50_000], [30_000, 5, 140_000], [11_000, 9, 125_000], [12_000, 9, 126_000])
    expect(requestTokens(sized, 126_000, 12_000)).toBe(10_000 + 1.25 * 12_000)
  })

  test("nor where a report fell with a compaction", () => {
    const sized = after([40_000, 5, 90_000], [11_000, 0, 21_000], [12_000, 1, 52_000])
    expect(requestTokens(sized, 52_000, 12_000)).toBe(10_000 + 1.25 * 12_000)
  })
})
