// How much of a request the provider still has.

import { describe, expect, test } from "bun:test"
import { cachedEntries } from "../../../src/core/fold/cached.ts"
import { newFolding } from "../../../src/core/fold/folding.ts"
import type { Tariff } from "../../../src/core/fold/tariff.ts"
import type { Entry } from "../../../src/core/ledger/entry.ts"

const entries = (...ids: string[]) => ids.map((id) => ({ id }) as Entry)
const TARIFF = { lifetimeMs: 300_000 } as Tariff
const SENT = { ids: ["a", "b", "c"], atMs: 1_000_000, model: "p/m" }

function cached(ids: string[], { nowMs = 1_010_000, model = "p/m", tariff = TARIFF, sent = true } = {}): number {
  return cachedEntries(entries(...ids), { ...newFolding(), ...(sent ? { sent: SENT } : {}) }, tariff, model, nowMs)
}

describe("of the next request is cached", () => {
  test("what the last one had too", () => {
    expect(cached(["a", "b", "c", "d"])).toBe(3)
    expect(cached(["a", "b", "c"])).toBe(3)
  })

  test("what is before the first message that is another: after a revert, after a compaction", () => {
    expect(cached(["a", "b", "x", "c"])).toBe(2)
    expect(cached(["a"])).toBe(1)
    expect(cached(["s", "b", "c"])).toBe(0)
  })

  test("nothing before the first request, when the model is another, or when the cache has outlived its time", () => {
    expect(cached(["a", "b"], { sent: false })).toBe(0)
    expect(cached(["a", "b"], { model: "p/other" })).toBe(0)
    expect(cached(["a", "b"], { nowMs: SENT.atMs + 299_999 })).toBe(2)
    expect(cached(["a", "b"], { nowMs: SENT.atMs + 300_000 })).toBe(0)
  })

  test("nothing where there is no cache", () => {
    expect(cached(["a", "b"], { nowMs: SENT.atMs, tariff: { ...TARIFF, lifetimeMs: 0 } })).toBe(0)
  })
})
