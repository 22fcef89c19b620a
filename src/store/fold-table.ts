// The fold table's queries: a session's folds written many at a time, and read back. Synchronous, and throws what SQLite
// throws.
import { and, desc, eq, isNotNull, lte, max, sql } from "drizzle-orm"
import { type FoldRow, type FoldRows, lastNumber, mostFolds, readFold, writeFold } from "./fold.ts"
import { fold } from "./schema.ts"
import type { Queries } from "./sqlite.ts"

/** Runs in the caller's transaction, with the session's own row in place. */
export function saveFoldRows(db: Queries, sessionID: string, rows: FoldRows): void {
  const { placeholder } = sql
  // Made once for all rows: 5,000 take 15 to 30 ms this way, and 260 to 380 ms when drizzle builds a statement for each.
  const save = db
    .insert(fold)
    .values({
      sessionID,
      partID: placeholder("partID"),
      number: placeholder("number"),
      fold: placeholder("fold"),
    })
    .onConflictDoUpdate({
      target: [fold.sessionID, fold.partID],
      set: { number: sql`max(${fold.number}, excluded.number)`, fold: sql`excluded.fold` },
    })
    .prepare()
  for (const [partID, row] of rows) {
    save.run({ partID, number: row.number, fold: row.fold ? writeFold(row.fold) : null })
  }
  const outlived = lastNumber(rows) - mostFolds
  if (outlived > 0)
    db.delete(fold)
      .where(and(eq(fold.sessionID, sessionID), lte(fold.number, outlived)))
      .run()
}

/** Without those dropped; `skipped` counts the rows that did not parse. */
export function loadFoldRows(db: Queries, sessionID: string): { rows: Map<string, FoldRow>; skipped: number } {
  const found = db
    .select({ partID: fold.partID, number: fold.number, json: fold.fold })
    .from(fold)
    .where(and(eq(fold.sessionID, sessionID), isNotNull(fold.fold)))
    .orderBy(desc(fold.number))
    .limit(mostFolds)
    .all()
  const rows = new Map<string, FoldRow>()
  for (const { partID, number, json } of found.reverse()) {
    const value = readFold(json ?? "")
    if (value) rows.set(partID, { number, fold: value })
  }
  return { rows, skipped: found.length - rows.size }
}

/** The highest number given in the session, to folds since dropped too. */
export function lastFoldNumber(db: Queries, sessionID: string): number {
  const row = db
    .select({ last: max(fold.number) })
    .from(fold)
    .where(eq(fold.sessionID, sessionID))
    .get()
  return row?.last ?? 0
}
