// A session's folds as the store keeps them, by part id. A dropped fold stays as its number alone.

import type { Fold } from "../fold/fold.ts"
import { renew } from "../system/values.ts"

/** `number` is that of the recall id. It stays taken when the fold is dropped, which leaves a row without a fold. */
export type StoredFold = { number: number; fold: Fold | undefined }

/** By part id. */
export type StoredFolds = ReadonlyMap<string, StoredFold>

/** Per session, in memory and on disk; the oldest are removed first. */
export const MAX_SESSION_FOLDS = 5000

export function storedFolds(folds: readonly Fold[]): StoredFolds {
  return addRows(
    new Map(),
    folds.map((fold) => [fold.partID.toWellFormed(), { number: numberOf(fold), fold: { ...fold } }]),
  )
}

/** Number 0: `addRows` keeps the number of the row that is replaced. */
export function droppedFolds(partIDs: readonly string[]): StoredFolds {
  return addRows(
    new Map(),
    partIDs.map((partID) => [partID.toWellFormed(), { number: 0, fold: undefined }]),
  )
}

/** Changes and returns `rows`. An added row replaces the one of the same part, but the higher number is kept. */
export function addRows(
  rows: Map<string, StoredFold>,
  added: Iterable<readonly [string, StoredFold]>,
): Map<string, StoredFold> {
  for (const [partID, { number, fold }] of added) {
    const highest = Math.max(number, rows.get(partID)?.number ?? 0)
    renew(rows, partID, { number: highest, fold }, MAX_SESSION_FOLDS)
  }
  return rows
}

/** Copies of the folds in the order of folding, without the dropped ones. */
export function inOrder(rows: StoredFolds): Fold[] {
  const sorted = [...rows.values()].sort((a, b) => a.number - b.number)
  return sorted.flatMap(({ fold }) => (fold ? [{ ...fold }] : []))
}

export function lastNumber(rows: StoredFolds): number {
  let last = 0
  for (const { number } of rows.values()) last = Math.max(last, number)
  return last
}

function numberOf({ id }: Fold): number {
  const number = Number(id.slice(1))
  return Number.isSafeInteger(number) ? number : 0
}
