// The store's tables as the newest migration leaves them, for typed queries. The migrations create them and their indexes, not
// this file; a test compares the two.
import { integer, primaryKey, real, sqliteTable, text } from "drizzle-orm/sqlite-core"

/** Deleting a session's row deletes everything else about the session. */
export const sessionTable = sqliteTable("session", {
  id: text("id").primaryKey(),
  touchedAt: integer("touched_at").notNull(),
})

/** `anchors` is JSON: SQLite does not keep NUL or lone surrogates in text, but a JSON escape survives. */
export const anchorsTable = sqliteTable("anchors", {
  sessionID: ownedBySession().primaryKey(),
  anchors: text("anchors").notNull(),
})

export const carriedTable = sqliteTable("carried", {
  sessionID: ownedBySession().primaryKey(),
  compactionID: text("compaction_id").notNull(),
  data: text("data").notNull(),
})

/**
 * A turn, identified by its start. `calls`, `output`, `tokens`, `cost`, `costWithout` and `usd` are its `Saving`, whose type
 * has their units. Times are in epoch ms.
 */
export const turnTable = sqliteTable(
  "turn",
  {
    sessionID: ownedBySession().notNull(),
    /** the column was the number of the turn, which was its start */
    startedAt: integer("turn").notNull(),
    endedAt: integer("ended_at").notNull(),
    calls: integer("calls").notNull(),
    output: integer("output_tokens").notNull(),
    providerID: text("provider_id").notNull(),
    modelID: text("model_id").notNull(),
    /** answered calls of `hud_recall`; each page of a long answer is one */
    recalls: integer("recalls").notNull(),
    tokens: integer("saved_tokens").notNull(),
    cost: integer("input_cost").notNull(),
    costWithout: integer("input_cost_without").notNull(),
    usd: real("saved_usd").notNull(),
  },
  (table) => [primaryKey({ columns: [table.sessionID, table.startedAt] })],
)

/** `fold` is JSON; `call` is the fold's, and rows of the same call are in the order of their `rowid`. */
export const foldTable = sqliteTable(
  "fold",
  {
    sessionID: ownedBySession().notNull(),
    partID: text("part_id").notNull(),
    call: integer("call").notNull(),
    fold: text("fold").notNull(),
  },
  (table) => [primaryKey({ columns: [table.sessionID, table.partID] })],
)

function ownedBySession() {
  return text("session_id").references(() => sessionTable.id, { onDelete: "cascade" })
}
