// The oldest records of a long session become a few lines.

import { expect, test } from "bun:test"
import { createEnv } from "../../src/digest/digests.ts"
import { condensed, MIN_CONDENSED_STEPS } from "../../src/fold/condense.ts"
import type { Fold, Folds } from "../../src/fold/fold.ts"
import { createLedger } from "../../src/session/ledger.ts"
import { take } from "../support/conversation.ts"
import { bash, edit, ROOT, read, SessionBuilder } from "../support/session.ts"

const TEXT_TOKENS = 50

function entriesOf(session: SessionBuilder) {
  const ledger = createLedger(createEnv(ROOT))
  take(ledger, session.messages)
  return ledger.entries
}

/** A session of so many edits, reads and commands in turn. */
function worked(steps: number): SessionBuilder {
  const session = new SessionBuilder().user("go")
  for (let i = 0; i < steps; i++)
    session.assistant([i % 3 === 0 ? edit("src/price.ts") : i % 3 === 1 ? read(`${i}.ts`) : bash(`make ${i}`)])
  return session
}

/** Folds of the messages at these indexes. */
function foldsAt(session: SessionBuilder, ...at: number[]): Folds {
  const folds = at.map((n) => {
    const id = session.id(n)
    return { partID: id, messageID: id, side: "step", step: n, text: `${n} ...`, textTokens: TEXT_TOKENS } as Fold
  })
  return new Map(folds.map((fold) => [fold.partID, fold]))
}
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i)

test("the last of adjacent steps has a summary of all, and the others have no text", () => {
  const session = worked(30)
  const result = condensed(entriesOf(session), foldsAt(session, ...range(1, 30)), 1_000_000)
  expect(result.map(({ step }) => step)).toEqual(range(1, 30))
  const last = result.at(-1)
  for (const fold of result.slice(0, -1)) expect([fold.text, fold.textTokens]).toEqual(["", 0])
  expect(last?.text).toBe("1-30 edited price.ts 10x; 10 reads; 10 commands")
  expect(last?.textTokens).toBeLessThan(TEXT_TOKENS)
})

test("the oldest first, and no more than is asked for", () => {
  const session = worked(200)
  const folds = foldsAt(session, ...range(1, 200))
  const result = condensed(entriesOf(session), folds, 20 * TEXT_TOKENS)
  const saved = result.length * TEXT_TOKENS - result.reduce((sum, { textTokens }) => sum + textTokens, 0)
  expect(saved).toBeGreaterThanOrEqual(20 * TEXT_TOKENS)
  expect(result.length).toBeLessThan(40)
  expect(result[0]?.step).toBe(1)
  expect(condensed(entriesOf(session), folds, 0)).toEqual([])
})

test("a step that stays separates two records, and few steps are left as they are", () => {
  const session = worked(30)
  const few = range(1, MIN_CONDENSED_STEPS - 1)
  const more = range(MIN_CONDENSED_STEPS + 1, 30)
  const result = condensed(entriesOf(session), foldsAt(session, ...few, ...more), 1_000_000)
  expect(result.map(({ step }) => step)).toEqual(more)
  expect(result.filter(({ text }) => text !== "")).toHaveLength(1)
})

test("what is condensed already is not condensed again", () => {
  const session = worked(30)
  const folds = new Map(foldsAt(session, ...range(1, 30)))
  for (const fold of condensed(entriesOf(session), folds, 1_000_000)) folds.set(fold.partID, fold)
  expect(condensed(entriesOf(session), folds, 1_000_000)).toEqual([])
})

test("a step that has no text of its own any more is not made again", () => {
  const session = worked(60)
  const folds = new Map(foldsAt(session, ...range(1, 30)))
  for (const fold of condensed(entriesOf(session), folds, 1_000_000)) folds.set(fold.partID, fold)
  for (const [partID, fold] of foldsAt(session, ...range(31, 60))) folds.set(partID, fold)
  expect(condensed(entriesOf(session), folds, 1_000_000).map(({ step }) => step)).toEqual(range(30, 60))
})
