// OpenCode's database with the tables and columns that sessions are read from, of either host or both.

import { Database } from "bun:sqlite"
import type { HostMessage } from "../../src/host/v1/message.ts"
import type { Stored } from "./host-v2.ts"

export const V1_TABLES = `
  CREATE TABLE session (id TEXT PRIMARY KEY, project_id TEXT, parent_id TEXT, slug TEXT, directory TEXT, title TEXT,
    version TEXT, revert TEXT, time_created INTEGER, time_updated INTEGER);
  CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, data TEXT);
  CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, data TEXT);`
export const V2_TABLES = `
  CREATE TABLE session_v2 (id TEXT PRIMARY KEY, project_id TEXT, parent_id TEXT, fork_session_id TEXT, directory TEXT,
    title TEXT, version TEXT, cost REAL, revert TEXT, agent TEXT, model TEXT, time_created INTEGER, time_updated INTEGER);
  CREATE TABLE session_message (id TEXT PRIMARY KEY, session_id TEXT, type TEXT, seq INTEGER, time_created INTEGER,
    time_updated INTEGER, data TEXT);`

export function opencodeDatabase(path: string, ...tables: string[]) {
  const file = new Database(path)
  for (const statements of tables) file.exec(statements)
  const v1 = (id: string, updated: number, messages: readonly HostMessage[] = [], parent: string | null = null) => {
    const row = [id, "prj", parent, "slug", "/home/dev/shop", `one ${id}`, "1.18.33", null, 1, updated]
    file.query("INSERT INTO session VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)").run(...row)
    for (const { info, parts } of messages) {
      const created = info.time?.created ?? 0
      file.query("INSERT INTO message VALUES (?, ?, ?, ?)").run(`${info.id}`, id, created, JSON.stringify(info))
      for (const part of parts)
        file.query("INSERT INTO part VALUES (?, ?, ?, ?)").run(`${part.id}`, `${info.id}`, id, JSON.stringify(part))
    }
  }
  const v2 = (id: string, updated: number, messages: readonly Stored[] = [], parent: string | null = null) => {
    const row = [id, "prj", parent, null, "/home/dev/shop", `two ${id}`, "2.0.20", 0, null, "build", "{}", 1, updated]
    file.query("INSERT INTO session_v2 VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)").run(...row)
    for (const [seq, { id: message, type, ...data }] of messages.entries())
      file
        .query("INSERT INTO session_message VALUES (?, ?, ?, ?, ?, ?, ?)")
        .run(message, id, type, seq, updated, updated, JSON.stringify(data))
  }
  return { path, v1, v2, close: () => file.close() }
}
