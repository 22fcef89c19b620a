// Reads sessions from OpenCode's own database while OpenCode may be running: read-only, never `immutable`, and in
// transactions that last only as long as fetching the rows. For the commands and for a recall, not for a hook.
import { existsSync, readdirSync, statSync } from "node:fs"
import { isAbsolute, join } from "node:path"
import { and, asc, desc, eq, isNull, sql } from "drizzle-orm"
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core"
import { type Environment, opencodeFolder } from "../system/data-folder.ts"
import type { SqliteDatabase } from "../system/sqlite.ts"
import { innermostReason, StoreError } from "./errors.ts"
import { type RecordedSession, type Recording, readMessages, readRevert } from "./recording.ts"
import { loadSqlite, queriesOf } from "./sqlite.ts"
import { fromStored } from "./stored-v2.ts"

// Only the tables that sessions are read from, and only columns that all recent versions have. OpenCode's other
// tables, above all those with credentials, are not named anywhere in this package.
const sessionsIn = (name: string) =>
  sqliteTable(name, {
    id: text("id").primaryKey(),
    projectID: text("project_id").notNull(),
    parentID: text("parent_id"),
    directory: text("directory").notNull(),
    title: text("title").notNull(),
    version: text("version").notNull(),
    /** JSON of what a revert has hidden and the next prompt will delete; null if there is none */
    revert: text("revert"),
    timeCreated: integer("time_created").notNull(),
    timeUpdated: integer("time_updated").notNull(),
  })

const session = sessionsIn("session")
/** OpenCode 2's sessions, in the same file. It imports those of OpenCode 1 once, under the same ids. */
const sessionV2 = sessionsIn("session_v2")

/** `data` is JSON of the message without `id` and `sessionID`, which are columns. */
const message = sqliteTable("message", {
  id: text("id").primaryKey(),
  sessionID: text("session_id").notNull(),
  timeCreated: integer("time_created").notNull(),
  data: text("data").notNull(),
})

/** `data` is JSON of the part without `id`, `messageID` and `sessionID`. */
const part = sqliteTable("part", {
  id: text("id").primaryKey(),
  messageID: text("message_id").notNull(),
  sessionID: text("session_id").notNull(),
  data: text("data").notNull(),
})

/** `data` is JSON of the message without `id` and `type`, which are columns. */
const messageV2 = sqliteTable("session_message", {
  id: text("id").primaryKey(),
  sessionID: text("session_id").notNull(),
  type: text("type").notNull(),
  seq: integer("seq").notNull(),
  data: text("data").notNull(),
})

/** What OpenCode recorded of sessions, by their ids: where they ran, whose they are, and what each call cost. */
export type SessionCosts = ReadonlyMap<string, Costs>

type Costs = { directory: string; parentID: string | undefined; calls: readonly { atMs: number; usd: number }[] }

type Row = typeof session.$inferSelect

const BUSY_TIMEOUT_MS = 2000

/** Opens OpenCode's database, reads from it, and closes it. Rejects as `openOpencode` does, or with what `read` throws. */
export async function withOpencode<T>(read: (database: OpencodeDatabase) => T): Promise<T> {
  const database = await openOpencode()
  try {
    return read(database)
  } finally {
    database.close()
  }
}

type OpencodeDatabase = Awaited<ReturnType<typeof openOpencode>>

/** Rejects with StoreError: NO_SQLITE, DATABASE_NOT_FOUND, DATABASE_UNREADABLE. */
export async function openOpencode(options: { path?: string; env?: Environment } = {}) {
  const Database = await loadSqlite()
  const path = options.path ?? findDatabase(options.env ?? process.env)
  const database = guarded(path, () => new Database(path, { readonly: true }))
  guarded(path, () => database.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`))
  const db = queriesOf(database)

  // OpenCode 2 may have made the file, or not yet have been there
  let known: Tables | undefined
  const tables = () => {
    known ??= tablesOf(database)
    return known
  }
  const fromBoth = (query: (table: typeof session) => Row[]) =>
    newestOf(tables().v2 ? query(sessionV2) : [], tables().v1 ? query(session) : [])

  function find(id: string): string {
    if (id === "latest") {
      const [newest] = recent(1)
      if (newest) return newest.id
      throw new StoreError("SESSION_NOT_FOUND", `${path} has no sessions yet; run opencode first`)
    }
    const found = fromBoth((table) =>
      db
        .select()
        .from(table)
        .where(sql`substr(${table.id}, 1, ${id.length}) = ${id}`)
        .orderBy(desc(table.timeUpdated))
        .limit(4)
        .all(),
    ).map((row) => row.id)
    const [only] = found
    if (found.includes(id)) return id
    if (only === undefined || id === "") {
      const hint = "`opencode session list` lists the sessions; set OPENCODE_DB to use another database"
      throw new StoreError("SESSION_NOT_FOUND", `no session ${JSON.stringify(id)} in ${path}; ${hint}`)
    }
    if (found.length === 1) return only
    const some = `${found.slice(0, 3).join(", ")}${found.length > 3 ? " and more" : ""}`
    throw new StoreError("SESSION_AMBIGUOUS", `${id} matches more than one session id (${some}); give more characters`)
  }

  function recent(limit: number): Row[] {
    const rows = fromBoth((table) =>
      db
        .select()
        .from(table)
        .where(isNull(table.parentID))
        .orderBy(desc(table.timeUpdated), asc(table.id))
        .limit(limit)
        .all(),
    )
    return rows.slice(0, limit)
  }

  function fetchV2(sessionID: string) {
    if (!tables().v2) return
    const row = db.select().from(sessionV2).where(eq(sessionV2.id, sessionID)).get()
    const messages = db
      .select({ id: messageV2.id, type: messageV2.type, data: messageV2.data })
      .from(messageV2)
      .where(eq(messageV2.sessionID, sessionID))
      .orderBy(asc(messageV2.seq))
      .all()
    // a session whose import failed has its messages in the old tables only
    return row && messages.length > 0 ? { row, messages } : undefined
  }

  function fetch(id: string) {
    return db.transaction(() => {
      const sessionID = find(id)
      const v2 = fetchV2(sessionID)
      if (v2 || !tables().v1) return { v2, row: undefined, messages: [], parts: [] }
      return {
        v2,
        row: db.select().from(session).where(eq(session.id, sessionID)).get(),
        messages: db
          .select({ id: message.id, data: message.data })
          .from(message)
          .where(eq(message.sessionID, sessionID))
          .orderBy(asc(message.timeCreated), asc(message.id))
          .all(),
        parts: db
          .select({ id: part.id, messageID: part.messageID, data: part.data })
          .from(part)
          .where(eq(part.sessionID, sessionID))
          .orderBy(asc(part.id))
          .all(),
      }
    })
  }

  function costsOf(id: string): Costs | undefined {
    const at = (data: typeof message.data | typeof messageV2.data, path: string) =>
      sql<unknown>`CASE WHEN json_valid(${data}) THEN json_extract(${data}, ${path}) END`
    const called = (rows: readonly { atMs: unknown; usd: unknown }[]) =>
      rows.flatMap(({ atMs, usd }) => (typeof atMs === "number" && typeof usd === "number" ? [{ atMs, usd }] : []))
    if (tables().v2) {
      const row = db.select().from(sessionV2).where(eq(sessionV2.id, id)).get()
      const answers = and(eq(messageV2.sessionID, id), eq(messageV2.type, "assistant"))
      const columns = { atMs: at(messageV2.data, "$.time.created"), usd: at(messageV2.data, "$.cost") }
      const rows = row ? db.select(columns).from(messageV2).where(answers).all() : []
      // a session whose import failed has its messages in the old tables only
      if (row && (rows.length > 0 || !tables().v1)) return { ...whose(row), calls: called(rows) }
    }
    if (!tables().v1) return
    const row = db.select().from(session).where(eq(session.id, id)).get()
    const columns = { atMs: message.timeCreated, usd: at(message.data, "$.cost") }
    const rows = row ? db.select(columns).from(message).where(eq(message.sessionID, id)).all() : []
    return row && { ...whose(row), calls: called(rows) }
  }

  return {
    path,
    /**
     * A session in the shape of `opencode export`. `id` may be the beginning of an id, or `latest` for the user's session that
     * changed last. Throws SESSION_NOT_FOUND, SESSION_AMBIGUOUS, DATABASE_UNREADABLE.
     */
    readSession(id: string): Recording {
      const { v2, row, messages, parts } = guarded(path, () => fetch(id))
      if (v2) {
        const stored = v2.messages.map(({ id, type, data }) => withIds(data, { id, type }))
        const { messages, skipped } = readMessages(fromStored(stored, v2.row.id))
        return { info: infoOf(v2.row), messages, skipped: skipped + stored.filter((one) => !one).length }
      }
      if (!row) throw new StoreError("SESSION_NOT_FOUND", `session ${id} was deleted while it was being read`)
      const partsOf = new Map<string, unknown[]>(messages.map(({ id }) => [id, []]))
      for (const { id, messageID, data } of parts) {
        partsOf.get(messageID)?.push(withIds(data, { id, messageID, sessionID: row.id }))
      }
      const given = messages.map(({ id, data }) => ({
        info: withIds(data, { id, sessionID: row.id }),
        parts: partsOf.get(id) ?? [],
      }))
      return { info: infoOf(row), ...readMessages(given) }
    },
    /** The sessions that changed last, newest first, without those of subagents. */
    listSessions: ({ limit }: { limit: number }): RecordedSession[] => guarded(path, () => recent(limit).map(infoOf)),
    /** Those of these sessions that OpenCode still has. */
    sessionCosts: (ids: readonly string[]): SessionCosts =>
      guarded(path, () => {
        const found = ids.map((id) => [id, costsOf(id)] as const)
        return new Map(found.flatMap(([id, costs]) => (costs ? [[id, costs]] : [])))
      }),
    close: (): void => database.close(),
  }
}

/** The database OpenCode itself would open. Throws DATABASE_NOT_FOUND. */
export function findDatabase(env: Environment = process.env): string {
  const folder = opencodeFolder(env)
  const named = env.OPENCODE_DB
  if (named === ":memory:") {
    throw new StoreError(
      "DATABASE_NOT_FOUND",
      "OPENCODE_DB is :memory:, which no other process can read; unset OPENCODE_DB",
    )
  }
  const path = named ? (isAbsolute(named) ? named : join(folder, named)) : join(folder, "opencode.db")
  if (existsSync(path)) return path
  // Builds of other channels have a file of their own; the one in use changed last.
  const [channel] = named ? [] : channelFiles(folder)
  if (channel) return channel
  const hint = "run opencode once, set OPENCODE_DB, or pass a file written by `opencode export`"
  throw new StoreError("DATABASE_NOT_FOUND", `no OpenCode database at ${path}; ${hint}`)
}

function channelFiles(folder: string): string[] {
  try {
    return readdirSync(folder)
      .filter((name) => /^opencode-[\w.-]+\.db$/.test(name))
      .map((name) => join(folder, name))
      .sort((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs)
  } catch {
    return []
  }
}

type Tables = { v1: boolean; v2: boolean }

function tablesOf(database: SqliteDatabase): Tables {
  const rows = database.query<{ name: string }, []>("SELECT name FROM sqlite_schema WHERE type = 'table'").all()
  const names = new Set(rows.map(({ name }) => name))
  const v2 = names.has("session_v2") && names.has("session_message")
  // without either, the old ones are named in the error
  return { v1: names.has("session") || !v2, v2 }
}

/** Rows of both hosts, those that changed last first. A session that both know is OpenCode 2's. */
function newestOf(v2: readonly Row[], v1: readonly Row[]): Row[] {
  const known = new Set(v2.map(({ id }) => id))
  const rows = [...v2, ...v1.filter(({ id }) => !known.has(id))]
  return rows.sort((one, other) => other.timeUpdated - one.timeUpdated || (one.id < other.id ? -1 : 1))
}

const whose = ({ directory, parentID }: Pick<Row, "directory" | "parentID">) => ({
  directory,
  parentID: parentID ?? undefined,
})

function infoOf(row: Row): RecordedSession {
  const { parentID, revert, timeCreated, timeUpdated, ...rest } = row
  const time = { created: timeCreated, updated: timeUpdated }
  return {
    ...rest,
    ...(parentID === null ? {} : { parentID }),
    ...(revert === null ? {} : { revert: readRevert(withIds(revert, {})) }),
    time,
  }
}

/** Undefined if `data` is not a JSON object. */
function withIds(data: string, ids: Record<string, string>): object | undefined {
  try {
    const value: unknown = JSON.parse(data)
    return typeof value === "object" && value !== null ? { ...value, ...ids } : undefined
  } catch {
    return undefined
  }
}

function guarded<T>(path: string, read: () => T): T {
  try {
    return read()
  } catch (cause) {
    if (cause instanceof StoreError) throw cause
    const what = `${path} cannot be read as an OpenCode database (${innermostReason(cause)})`
    throw new StoreError("DATABASE_UNREADABLE", `${what}; try \`opencode export <session id> > session.json\``, {
      cause,
    })
  }
}
