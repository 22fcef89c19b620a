// A session's folds as the store keeps them, by part id.

import type { Fold } from "../fold/fold.ts"
import { renew } from "../system/values.ts"

/** By part id; undefined for a fold that was dropped, so that its row is deleted too. */
export type StoredFolds = ReadonlyMap<string, Fold | undefined>

/** Per session, in memory and on disk; the oldest are removed first. */
export const MAX_SESSION_FOLDS = 5000

export function storedFolds(folds: readonly Fold[]): StoredFolds {
  return addRows(
    new Map(),
    folds.map((fold) => [fold.partID.toWellFormed(), { ...fold }]),
  )
}

export function droppedFolds(partIDs: readonly string[]): StoredFolds {
  return new Map(partIDs.map((partID) => [partID.toWellFormed(), undefined]))
}

/** Changes and returns `rows`. An added row replaces the one of the same part. */
export function addRows(
  rows: Map<string, Fold | undefined>,
  added: Iterable<readonly [string, Fold | undefined]>,
): Map<string, Fold | undefined> {
  for (const [partID, fold] of added) renew(rows, partID, fold, MAX_SESSION_FOLDS)
  return rows
}

/** Copies of the folds in the order of folding: by call, and within a call as they were added. */
export function inOrder(rows: StoredFolds): Fold[] {
  const folds = [...rows.values()].flatMap((fold) => (fold ? [{ ...fold }] : []))
  return folds.sort((a, b) => a.call - b.call)
}
