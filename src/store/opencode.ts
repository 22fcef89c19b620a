// Reads sessions from OpenCode's own database while OpenCode may be running: read-only, never `immutable`, and in
// transactions that last only as long as fetching the rows. For the commands, and on OpenCode 2 for what its server does not
// return: originals, and messages from before a compaction.
import { existsSync, readdirSync, statSync } from "node:fs"
import { join, resolve } from "node:path"
import * as z from "zod/mini"
import { type Environment, opencodeFolder } from "../system/data-folder.ts"
import type { SqliteDatabase } from "../system/sqlite.ts"
import { asRecord, groupBy, lazy, parseAs, parseJson } from "../system/values.ts"
import { innermostReason, StoreError } from "./errors.ts"
import { EXPORT_COMMAND } from "./export.ts"
import { type RecordedSession, type Recording, readMessages, revertShape } from "./recording.ts"
import { loadSqlite, openReadonly } from "./sqlite.ts"
import { fromStored } from "./stored-v2.ts"

/**
 * Only the tables that sessions are read from, and only columns that all recent versions have. OpenCode's other tables, such as
 * those with credentials, are not named anywhere in this package. OpenCode 2 has its own tables in the same file; it imports
 * the sessions of OpenCode 1 once, under the same ids. `data` is a message or part as JSON, without the fields that are columns.
 */
const SESSIONS = { v1: "session", v2: "session_v2" } as const
// `revert` in quotes: if a table has no such column, Bun's SQLite reads it as a string, which is ignored
const COLUMNS = 'id, parent_id AS parentID, directory, title, "revert", time_updated AS updated'

type Row = Record<"id" | "directory" | "title", string> & {
  parentID: string | null
  /** JSON of what a revert has hidden and the next prompt will delete */
  revert: string | null
  updated: number
}

/** What OpenCode recorded about sessions, by id: their folder, their parent session, and what each call cost. */
export type SessionCosts = ReadonlyMap<string, Costs>

type Costs = { directory: string; parentID: string | undefined; calls: readonly { atMs: number; usd: number }[] }

/** A model's answer; a call that failed before the model answered has no `finish`, and OpenCode 2 stores no role. */
const answerSchema = z.object({
  role: z.optional(z.literal("assistant")),
  finish: z.string(),
  agent: z.optional(z.string()),
})

/** Each host's newest messages that may be answers: more than one, since the newest may be a prompt without an answer yet. */
const ANSWERS = {
  v2: "SELECT data, time_created AS at FROM session_message WHERE session_id = ? AND type = 'assistant' ORDER BY seq DESC LIMIT 20",
  v1: "SELECT data, time_created AS at FROM message WHERE session_id = ? ORDER BY time_created DESC, id DESC LIMIT 20",
}

/** When a session's calls were made, and their cost: without what writes summaries, and what a fork copied, which is older. */
const CALLS = {
  v2: `SELECT ${jsonIn("$.time.created")} AS atMs, ${jsonIn("$.cost")} AS usd FROM session_message WHERE session_id = ? AND type = 'assistant'`,
  v1: `SELECT time_created AS atMs, ${jsonIn("$.cost")} AS usd FROM message WHERE session_id = ? AND ${jsonIn("$.summary")} IS NOT 1 AND time_created >= (SELECT s.time_created FROM session s WHERE s.id = session_id)`,
}

function jsonIn(path: string): string {
  return `CASE WHEN json_valid(data) THEN json_extract(data, '${path}') END`
}

const MESSAGES = {
  v2: "SELECT id, type, data FROM session_message WHERE session_id = ? ORDER BY seq",
  v1: "SELECT id, data FROM message WHERE session_id = ? ORDER BY time_created, id",
}
const PARTS = "SELECT id, message_id AS messageID, data FROM part WHERE session_id = ? ORDER BY id"

type StoredMessage = { id: string; type?: string; data: string }
type StoredPart = { id: string; messageID: string; data: string }

export type OpencodeDatabase = Awaited<ReturnType<typeof openOpencode>>

/** Opens OpenCode's database, for `using`. Rejects with StoreError: NO_SQLITE, DATABASE_NOT_FOUND, DATABASE_UNREADABLE. */
export async function openOpencode(options: { path?: string; env?: Environment } = {}) {
  const Database = await loadSqlite()
  const path = options.path ?? findDatabase(options.env ?? process.env)
  const database = guarded(path, () => openReadonly(Database, path))
  const all = <T>(query: string, ...values: (string | number)[]) =>
    database.query<T, (string | number)[]>(query).all(...values)
  const sessionsOf = (host: Host, rest: string, ...values: (string | number)[]) =>
    all<Row>(`SELECT ${COLUMNS} FROM ${SESSIONS[host]} WHERE ${rest}`, ...values)

  // the file may have the tables of OpenCode 1, of OpenCode 2, or both
  const hosts = lazy(() => hostsOf(database))
  /** Rows of all hosts, those that changed last first. Of a session that both have, OpenCode 2's row is taken. */
  function fromAll(rest: string, ...values: (string | number)[]): Row[] {
    const rows = new Map<string, Row>()
    for (const host of hosts())
      for (const row of sessionsOf(host, rest, ...values)) if (!rows.has(row.id)) rows.set(row.id, row)
    return [...rows.values()].sort((one, other) => other.updated - one.updated || (one.id < other.id ? -1 : 1))
  }

  function find(id: string): string {
    if (id === "latest") {
      const [newest] = recent(1)
      if (newest) return newest.id
      throw new StoreError("SESSION_NOT_FOUND", `${path} has no sessions yet; run opencode first`)
    }
    const found = fromAll("substr(id, 1, ?) = ? ORDER BY time_updated DESC LIMIT 4", id.length, id).map((row) => row.id)
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
    return fromAll("parent_id IS NULL ORDER BY time_updated DESC, id LIMIT ?", limit).slice(0, limit)
  }

  /** The session and its rows, from the first host that has some: after a failed import only the old tables have them. */
  function firstOf<T>(id: string, queries: Readonly<Record<Host, string>>) {
    let found: { host: Host; row: Row; rows: T[] } | undefined
    for (const host of hosts()) {
      const [row] = sessionsOf(host, "id = ?", id)
      if (row) found = { host, row, rows: all<T>(queries[host], id) }
      if (found && found.rows.length > 0) break
    }
    return found
  }

  function fetchSession(given: string) {
    const found = firstOf<StoredMessage>(find(given), MESSAGES)
    return found && { ...found, parts: found.host === "v1" ? all<StoredPart>(PARTS, found.row.id) : [] }
  }

  function costsOf(id: string): Costs | undefined {
    const found = firstOf<{ atMs: unknown; usd: unknown }>(id, CALLS)
    if (!found) return
    const calls = found.rows.flatMap(({ atMs, usd }) =>
      typeof atMs === "number" && typeof usd === "number" ? [{ atMs, usd }] : [],
    )
    return { directory: found.row.directory, parentID: found.row.parentID ?? undefined, calls }
  }

  return {
    path,
    /**
     * A session in the shape of `opencode export`. `id` may be the beginning of an id, or `latest` for the user's session that
     * changed last. Throws SESSION_NOT_FOUND, SESSION_AMBIGUOUS, DATABASE_UNREADABLE.
     */
    readSession(id: string): Recording {
      const found = guarded(path, () => database.transaction(() => fetchSession(id))())
      if (!found) throw new StoreError("SESSION_NOT_FOUND", `session ${id} was deleted while it was being read`)
      const { host, row, rows: messages, parts } = found
      if (host === "v2") {
        const stored = messages.map(({ id, type, data }) => withIds(data, { id, type }))
        // OpenCode 1 says it in each message
        const path = { cwd: row.directory, root: row.directory }
        const given = fromStored(stored, row.id).map(({ info, parts }) => ({ info: { path, ...info }, parts }))
        const read = readMessages(given)
        return { info: infoOf(row), ...read, skipped: read.skipped + stored.filter((one) => !one).length }
      }
      const sessionID = row.id
      const partsOf = groupBy(parts, (part) => part.messageID)
      const given = messages.map(({ id: messageID, data }) => ({
        info: withIds(data, { id: messageID, sessionID }),
        parts: partsOf.get(messageID)?.map(({ id, data }) => withIds(data, { id, messageID, sessionID })) ?? [],
      }))
      return { info: infoOf(row), ...readMessages(given) }
    },
    /** The sessions that changed last, newest first, without those of subagents. */
    listSessions: ({ limit }: { limit: number }): RecordedSession[] => guarded(path, () => recent(limit).map(infoOf)),
    /** The sessions that changed last and in which a model answered, and the call that did so last; newest call first. */
    lastCalls: (limit: number) =>
      guarded(path, () => {
        const found = recent(limit).flatMap(({ id, directory }) => {
          const stored = hosts().flatMap((host) => all<{ data: string; at: number }>(ANSWERS[host], id))
          const answers = stored.flatMap(({ data, at }) => {
            const answer = parseAs(answerSchema, data)
            return answer ? [{ id, directory, lastCallMs: at, agent: answer.agent }] : []
          })
          return answers.slice(0, 1)
        })
        return found.sort((one, other) => other.lastCallMs - one.lastCallMs)
      }),
    /** The costs of these sessions, as far as OpenCode still has them. */
    sessionCosts: (ids: readonly string[]): SessionCosts =>
      guarded(path, () => {
        const found = ids.map((id) => [id, costsOf(id)] as const)
        return new Map(found.flatMap(([id, costs]) => (costs ? [[id, costs]] : [])))
      }),
    [Symbol.dispose]: (): void => database.close(),
  }
}

/** The database OpenCode itself would open. Throws DATABASE_NOT_FOUND. */
export function findDatabase(env: Environment): string {
  const folder = opencodeFolder(env)
  const named = env.OPENCODE_DB
  if (named === ":memory:") {
    const what = "OPENCODE_DB is :memory:, which no other process can read"
    throw new StoreError("DATABASE_NOT_FOUND", `${what}; unset OPENCODE_DB`)
  }
  const path = resolve(folder, named || "opencode.db")
  if (existsSync(path)) return path
  // Builds of other channels have a file of their own; the one in use changed last.
  const [channel] = named ? [] : channelFiles(folder)
  if (channel) return channel
  const hint = named ? "correct OPENCODE_DB" : "run opencode once, set OPENCODE_DB to its database"
  const what = `no OpenCode database at ${path}; ${hint}, or pass a file written by \`opencode export\``
  throw new StoreError("DATABASE_NOT_FOUND", what)
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

type Host = keyof typeof SESSIONS

/** The hosts that have tables in the file, OpenCode 2 first. */
function hostsOf(database: SqliteDatabase): readonly Host[] {
  const rows = database.query<{ name: string }, []>("SELECT name FROM sqlite_schema WHERE type = 'table'").all()
  const names = new Set(rows.map(({ name }) => name))
  const hosts: Host[] = names.has("session_v2") && names.has("session_message") ? ["v2"] : []
  // with neither, the error names the old tables
  if (names.has("session") || hosts.length === 0) hosts.push("v1")
  return hosts
}

function infoOf({ id, directory, title, revert, updated }: Row): RecordedSession {
  return { id, directory, title, revert: parseAs(revertShape, revert ?? ""), time: { updated } }
}

/** Undefined if `data` is not a JSON object. */
function withIds(data: string, ids: Record<string, unknown>): object | undefined {
  const value = asRecord(parseJson(data))
  return value && { ...value, ...ids }
}

function guarded<T>(path: string, read: () => T): T {
  try {
    return read()
  } catch (cause) {
    if (cause instanceof StoreError) throw cause
    const what = `${path} cannot be read as an OpenCode database (${innermostReason(cause)})`
    throw new StoreError("DATABASE_UNREADABLE", `${what}; try \`${EXPORT_COMMAND}\``, { cause })
  }
}
