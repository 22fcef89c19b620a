import { Database } from "bun:sqlite"
import { describe, expect, setSystemTime, test } from "bun:test"
import { join } from "node:path"
import { countTurns, openAt, runFixture, seed, temporaryFolder, turnOf } from "./support.ts"

describe("more than one process", () => {
  test("three that open and write a new store at the same time lose nothing", async () => {
    using folder = temporaryFolder()
    const path = join(folder.path, "data", "hud.db")
    using a = runFixture("write-turns.ts", path, "ses_a", "60")
    using b = runFixture("write-turns.ts", path, "ses_b", "60")
    using c = runFixture("write-turns.ts", path, "ses_a", "60")
    await Promise.all([a.printed("open"), b.printed("open"), c.printed("open")])
    for (const { code, stdout, stderr } of await Promise.all([a.finish(), b.finish(), c.finish()])) {
      expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: "open\nclosed\n", stderr: "" })
    }
    expect(countTurns(path)).toBe(120)
  })
})

const day = 24 * 60 * 60 * 1000

describe("aging", () => {
  test("opening deletes sessions untouched for 90 days before the last day of use, with all their rows", async () => {
    using folder = temporaryFolder()
    const path = join(folder.path, "hud.db")
    await seed(path)
    const db = new Database(path)
    db.run("UPDATE session SET touched_at = ?", [Date.now() - 93 * day])
    const times = [Date.now() - 91 * day, Date.now() - 2 * day, Date.now()]
    db.run("INSERT INTO session VALUES ('ses_2', ?), ('ses_3', ?), ('ses_4', ?)", times)
    db.close()
    {
      await using _ = await openAt(path)
    }
    const after = new Database(path, { readonly: true })
    expect(after.query("SELECT id FROM session").values()).toEqual([["ses_2"], ["ses_3"], ["ses_4"]])
    expect(after.query("SELECT count(*) FROM anchors").values()).toEqual([[0]])
    after.close()
    expect(countTurns(path)).toBe(0)
  })

  test("a clock that is 200 days ahead for two starts deletes nothing", async () => {
    using folder = temporaryFolder()
    const path = join(folder.path, "hud.db")
    await seed(path)
    setSystemTime(Date.now() + 200 * day)
    try {
      for (const id of ["ses_ahead", "ses_other", "ses_third"]) {
        await using opened = await openAt(path)
        opened.store.saveTurn(turnOf({ sessionID: id }))
      }
    } finally {
      setSystemTime()
    }
    expect(countTurns(path)).toBe(303)
  })
})
