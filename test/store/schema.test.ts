import { Database } from "bun:sqlite"
import { expect, test } from "bun:test"
import { getTableConfig } from "drizzle-orm/sqlite-core"
import { migrations } from "../../src/store/migrations.ts"
import * as schema from "../../src/store/schema.ts"

type Column = { name: string; type: string; notnull: number; pk: number }

function migrated(): Database {
  const db = new Database(":memory:")
  for (const migration of migrations.values()) db.exec(migration)
  return db
}

test("the migrations create exactly the tables of the schema", () => {
  const db = migrated()
  const made = db.query<{ name: string }, []>("SELECT name FROM sqlite_master WHERE type = 'table'").all()
  expect(made.map(({ name }) => name).sort()).toEqual(
    Object.values(schema)
      .map((table) => getTableConfig(table).name)
      .sort(),
  )
  for (const table of Object.values(schema)) {
    const { name, columns, primaryKeys, foreignKeys } = getTableConfig(table)
    const keys = new Set(primaryKeys.flatMap((key) => key.columns.map((column) => column.name)))
    const found = db.query<Column, []>(`PRAGMA table_info(${name})`).all()
    expect(found.map(({ name, type, pk }) => ({ name, type, key: pk > 0 }))).toEqual(
      columns.map((column) => ({
        name: column.name,
        type: column.getSQLType().toUpperCase(),
        key: column.primary || keys.has(column.name),
      })),
    )
    expect(db.query(`PRAGMA foreign_key_list(${name})`).all().length).toBe(foreignKeys.length)
  }
})

test("every table is strict, so that values have the declared type", () => {
  const tables = migrated().query<{ name: string; strict: number }, []>("PRAGMA table_list").all()
  const loose = tables.filter(({ name, strict }) => strict === 0 && !name.startsWith("sqlite_"))
  expect(loose).toEqual([])
})
