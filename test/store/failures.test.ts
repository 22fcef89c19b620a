import { Database } from "bun:sqlite"
import { describe, expect, test } from "bun:test"
import { closeSync, openSync, readdirSync, readFileSync, statSync, writeFileSync, writeSync } from "node:fs"
import { join } from "node:path"
import { schemaVersion } from "../../src/store/migrations.ts"
import { createSeam, wrapSqlite } from "../support/seam.ts"
import {
  anchors,
  countFolds,
  countTurns,
  fixtures,
  foldOf,
  openAt,
  runFixture,
  seed,
  spawnChild,
  temporaryFolder,
  turnOf,
  until,
} from "./support.ts"

/** Overwrites the table's first page, which an open store has not read yet. */
function breakTable(path: string, table: string): void {
  const db = new Database(path)
  // so that reads come from the page that is broken here, not from the log
  db.exec("PRAGMA wal_checkpoint(TRUNCATE)")
  const row = db.query<{ rootpage: number }, [string]>("SELECT rootpage FROM sqlite_master WHERE name = ?").get(table)
  db.close()
  const file = openSync(path, "r+")
  writeSync(file, Buffer.alloc(4096, 0xa5), 0, 4096, ((row?.rootpage ?? 1) - 1) * 4096)
  closeSync(file)
}

describe("locked by another process", () => {
  test("writes are kept and reach the file once the lock is gone", async () => {
    using folder = temporaryFolder()
    const path = join(folder.path, "hud.db")
    await using opened = await openAt(path, { delayMs: 20 })
    using holder = runFixture("hold-lock.ts", path)
    await holder.printed("locked")
    opened.store.saveTurn(turnOf())
    await opened.store.flush()
    expect(countTurns(path)).toBe(0)
    await holder.finish()
    await until(() => countTurns(path) === 1)
    expect(opened.warnings).toEqual([])
  })

  test("a flush against a lock returns while the lock is held, and keeps what it could not write", async () => {
    using folder = temporaryFolder()
    const path = join(folder.path, "hud.db")
    await using opened = await openAt(path)
    using holder = runFixture("hold-lock.ts", path)
    await holder.printed("locked")
    opened.store.saveTurn(turnOf())
    await opened.store.flush()
    await holder.finish()
    await opened.store.flush()
    expect(countTurns(path)).toBe(1)
  })

  test("a store whose schema is in place opens and loads under a writer's lock", async () => {
    using folder = temporaryFolder()
    const path = join(folder.path, "hud.db")
    await seed(path)
    using holder = runFixture("hold-lock.ts", path)
    await holder.printed("locked")
    {
      await using opened = await openAt(path)
      expect(opened.warnings).toEqual([])
      expect(await opened.store.loadAnchors("ses_1")).toEqual(anchors)
      await holder.finish()
    }
  })

  test("closing under a lock that stays gives up within bounds and warns", async () => {
    using folder = temporaryFolder()
    const path = join(folder.path, "hud.db")
    const opened = await openAt(path)
    await opened.store.flush()
    using holder = runFixture("hold-lock.ts", path)
    await holder.printed("locked")
    opened.store.saveTurn(turnOf())
    await opened.store.close()
    expect(opened.warnings).toEqual(["the store lost a write: database is locked"])
    await holder.finish()
  })

  test("a file that stays locked before it has tables means memory, with one warning", async () => {
    using folder = temporaryFolder()
    const path = join(folder.path, "hud.db")
    using holder = runFixture("hold-lock.ts", path, "exclusive")
    await holder.printed("locked")
    await using opened = await openAt(path)
    opened.store.saveAnchors("ses_1", anchors)
    expect(await opened.store.loadAnchors("ses_1")).toEqual(anchors)
    expect(opened.warnings).toEqual(["the store is kept in memory only and is lost at exit: database is locked"])
    await holder.finish()
  })
})

describe("corrupt", () => {
  const damages: { name: string; damage(bytes: Buffer): Buffer }[] = [
    { name: "bytes that are not a database", damage: () => Buffer.from("not a database at all, ".repeat(400)) },
    { name: "a good header over broken pages", damage: (bytes) => bytes.fill(0xa5, 100) },
    { name: "a truncated file", damage: (bytes) => bytes.subarray(0, 4096 + 100) },
  ]
  for (const { name, damage } of damages) {
    test(`${name}: set aside, one warning, a new store that works`, async () => {
      using folder = temporaryFolder()
      const path = join(folder.path, "hud.db")
      await seed(path)
      const broken = damage(readFileSync(path))
      writeFileSync(path, broken)
      {
        await using opened = await openAt(path)
        expect(opened.warnings.length).toBe(1)
        expect(opened.warnings[0]).toMatch(
          /^the store was corrupt \(.+\); set aside as .+\.corrupt-.+, started a new one$/,
        )
        opened.store.saveTurn(turnOf())
      }
      expect(countTurns(path)).toBe(1)
      const aside = readdirSync(folder.path).filter((it) => it.startsWith("hud.db.corrupt-") && !/-(wal|shm)$/.test(it))
      expect(aside.length).toBe(1)
      expect(readFileSync(join(folder.path, aside[0] ?? "")).equals(broken)).toBe(true)
    })
  }

  test("what was set aside is removed after 90 days", async () => {
    using folder = temporaryFolder()
    const path = join(folder.path, "hud.db")
    const stampOf = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString().replace(/[-:]/g, "")
    const [old, recent] = [stampOf(91), stampOf(89)]
    const others = ["hud.db.corrupt-copy", `mine.db.corrupt-${old}`]
    const ours = ["", ".2", "-wal", "-shm"].map((end) => `hud.db.corrupt-${old}${end}`)
    for (const name of [...ours, `hud.db.corrupt-${recent}`, ...others]) writeFileSync(join(folder.path, name), "")
    await using _ = await openAt(path)
    const left = readdirSync(folder.path).filter((name) => name.includes("corrupt"))
    expect(left.sort()).toEqual([`hud.db.corrupt-${recent}`, ...others].sort())
  })

  test("corrupted while open: set aside, and everything in memory is written to the new file", async () => {
    using folder = temporaryFolder()
    const path = join(folder.path, "hud.db")
    await seed(path)
    const opened = await openAt(path)
    opened.store.saveFolds("ses_1", [foldOf(1)])
    opened.store.saveAnchors("ses_2", anchors)
    opened.store.saveTurn(turnOf({ startedAt: 301 }))
    await opened.store.flush()
    breakTable(path, "turn")
    opened.store.saveTurn(turnOf({ startedAt: 302 }))
    await opened.store.flush()
    expect(opened.warnings.length).toBe(1)
    expect(opened.warnings[0]).toContain("set aside as")
    await opened.store.close()
    expect(countTurns(path)).toBe(2)
    await using second = await openAt(path)
    expect(await second.store.loadAnchors("ses_2")).toEqual(anchors)
    expect(await second.store.loadFolds("ses_1")).toEqual([foldOf(1)])
  })

  test("rows that do not parse are skipped", async () => {
    using folder = temporaryFolder()
    const path = join(folder.path, "hud.db")
    await seed(path)
    const db = new Database(path)
    for (const [id, value] of [
      ["ses_a", "{not json"],
      ["ses_b", '{"after":"x"}'],
      ["ses_c", '[{"after":"x"}]'],
    ] as const) {
      db.run("INSERT INTO session VALUES (?, ?)", [id, Date.now()])
      db.run("INSERT INTO anchors VALUES (?, ?)", [id, value])
    }
    db.close()
    await using opened = await openAt(path)
    for (const id of ["ses_a", "ses_b", "ses_c"]) expect(await opened.store.loadAnchors(id)).toEqual([])
    expect(await opened.store.loadAnchors("ses_1")).toEqual(anchors)
    expect(opened.warnings).toEqual([])
  })
})

describe("not ours to write", () => {
  test("a store of a newer version is left unchanged, byte for byte", async () => {
    using folder = temporaryFolder()
    const path = join(folder.path, "hud.db")
    await seed(path)
    const db = new Database(path)
    db.exec(`PRAGMA user_version = ${schemaVersion + 1}`)
    db.close()
    const before = readFileSync(path)
    const touched = statSync(path).mtimeMs
    await using opened = await openAt(path)
    expect(opened.warnings.length).toBe(1)
    expect(opened.warnings[0]).toContain(
      `newer opencode-hudfold (schema ${schemaVersion + 1}, this one knows ${schemaVersion}); update the plugin, or name another file in store.path`,
    )
    opened.store.saveTurn(turnOf())
    expect(await opened.store.turns("ses_1")).toEqual([turnOf()])
    await opened.store.close()
    expect(readFileSync(path).equals(before)).toBe(true)
    expect(statSync(path).mtimeMs).toBe(touched)
    expect(readdirSync(folder.path)).toEqual(["hud.db"])
  })

  test("migrated by a newer version while open: nothing more is written, one warning", async () => {
    using folder = temporaryFolder()
    const path = join(folder.path, "hud.db")
    await using opened = await openAt(path)
    await opened.store.flush()
    const db = new Database(path)
    db.exec(`PRAGMA user_version = ${schemaVersion + 1}`)
    opened.store.saveTurn(turnOf())
    await opened.store.flush()
    expect(opened.warnings).toEqual([
      expect.stringMatching(/^the store is kept in memory only .* newer opencode-hudfold/),
    ])
    expect(await opened.store.turns("ses_1")).toEqual([turnOf()])
    db.close()
    expect(countTurns(path)).toBe(0)
  })

  test("another program's database is not migrated", async () => {
    using folder = temporaryFolder()
    const path = join(folder.path, "hud.db")
    const db = new Database(path)
    db.exec("CREATE TABLE session (id text); INSERT INTO session VALUES ('theirs')")
    db.close()
    const before = readFileSync(path)
    await using opened = await openAt(path)
    expect(opened.warnings).toEqual([expect.stringContaining("a database of another program")])
    expect(readFileSync(path).equals(before)).toBe(true)
  })

  test("a folder that cannot be created means memory, with one warning", async () => {
    using folder = temporaryFolder()
    writeFileSync(join(folder.path, "file"), "")
    await using opened = await openAt(join(folder.path, "file", "data", "hud.db"))
    expect(opened.warnings).toEqual([expect.stringContaining("kept in memory only")])
    opened.store.saveAnchors("ses_1", anchors)
    await opened.store.flush()
    expect(await opened.store.loadAnchors("ses_1")).toEqual(anchors)
  })

  test("a folder where the file should be means memory", async () => {
    using folder = temporaryFolder()
    await using opened = await openAt(folder.path)
    expect(opened.warnings).toEqual([expect.stringContaining("kept in memory only")])
  })

  // A limit on the size of files stands in for a full disk. The shell ignores SIGXFSZ so that the write fails instead.
  test.skipIf(process.platform === "win32")(
    "a disk that fills up means memory, with one warning (skipped on Windows)",
    async () => {
      using folder = temporaryFolder()
      const script = join(fixtures, "fill-disk.ts")
      const limited = `trap '' XFSZ; ulimit -f 256; exec "$0" "$@"`
      using child = spawnChild(["sh", "-c", limited, process.execPath, script, join(folder.path, "hud.db")])
      const { code, stdout, stderr } = await child.finish()
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
      const report = JSON.parse(stdout)
      expect(report.before).toEqual([])
      expect(report.warnings).toEqual([expect.stringMatching(/kept in memory only|the disk is full/)])
      expect(report.kept).toBe(40)
    },
  )

  test.each([
    ["the log's index", { code: "SQLITE_IOERR_SHMSIZE", errno: 4874 }],
    ["the file", { code: "ENOSPC", errno: -28 }],
    ["the file within the quota", { code: "EDQUOT", errno: -122 }],
  ])(
    "no room for %s when it is opened: opened once there is, with what was saved before and since",
    async (_, error) => {
      using folder = temporaryFolder()
      const path = join(folder.path, "hud.db")
      await seed(path)
      const seam = createSeam()
      const unwrap = wrapSqlite(seam)
      const fail = () => {
        throw Object.assign(new Error("no room"), error)
      }
      seam.begin({ at: 1, stays: true, fail })
      const opened = await openAt(path, { delayMs: 20 })
      expect(opened.warnings).toEqual([expect.stringMatching(/the disk is full.*: no room$/)])
      opened.store.saveFolds("ses_1", [foldOf(1)])
      await opened.store.flush()
      seam.mend()
      unwrap()
      expect(countFolds(path)).toBe(0)
      // nobody has to ask for it
      await until(() => countFolds(path) === 1)
      expect(await opened.store.loadAnchors("ses_1")).toEqual(anchors)
      await opened.store.close()
      expect(opened.warnings).toHaveLength(1)
      await using second = await openAt(path)
      expect(await second.store.loadFolds("ses_1")).toEqual([foldOf(1)])
    },
  )
})
