// The store's tables as the newest migration leaves them, for typed queries. The migrations make them, not this file;
// a test holds the two together.
import { index, integer, primaryKey, real, sqliteTable, text } from "drizzle-orm/sqlite-core"

/** A session that something is kept of. Deleting its row deletes everything else about it. */
export const session = sqliteTable(
  "session",
  {
    id: text("id").primaryKey(),
    touchedAt: integer("touched_at").notNull(),
  },
  (table) => [index("session_touched_at").on(table.touchedAt)],
)

/** `anchors` is JSON: a text may hold NUL or a lone surrogate, which SQLite does not keep but a JSON escape does. */
export const anchors = sqliteTable("anchors", {
  sessionID: ownedBySession("session_id").primaryKey(),
  anchors: text("anchors").notNull(),
})

export const carried = sqliteTable("carried", {
  sessionID: ownedBySession("session_id").primaryKey(),
  compactionID: text("compaction_id").notNull(),
  data: text("data").notNull(),
})

export const turn = sqliteTable(
  "turn",
  {
    sessionID: ownedBySession("session_id").notNull(),
    turn: integer("turn").notNull(),
    startedAt: integer("started_at").notNull(),
    endedAt: integer("ended_at").notNull(),
    calls: integer("calls").notNull(),
    inputTokens: integer("input_tokens").notNull(),
    cacheReadTokens: integer("cache_read_tokens").notNull(),
    cacheWriteTokens: integer("cache_write_tokens").notNull(),
    outputTokens: integer("output_tokens").notNull(),
    hudTokens: integer("hud_tokens").notNull(),
    providerID: text("provider_id").notNull(),
    modelID: text("model_id").notNull(),
    foldedTokens: integer("folded_tokens").notNull(),
    recalls: integer("recalls").notNull(),
    savedTokens: integer("saved_tokens").notNull(),
    inputCost: integer("input_cost").notNull(),
    inputCostWithout: integer("input_cost_without").notNull(),
    savedUsd: real("saved_usd").notNull(),
  },
  (table) => [primaryKey({ columns: [table.sessionID, table.turn] })],
)

/** Of no session: a digest belongs to the content it is of, in whatever session that is read. `digest` is JSON. */
export const digest = sqliteTable(
  "digest",
  {
    key: text("key").notNull(),
    writer: text("writer").notNull(),
    digest: text("digest").notNull(),
    usedAt: integer("used_at").notNull(),
  },
  (table) => [primaryKey({ columns: [table.key, table.writer] }), index("digest_used_at").on(table.usedAt)],
)

/** `fold` is JSON, and null once the fold was dropped: the row stays, so that its recall id's number is not given again. */
export const fold = sqliteTable(
  "fold",
  {
    sessionID: ownedBySession("session_id").notNull(),
    partID: text("part_id").notNull(),
    number: integer("number").notNull(),
    fold: text("fold"),
  },
  (table) => [primaryKey({ columns: [table.sessionID, table.partID] })],
)

function ownedBySession(name: string) {
  return text(name).references(() => session.id, { onDelete: "cascade" })
}
