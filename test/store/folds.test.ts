import { Database } from "bun:sqlite"
import { describe, expect, test } from "bun:test"
import { join } from "node:path"
import { applicationID, migrations } from "../../src/store/migrations.ts"
import { foldOf, openAt, runFixture, temporaryFolder, turnOf, until } from "./support.ts"

const foldsOf = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, n) => foldOf(first + n, { text: "" }))

function query(path: string, sql: string, ...values: (string | number)[]): unknown[][] {
  const db = new Database(path)
  try {
    return db.query(sql).values(...values)
  } finally {
    db.close()
  }
}

const countRows = (path: string) => query(path, "SELECT count(*) FROM fold")[0]?.[0]

describe("after a restart", () => {
  test("a session has its own folds as saved, in the order of folding", async () => {
    using folder = temporaryFolder()
    const path = join(folder.path, "hud.db")
    {
      await using first = await openAt(path)
      first.store.saveFolds("ses_1", [foldOf(10), foldOf(2, { side: "input", text: '{"path":"a"}', reason: "free" })])
      first.store.saveFolds("ses_1", [foldOf(1, { reason: "must" })])
      first.store.saveFolds("ses_2", [foldOf(3)])
    }
    await using second = await openAt(path)
    expect(await second.store.loadFolds("ses_1")).toEqual([
      foldOf(1, { reason: "must" }),
      foldOf(2, { side: "input", text: '{"path":"a"}', reason: "free" }),
      foldOf(10),
    ])
    expect(await second.store.loadFolds("ses_2")).toEqual([foldOf(3)])
    expect(await second.store.loadFolds("ses_3")).toEqual([])
    expect(second.store.counters.skipped).toBe(0)
  })

  test("the text sent instead is the same, byte for byte", async () => {
    using folder = temporaryFolder()
    const path = join(folder.path, "hud.db")
    const fold = foldOf(1, { partID: "prt_\ud800x", text: "a\0b\ud800c\udfffd\u2028e\u{1f600}\r\n" })
    {
      await using first = await openAt(path)
      first.store.saveFolds("ses_\ud800x", [fold])
    }
    await using second = await openAt(path)
    expect(await second.store.loadFolds("ses_\ud800x")).toEqual([fold])
    second.store.dropFolds("ses_\ud800x", [fold.partID])
    await second.store.flush()
    expect(await second.store.loadFolds("ses_\ud800x")).toEqual([])
  })

  test("the later fold of a part replaces the earlier one", async () => {
    using folder = temporaryFolder()
    const path = join(folder.path, "hud.db")
    {
      await using first = await openAt(path)
      first.store.saveFolds("ses_1", [foldOf(1), foldOf(2)])
      await first.store.flush()
      first.store.saveFolds("ses_1", [foldOf(3, { partID: "prt_1" }), foldOf(2, { text: "again" })])
    }
    await using second = await openAt(path)
    expect(await second.store.loadFolds("ses_1")).toEqual([
      foldOf(2, { text: "again" }),
      foldOf(3, { partID: "prt_1" }),
    ])
  })

  test("a dropped fold is gone, and its number is not reused", async () => {
    using folder = temporaryFolder()
    const path = join(folder.path, "hud.db")
    {
      await using first = await openAt(path)
      expect(await first.store.lastFold("ses_1")).toBe(0)
      first.store.saveFolds("ses_1", [foldOf(1), foldOf(2)])
      await first.store.flush()
      // r3 is dropped before it was ever on disk
      first.store.saveFolds("ses_1", [foldOf(3)])
      first.store.dropFolds("ses_1", ["prt_3", "prt_2", "prt_unknown"])
      expect(await first.store.lastFold("ses_1")).toBe(3)
    }
    {
      await using second = await openAt(path)
      expect(await second.store.loadFolds("ses_1")).toEqual([foldOf(1)])
      expect(await second.store.lastFold("ses_1")).toBe(3)
      expect(second.store.counters.skipped).toBe(0)
      second.store.saveFolds("ses_1", [foldOf(4, { partID: "prt_2" }), foldOf(5)])
    }
    {
      await using third = await openAt(path)
      third.store.dropFolds("ses_1", ["prt_1", "prt_5"])
    }
    await using fourth = await openAt(path)
    expect(await fourth.store.loadFolds("ses_1")).toEqual([foldOf(4, { partID: "prt_2" })])
    expect(await fourth.store.lastFold("ses_1")).toBe(5)
  })

  test("an invalid row is skipped and counted, its number is not reused, and it can be overwritten", async () => {
    using folder = temporaryFolder()
    const path = join(folder.path, "hud.db")
    {
      await using first = await openAt(path)
      first.store.saveFolds("ses_1", [foldOf(1), foldOf(2), foldOf(3), foldOf(4)])
    }
    const set = "UPDATE fold SET fold = ? WHERE part_id = ?"
    query(path, set, "{not json", "prt_2")
    query(path, set, JSON.stringify({ ...foldOf(3), reason: "whim" }), "prt_3")
    query(path, set, JSON.stringify({ ...foldOf(4), text: undefined }), "prt_4")
    await using second = await openAt(path)
    expect(await second.store.loadFolds("ses_1")).toEqual([foldOf(1)])
    expect(second.store.counters.skipped).toBe(3)
    expect(second.warnings).toEqual([])
    expect(await second.store.lastFold("ses_1")).toBe(4)
    second.store.saveFolds("ses_1", [foldOf(2)])
    await second.store.flush()
    await using third = await openAt(path)
    expect(await third.store.loadFolds("ses_1")).toEqual([foldOf(1), foldOf(2)])
  })
})

describe("before the disk", () => {
  test("a load sees what was saved and dropped a moment ago", async () => {
    using folder = temporaryFolder()
    await using opened = await openAt(join(folder.path, "hud.db"))
    opened.store.saveFolds("ses_1", [foldOf(2), foldOf(1)])
    opened.store.dropFolds("ses_1", ["prt_2"])
    expect(await opened.store.loadFolds("ses_1")).toEqual([foldOf(1)])
  })

  test("many saves of one session wait as one write, and all folds are written", async () => {
    using folder = temporaryFolder()
    const path = join(folder.path, "hud.db")
    const folds = foldsOf(1, 40)
    {
      await using opened = await openAt(path, { maxWrites: 2 })
      await opened.store.flush()
      for (const fold of folds) opened.store.saveFolds("ses_1", [fold])
      expect(opened.store.counters.pending).toBe(1)
    }
    await using second = await openAt(path)
    expect(await second.store.loadFolds("ses_1")).toEqual(folds)
  })

  test("while another process holds the lock, a load returns what is known, and the folds are written afterwards", async () => {
    using folder = temporaryFolder()
    const path = join(folder.path, "hud.db")
    await using opened = await openAt(path, { delayMs: 20 })
    opened.store.saveFolds("ses_1", [foldOf(1), foldOf(2)])
    await opened.store.flush()
    using holder = runFixture("hold-lock.ts", path)
    await holder.printed("locked")
    opened.store.saveFolds("ses_1", [foldOf(3)])
    opened.store.dropFolds("ses_1", ["prt_1"])
    expect(await opened.store.loadFolds("ses_1")).toEqual([foldOf(2), foldOf(3)])
    expect(await opened.store.lastFold("ses_1")).toBe(3)
    expect(opened.store.counters.pending).toBe(1)
    await holder.finish()
    await until(() => countRows(path) === 3)
    expect(opened.warnings).toEqual([])
    await using other = await openAt(path)
    expect(await other.store.loadFolds("ses_1")).toEqual([foldOf(2), foldOf(3)])
  })

  test("changing a saved or a loaded fold changes nothing in the store", async () => {
    using folder = temporaryFolder()
    await using opened = await openAt(join(folder.path, "hud.db"))
    const mine = foldOf(1)
    opened.store.saveFolds("ses_1", [mine])
    mine.text = "other"
    for (const fold of await opened.store.loadFolds("ses_1")) fold.text = "other"
    expect(await opened.store.loadFolds("ses_1")).toEqual([foldOf(1)])
  })
})

describe("bounds", () => {
  test("the newest 5,000 folds of a session are kept on disk", async () => {
    using folder = temporaryFolder()
    const path = join(folder.path, "hud.db")
    {
      await using opened = await openAt(path)
      opened.store.saveFolds("ses_1", foldsOf(1, 4000))
      await opened.store.flush()
      opened.store.saveFolds("ses_1", foldsOf(4001, 5003))
    }
    expect(countRows(path)).toBe(5000)
    await using second = await openAt(path)
    const ids = (await second.store.loadFolds("ses_1")).map(({ id }) => id)
    expect([ids.length, ids[0], ids.at(-1)]).toEqual([5000, "r4", "r5003"])
  })

  test("without a file folds are kept in memory: the newest 5,000 of each of 50 sessions", async () => {
    await using opened = await openAt("/dev/null/hud.db")
    const { store } = opened
    expect(store.state.kind).toBe("memory")
    store.saveFolds("ses_1", foldsOf(1, 5002))
    store.dropFolds("ses_1", ["prt_5002"])
    const ids = (await store.loadFolds("ses_1")).map(({ id }) => id)
    expect([ids.length, ids[0], ids.at(-1)]).toEqual([4999, "r3", "r5001"])
    expect(await store.lastFold("ses_1")).toBe(5002)
    for (let n = 2; n <= 51; n++) store.saveFolds(`ses_${n}`, [foldOf(n)])
    expect(await store.loadFolds("ses_1")).toEqual([])
    expect(await store.loadFolds("ses_2")).toEqual([foldOf(2)])
    store.deleteSession("ses_2")
    expect(await store.loadFolds("ses_2")).toEqual([])
  })
})

describe("with their session", () => {
  test("folds are deleted with it, and what is saved after the delete stays", async () => {
    using folder = temporaryFolder()
    const path = join(folder.path, "hud.db")
    {
      await using first = await openAt(path)
      for (const id of ["ses_1", "ses_2"]) first.store.saveFolds(id, [foldOf(1), foldOf(2)])
      await first.store.flush()
      first.store.deleteSession("ses_1")
      first.store.deleteSession("ses_2")
      first.store.saveFolds("ses_2", [foldOf(3)])
      expect(await first.store.loadFolds("ses_1")).toEqual([])
      expect(await first.store.loadFolds("ses_2")).toEqual([foldOf(3)])
    }
    expect(countRows(path)).toBe(1)
  })

  test("a save keeps its session from being pruned, and pruning a session takes its folds", async () => {
    using folder = temporaryFolder()
    const path = join(folder.path, "hud.db")
    const old = Date.now() - 91 * 24 * 60 * 60 * 1000
    {
      await using first = await openAt(path)
      for (const id of ["ses_old", "ses_used"]) first.store.saveFolds(id, [foldOf(1)])
      await first.store.flush()
      query(path, "UPDATE session SET touched_at = ?", old)
      first.store.saveFolds("ses_old", [])
      first.store.saveFolds("ses_used", [foldOf(2)])
    }
    {
      await using _ = await openAt(path)
    }
    expect(query(path, "SELECT session_id, part_id FROM fold ORDER BY part_id")).toEqual([
      ["ses_used", "prt_1"],
      ["ses_used", "prt_2"],
    ])
  })
})

test("a file from before folds is migrated with its turns, which have zero folds and savings", async () => {
  using folder = temporaryFolder()
  const path = join(folder.path, "hud.db")
  const db = new Database(path)
  for (const migration of migrations.slice(0, 3)) db.exec(migration)
  db.exec(`PRAGMA application_id = ${applicationID}; PRAGMA user_version = 3`)
  db.run("INSERT INTO session VALUES ('ses_1', ?)", [Date.now()])
  db.run("INSERT INTO turn VALUES ('ses_1', 1, 1000, 2000, 3, 100, 900, 50, 40, 12, 'anthropic', 'claude')")
  db.close()
  {
    await using opened = await openAt(path)
    const nothing = { foldedTokens: 0, recalls: 0, savedTokens: 0, inputCost: 0, inputCostWithout: 0, savedUsd: 0 }
    expect(await opened.store.turns("ses_1")).toEqual([turnOf(nothing)])
    opened.store.saveTurn(turnOf({ turn: 2, foldedTokens: 4000.4, recalls: 1 }))
    opened.store.saveFolds("ses_1", [foldOf(1)])
  }
  await using again = await openAt(path)
  expect((await again.store.turns("ses_1"))[1]).toEqual(turnOf({ turn: 2, foldedTokens: 4000, recalls: 1 }))
  expect(await again.store.loadFolds("ses_1")).toEqual([foldOf(1)])
  expect(again.warnings).toEqual([])
})
