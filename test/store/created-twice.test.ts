// Another process creates the store between two statements of this one's opening: both write the same file.

import { afterAll, expect, test } from "bun:test"
import { join } from "node:path"
import { createSeam, wrapSqlite } from "../support/seam.ts"
import { countTurns, fixtures, openAt, temporaryFolder, turnOf } from "./support.ts"

const folder = temporaryFolder()
const seam = createSeam()
const unwrap = wrapSqlite(seam)
afterAll(() => {
  unwrap()
  folder[Symbol.dispose]()
})

/** A store opened at a new path, with whatever happens before its nth statement. */
async function openWith(name: string, at: number, happens: (path: string) => void) {
  const path = join(folder.path, name, "hud.db")
  seam.begin({ at, stays: false, fail: () => happens(path) })
  const opened = await openAt(path)
  const statements = [...seam.passed]
  seam.mend()
  return { path, statements, ...opened }
}

function createElsewhere(path: string): void {
  const { exitCode, stderr } = Bun.spawnSync([
    process.execPath,
    join(fixtures, "write-turns.ts"),
    path,
    "ses_other",
    "1",
  ])
  expect(`${exitCode} ${stderr}`).toBe("0 ")
}

const plain = await openWith("plain", 0, () => {})
await plain.store.close()
const before = plain.statements.slice(0, plain.statements.indexOf("begin immediate") + 1)

test("a store is created by several statements", () => expect(before.length).toBeGreaterThan(3))

test.each(before.map((statement, at) => [at + 1, statement] as const))("before statement %d, %s", async (at) => {
  const { path, store, warnings } = await openWith(`${at}`, at, createElsewhere)
  store.saveTurn(turnOf({ sessionID: "ses_here", startedAt: 1 }))
  await store.close()
  expect(warnings).toEqual([])
  expect(countTurns(path)).toBe(2)
})
