// The three of OpenCode's tables that sessions are read from, and of those only columns all recent versions have.
// Its other tables, those with credentials above all, are not named anywhere in this package.
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core"

export const session = sqliteTable("session", {
  id: text("id").primaryKey(),
  projectID: text("project_id").notNull(),
  parentID: text("parent_id"),
  slug: text("slug").notNull(),
  directory: text("directory").notNull(),
  title: text("title").notNull(),
  version: text("version").notNull(),
  /** JSON of what a revert has hidden and the next prompt will delete; null when there is none */
  revert: text("revert"),
  timeCreated: integer("time_created").notNull(),
  timeUpdated: integer("time_updated").notNull(),
})

/** `data` is JSON of the message without `id` and `sessionID`, which are columns. */
export const message = sqliteTable("message", {
  id: text("id").primaryKey(),
  sessionID: text("session_id").notNull(),
  timeCreated: integer("time_created").notNull(),
  data: text("data").notNull(),
})

/** `data` is JSON of the part without `id`, `messageID` and `sessionID`. */
export const part = sqliteTable("part", {
  id: text("id").primaryKey(),
  messageID: text("message_id").notNull(),
  sessionID: text("session_id").notNull(),
  data: text("data").notNull(),
})
