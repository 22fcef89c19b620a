// What only SQLite can tell: whether the plugin's store is whole, and in which sessions OpenCode last called a model.
// Read-only, and as JSON, since the CLI has to ask a Bun for it when it runs on Node.

import { statSync } from "node:fs"
import * as z from "zod/mini"
import { reasonOf, type Trouble, troubleOf } from "../store/errors.ts"
import { findDatabase } from "../store/opencode.ts"
import { type Client, loadSqlite, readPragma } from "../store/sqlite.ts"
import type { Environment } from "../system/data-folder.ts"

const sessionSchema = z.object({
  id: z.string(),
  directory: z.string(),
  /** of its newest model call, epoch ms */
  lastCallMs: z.number(),
  agent: z.optional(z.string()),
})
export type SessionFacts = z.output<typeof sessionSchema>

const storeSchema = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("absent") }),
  z.object({
    kind: z.literal("read"),
    applicationID: z.number(),
    schemaVersion: z.number(),
    /** `ok`, or what is wrong, shortened */
    quickCheck: z.string(),
    /** how many rows each table has */
    rows: z.record(z.string(), z.number()),
  }),
  z.object({ kind: z.literal("unreadable"), trouble: z.string(), reason: z.string() }),
])
export type StoreFacts = z.output<typeof storeSchema>

export const databasesSchema = z.object({
  store: storeSchema,
  /** newest first; undefined when OpenCode's database cannot be read, which is so before its first start */
  sessions: z.optional(z.array(sessionSchema)),
})
export type Databases = z.output<typeof databasesSchema>

const PATIENCE_MS = 2000

/** Rejects with NO_SQLITE where the runtime has none. */
export async function readDatabases(storeFile: string, env: Environment): Promise<Databases> {
  const Database = await loadSqlite()
  const open = (path: string) => {
    const client = new Database(path, { readonly: true })
    client.exec(`PRAGMA busy_timeout = ${PATIENCE_MS}`)
    return client
  }
  const sessions = attempt(() => using(open(findDatabase(env)), readSessions))
  return { store: readStore(storeFile, open), ...("value" in sessions ? { sessions: sessions.value } : {}) }
}

function readStore(path: string, open: (path: string) => Client): StoreFacts {
  const found = attempt((): StoreFacts => {
    if (!statSync(path, { throwIfNoEntry: false })) return { kind: "absent" }
    return using(open(path), (client): StoreFacts => {
      const checked = client.query<{ quick_check: string }, []>("PRAGMA quick_check(3)").all()
      const tables = client
        .query<{ name: string }, []>("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
        .all()
      const count = (name: string) =>
        client.query<{ n: number }, []>(`SELECT count(*) AS n FROM "${name.replaceAll('"', '""')}"`).get()?.n ?? 0
      return {
        kind: "read",
        applicationID: readPragma(client, "application_id"),
        schemaVersion: readPragma(client, "user_version"),
        quickCheck: checked.map((row) => row.quick_check).join("; "),
        rows: Object.fromEntries(tables.map(({ name }) => [name, count(name)])),
      }
    })
  })
  if ("value" in found) return found.value
  return { kind: "unreadable", trouble: troubleOf(found.error) satisfies Trouble, reason: reasonOf(found.error) }
}

/** Looks at so many sessions, and so many messages of each: the newest may be a question without an answer yet. */
const SESSIONS = 20
const MESSAGES = 20

function readSessions(client: Client): SessionFacts[] {
  const sessions = client
    .query<{ id: string; directory: string }, [number]>(
      "SELECT id, directory FROM session WHERE parent_id IS NULL ORDER BY time_updated DESC, id LIMIT ?",
    )
    .all(SESSIONS)
  const messages = client.query<{ data: string; at: number }, [string, number]>(
    "SELECT data, time_created AS at FROM message WHERE session_id = ? ORDER BY time_created DESC, id DESC LIMIT ?",
  )
  return sessions.flatMap(({ id, directory }) => {
    const [call] = messages.all(id, MESSAGES).flatMap(({ data, at }) => {
      const read = callSchema.safeParse(parse(data))
      return read.success ? [{ at, agent: read.data.agent }] : []
    })
    if (!call) return []
    return [{ id, directory, lastCallMs: call.at, ...(call.agent === undefined ? {} : { agent: call.agent }) }]
  })
}

/** An answer of a model; one that failed before the model said anything has no `finish`. */
const callSchema = z.object({ role: z.literal("assistant"), finish: z.string(), agent: z.optional(z.string()) })

function parse(data: string): unknown {
  try {
    return JSON.parse(data)
  } catch {
    return undefined
  }
}

function using<T>(client: Client, read: (client: Client) => T): T {
  try {
    return read(client)
  } finally {
    client.close()
  }
}

function attempt<T>(work: () => T): { value: T } | { error: unknown } {
  try {
    return { value: work() }
  } catch (error) {
    return { error }
  }
}
