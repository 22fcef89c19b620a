// The store's tables as the newest migration leaves them, for typed queries. The migrations create them, not this file; a
// test compares the two.
import { index, integer, primaryKey, real, sqliteTable, text } from "drizzle-orm/sqlite-core"
import { storageOf, type Turn, turnSchema } from "./record.ts"

/** Deleting a session's row deletes everything else about the session. */
export const sessionTable = sqliteTable(
  "session",
  {
    id: text("id").primaryKey(),
    touchedAt: integer("touched_at").notNull(),
  },
  (table) => [index("session_touched_at").on(table.touchedAt)],
)

/** `anchors` is JSON: SQLite does not keep NUL or lone surrogates in text, but a JSON escape survives. */
export const anchorsTable = sqliteTable("anchors", {
  sessionID: ownedBySession("session_id").primaryKey(),
  anchors: text("anchors").notNull(),
})

export const carriedTable = sqliteTable("carried", {
  sessionID: ownedBySession("session_id").primaryKey(),
  compactionID: text("compaction_id").notNull(),
  data: text("data").notNull(),
})

export const turnTable = sqliteTable("turn", turnColumns(), (table) => [
  primaryKey({ columns: [table.sessionID, table.turn] }),
])

/** Belongs to no session: a digest describes content, whichever session reads it. `digest` is JSON. */
export const digestTable = sqliteTable(
  "digest",
  {
    key: text("key").notNull(),
    writer: text("writer").notNull(),
    digest: text("digest").notNull(),
    usedAt: integer("used_at").notNull(),
  },
  (table) => [primaryKey({ columns: [table.key, table.writer] }), index("digest_used_at").on(table.usedAt)],
)

/** `fold` is JSON; `call` is the fold's, and rows of the same call are in the order of their `rowid`. */
export const foldTable = sqliteTable(
  "fold",
  {
    sessionID: ownedBySession("session_id").notNull(),
    partID: text("part_id").notNull(),
    call: integer("call").notNull(),
    fold: text("fold").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.sessionID, table.partID] }),
    index("fold_call").on(table.sessionID, table.call),
  ],
)

/** Belongs to no session: what recalls taught of a model, by the kind of output. */
export const missTable = sqliteTable(
  "miss",
  {
    model: text("model").notNull(),
    shows: text("shows").notNull(),
    recalls: integer("recalls").notNull(),
    folded: integer("folded").notNull(),
    usedAt: integer("used_at").notNull(),
  },
  (table) => [primaryKey({ columns: [table.model, table.shows] })],
)

function ownedBySession(name: string) {
  return text(name).references(() => sessionTable.id, { onDelete: "cascade" })
}

/** One column per field of a turn: `cacheReadTokens` is `cache_read_tokens`. */
function turnColumns() {
  const textColumn = (name: string) => text(name).notNull()
  const integerColumn = (name: string) => integer(name).notNull()
  const columnOf = { text: textColumn, integer: integerColumn, real: (name: string) => real(name).notNull() }
  const columns = Object.entries(turnSchema.shape).map(([field, schema]) => {
    const name = field.replace(/(?<=[a-z])[A-Z]+/g, "_$&").toLowerCase()
    return [field, field === "sessionID" ? ownedBySession(name).notNull() : columnOf[storageOf(schema)](name)]
  })
  return Object.fromEntries(columns) as {
    [Field in keyof Turn]: ReturnType<Turn[Field] extends string ? typeof textColumn : typeof integerColumn>
  }
}
