// What folding reckoned with against what the provider reported.

import { describe, expect, test } from "bun:test"
import { type Account, knownTariff, newAccount, settleCall } from "../../src/fold/account.ts"
import { TARIFF } from "../support/tariff.ts"

type Report = { read: number; fresh?: number; folded?: number; reckoned?: number; ratio?: number }

/** The account after calls of 50,000 tokens or so, of which 2,000 were reckoned to be fresh. */
function settled(reports: readonly Report[], before: Account = newAccount()): Account {
  let account = before
  for (const [i, { read, fresh = 50_000 - read, folded = 3, reckoned = 2_000, ratio = 1 }] of reports.entries()) {
    account.expected = { call: i + 1, sentTokens: 48_000, freshTokens: reckoned, folded }
    account = settleCall(account, i + 1, { input: fresh, cacheRead: read, cacheWrite: 0, output: 100 }, ratio, TARIFF)
  }
  return account
}

const GOOD = { read: 48_000 }
const SHORT = { read: 10_000 }

describe("folding", () => {
  test("stops when three calls in a row read less from the cache than it reckoned with, and says by how much", () => {
    expect(settled([GOOD, SHORT, SHORT]).stopped).toBeUndefined()
    expect(settled([GOOD, SHORT, SHORT, SHORT]).stopped).toBe(
      "3 calls in a row read less from the provider's cache than folding reckoned with (the last 10000 tokens of about 48000)",
    )
  })

  test("goes on when one of them was as reckoned", () => {
    expect(settled([SHORT, SHORT, GOOD, SHORT, SHORT]).stopped).toBeUndefined()
    expect(settled([SHORT, SHORT, GOOD, SHORT, SHORT, SHORT]).stopped).toBeDefined()
  })

  test("once stopped stays so, for the reason it was", () => {
    const { stopped } = settled([GOOD, SHORT, SHORT, SHORT])
    expect(settled([GOOD, GOOD], { ...newAccount(), stopped: stopped ?? "" }).stopped).toBe(stopped as string)
    expect(settled([GOOD, SHORT, SHORT, SHORT, { read: 9_000 }]).stopped).toBe(stopped as string)
  })

  test("is not blamed while nothing is folded", () => {
    const unfolded = { ...SHORT, folded: 0 }
    expect(settled([GOOD, unfolded, unfolded, unfolded, unfolded])).toMatchObject({ short: 0 })
  })

  test("is not blamed for what is off by little, nor where next to nothing was to be in the cache", () => {
    const little = { read: 46_000 }
    const cold = { read: 0, reckoned: 49_500 }
    expect(settled([GOOD, little, little, little, cold, cold, cold])).toMatchObject({ short: 0 })
  })

  test("reckons with what the provider counts, which is more or less than what was estimated", () => {
    // 2,000 estimated tokens are 40,000 of this provider's: 10,000 were to be read
    const scaled = { ...SHORT, ratio: 20 }
    expect(settled([GOOD, scaled, scaled, scaled])).toMatchObject({ short: 0 })
  })

  test("waits for the report of the call it expected", () => {
    const account = { ...newAccount(), expected: { call: 7, sentTokens: 48_000, freshTokens: 2_000, folded: 3 } }
    const usage = { input: 50_000, cacheRead: 0, cacheWrite: 0, output: 100 }
    expect(settleCall(account, 6, usage, 1, TARIFF)).toEqual({ ...newAccount() })
  })
})

describe("a provider that reports no cache read", () => {
  const NONE = { read: 0 }

  test("three times where one was due is taken as one without a cache", () => {
    expect(knownTariff(TARIFF, settled([NONE, NONE]))).toEqual(TARIFF)
    const account = settled([NONE, NONE, NONE])
    expect(knownTariff(TARIFF, account)).toEqual({ ...TARIFF, read: 1, write: 1, lifetimeMs: 0 })
    // that is no loss by folding
    expect(account.stopped).toBeUndefined()
  })

  test("is not, once it has reported one", () => {
    expect(knownTariff(TARIFF, settled([GOOD, NONE, NONE, NONE]))).toEqual(TARIFF)
  })

  test("is taken at its word again when it reports one late, also where none was due", () => {
    const late = [NONE, NONE, NONE, GOOD]
    expect(knownTariff(TARIFF, settled(late))).toEqual(TARIFF)
    // taken as without a cache, all of the next request is reckoned to be fresh
    expect(knownTariff(TARIFF, settled([NONE, NONE, NONE, { ...GOOD, reckoned: 50_000 }]))).toEqual(TARIFF)
  })
})
