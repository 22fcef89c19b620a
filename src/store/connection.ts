// One open store file: pragmas, migrations, reads by session, batched writes. Synchronous, and throws what SQLite throws;
// `open.ts` decides what to do about it.
import { and, asc, count, eq, inArray, lt, sql } from "drizzle-orm"
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core"
import { type Fold, MAX_FOLDS } from "../fold/fold.ts"
import type { Anchor } from "../hud/slots.ts"
import { DAY_MS, RETENTION_MS } from "../system/data-folder.ts"
import type { SqliteClass, SqliteDatabase } from "../system/sqlite.ts"
import { StoreError } from "./errors.ts"
import { closeToOthers, refuseNewer, refuseOthers } from "./file.ts"
import { applicationID, migrations, schemaVersion } from "./migrations.ts"
import { anchorsTable, carriedTable, foldTable, sessionTable, turnTable } from "./schema.ts"
import { type Queries, queriesOf, readPragma } from "./sqlite.ts"
import { type FoldRows, type Haste, readAnchors, readFold, type StoreWrite, type Turn } from "./writes.ts"

export type Connection = ReturnType<typeof connectionOf>

// Short, since waiting blocks the host's event loop; `open.ts` tries again.
const OPEN_PATIENCE_MS = 50
// SQLite's default.
const CHECKPOINT_PAGES = 1000

/** Opens a file that `prepareFile` has prepared. */
export function openConnection(Database: SqliteClass, path: string): Connection {
  refuseOthers(path)
  const database = new Database(path, { readwrite: true, create: true })
  try {
    database.exec(`PRAGMA busy_timeout = ${OPEN_PATIENCE_MS}`)
    refuseForeign(database, path)
    database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON")
    migrate(database, path)
    closeToOthers(path)
    return connectionOf(database, path)
  } catch (error) {
    database.close()
    throw error
  }
}

function connectionOf(database: SqliteDatabase, path: string) {
  const db = queriesOf(database)
  const statements = foldStatements(db)
  return {
    anchors(sessionID: string): Anchor[] {
      const found = db.select().from(anchorsTable).where(eq(anchorsTable.sessionID, sessionID)).all()
      return found.flatMap(({ anchors }) => readAnchors(anchors) ?? [])
    },
    carried: (sessionID: string) => db.select().from(carriedTable).where(eq(carriedTable.sessionID, sessionID)).all(),
    turns: (sessionID: string): Turn[] =>
      db.select().from(turnTable).where(eq(turnTable.sessionID, sessionID)).orderBy(asc(turnTable.startedAt)).all(),
    /** The session's folds in the order of folding. */
    folds(sessionID: string): Fold[] {
      const ofSession = db.select({ json: foldTable.fold }).from(foldTable).where(eq(foldTable.sessionID, sessionID))
      const found = ofSession.orderBy(asc(foldTable.call), asc(sql`rowid`)).all()
      return found.flatMap(({ json }) => readFold(json) ?? [])
    },
    findFolds: (ids: readonly string[]) => findFolds(db, ids),
    /**
     * Writes all in one transaction, or none. Urgent writes do not checkpoint the write-ahead log, which would wait for the
     * disk.
     */
    write(batch: readonly StoreWrite[], { patienceMs, urgent }: Haste): void {
      const checkpoint = urgent ? 0 : CHECKPOINT_PAGES
      database.exec(`PRAGMA busy_timeout = ${patienceMs}; PRAGMA wal_autocheckpoint = ${checkpoint}`)
      // Immediate: a transaction that starts with a read and is upgraded later fails at once if another has written.
      db.transaction(
        () => {
          // A newer version in another process may have migrated the file since it was opened here.
          refuseNewer(path, readPragma(database, "user_version"))
          for (const write of batch) apply(db, write, statements)
        },
        { behavior: "immediate" },
      )
    },
    close: () => database.close(),
  }
}

/** Folds of any session with these recall ids, one for each id. */
function findFolds(db: Queries, ids: readonly string[]): Fold[] {
  const { fold: json } = foldTable
  // one row that is not JSON would fail the whole query
  const id = sql`case when json_valid(${json}) then json_extract(${json}, '$.id') end`
  // as one JSON text: SQLite binds at most 32,766 values
  const given = sql`select value from json_each(${JSON.stringify(ids)})`
  const found = db.select({ json }).from(foldTable).where(sql`${id} in (${given})`).all()
  const folds = found.flatMap(({ json }) => readFold(json) ?? [])
  return [...new Map(folds.map((fold) => [fold.id, fold])).values()]
}

function apply(db: Queries, write: StoreWrite, statements: FoldStatements): void {
  if (write.kind === "prune") {
    prune(db, write.now)
    return
  }
  const { sessionID } = write
  if (write.kind !== "delete") statements.touch.run({ sessionID, at: write.at })
  if (write.kind === "delete") db.delete(sessionTable).where(eq(sessionTable.id, sessionID)).run()
  else if (write.kind === "folds") saveFolds(db, sessionID, write.rows, statements)
  else if (write.kind === "turn") put(db, turnTable, [turnTable.sessionID, turnTable.startedAt], write.turn)
  else if (write.kind === "carried") put(db, carriedTable, [carriedTable.sessionID], { sessionID, ...write.carried })
  else if (write.anchors.length === 0) db.delete(anchorsTable).where(eq(anchorsTable.sessionID, sessionID)).run()
  else put(db, anchorsTable, [anchorsTable.sessionID], { sessionID, anchors: JSON.stringify(write.anchors) })
}

/** Inserts the row, or replaces the one with the same key. */
function put<T extends SQLiteTable>(db: Queries, table: T, target: SQLiteColumn[], row: T["$inferInsert"]): void {
  db.insert(table).values(row).onConflictDoUpdate({ target, set: row }).run()
}

type FoldStatements = ReturnType<typeof foldStatements>

/**
 * What is written while a request waits, prepared once: building a statement takes longer than running it. 5,000 rows take 15 to
 * 30 ms this way, and 260 to 380 ms with one statement built per row.
 */
function foldStatements(db: Queries) {
  const { placeholder } = sql
  const sessionID = placeholder("sessionID")
  const at = placeholder("at")
  const partID = placeholder("partID")
  const ofSession = eq(foldTable.sessionID, sessionID)
  return {
    touch: db
      .insert(sessionTable)
      .values({ id: sessionID, touchedAt: at })
      .onConflictDoUpdate({ target: sessionTable.id, set: { touchedAt: sql`max(${sessionTable.touchedAt}, ${at})` } })
      .prepare(),
    drop: db
      .delete(foldTable)
      .where(and(ofSession, eq(foldTable.partID, partID)))
      .prepare(),
    save: db
      .insert(foldTable)
      .values({ sessionID, partID, call: placeholder("call"), fold: placeholder("fold") })
      .prepare(),
    count: db.select({ rows: count() }).from(foldTable).where(ofSession).prepare(),
  }
}

/** Expects the session's own row to exist. */
function saveFolds(db: Queries, sessionID: string, rows: FoldRows, statements: FoldStatements): void {
  for (const [partID, fold] of rows) {
    // Dropped first, so that a fold that replaces another is the newest of its call.
    statements.drop.run({ sessionID, partID })
    if (fold) statements.save.run({ sessionID, partID, call: Math.round(fold.call), fold: JSON.stringify(fold) })
  }
  const kept = statements.count.get({ sessionID })?.rows ?? 0
  if (kept <= MAX_FOLDS) return
  const oldest = db
    .select({ id: sql`rowid` })
    .from(foldTable)
    .where(eq(foldTable.sessionID, sessionID))
    .orderBy(asc(foldTable.call), asc(sql`rowid`))
    .limit(kept - MAX_FOLDS)
  db.delete(foldTable).where(inArray(sql`rowid`, oldest)).run()
}

function prune(db: Queries, now: number): void {
  // Relative to the newest row before the last day of use, if that is earlier: a clock that is far ahead for a day, or was far
  // behind when everything was written, must not make everything old at once.
  const { touchedAt } = sessionTable
  const newest = sql`select max(${touchedAt}) from ${sessionTable}`
  const oldest = sql`min(${now}, (${newest} where ${touchedAt} < (${newest}) - ${DAY_MS})) - ${RETENTION_MS}`
  db.delete(sessionTable).where(lt(touchedAt, oldest)).run()
}

/** A database with tables that were not created by hudfold is somebody else's data, whatever its name. Throws STORE_FOREIGN. */
export function refuseForeign(database: SqliteDatabase, path: string): void {
  // read before application_id: another process may be creating both at this moment
  const tables = database.query<{ n: number }, []>("SELECT count(*) AS n FROM sqlite_master").get()
  const version = readPragma(database, "user_version")
  if (readPragma(database, "application_id") === applicationID) return
  if (version > 0 || (tables?.n ?? 0) > 0) {
    const what = `${path} is a database of another program`
    throw new StoreError("STORE_FOREIGN", `${what}; correct store.path, or move it away`)
  }
}

function migrate(database: SqliteDatabase, path: string): void {
  if (readPragma(database, "user_version") === schemaVersion) return
  database
    .transaction(() => {
      // Read again under the lock: two processes may start on the same file.
      const version = readPragma(database, "user_version")
      refuseNewer(path, version)
      for (const [leadsTo, migration] of migrations) if (leadsTo > version) database.exec(migration)
      database.exec(`PRAGMA application_id = ${applicationID}; PRAGMA user_version = ${schemaVersion}`)
    })
    .immediate()
}
