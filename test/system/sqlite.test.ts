// Node's SQLite in place of Bun's: the same answers and the same kinds of errors, in the store's own work too.

import { Database } from "bun:sqlite"
import { afterAll, describe, expect, test } from "bun:test"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { openConnection } from "../../src/store/connection.ts"
import { troubleOf } from "../../src/store/errors.ts"
import { turnWrite } from "../../src/store/writes.ts"
import { findSqlite, hasSqlite, likeBun, type SqliteClass } from "../../src/system/sqlite.ts"
import { turnOf } from "../store/support.ts"

const folder = mkdtempSync(join(tmpdir(), "sqlite-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const NODE = likeBun({ DatabaseSync })
const CLASSES: [string, SqliteClass][] = [
  ["Bun's", Database],
  ["Node's", NODE],
]
let files = 0
const fresh = () => join(folder, `${++files}.db`)

test("under Bun it is Bun's", async () => {
  expect(hasSqlite()).toBe(true)
  expect(await findSqlite()).toBe(Database)
})

describe.each(CLASSES)("%s", (_, Sqlite) => {
  test("answers rows, arrays, nothing, and two columns of one name", () => {
    const database = new Sqlite(":memory:")
    database.exec("CREATE TABLE a (id INTEGER, name TEXT); CREATE TABLE b (id INTEGER, data BLOB)")
    database.query("INSERT INTO a VALUES (?, ?), (?, ?)").run(1, "one", 2, null)
    database.query("INSERT INTO b VALUES (1, ?)").run(new Uint8Array([1, 2]))
    const both = database.query("SELECT a.id, b.id, name FROM a JOIN b ON b.id = a.id")
    expect(both.values()).toEqual([[1, 1, "one"]])
    expect({ ...(database.query("SELECT * FROM a WHERE id = ?").get(2) as object) }).toEqual({ id: 2, name: null })
    expect(database.query("SELECT * FROM a WHERE id = ?").get(3)).toBeNull()
    expect(
      database
        .query("SELECT * FROM a ORDER BY id")
        .all()
        .map((row) => ({ ...(row as object) })),
    ).toEqual([
      { id: 1, name: "one" },
      { id: 2, name: null },
    ])
    expect(database.query("SELECT * FROM a")).toBe(database.query("SELECT * FROM a"))
    database.close()
    database.close()
  })

  test("a transaction is whole or not at all", () => {
    using database = new Sqlite(":memory:")
    database.exec("CREATE TABLE a (id INTEGER)")
    const add = (fails: boolean) =>
      database.transaction(() => {
        database.exec("INSERT INTO a VALUES (1)")
        if (fails) throw new Error("not now")
        return "done"
      })
    expect(() => add(true).immediate()).toThrow("not now")
    expect(add(false).immediate()).toBe("done")
    expect(add(false)()).toBe("done")
    expect(database.query("SELECT count(*) FROM a").values()).toEqual([[2]])
  })

  test("errors are classified: locked, corrupt, not to be opened, and a wrong statement", () => {
    const trouble = (act: () => unknown) => {
      try {
        act()
      } catch (error) {
        return troubleOf(error)
      }
      return "none"
    }
    const path = fresh()
    using one = new Sqlite(path)
    using other = new Sqlite(path)
    one.exec("CREATE TABLE a (id INTEGER); BEGIN EXCLUSIVE")
    expect(trouble(() => other.exec("BEGIN EXCLUSIVE"))).toBe("locked")
    one.exec("COMMIT")
    const broken = fresh()
    writeFileSync(broken, "not a database, ".repeat(100))
    expect(trouble(() => new Sqlite(broken).exec("SELECT * FROM a"))).toBe("corrupt")
    expect(trouble(() => new Sqlite(join(folder, "none", "a.db")).exec("SELECT 1"))).toBe("unwritable")
    expect(trouble(() => new Sqlite(path, { readonly: true }).exec("DELETE FROM a"))).toBe("unwritable")
    expect(trouble(() => other.exec("SELECT * FROM none"))).toBe("other")
  })

  test("the store writes and reads with it", () => {
    const path = join(folder, `${++files}-hud.db`)
    const open = () => openConnection(Sqlite, path)
    const first = open()
    const turn = turnOf({ startedAt: 5 })
    first.write([turnWrite(turn)], { patienceMs: 50, urgent: false })
    expect(first.turns("ses_1")).toEqual([turn])
    first.close()
    const second = open()
    expect(second.turns("ses_1")).toEqual([turn])
    second.close()
  })
})

test("a file that one wrote, the other reads", () => {
  const path = join(folder, "both-hud.db")
  const open = (Sqlite: SqliteClass) => openConnection(Sqlite, path)
  const node = open(NODE)
  node.write([turnWrite(turnOf({ startedAt: 5 }))], { patienceMs: 50, urgent: true })
  const bun = open(Database)
  expect(bun.turns("ses_1")).toEqual(node.turns("ses_1"))
  node.close()
  bun.close()
})
