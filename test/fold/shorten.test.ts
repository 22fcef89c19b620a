// The oldest steps of a long session keep a few words, then none.

import { expect, test } from "bun:test"
import { createEnv } from "../../src/digest/digests.ts"
import type { Fold, Folds } from "../../src/fold/fold.ts"
import { isFoldText } from "../../src/fold/record.ts"
import { shortened } from "../../src/fold/shorten.ts"
import { createLedger } from "../../src/session/ledger.ts"
import { tokensOfLength } from "../../src/text/tokens.ts"
import { take } from "../support/conversation.ts"
import { bash, ROOT, SessionBuilder } from "../support/session.ts"

const STEPS = 60

function entriesOf(session: SessionBuilder) {
  const ledger = createLedger(createEnv(ROOT))
  take(ledger, session.messages)
  return ledger.entries
}

const session = new SessionBuilder().user("go")
for (let i = 1; i <= STEPS; i++) session.assistant([bash(`make ${i}`)])
const entries = entriesOf(session)

/** Folds of the steps with these numbers, each with a long first line and another. */
function foldsOf(...steps: number[]): Folds {
  const folds = steps.map((step) => {
    const id = session.id(step)
    const text = `${step} bash make ${"x".repeat(100)}\n+ another line of ${step}`
    const textTokens = tokensOfLength(text.length)
    return { id: `r000000${step % 10}`, partID: id, messageID: id, kind: "step", step, text, textTokens } as Fold
  })
  return new Map(folds.map((fold) => [fold.partID, fold]))
}
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i)
const sizeOf = (folds: Iterable<Fold>) => [...folds].reduce((sum, { textTokens }) => sum + textTokens, 0)

const all = foldsOf(...range(1, STEPS))

test("the oldest steps keep both ends of their first line, and no more of them than is asked for", () => {
  const result = shortened(entries, all, 100)
  expect(result.map(({ step }) => step)).toEqual(range(1, result.length))
  for (const fold of result) {
    expect(fold.text).toMatch(new RegExp(`^${fold.step} bash make x+…x{29}$`))
    expect(fold.text.length).toBeLessThanOrEqual(60)
    expect(isFoldText(fold)).toBe(true)
  }
  const before = result.flatMap(({ partID }) => all.get(partID) ?? [])
  expect(sizeOf(before) - sizeOf(result)).toBeGreaterThanOrEqual(100)
  expect(sizeOf(before.slice(1)) - sizeOf(result.slice(1))).toBeLessThan(100)
  expect(shortened(entries, all, 0)).toEqual([])
})

test("where that is not enough, the oldest have no text", () => {
  const few = sizeOf(shortened(entries, all, sizeOf(all.values()) / 2))
  const result = shortened(entries, all, sizeOf(all.values()) - 100)
  expect(sizeOf(result)).toBeLessThanOrEqual(Math.min(100, few))
  const isEmpty = result.map(({ text }) => text === "")
  expect(isEmpty.lastIndexOf(true)).toBe(isEmpty.indexOf(false) - 1)
  expect(shortened(entries, all, 1_000_000).map(({ text }) => text)).toEqual(range(1, STEPS).map(() => ""))
})

test("what is as short already is not made again", () => {
  const folds = new Map(all)
  for (const fold of shortened(entries, folds, 1_000_000)) folds.set(fold.partID, fold)
  expect(shortened(entries, folds, 1_000_000)).toEqual([])
})

test("only steps that are folded are shortened", () => {
  const folds = foldsOf(...range(5, 9), ...range(20, 30))
  expect(shortened(entries, folds, 1_000_000).map(({ step }) => step)).toEqual([...range(5, 9), ...range(20, 30)])
})
