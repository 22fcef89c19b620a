// One open store file: pragmas, migrations, reading it once, writing batches. Synchronous, and throws what SQLite
// throws; what to do about it is decided in `open.ts`.
import { and, asc, desc, eq, inArray, lt, max, notInArray, sql } from "drizzle-orm"
import * as z from "zod/mini"
import type { Digest } from "../output/digest.ts"
import { readDigest, writeDigest } from "./digest.ts"
import { StoreError } from "./errors.ts"
import { closeToOthers, newer, prepareFile, refuseOthers } from "./file.ts"
import type { FoldRow } from "./fold.ts"
import { lastFoldNumber, loadFoldRows, saveFoldRows } from "./fold-table.ts"
import { keptSessions } from "./memory.ts"
import { applicationID, migrations, schemaVersion } from "./migrations/index.ts"
import type { Carried, Turn, Write } from "./record.ts"
import * as schema from "./schema.ts"
import { type Client, type ClientClass, queriesOf, readPragma } from "./sqlite.ts"

export type Connection = {
  readonly path: string
  /** Anchors and carried of the newest sessions as writes, oldest first, and how many rows did not parse. */
  load(): { writes: Write[]; skipped: number }
  turns(sessionID: string): Turn[]
  /** Those of the keys that are there, with when they were last of use, and how many rows did not parse. */
  digests(
    writer: string,
    keys: readonly string[],
  ): { found: { key: string; digest: Digest; usedAt: number }[]; skipped: number }
  /** The session's folds by part id, without those dropped, and how many rows did not parse. */
  folds(sessionID: string): { rows: Map<string, FoldRow>; skipped: number }
  /** The highest number given in the session, to folds since dropped too. */
  lastFold(sessionID: string): number
  /** All of them in one transaction or none. Waits no longer than `patienceMs` for another writer. */
  write(batch: readonly Write[], patienceMs: number): void
  close(): void
}

// Short, since waiting stops the host's event loop; `open.ts` tries again.
const openPatienceMs = 50
// SQLite binds 32,766 values at most, and 999 in its older versions.
const keysAtOnce = 500
const anchorList = z.array(z.object({ after: z.string(), text: z.string() }))

/** The inode is told as soon as it is known, since it is needed most when opening then fails. */
export function connect(Database: ClientClass, path: string, onInode: (inode: number) => void): Connection {
  onInode(prepareFile(path))
  refuseOthers(path)
  const client = new Database(path, { readwrite: true, create: true })
  try {
    client.exec(`PRAGMA busy_timeout = ${openPatienceMs}`)
    refuseForeign(client, path)
    client.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON")
    migrate(client, path)
    closeToOthers(path)
    return connectionOf(client, path)
  } catch (error) {
    client.close()
    throw error
  }
}

function connectionOf(client: Client, path: string): Connection {
  const db = queriesOf(client)
  const { session, anchors, carried, turn, digest } = schema
  const newest = sql`${session.touchedAt} desc, ${session}.rowid desc`

  function load() {
    const anchorRows = db
      .select({ sessionID: anchors.sessionID, anchors: anchors.anchors, at: session.touchedAt })
      .from(anchors)
      .innerJoin(session, eq(session.id, anchors.sessionID))
      .orderBy(newest)
      .limit(keptSessions)
      .all()
    const carriedRows = db
      .select({
        sessionID: carried.sessionID,
        compactionID: carried.compactionID,
        data: carried.data,
        at: session.touchedAt,
      })
      .from(carried)
      .innerJoin(session, eq(session.id, carried.sessionID))
      .orderBy(newest)
      .limit(keptSessions)
      .all()
    const writes: Write[] = []
    for (const { sessionID, at, anchors } of anchorRows.reverse()) {
      const list = anchorList.safeParse(parseJson(anchors))
      if (list.success) writes.push({ kind: "anchors", sessionID, anchors: list.data, at })
    }
    for (const { sessionID, at, compactionID, data } of carriedRows.reverse()) {
      const value: Carried = { compactionID, data }
      if (parseJson(data) !== undefined) writes.push({ kind: "carried", sessionID, carried: value, at })
    }
    return { writes, skipped: anchorRows.length + carriedRows.length - writes.length }
  }

  function digests(writer: string, keys: readonly string[]) {
    const found: { key: string; digest: Digest; usedAt: number }[] = []
    let skipped = 0
    for (let at = 0; at < keys.length; at += keysAtOnce) {
      const some = keys.slice(at, at + keysAtOnce)
      const rows = db
        .select()
        .from(digest)
        .where(and(eq(digest.writer, writer), inArray(digest.key, some)))
        .all()
      for (const { key, digest: json, usedAt } of rows) {
        const value = readDigest(json)
        if (value) found.push({ key, digest: value, usedAt })
        else skipped++
      }
    }
    return { found, skipped }
  }

  function write(batch: readonly Write[], patienceMs: number): void {
    client.exec(`PRAGMA busy_timeout = ${patienceMs}`)
    // Immediate: a transaction that begins by reading and is upgraded later fails at once when another has written.
    db.transaction(
      () => {
        // A newer version in another process may have migrated the file since it was opened here.
        const version = readPragma(client, "user_version")
        if (version > schemaVersion) throw newer(path, version)
        for (const one of batch) apply(one)
      },
      { behavior: "immediate" },
    )
  }

  function apply(write: Write): void {
    if (write.kind === "prune") {
      const { now, keptMs } = write
      const { used } =
        db
          .select({ used: max(session.touchedAt) })
          .from(session)
          .get() ?? {}
      db.delete(session)
        .where(lt(session.touchedAt, oldest(used, now, keptMs)))
        .run()
      const { read } =
        db
          .select({ read: max(digest.usedAt) })
          .from(digest)
          .get() ?? {}
      db.delete(digest)
        .where(lt(digest.usedAt, oldest(read, now, keptMs)))
        .run()
      const newest = db.select({ id: sql`rowid` }).from(digest).orderBy(desc(digest.usedAt)).limit(write.mostDigests)
      db.delete(digest).where(notInArray(sql`rowid`, newest)).run()
      return
    }
    if (write.kind === "digest") {
      const set = { digest: writeDigest(write.digest), usedAt: write.at }
      db.insert(digest)
        .values({ key: write.key, writer: write.writer, ...set })
        .onConflictDoUpdate({ target: [digest.key, digest.writer], set })
        .run()
      return
    }
    const id = write.sessionID
    if (write.kind === "delete") {
      db.delete(session).where(eq(session.id, id)).run()
      return
    }
    const { at } = write
    db.insert(session)
      .values({ id, touchedAt: at })
      .onConflictDoUpdate({ target: session.id, set: { touchedAt: sql`max(${session.touchedAt}, ${at})` } })
      .run()
    switch (write.kind) {
      case "anchors": {
        const set = { anchors: JSON.stringify(write.anchors) }
        if (write.anchors.length === 0) db.delete(anchors).where(eq(anchors.sessionID, id)).run()
        else
          db.insert(anchors)
            .values({ sessionID: id, ...set })
            .onConflictDoUpdate({ target: anchors.sessionID, set })
            .run()
        return
      }
      case "carried": {
        const set = write.carried
        db.insert(carried)
          .values({ sessionID: id, ...set })
          .onConflictDoUpdate({ target: carried.sessionID, set })
          .run()
        return
      }
      case "turn":
        db.insert(turn)
          .values(write.turn)
          .onConflictDoUpdate({ target: [turn.sessionID, turn.turn], set: write.turn })
          .run()
        return
      case "folds":
        saveFoldRows(db, id, write.rows)
        return
      default:
        write satisfies never
    }
  }

  return {
    path,
    load,
    write,
    digests,
    folds: (sessionID) => loadFoldRows(db, sessionID),
    lastFold: (sessionID) => lastFoldNumber(db, sessionID),
    turns: (sessionID) => db.select().from(turn).where(eq(turn.sessionID, sessionID)).orderBy(asc(turn.turn)).all(),
    close: () => client.close(),
  }
}

/** A database with tables that no hudfold made is somebody else's data, whatever its name. */
function refuseForeign(client: Client, path: string): void {
  const version = readPragma(client, "user_version")
  if (readPragma(client, "application_id") === applicationID) {
    if (version > schemaVersion) throw newer(path, version)
    return
  }
  const tables = client.query<{ n: number }, []>("SELECT count(*) AS n FROM sqlite_master").get()
  if (version > 0 || (tables?.n ?? 0) > 0) {
    throw new StoreError("STORE_FOREIGN", `${path} is a database of another program; choose another HUDFOLD_DATA`)
  }
}

function migrate(client: Client, path: string): void {
  if (readPragma(client, "user_version") === schemaVersion) return
  client
    .transaction(() => {
      // Read again under the lock: two processes may start on the same file.
      const version = readPragma(client, "user_version")
      if (version > schemaVersion) throw newer(path, version)
      for (const migration of migrations.slice(version)) client.exec(migration)
      client.exec(`PRAGMA application_id = ${applicationID}; PRAGMA user_version = ${schemaVersion}`)
    })
    .immediate()
}

/**
 * What is older goes. Counted from the newest where that is earlier: a clock that is far ahead, or was far back when all of
 * it was written, must not make everything old at once.
 */
function oldest(newest: number | null | undefined, now: number, keptMs: number): number {
  return Math.min(now, newest ?? now) - keptMs
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
