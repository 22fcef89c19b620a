// Reads the accounts of finished turns from the plugin's own store while OpenCode may be writing it: read-only, for the CLI,
// not for a hook.

import { statSync } from "node:fs"
import { asc } from "drizzle-orm"
import { storePath } from "../system/data-folder.ts"
import { innermostReason, StoreError } from "./errors.ts"
import { refuseNewer, refuseOthers } from "./file.ts"
import { turnTable } from "./schema.ts"
import { loadSqlite, openReadonly, queriesOf, readPragma } from "./sqlite.ts"
import type { Turn } from "./writes.ts"

/** A call may have begun this much before the turn it belongs to, by the clocks of two processes. */
const MAX_EARLY_MS = 10_000

/** The calls that were made in turn `at` of a session's turns, oldest first. OpenCode keeps none of a turn that was undone. */
export function callsOfTurn<T extends { atMs: number }>(turns: readonly Turn[], at: number, calls: readonly T[]): T[] {
  const { startedAt = 0, endedAt = 0 } = turns[at] ?? {}
  const begins = Math.max(turns[at - 1]?.endedAt ?? 0, startedAt - MAX_EARLY_MS)
  return calls.filter(({ atMs }) => atMs > begins && atMs <= endedAt)
}

/**
 * All turns that the store has, oldest first; none without a store, or in one that was never written to. `named` is the option
 * `store.path`. Rejects with NO_SQLITE, DATABASE_UNREADABLE, or as `refuseOthers` throws.
 */
export async function readTurns(named?: string): Promise<Turn[]> {
  const path = storePath(named)
  try {
    // opening a pipe would wait for its writer
    if (!statSync(path, { throwIfNoEntry: false })?.isFile()) return []
    refuseOthers(path)
    using database = openReadonly(await loadSqlite(), path)
    refuseNewer(path, readPragma(database, "user_version"))
    if (!database.query("SELECT 1 FROM sqlite_schema WHERE name = 'turn'").get()) return []
    return queriesOf(database).select().from(turnTable).orderBy(asc(turnTable.startedAt)).all()
  } catch (cause) {
    if (cause instanceof StoreError) throw cause
    const why = `${path} cannot be read (${innermostReason(cause)}); \`hudfold doctor\` says what to do`
    throw new StoreError("DATABASE_UNREADABLE", why, { cause })
  }
}
