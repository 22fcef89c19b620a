// Reads sessions out of OpenCode's own database, beside a running OpenCode: read-only, never `immutable`, and in
// transactions that last no longer than the rows take to fetch. For the CLI; not for a hook.
import { existsSync, readdirSync, statSync } from "node:fs"
import { isAbsolute, join } from "node:path"
import { asc, desc, eq, isNull, sql } from "drizzle-orm"
import { type Environment, opencodeFolder } from "../system/data-folder.ts"
import { reasonOf, StoreError } from "./errors.ts"
import { message, part, session } from "./opencode-schema.ts"
import { asMessage, type RecordedSession, type Recording, readRevert } from "./recording.ts"
import { loadSqlite, queriesOf } from "./sqlite.ts"

export type OpencodeDatabase = {
  readonly path: string
  /**
   * A session in the shape of `opencode export`. `id` may be the beginning of an id, or `latest` for the session of the
   * user's that changed last. Throws SESSION_NOT_FOUND, SESSION_AMBIGUOUS, DATABASE_UNREADABLE.
   */
  readSession(id: string): Recording
  /** The sessions that changed last, newest first, those of subagents left out. */
  listSessions(options: { limit: number }): RecordedSession[]
  close(): void
}

const busyTimeoutMs = 2000

/** Rejects with StoreError: NO_SQLITE, DATABASE_NOT_FOUND, DATABASE_UNREADABLE. */
export async function openOpencode(options: { path?: string; env?: Environment } = {}): Promise<OpencodeDatabase> {
  const Database = await loadSqlite()
  const path = options.path ?? findDatabase(options.env ?? process.env)
  const client = guarded(path, () => new Database(path, { readonly: true }))
  guarded(path, () => client.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`))
  const db = queriesOf(client)

  function find(id: string): string {
    if (id === "latest") {
      const [newest] = recent(1)
      if (newest) return newest.id
      throw new StoreError("SESSION_NOT_FOUND", `${path} has no sessions yet; run opencode first`)
    }
    const found = db
      .select({ id: session.id })
      .from(session)
      .where(sql`substr(${session.id}, 1, ${id.length}) = ${id}`)
      .orderBy(desc(session.timeUpdated))
      .limit(4)
      .all()
      .map((row) => row.id)
    const [only] = found
    if (found.includes(id)) return id
    if (only === undefined || id === "") {
      const hint = "`opencode session list` names the sessions; OPENCODE_DB chooses another database"
      throw new StoreError("SESSION_NOT_FOUND", `no session ${JSON.stringify(id)} in ${path}; ${hint}`)
    }
    if (found.length === 1) return only
    const some = `${found.slice(0, 3).join(", ")}${found.length > 3 ? " and more" : ""}`
    throw new StoreError("SESSION_AMBIGUOUS", `${id} begins more than one session id (${some}); give more of it`)
  }

  function recent(limit: number) {
    const own = isNull(session.parentID)
    return db.select().from(session).where(own).orderBy(desc(session.timeUpdated), asc(session.id)).limit(limit).all()
  }

  function fetch(id: string) {
    return db.transaction(() => {
      const sessionID = find(id)
      return {
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

  return {
    path,
    readSession(id) {
      const { row, messages, parts } = guarded(path, () => fetch(id))
      if (!row) throw new StoreError("SESSION_NOT_FOUND", `session ${id} was deleted while it was read`)
      const partsOf = new Map<string, unknown[]>(messages.map(({ id }) => [id, []]))
      for (const { id, messageID, data } of parts) {
        partsOf.get(messageID)?.push(withIds(data, { id, messageID, sessionID: row.id }))
      }
      const read = messages.map(({ id, data }) =>
        asMessage(withIds(data, { id, sessionID: row.id }), partsOf.get(id) ?? []),
      )
      return {
        info: infoOf(row),
        messages: read.flatMap(({ message }) => message ?? []),
        skipped: read.reduce((sum, one) => sum + one.skipped, 0),
      }
    },
    listSessions: ({ limit }) => guarded(path, () => recent(limit).map(infoOf)),
    close: () => client.close(),
  }
}

/** The database OpenCode itself would open. Throws DATABASE_NOT_FOUND. */
export function findDatabase(env: Environment = process.env): string {
  const folder = opencodeFolder(env)
  const named = env.OPENCODE_DB
  if (named === ":memory:") {
    throw new StoreError("DATABASE_NOT_FOUND", "OPENCODE_DB is :memory:, which no other process can read; unset it")
  }
  const path = named ? (isAbsolute(named) ? named : join(folder, named)) : join(folder, "opencode.db")
  if (existsSync(path)) return path
  // Builds of another channel than the released ones have a file of their own; the one in use changed last.
  const [channel] = named ? [] : channelFiles(folder)
  if (channel) return channel
  const hint = "run opencode once, set OPENCODE_DB, or give a file written by `opencode export`"
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

function infoOf(row: typeof session.$inferSelect): RecordedSession {
  const { parentID, revert, timeCreated, timeUpdated, ...rest } = row
  const time = { created: timeCreated, updated: timeUpdated }
  return {
    ...rest,
    ...(parentID === null ? {} : { parentID }),
    ...(revert === null ? {} : { revert: readRevert(withIds(revert, {})) }),
    time,
  }
}

/** Undefined for a row whose data is not a JSON object. */
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
    const what = `${path} cannot be read as an OpenCode database (${reasonOf(cause)})`
    throw new StoreError("DATABASE_UNREADABLE", `${what}; \`opencode export <session id> > session.json\` may do`, {
      cause,
    })
  }
}
