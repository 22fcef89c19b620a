import { expect, test } from "bun:test"
import {
  addSaving,
  type CallWithout,
  lastCall,
  noSaving,
  onlyRecalls,
  type Saving,
  type SentTokens,
  savedOfBill,
  savingOf,
} from "../../src/fold/saving.ts"
import type { Entry } from "../../src/session/entry.ts"
import { PRICING } from "../support/pricing.ts"

const pricing = { ...PRICING, read: 0.1, write: 1.25, lifetimeMs: 300_000, usdPerMillion: 2 }

function sent(over: Partial<SentTokens> = {}): SentTokens {
  const nothing = { foldedTokens: 0, changed: false, hudTokens: 0, noticeTokens: 0, ratio: 1 }
  return { ...nothing, nowMs: 1000, model: "a/b", pricing, ...over }
}

const report = (input: number, cacheRead: number, cacheWrite = 0) => ({ input, cacheRead, cacheWrite, output: 50 })

test("what OpenCode would have compacted is not saved", () => {
  const at = (foldedTokens: number, before?: CallWithout) =>
    savingOf(report(0, 9000, 1000), sent({ foldedTokens, compactsAt: 12_000 }), before)
  const fits = at(2000)
  expect(fits.saving.tokens).toBe(2000)
  const full = at(2500, fits.after)
  expect(full.saving.tokens).toBe(0)
  expect(full.after.tokens).toBe(10_000)
  // only what was folded since, and after a real compaction all that is folded
  expect(at(3000, full.after).saving.tokens).toBe(500)
  expect(at(700, at(0, full.after).after).saving.tokens).toBe(700)
})

test("a compaction without the plugin would have lost as much of the cache as the plugin's cut at that call", () => {
  const before = { tokens: 11_900, nowMs: 0, model: "a/b", caches: true }
  const cut = sent({ foldedTokens: 5000, changed: true, compactsAt: 12_000 })
  const { saving } = savingOf(report(0, 3000, 7000), cut, before)
  expect(saving.costWithout).toBeCloseTo(saving.cost)
})

test("a step did nothing but recall when no call of it did anything else, or was cleared", () => {
  const entryOf = (event: object, more: object = {}) =>
    ({ kind: "step", blocks: 2, events: [{ shows: "recalled", ...event }], ...more }) as Entry
  const other = entryOf({ shows: "run" })
  expect(onlyRecalls([entryOf({}), other])).toBe(false)
  expect(onlyRecalls([other, entryOf({})])).toBe(true)
  expect(onlyRecalls([other, entryOf({ cleared: true })])).toBe(false)
  expect(onlyRecalls([other, entryOf({}, { blocks: 0 })])).toBe(false)
})

test("a call with nothing left out and nothing added saves nothing", () => {
  const { saving } = savingOf(report(0, 9000, 1000), sent(), undefined)
  expect(saving.costWithout).toBeCloseTo(saving.cost)
  expect(saving.cost).toBeCloseTo(1000 * 1.25 + 9000 * 0.1)
  expect(saving).toMatchObject({ calls: 1, tokens: 0 })
})

test("folded outputs would have been read from the cache once cached", () => {
  const before = { tokens: 14_000, nowMs: 0, model: "a/b", caches: true }
  const { saving } = savingOf(report(0, 9000, 1000), sent({ foldedTokens: 5000 }), before)
  expect(saving.tokens).toBe(5000)
  expect(saving.costWithout - saving.cost).toBeCloseTo(5000 * 0.1)
  expect(saving.usd).toBeCloseTo((500 * 2) / 1e6)
})

test("a fold that breaks the prefix is compared with the unbroken prefix", () => {
  const before = { tokens: 14_000, nowMs: 0, model: "a/b", caches: true }
  // 4,000 left out, and the 6,000 after them sent again
  const { saving } = savingOf(report(0, 4000, 7000), sent({ foldedTokens: 4000, changed: true }), before)
  expect(saving.cost).toBeCloseTo(4000 * 0.1 + 7000 * 1.25)
  expect(saving.costWithout).toBeCloseTo(14_000 * 0.1 + 1000 * 1.25)
  expect(saving.cost).toBeGreaterThan(saving.costWithout)
})

test("a fold that breaks the whole prefix costs the same where the provider caches, and nothing where it does not", () => {
  const cut = sent({ foldedTokens: 4000, changed: true })
  for (const [caches, cached] of [
    [true, 14_000],
    [false, 0],
  ] as const) {
    const { saving } = savingOf(report(11_000, 0), cut, { tokens: 14_000, nowMs: 0, model: "a/b", caches })
    expect(saving.cost).toBe(11_000)
    expect(saving.costWithout).toBeCloseTo(cached * 0.1 + 15_000 - cached)
  }
  const { after } = savingOf(report(1000, 9000), sent(), undefined)
  expect(savingOf(report(11_000, 0), sent(), after).after.caches).toBe(true)
})

test("when the cache has expired, folding saves everything that would have been sent again", () => {
  const before = { tokens: 14_000, nowMs: 0, model: "a/b", caches: true }
  const late = sent({ foldedTokens: 4000, changed: true, nowMs: 400_000 })
  const { saving } = savingOf(report(0, 0, 11_000), late, before)
  expect(saving.costWithout - saving.cost).toBeCloseTo(4000 * 1.25)
})

test("a cache that holds longer than is known would have held what is folded, too", () => {
  const before = { tokens: 14_000, nowMs: 0, model: "a/b", caches: true }
  const savedAt = (nowMs: number, usage: ReturnType<typeof report>, more = {}) => {
    const { saving } = savingOf(usage, sent({ foldedTokens: 4000, nowMs, pricing: { ...pricing, ...more } }), before)
    return saving.costWithout - saving.cost
  }
  expect(savedAt(400_000, report(1000, 9000))).toBeCloseTo(savedAt(1000, report(1000, 9000)))
  // it has lost all but what others send too
  expect(savedAt(400_000, report(9000, 1000))).toBeCloseTo(4000)
  // with marks its lifetime is documented, and what is read is what others have sent
  expect(savedAt(400_000, report(0, 9000, 1000), { lookback: 20 })).toBeCloseTo(4000 * 1.25)
})

test("a request to another model finds nothing of what was sent to the last one", () => {
  const before = { tokens: 14_000, nowMs: 0, model: "a/other", caches: true }
  const { saving } = savingOf(report(0, 2000, 9000), sent({ foldedTokens: 4000, changed: true }), before)
  expect(saving.costWithout - saving.cost).toBeCloseTo(4000 * 1.25)
})

test("in a new process, what the cache still holds says that it would have held the folded content too", () => {
  const folded = sent({ foldedTokens: 4000 })
  expect(savingOf(report(0, 9000, 1000), folded, undefined).saving).toMatchObject({
    cost: 9000 * 0.1 + 1000 * 1.25,
    costWithout: 13_000 * 0.1 + 1000 * 1.25,
  })
  const expired = savingOf(report(0, 2000, 8000), folded, undefined).saving
  expect(expired.costWithout - expired.cost).toBeCloseTo(4000 * 1.25)
})

test("a cut right after a restart is compared with what the cache held of the last call before it", () => {
  const model = { providerID: "a", modelID: "b" }
  const step = { kind: "step", usage: report(1000, 9000), createdMs: 50_000, model } as Entry
  const failed = { kind: "step", createdMs: 60_000, model } as Entry
  const earlier = lastCall([step, failed], 4000)
  expect(earlier).toEqual({ tokens: 14_000, nowMs: 50_000, model: "a/b", caches: true, leftOut: 4000 })
  expect(lastCall([{ ...step, createdMs: 0 }, failed], 4000)).toBeUndefined()
  // 3,000 more are left out, and the 8,000 after them sent again
  const saved = (nowMs: number) => {
    const cut = sent({ foldedTokens: 7000, changed: true, earlier, nowMs })
    const { saving } = savingOf(report(0, 1000, 8000), cut, earlier)
    return saving.costWithout - saving.cost
  }
  expect(saved(100_000)).toBeCloseTo(14_000 * 0.1 + 2000 * 1.25 - (1000 * 0.1 + 8000 * 1.25))
  // by then the cache has lost it
  expect(saved(400_000)).toBeCloseTo(7000 * 1.25)
  // unless it shows that it has not
  const late = savingOf(report(0, 9000, 1000), sent({ foldedTokens: 4000, earlier, nowMs: 400_000 }), earlier).saving
  expect(late.costWithout - late.cost).toBeCloseTo(4000 * 0.1)
})

test("the first request that is folded again, or sent whole again, is compared with the last one as it was sent", () => {
  const step = (usage: Entry["usage"]) =>
    ({ kind: "step", usage, createdMs: 50_000, model: { providerID: "a", modelID: "b" } }) as Entry
  const lost = (last: Entry, foldedTokens: number, usage: ReturnType<typeof report>, leftOut = 4000) => {
    const earlier = lastCall([last], leftOut)
    const { saving } = savingOf(usage, sent({ foldedTokens, earlier, nowMs: 100_000 }), earlier)
    return saving.cost - saving.costWithout
  }
  const [whole, folded] = [step(report(1000, 13_000)), step(report(1000, 9000))]
  // the plugin was not there for the last call, and its folds break what that has left in the cache
  expect(lost(whole, 4000, report(0, 2000, 9000))).toBeCloseTo(2000 * 0.1 + 9000 * 1.25 - (14_000 * 0.1 + 1000 * 1.25))
  // folding is off since the last call
  expect(lost(folded, 0, report(0, 2000, 13_000))).toBeCloseTo(
    2000 * 0.1 + 13_000 * 1.25 - (14_000 * 0.1 + 1000 * 1.25),
  )
  // its size is an estimate, which may be too large
  expect(lost(folded, 0, report(0, 2000, 13_000), 6000)).toBeCloseTo(2000 * 0.1 + 13_000 * 1.25 - 15_000 * 0.1)
  expect(lost(whole, 6000, report(0, 10_000, 1000), 6000)).toBeCloseTo(-6000 * 0.1)
  expect(lost(whole, 0, report(0, 14_000, 1000))).toBeCloseTo(0)
  expect(lost(folded, 4000, report(0, 10_000, 1000))).toBeCloseTo(-4000 * 0.1)
})

test("the HUD and the notice are paid for", () => {
  const { saving, after } = savingOf(report(1000, 9000), sent({ hudTokens: 100, noticeTokens: 80 }), undefined)
  expect(saving.tokens).toBe(-180)
  // the HUD on each call, the notice once: afterwards it is read from the cache
  expect(saving.cost - saving.costWithout).toBeCloseTo(100 + 80 * 0.1)
  expect(after.tokens).toBe(10_000 - 180)
})

test("estimates are scaled to the provider's counts", () => {
  const { saving } = savingOf(report(0, 9000, 1000), sent({ foldedTokens: 1000, ratio: 1.5 }), undefined)
  expect(saving.tokens).toBe(1500)
})

test("of the whole bill, answers included, a smaller share is saved", () => {
  const one: Saving = { calls: 1, tokens: 10, cost: 60, costWithout: 100, output: 20, usd: 0.5 }
  expect(savedOfBill(one, { ...pricing, output: 5 })).toBeCloseTo(40 / 200)
  expect(savedOfBill(noSaving(), pricing)).toBe(0)
})

test("savings add up", () => {
  const one: Saving = { calls: 1, tokens: 10, cost: 60, costWithout: 100, output: 5, usd: 0.5 }
  expect(addSaving(one, one)).toEqual({ calls: 2, tokens: 20, cost: 120, costWithout: 200, output: 10, usd: 1 })
})
