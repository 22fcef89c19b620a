// Each SQLite statement of the store fails in turn, once or from then on, with each kind of error: the session goes on, stored
// data stays, and unwritten data is written later or logged as lost.

import { Database } from "bun:sqlite"
import { afterAll, describe, expect, test } from "bun:test"
import { readdirSync, rmSync } from "node:fs"
import { join } from "node:path"
import { schemaVersion } from "../../src/store/migrations.ts"
import { expectRich, expectWhole } from "../support/invariants.ts"
import { everythingOn, type Played, playSession } from "../support/one-session.ts"
import { createSeam, wrapSqlite } from "../support/seam.ts"
import { sized } from "../support/size.ts"
import { temporaryFolder } from "./support.ts"

const TROUBLES = { BUSY: 5, NOMEM: 7, READONLY: 8, IOERR: 522, CORRUPT: 11, FULL: 13, ERROR: 1 } as const
type Trouble = keyof typeof TROUBLES

const folder = temporaryFolder()
const data = process.env.HUDFOLD_DATA
process.env.HUDFOLD_DATA = join(folder.path, "data")
let before: Set<string> = new Set()
let path = ""
const seam = createSeam(() => {
  before = rowsIn(path)
})
const unwrap = wrapSqlite(seam)
afterAll(() => {
  unwrap()
  if (data === undefined) delete process.env.HUDFOLD_DATA
  else process.env.HUDFOLD_DATA = data
  folder[Symbol.dispose]()
})

let count = 0
async function play(fault?: Parameters<typeof seam.begin>[0]): Promise<Played> {
  const directory = join(folder.path, `${++count}`)
  path = join(directory, "hud.db")
  seam.begin(fault)
  return playSession({ directory, options: everythingOn(directory), mend: seam.mend })
}

/** The keys of all rows, in the store and in databases set aside. */
function rowsIn(path: string): Set<string> {
  const folder = join(path, "..")
  const names = readdirSync(folder).filter((name) => /^hud\.db(\.corrupt-[^-]+)?$/.test(name))
  return new Set(names.flatMap((name) => keysIn(join(folder, name))))
}

function keysIn(path: string): string[] {
  const db = new Database(path, { readonly: true })
  try {
    const tables = { turn: "session_id || turn", fold: "session_id || part_id", carried: "session_id", session: "id" }
    return Object.entries(tables).flatMap(([table, key]) =>
      db
        .query<{ key: string }, []>(`SELECT ${key} AS key FROM ${table}`)
        .all()
        .map((row) => `${table} ${row.key}`),
    )
  } catch {
    // no table yet
    return []
  } finally {
    db.close()
  }
}

function errorOf(trouble: Trouble): Error {
  const code = `SQLITE_${trouble}`
  return Object.assign(new Error(`${code} of the test`), { name: "SQLiteError", code, errno: TROUBLES[trouble] })
}

const plain = await play()
const operations = [...seam.passed]
seam.mend()
const plainRows = rowsIn(path).size

test("without a fault the session has folds, recalls their originals, and continues in the next process", () =>
  expectRich(plain))

const cases = (Object.keys(TROUBLES) as Trouble[]).flatMap((trouble) =>
  [false, true].flatMap((stays) => operations.map((operation, at) => ({ trouble, stays, operation, at: at + 1 }))),
)
/** Every nth case, so that `npm test` covers each error at different statements. */
const every = sized(397, 1, 97)

describe("the session goes on, and every loss is logged, when", () => {
  for (const { trouble, stays, operation, at } of cases.filter((_, n) => n % every === 0))
    test(`statement ${at} (${operation}) fails with ${trouble}, ${stays ? "like all after it" : "once"}`, async () => {
      before = new Set()
      const fail = () => {
        throw errorOf(trouble)
      }
      const played = await play({ at, stays, fail })
      expect(seam.failed).toBeGreaterThan(0)
      const said = expectWhole(played, plain)
      const after = rowsIn(path)
      expect([...before].filter((row) => !after.has(row))).toEqual([])
      if (!stays && trouble === "BUSY") expect(said).toEqual([])
      // a fault that passes loses nothing
      if (!stays && (trouble === "BUSY" || trouble === "FULL")) expect(after.size).toBe(plainRows)
      expect(played.processes[2].logged).toEqual([])
      rmSync(join(path, ".."), { recursive: true })
    }, 120_000)
})

describe("the session goes on in memory, the file stays unchanged, and both are logged, when", () => {
  const steps = operations.map((operation, at) => ({ operation, at: at + 1 }))
  for (const { operation, at } of steps.filter((_, n) => n % every === 0))
    test(`a newer version migrates the store at statement ${at} (${operation})`, async () => {
      let migrated: string[] | undefined
      const fail = () => {
        migrated = migrate(path)
        throw errorOf("BUSY")
      }
      const played = await play({ at, stays: false, fail })
      expect(seam.failed).toBe(1)
      const said = expectWhole(played, plain)
      // while the plugin was writing, it could not be migrated
      if (!migrated) return expect(said).toEqual([])
      expect([...rowsIn(path)].sort()).toEqual(migrated)
      for (const { logged } of played.processes.slice(1))
        expect(logged).toEqual([expect.stringContaining("newer opencode-hudfold")])
      rmSync(join(path, ".."), { recursive: true })
    }, 120_000)
})

/** Migrates as another process would; returns the store's content, or undefined while it is being written. */
function migrate(path: string): string[] | undefined {
  const db = new Database(path)
  try {
    // bypasses the seam
    db.run(`PRAGMA user_version = ${schemaVersion + 1}`)
  } catch {
    return undefined
  } finally {
    db.close()
  }
  seam.mend()
  return [...rowsIn(path)].sort()
}
