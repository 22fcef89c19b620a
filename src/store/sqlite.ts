// SQLite as drizzle sees it. `bun:sqlite` is reached by dynamic import and nowhere else, so that everything here loads
// under plain Node too.
import type { Database } from "bun:sqlite"
import { SQLiteBunSession } from "drizzle-orm/bun-sqlite/session"
import { BaseSQLiteDatabase, SQLiteSyncDialect } from "drizzle-orm/sqlite-core"
import { StoreError } from "./errors.ts"

export type Client = Database
export type ClientClass = typeof Database
export type Queries = BaseSQLiteDatabase<"sync", void>

/** Rejects with NO_SQLITE where the runtime is not Bun. */
export async function loadSqlite(): Promise<ClientClass> {
  try {
    return (await import("bun:sqlite")).Database
  } catch (cause) {
    throw new StoreError("NO_SQLITE", `this needs Bun's SQLite, and runs on Node ${process.versions.node}`, { cause })
  }
}

// drizzle's own `drizzle()` for Bun imports `bun:sqlite` statically, which a bundler hoists to the top of the file, and
// then the bundle no longer loads under Node. The parts it puts together do not. They prepare anew for every query:
// `query` keeps the statement instead, and closing the client finalizes what it keeps.
export function queriesOf(client: Client): Queries {
  const statements = {
    prepare: (sql: string) => client.query(sql),
    transaction: client.transaction.bind(client),
    exec: client.exec.bind(client),
  }
  const dialect = new SQLiteSyncDialect()
  const session = new SQLiteBunSession<Record<string, never>, Record<string, never>>(
    statements as unknown as Database,
    dialect,
    undefined,
  )
  return new BaseSQLiteDatabase("sync", dialect, session, undefined)
}

/** Reads a PRAGMA that answers with one number. */
export function readPragma(client: Client, name: "user_version" | "application_id"): number {
  const row = client.query<Record<string, number>, []>(`PRAGMA ${name}`).get()
  return row?.[name] ?? 0
}
