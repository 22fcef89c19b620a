import { describe, expect, test } from "bun:test"
import { statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fixtures, nodeHasSqlite, openAt, opencode, root, spawnChild, temporaryFolder, turnOf } from "./support.ts"

describe("saved data", () => {
  test("anchors, carried facts and turns survive a restart", async () => {
    using folder = temporaryFolder()
    const path = join(folder.path, "data", "hud.db")
    const anchors = [
      { after: "msg_1", text: "<hud>one</hud>" },
      { after: "msg_2", text: "<hud>two</hud>" },
    ]
    {
      await using first = await openAt(path)
      first.store.saveAnchors("ses_1", anchors)
      first.store.saveCarried("ses_1", "msg_9", '{"task":"fix it"}')
      first.store.saveTurn(turnOf())
    }
    await using second = await openAt(path)
    expect(await second.store.loadAnchors("ses_1")).toEqual(anchors)
    const carried = { compactionID: "msg_9", data: '{"task":"fix it"}' }
    expect(await second.store.loadCarried("ses_1")).toMatchObject(carried)
    expect(await second.store.loadCarried("ses_2")).toBeUndefined()
    expect(await second.store.turns("ses_1")).toEqual([turnOf()])
    expect(second.warnings).toEqual([])
  })

  test("a load sees what was saved a moment ago, before any flush", async () => {
    using folder = temporaryFolder()
    await using opened = await openAt(join(folder.path, "hud.db"))
    opened.store.saveAnchors("ses_1", [{ after: "msg_1", text: "a" }])
    opened.store.saveTurn(turnOf({ startedAt: 2 }))
    expect(await opened.store.loadAnchors("ses_1")).toEqual([{ after: "msg_1", text: "a" }])
    expect(await opened.store.turns("ses_1")).toEqual([turnOf({ startedAt: 2 })])
  })

  test("a turn saved twice is one turn, the later one", async () => {
    using folder = temporaryFolder()
    const path = join(folder.path, "hud.db")
    await using opened = await openAt(path)
    opened.store.saveTurn(turnOf({ calls: 1 }))
    await opened.store.flush()
    opened.store.saveTurn(turnOf({ calls: 7 }))
    await opened.store.flush()
    await using other = await openAt(path)
    expect(await other.store.turns("ses_1")).toEqual([turnOf({ calls: 7 })])
  })

  test("turns are in order, and only those of the requested session", async () => {
    using folder = temporaryFolder()
    await using opened = await openAt(join(folder.path, "hud.db"))
    for (const startedAt of [10, 2, 1]) opened.store.saveTurn(turnOf({ startedAt }))
    opened.store.saveTurn(turnOf({ sessionID: "ses_2", startedAt: 3 }))
    await opened.store.flush()
    expect((await opened.store.turns("ses_1")).map(({ startedAt }) => startedAt)).toEqual([1, 2, 10])
  })

  test("NUL bytes and lone surrogates in a HUD text survive byte for byte", async () => {
    using folder = temporaryFolder()
    const path = join(folder.path, "hud.db")
    const text = "a\0b\ud800c\udfffd\u2028e\u{1f600}"
    {
      await using first = await openAt(path)
      first.store.saveAnchors("ses_1", [{ after: "msg_\0", text }])
      first.store.saveCarried("ses_1", "msg_\ud800", JSON.stringify({ text }))
      first.store.saveTurn(turnOf({ modelID: "m\ud800x\0y" }))
    }
    await using second = await openAt(path)
    expect(await second.store.loadAnchors("ses_1")).toEqual([{ after: "msg_\0", text }])
    expect(JSON.parse((await second.store.loadCarried("ses_1"))?.data ?? "")).toEqual({ text })
    expect((await second.store.turns("ses_1"))[0]?.modelID).toBe("m\ufffdx\0y")
  })

  test("fractions and NaN in a turn's figures do not lose the turn", async () => {
    using folder = temporaryFolder()
    const path = join(folder.path, "hud.db")
    {
      await using first = await openAt(path)
      first.store.saveTurn(turnOf({ tokens: 12.6, cost: Number.NaN }))
    }
    await using second = await openAt(path)
    expect(await second.store.turns("ses_1")).toEqual([turnOf({ tokens: 13, cost: 0 })])
  })

  test("a deleted session is gone, and what is saved after the delete stays", async () => {
    using folder = temporaryFolder()
    const path = join(folder.path, "hud.db")
    {
      await using first = await openAt(path)
      for (const id of ["ses_1", "ses_2"]) {
        first.store.saveAnchors(id, [{ after: "msg_1", text: id }])
        first.store.saveTurn(turnOf({ sessionID: id }))
      }
      await first.store.flush()
      first.store.deleteSession("ses_1")
      first.store.deleteSession("ses_2")
      first.store.saveAnchors("ses_2", [{ after: "msg_5", text: "anew" }])
      expect(await first.store.turns("ses_2")).toEqual([])
    }
    await using second = await openAt(path)
    expect(await second.store.loadAnchors("ses_1")).toEqual([])
    expect(await second.store.loadAnchors("ses_2")).toEqual([{ after: "msg_5", text: "anew" }])
    expect(await second.store.turns("ses_1")).toEqual([])
    expect(await second.store.turns("ses_2")).toEqual([])
  })

  test("an empty list of anchors removes the session's anchors", async () => {
    using folder = temporaryFolder()
    const path = join(folder.path, "hud.db")
    {
      await using first = await openAt(path)
      first.store.saveAnchors("ses_1", [{ after: "msg_1", text: "a" }])
      await first.store.flush()
      first.store.saveAnchors("ses_1", [])
    }
    await using second = await openAt(path)
    expect(await second.store.loadAnchors("ses_1")).toEqual([])
  })

  test("a session's anchors are read however many sessions are newer", async () => {
    using folder = temporaryFolder()
    const path = join(folder.path, "hud.db")
    {
      await using first = await openAt(path)
      for (let n = 0; n < 60; n++) first.store.saveAnchors(`ses_${n}`, [{ after: "msg_1", text: `${n}` }])
    }
    await using second = await openAt(path)
    expect(await second.store.loadAnchors("ses_0")).toEqual([{ after: "msg_1", text: "0" }])
  })
})

describe("the file", () => {
  test("folder and files are closed to others", async () => {
    using folder = temporaryFolder()
    const path = join(folder.path, "data", "hud.db")
    await using opened = await openAt(path)
    opened.store.saveTurn(turnOf())
    await opened.store.flush()
    const modes = [join(folder.path, "data"), path, `${path}-wal`, `${path}-shm`].map((it) => statSync(it).mode & 0o777)
    expect(modes).toEqual([0o700, 0o600, 0o600, 0o600])
  })

  test("a file that others could read is closed to them", async () => {
    using folder = temporaryFolder()
    const path = join(folder.path, "hud.db")
    writeFileSync(path, "", { mode: 0o644 })
    await using opened = await openAt(path)
    expect(opened.warnings).toEqual([])
    expect(statSync(path).mode & 0o777).toBe(0o600)
  })

  test("closing is idempotent, and a later save is ignored", async () => {
    using folder = temporaryFolder()
    const path = join(folder.path, "hud.db")
    const opened = await openAt(path)
    opened.store.saveTurn(turnOf())
    await Promise.all([opened.store.close(), opened.store.close()])
    await opened.store.close()
    opened.store.saveTurn(turnOf({ startedAt: 2 }))
    await opened.store.flush()
    await using second = await openAt(path)
    expect(await second.store.turns("ses_1")).toEqual([turnOf()])
  })

  test("an open store with writes waiting does not keep the process alive", async () => {
    using folder = temporaryFolder()
    const script = join(folder.path, "idle.ts")
    const call = `const store = await openStore({ path: ${JSON.stringify(join(folder.path, "hud.db"))}, onWarning() {} })`
    writeFileSync(
      script,
      `import { openStore } from ${JSON.stringify(join(root, "src/store/open.ts"))}\n${call}\nstore.saveAnchors("s", [])\n`,
    )
    using child = spawnChild([process.execPath, script])
    expect((await child.finish()).code).toBe(0)
  })
})

describe("hosts", () => {
  const module = join(root, "src/store/open.ts")
  const script = join(fixtures, "round-trip.mjs")

  test("works inside OpenCode's embedded Bun", async () => {
    using folder = temporaryFolder()
    const path = join(folder.path, "hud.db")
    using child = spawnChild([opencode, script, module, path], { BUN_BE_BUN: "1" })
    const { code, stdout, stderr } = await child.finish()
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
    expect(JSON.parse(stdout)).toMatchObject({
      warnings: [],
      anchors: [{ after: "msg_1", text: "<hud>\0 \ud800 ok</hud>" }],
      carried: { compactionID: "msg_9", data: '{"task":"t"}' },
      turns: [{ sessionID: "ses_1", startedAt: 1, tokens: 8, usd: 0.5, recalls: 7 }],
      folds: [{ id: "r4k2x9da", partID: "prt_1", text: "\0 \ud800 ok", tokens: 90 }],
    })
  })

  // The bundle, since older Node versions do not run TypeScript, and it is what users run.
  test("loads under plain Node from a single-file bundle; without SQLite it reports that it is memory only", async () => {
    using folder = temporaryFolder()
    const built = await Bun.build({
      entrypoints: [module],
      target: "node",
      external: ["bun:sqlite"],
      outdir: folder.path,
    })
    expect(built.success).toBe(true)
    using child = spawnChild(["node", script, built.outputs[0]?.path ?? "", join(folder.path, "hud.db")])
    const { code, stdout, stderr } = await child.finish()
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
    const report = JSON.parse(stdout)
    if (nodeHasSqlite) {
      expect(report).toMatchObject({ warnings: [], folds: [{ id: "r4k2x9da" }] })
      return
    }
    expect(report).toMatchObject({ anchors: [], turns: [], folds: [] })
    const why = /^the store is kept in memory only and is lost at exit: .* has no SQLite, which this needs/
    expect(report.warnings).toEqual([expect.stringMatching(why), expect.stringMatching(why)])
  })
})
