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

/** Times are in epoch ms. Token counts are as the provider reported them unless they are called estimated. */
export const turnTable = sqliteTable(
  "turn",
  {
    sessionID: ownedBySession().notNull(),
    turn: integer("turn").notNull(),
    startedAt: integer("started_at").notNull(),
    endedAt: integer("ended_at").notNull(),
    calls: integer("calls").notNull(),
    inputTokens: integer("input_tokens").notNull(),
    cacheReadTokens: integer("cache_read_tokens").notNull(),
    cacheWriteTokens: integer("cache_write_tokens").notNull(),
    outputTokens: integer("output_tokens").notNull(),
    /** estimated: what the HUD added, summed over the calls of the turn */
    hudTokens: integer("hud_tokens").notNull(),
    providerID: text("provider_id").notNull(),
    modelID: text("model_id").notNull(),
    /** estimated: what folds left out of the requests, summed over the calls of the turn */
    foldedTokens: integer("folded_tokens").notNull(),
    /** answered calls of `hud_recall`; each page of a long answer is one */
    recalls: integer("recalls").notNull(),
    /** input tokens not sent, net of what the plugin added, scaled to the provider's reports; see `fold/saving.ts` */
    savedTokens: integer("saved_tokens").notNull(),
    /** what the input of the turn cost, in fresh input tokens */
    inputCost: integer("input_cost").notNull(),
    /** what it would have cost without the plugin */
    inputCostWithout: integer("input_cost_without").notNull(),
    /** 0 if the price of the model is unknown */
    savedUsd: real("saved_usd").notNull(),
  },
  (table) => [primaryKey({ columns: [table.sessionID, table.turn] })],
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
