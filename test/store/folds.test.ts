import { Database } from "bun:sqlite"
import { describe, expect, test } from "bun:test"
import { join } from "node:path"
import { MAX_FOLDS } from "../../src/fold/fold.ts"
import { foldOf, openAt, recallIDOf, runFixture, temporaryFolder, turnOf, until } from "./support.ts"

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

/** A whole step with nothing worth saying. */
const STEP = { kind: "step", partID: "msg_2", messageID: "msg_2", text: "" } as const

const countRows = (path: string) => query(path, "SELECT count(*) FROM fold")[0]?.[0]

describe("after a restart", () => {
  test("a session has its own folds as saved, outputs and steps, in the order of folding", async () => {
    using folder = temporaryFolder()
    const path = join(folder.path, "hud.db")
    {
      await using first = await openAt(path)
      first.store.saveFolds("ses_1", [foldOf(10), foldOf(2, { reason: "free", ...STEP })])
      first.store.saveFolds("ses_1", [foldOf(1, { reason: "must" })])
      first.store.saveFolds("ses_2", [foldOf(3)])
    }
    await using second = await openAt(path)
    expect(await second.store.loadFolds("ses_1")).toEqual([
      foldOf(1, { reason: "must" }),
      foldOf(2, { reason: "free", ...STEP }),
      foldOf(10),
    ])
    expect(await second.store.loadFolds("ses_2")).toEqual([foldOf(3)])
    expect(await second.store.loadFolds("ses_3")).toEqual([])
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
      first.store.saveFolds("ses_1", [foldOf(3, { partID: "prt_1" }), foldOf(2, { text: "again" })])
    }
    await using second = await openAt(path)
    expect(await second.store.loadFolds("ses_1")).toEqual([
      foldOf(2, { text: "again" }),
      foldOf(3, { partID: "prt_1" }),
    ])
  })

  test("folds of the same call are in the order in which they were added, also where one was replaced", async () => {
    using folder = temporaryFolder()
    const path = join(folder.path, "hud.db")
    const same = [5, 3, 9].map((n) => foldOf(n, { call: 7 }))
    const again = foldOf(5, { call: 7, text: "again" })
    {
      await using first = await openAt(path)
      first.store.saveFolds("ses_1", [...same, foldOf(1)])
      expect(await first.store.loadFolds("ses_1")).toEqual([foldOf(1), ...same])
      first.store.saveFolds("ses_1", [again])
      expect(await first.store.loadFolds("ses_1")).toEqual([foldOf(1), ...same.slice(1), again])
    }
    await using second = await openAt(path)
    expect(await second.store.loadFolds("ses_1")).toEqual([foldOf(1), ...same.slice(1), again])
  })

  test("a dropped fold is gone with its row, and its part can be folded again", async () => {
    using folder = temporaryFolder()
    const path = join(folder.path, "hud.db")
    {
      await using first = await openAt(path)
      first.store.saveFolds("ses_1", [foldOf(1), foldOf(2), foldOf(3)])
      first.store.dropFolds("ses_1", ["prt_3", "prt_2", "prt_unknown"])
      expect(await first.store.loadFolds("ses_1")).toEqual([foldOf(1)])
    }
    expect(countRows(path)).toBe(1)
    {
      await using second = await openAt(path)
      expect(await second.store.loadFolds("ses_1")).toEqual([foldOf(1)])
      second.store.saveFolds("ses_1", [foldOf(4, { partID: "prt_2" }), foldOf(5)])
      second.store.dropFolds("ses_1", ["prt_1", "prt_5"])
    }
    expect(countRows(path)).toBe(1)
    await using third = await openAt(path)
    expect(await third.store.loadFolds("ses_1")).toEqual([foldOf(4, { partID: "prt_2" })])
  })

  test("an invalid row is skipped, and can be overwritten", async () => {
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
    expect(second.warnings).toEqual([])
    second.store.saveFolds("ses_1", [foldOf(2)])
    await second.store.flush()
    await using third = await openAt(path)
    expect(await third.store.loadFolds("ses_1")).toEqual([foldOf(1), foldOf(2)])
  })
})

describe("before and on the disk", () => {
  test("a load sees what was saved and dropped a moment ago", async () => {
    using folder = temporaryFolder()
    await using opened = await openAt(join(folder.path, "hud.db"))
    opened.store.saveFolds("ses_1", [foldOf(2), foldOf(1)])
    opened.store.dropFolds("ses_1", ["prt_2"])
    expect(await opened.store.loadFolds("ses_1")).toEqual([foldOf(1)])
  })

  test("folds are in the file when the save returns, and nothing waits", async () => {
    using folder = temporaryFolder()
    const path = join(folder.path, "hud.db")
    const folds = foldsOf(1, 40)
    await using opened = await openAt(path, { delayMs: 60_000 })
    await opened.store.flush()
    for (const [n, fold] of folds.entries()) {
      opened.store.saveFolds("ses_1", [fold])
      expect(countRows(path)).toBe(n + 1)
    }
    await using second = await openAt(path)
    expect(await second.store.loadFolds("ses_1")).toEqual(folds)
  })

  test("a save comes after what waits of its session: a dropped fold, a deleted session", async () => {
    using folder = temporaryFolder()
    const path = join(folder.path, "hud.db")
    {
      await using opened = await openAt(path, { delayMs: 60_000 })
      await opened.store.flush()
      opened.store.saveFolds("ses_1", [foldOf(1), foldOf(2)])
      opened.store.dropFolds("ses_1", ["prt_1", "prt_2"])
      opened.store.saveFolds("ses_1", [foldOf(3, { partID: "prt_1" })])
      expect(countRows(path)).toBe(1)
      opened.store.saveFolds("ses_2", [foldOf(4), foldOf(5)])
      opened.store.saveTurn(turnOf({ sessionID: "ses_2" }))
      opened.store.deleteSession("ses_2")
      opened.store.saveTurn(turnOf({ sessionID: "ses_2", startedAt: 2 }))
      opened.store.saveFolds("ses_2", [foldOf(6)])
      expect(countRows(path)).toBe(2)
    }
    await using second = await openAt(path)
    expect(await second.store.loadFolds("ses_1")).toEqual([foldOf(3, { partID: "prt_1" })])
    expect(await second.store.loadFolds("ses_2")).toEqual([foldOf(6)])
    expect((await second.store.turns("ses_2")).map(({ startedAt }) => startedAt)).toEqual([2])
  })

  test("a save against a lock returns while the lock is held, and is written afterwards", async () => {
    using folder = temporaryFolder()
    const path = join(folder.path, "hud.db")
    await using opened = await openAt(path, { delayMs: 60_000 })
    await opened.store.flush()
    using holder = runFixture("hold-lock.ts", path)
    await holder.printed("locked")
    for (let n = 0; n < 9; n++) opened.store.saveFolds("ses_1", [foldOf(n)])
    expect(countRows(path)).toBe(0)
    await holder.finish()
    await until(() => countRows(path) === 9)
    expect(opened.warnings).toEqual([])
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
    const partIDs = () => query(path, "SELECT part_id FROM fold ORDER BY part_id").flat().join()
    expect(partIDs()).toBe("prt_1,prt_2")
    await holder.finish()
    await until(() => partIDs() === "prt_2,prt_3")
    expect(opened.warnings).toEqual([])
    await using other = await openAt(path)
    expect(await other.store.loadFolds("ses_1")).toEqual([foldOf(2), foldOf(3)])
  })
})

describe("bounds", () => {
  test("the newest folds of a session are kept on disk", async () => {
    using folder = temporaryFolder()
    const path = join(folder.path, "hud.db")
    {
      await using opened = await openAt(path)
      opened.store.saveFolds("ses_1", foldsOf(1, 15_000))
      await opened.store.flush()
      opened.store.saveFolds("ses_1", foldsOf(15_001, MAX_FOLDS + 3))
    }
    expect(countRows(path)).toBe(MAX_FOLDS)
    await using second = await openAt(path)
    const ids = (await second.store.loadFolds("ses_1")).map(({ id }) => id)
    expect([ids.length, ids[0], ids.at(-1)]).toEqual([MAX_FOLDS, recallIDOf(4), recallIDOf(MAX_FOLDS + 3)])
  })

  test("without a file folds are kept in memory: the newest of each of 50 sessions", async () => {
    await using opened = await openAt("/dev/null/hud.db")
    const { store } = opened
    expect(opened.warnings).toEqual([expect.stringContaining("kept in memory only")])
    store.saveFolds("ses_1", foldsOf(1, MAX_FOLDS + 2))
    store.dropFolds("ses_1", [`prt_${MAX_FOLDS + 2}`])
    const ids = (await store.loadFolds("ses_1")).map(({ id }) => id)
    expect([ids.length, ids[0], ids.at(-1)]).toEqual([MAX_FOLDS - 1, recallIDOf(3), recallIDOf(MAX_FOLDS + 1)])
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
    const day = 24 * 60 * 60 * 1000
    {
      await using first = await openAt(path)
      for (const id of ["ses_old", "ses_used"]) first.store.saveFolds(id, [foldOf(1)])
      await first.store.flush()
      query(path, "UPDATE session SET touched_at = ?", Date.now() - 93 * day)
      query(path, "INSERT INTO session VALUES ('ses_before', ?)", Date.now() - 2 * day)
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

test("a row that is not JSON hides no other fold from a fork", async () => {
  using folder = temporaryFolder()
  const path = join(folder.path, "hud.db")
  await using opened = await openAt(path)
  opened.store.saveFolds("ses_1", [foldOf(1)])
  await opened.store.flush()
  query(path, "INSERT INTO fold VALUES ('ses_1', 'prt_x', 1, '{broken')")
  expect(await opened.store.findFolds([recallIDOf(1)])).toEqual([foldOf(1)])
  expect(opened.warnings).toEqual([])
})

const KILLS = 5

test("every fold is in the file when the process is killed right after its save, again and again", async () => {
  using folder = temporaryFolder()
  const path = join(folder.path, "hud.db")
  for (let kill = 1; kill <= KILLS; kill++) {
    using child = runFixture("save-folds.ts", path, String(5 * kill - 4), String(5 * kill))
    expect(await child.finish()).toEqual({ code: 137, stdout: "", stderr: "" })
    expect(countRows(path)).toBe(5 * kill)
  }
  await using opened = await openAt(path)
  expect(await opened.store.loadFolds("ses_1")).toEqual(Array.from({ length: 5 * KILLS }, (_, n) => foldOf(n + 1)))
}, 120_000)
