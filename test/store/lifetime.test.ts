import { Database } from "bun:sqlite"
import { describe, expect, test } from "bun:test"
import { join } from "node:path"
import { countTurns, openAt, runFixture, seed, temporaryFolder } from "./support.ts"

describe("more than one process", () => {
  test("three that open and write a new store at the same time lose nothing", async () => {
    using folder = temporaryFolder()
    const path = join(folder.path, "data", "hud.db")
    using a = runFixture("write-turns.ts", path, "ses_a", "60")
    using b = runFixture("write-turns.ts", path, "ses_b", "60")
    using c = runFixture("write-turns.ts", path, "ses_a", "60")
    await Promise.all([a.printed("open"), b.printed("open"), c.printed("open")])
    for (const { code, stdout, stderr } of await Promise.all([a.finish(), b.finish(), c.finish()])) {
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
      const report = { state: { kind: "sqlite", path }, pending: 0 }
      expect(JSON.parse(stdout.split("\n")[1] ?? "")).toEqual(report)
    }
    expect(countTurns(path)).toBe(120)
  })
})

describe("aging", () => {
  test("opening deletes sessions untouched for 90 days before the newest, with all their rows", async () => {
    using folder = temporaryFolder()
    const path = join(folder.path, "hud.db")
    await seed(path)
    const day = 24 * 60 * 60 * 1000
    const db = new Database(path)
    db.run("UPDATE session SET touched_at = ?", [Date.now() - 91 * day])
    db.run("INSERT INTO session VALUES ('ses_2', ?), ('ses_3', ?)", [Date.now() - 89 * day, Date.now()])
    db.close()
    {
      await using _ = await openAt(path)
    }
    const after = new Database(path, { readonly: true })
    expect(after.query("SELECT id FROM session").values()).toEqual([["ses_2"], ["ses_3"]])
    expect(after.query("SELECT count(*) FROM anchors").values()).toEqual([[0]])
    after.close()
    expect(countTurns(path)).toBe(0)
  })
})
