// A session's folds as the store keeps them: by part id, one that was dropped as the number it had. JSON on disk, and
// checked when it is read back.
import * as z from "zod/mini"
import { renew } from "../bounded.ts"
import type { Fold } from "../fold/fold.ts"
import { wellFormed } from "./clean.ts"

/** `number` is the recall id's, and stays taken when the fold is dropped, which is a row without one. */
export type FoldRow = { number: number; fold: Fold | undefined }

/** By part id. */
export type FoldRows = ReadonlyMap<string, FoldRow>

/** Folds kept of one session, in memory and on disk; the oldest go. */
export const mostFolds = 5000

const shape = z.object({
  id: z.string().check(z.regex(/^r\d+$/)),
  partID: z.string(),
  messageID: z.string(),
  hash: z.string(),
  side: z.enum(["output", "input"]),
  text: z.string(),
  what: z.string(),
  reason: z.enum(["free", "pays", "must"]),
  because: z.string(),
  call: z.number(),
  tokens: z.number(),
  textTokens: z.number(),
})

export function writeFold(fold: Fold): string {
  return JSON.stringify(fold satisfies z.input<typeof shape>)
}

/** Undefined when the text is not what `writeFold` writes. */
export function readFold(json: string): Fold | undefined {
  try {
    return shape.safeParse(JSON.parse(json)).data
  } catch {
    return undefined
  }
}

export function rowsOf(folds: readonly Fold[]): FoldRows {
  return addRows(
    new Map(),
    folds.map((fold) => [wellFormed(fold.partID), { number: numberOf(fold), fold: { ...fold } }]),
  )
}

/** Their numbers are with the rows that these are added to. */
export function droppedRows(partIDs: readonly string[]): FoldRows {
  return addRows(
    new Map(),
    partIDs.map((partID) => [wellFormed(partID), { number: 0, fold: undefined }]),
  )
}

/** Changes and answers `rows`: what is added replaces what was there under the same part id, but no number is lost. */
export function addRows(rows: Map<string, FoldRow>, added: Iterable<readonly [string, FoldRow]>): Map<string, FoldRow> {
  for (const [partID, { number, fold }] of added) {
    renew(rows, partID, { number: Math.max(number, rows.get(partID)?.number ?? 0), fold }, mostFolds)
  }
  return rows
}

/** The folds in the order of folding, without those dropped. Copies. */
export function inOrder(rows: FoldRows): Fold[] {
  const sorted = [...rows.values()].sort((a, b) => a.number - b.number)
  return sorted.flatMap(({ fold }) => (fold ? [{ ...fold }] : []))
}

export function lastNumber(rows: FoldRows): number {
  let last = 0
  for (const { number } of rows.values()) last = Math.max(last, number)
  return last
}

function numberOf({ id }: Fold): number {
  const number = Number(id.slice(1))
  return Number.isSafeInteger(number) ? number : 0
}
