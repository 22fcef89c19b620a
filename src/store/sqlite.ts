// SQLite for drizzle.
import type { Database } from "bun:sqlite"
import { SQLiteBunSession } from "drizzle-orm/bun-sqlite/session"
import { BaseSQLiteDatabase, SQLiteSyncDialect } from "drizzle-orm/sqlite-core"
import { findSqlite, type SqliteClass, type SqliteDatabase } from "../system/sqlite.ts"
import { StoreError } from "./errors.ts"

export type Queries = BaseSQLiteDatabase<"sync", void>

/** What is wrong where there is no SQLite, and what to do. */
export const NO_SQLITE = `Node ${process.versions.node} has no SQLite, which this needs; put opencode or bun on PATH, or use Node 22.16 or newer`

/** Rejects with NO_SQLITE if the runtime has none. */
export async function loadSqlite(): Promise<SqliteClass> {
  const found = await findSqlite()
  if (found) return found
  throw new StoreError("NO_SQLITE", NO_SQLITE)
}

const PATIENCE_MS = 2000

/** Opens a database that another process may be writing. */
export function openReadonly(Database: SqliteClass, path: string): SqliteDatabase {
  const database = new Database(path, { readonly: true })
  database.exec(`PRAGMA busy_timeout = ${PATIENCE_MS}`)
  return database
}

// drizzle's own `drizzle()` for Bun imports `bun:sqlite` statically. A bundler hoists that import to the top of the file,
// and the bundle no longer loads under Node. The parts `drizzle()` is built from have no such import. They prepare each
// query again; `query` keeps the statement instead, and closing the database finalizes it.
export function queriesOf(database: SqliteDatabase): Queries {
  const statements = {
    prepare: (sql: string) => database.query(sql),
    transaction: database.transaction.bind(database),
    exec: database.exec.bind(database),
  }
  const dialect = new SQLiteSyncDialect()
  const session = new SQLiteBunSession<Record<string, never>, Record<string, never>>(
    statements as unknown as Database,
    dialect,
    undefined,
  )
  return new BaseSQLiteDatabase("sync", dialect, session, undefined)
}

/** Reads a PRAGMA that returns one number. */
export function readPragma(database: SqliteDatabase, name: "user_version" | "application_id"): number {
  return database.query<Record<string, number>, []>(`PRAGMA ${name}`).get()?.[name] ?? 0
}
