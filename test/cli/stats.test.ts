// `hudfold stats`: the turns that the plugin measured, and what OpenCode recorded of the same time.

import { Database } from "bun:sqlite"
import { afterAll, beforeAll, expect, test } from "bun:test"
import { rmSync } from "node:fs"
import { join } from "node:path"
import { openStore } from "../../src/store/open.ts"
import { temporaryFolder, turnOf } from "../store/support.ts"
import { V1_TABLES } from "../support/opencode-database.ts"
import { cli } from "./support.ts"

const folder = temporaryFolder()
const OPENCODE_DB = join(folder.path, "opencode.db")
const env = { HUDFOLD_DATA: folder.path, OPENCODE_DB, TZ: "UTC" }
const MONDAY = Date.UTC(2026, 8, 28, 12)
const THURSDAY = Date.UTC(2026, 9, 1, 12)
const MINUTE = 60_000

const turns = [
  { sessionID: "ses_shop", startedAt: MONDAY, cost: 60_000, costWithout: 80_000, usd: 0.2 },
  { sessionID: "ses_shop", startedAt: THURSDAY, cost: 50_000, costWithout: 90_000, usd: 0.4 },
  // a subagent of it
  { sessionID: "ses_sub", startedAt: THURSDAY, cost: 10_000, costWithout: 10_000, usd: 0 },
  // dearer with the plugin
  { sessionID: "ses_site", startedAt: THURSDAY, cost: 11_000, costWithout: 10_000, usd: -0.01 },
  // undone: OpenCode has no call of it any more
  { sessionID: "ses_shop", startedAt: THURSDAY + 60 * MINUTE, cost: 50_000, costWithout: 60_000, usd: 9 },
  // of a model without a price
  { sessionID: "ses_free", startedAt: THURSDAY, providerID: "free", cost: 70_000, costWithout: 99_000, usd: 0 },
  // billed by requests
  { sessionID: "ses_copilot", startedAt: THURSDAY, providerID: "github-copilot", modelID: "gpt-4.1", usd: 0 },
]
/**
 * The plugin did not run in the first call of `ses_shop`. What wrote the summary of a compaction counts nowhere as a call.
 * `ses_site` was forked right before its turn, with a copy of a call.
 */
const calls: { session: string; at: number; usd: number; summary?: true }[] = [
  { session: "ses_shop", at: MONDAY - 60 * MINUTE, usd: 50 },
  { session: "ses_shop", at: MONDAY + MINUTE, usd: 0.5 },
  { session: "ses_shop", at: MONDAY + 2 * MINUTE, usd: 0.3 },
  { session: "ses_shop", at: THURSDAY + MINUTE / 2, usd: 4, summary: true },
  { session: "ses_shop", at: THURSDAY + MINUTE, usd: 0.6 },
  { session: "ses_sub", at: THURSDAY + MINUTE, usd: 0.1 },
  { session: "ses_site", at: THURSDAY - 2000, usd: 70 },
  { session: "ses_site", at: THURSDAY + MINUTE, usd: 0.11 },
  { session: "ses_free", at: THURSDAY + MINUTE, usd: 0 },
  { session: "ses_copilot", at: THURSDAY + MINUTE, usd: 0 },
]

beforeAll(async () => {
  const store = await openStore({ path: join(folder.path, "hud.db"), onWarning() {} })
  for (const turn of turns) store.saveTurn(turnOf({ endedAt: turn.startedAt + 5 * MINUTE, ...turn }))
  await store.close()
  const database = new Database(OPENCODE_DB)
  database.exec(V1_TABLES)
  for (const [id, directory] of Object.entries({
    ...{ ses_shop: "/home/dev/shop", ses_sub: "/home/dev/shop" },
    ...{ ses_site: "/home/dev/site", ses_copilot: "/home/dev/site", ses_free: "/home/dev/site" },
  })) {
    const created = id === "ses_site" ? THURSDAY - 1000 : 1
    const row = [id, "prj", id === "ses_sub" ? "ses_shop" : null, "slug", directory, id, "1.18.33", null, created, 2]
    database.query("INSERT INTO session VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)").run(...row)
    database.query("INSERT INTO message VALUES (?, ?, ?, ?)").run(`u_${id}`, id, MONDAY, '{"role":"user"}')
    database.query("INSERT INTO message VALUES (?, ?, ?, ?)").run(`b_${id}`, id, MONDAY, "no JSON")
  }
  for (const [i, { session, at, usd, summary }] of calls.entries()) {
    const row = [`m${i}`, session, at, JSON.stringify({ role: "assistant", cost: usd, summary })]
    database.query("INSERT INTO message VALUES (?, ?, ?, ?)").run(...row)
  }
  database.close()
})
afterAll(() => folder[Symbol.dispose]())

test("one sentence with the bill, and what the figures cover", async () => {
  const { code, stdout, stderr } = await cli(["stats"], env)
  expect([code, stderr]).toEqual([0, ""])
  const [sentence, , covers, unbilled] = stdout.split("\n")
  // 0.8 + 0.6 + 0.1 + 0.11 paid, 0.2 + 0.4 - 0.01 saved
  expect(sentence).toBe(
    "2 sessions ran with hudfold and cost $1.61. Without hudfold they would have cost about $2.20: hudfold saved about $0.59 (-27%). 1 of them cost more with it. 1 session, counted in fresh input tokens, ran with hudfold, which saved about 29% of the cost.",
  )
  expect(covers).toBe("From the provider's reports since 28 Sept 2026: 18 calls, 3.0k tokens not sent, 12 recalls.")
  expect(unbilled).toBe("Not in the sums in money: 2 sessions not billed by tokens or without a price.")
})

test("by day, week, month, project and model, in money where there is some; a subagent's turns are its parent's", async () => {
  const { stdout } = await cli(["stats", "--json"], env)
  const stats = JSON.parse(stdout)
  const rows = (key: string) =>
    stats[key].map((row: { name: string; sessions: number; with: { usd?: number } }) => [
      row.name,
      row.sessions,
      row.with.usd === undefined ? "no price" : Number(row.with.usd.toFixed(2)),
    ])
  expect(stats.since).toBe(MONDAY)
  expect(stats.sum).toMatchObject({ sessions: 4, calls: 18 })
  expect(rows("day")).toEqual([
    ["2026-10-01", 4, 0.81],
    ["2026-09-28", 1, 0.8],
  ])
  expect(rows("week")).toEqual([["2026-09-28", 4, 1.61]])
  expect(rows("month")).toEqual([
    ["2026-10", 4, 0.81],
    ["2026-09", 1, 0.8],
  ])
  expect(rows("project")).toEqual([
    ["/home/dev/shop", 1, 1.5],
    ["/home/dev/site", 3, 0.11],
  ])
  expect(rows("model")).toEqual([
    ["anthropic/claude", 2, 1.61],
    ["free/claude", 1, "no price"],
    ["github-copilot/gpt-4.1", 1, 0],
  ])
  expect((await cli(["stats", "--by", "model"], env)).stdout).toMatch(/\ngithub-copilot\/gpt-4\.1 +1 +3( +–){3}\n$/)
  const [shop] = stats.project
  expect(shop.without.usd).toBeCloseTo(1.5 + 0.6)
  expect(shop.change).toBeCloseTo(-0.6 / 2.1)
  expect((await cli(["stats", "--by", "week"], env)).stdout).toMatch(
    /\nweek of +sessions +calls +paid +without it +change\n2026-09-28 +4 +18 +\$1\.61 +\$2\.20 +-27%\n$/,
  )
})

test("without OpenCode's database the shares remain", async () => {
  const { code, stdout, stderr } = await cli(["stats"], { ...env, OPENCODE_DB: join(folder.path, "none.db") })
  expect(code).toBe(0)
  expect(stderr).toMatch(
    /^hudfold: there are no projects and no sums in money: no OpenCode database at \S+none\.db; .+\n$/,
  )
  // every session is its own then, what was undone cannot be told, and the answers' tokens count five times
  const [paid, saved] = [251_000 + 6 * 5 * 40, 20_000 + 40_000 - 1000 + 10_000 + 29_000]
  const share = Math.round((100 * saved) / (paid + saved))
  expect(stdout).toStartWith(
    `4 sessions, counted in fresh input tokens, ran with hudfold, which saved about ${share}% of the cost.`,
  )
})

test("nothing measured, and wrong arguments, are one line that says what to do", async () => {
  const empty = await cli(["stats", "--days", "1"], env)
  expect(empty.code).toBe(2)
  expect(empty.stderr).toMatch(
    /^hudfold: nothing is measured in \S+hud\.db in the last 1 day: a turn counts when it ends, and none does with store\.enabled false; .+\n$/,
  )
  const old = await cli(["report", "--days", "1"], env)
  expect(old.stderr).toMatch(/^hudfold: no session in the last 1 day in \S+; name one, or use a larger --days\n$/)
  expect((await cli(["stats", "--days", "40000"], env)).stdout).toStartWith("2 sessions ran with hudfold")
  const wrong = await cli(["stats", "--by", "year"], env)
  expect(wrong.stderr).toBe('hudfold: --by must be one of day, week, month, project, model, got "year"\n')
  expect(JSON.parse((await cli(["stats", "--days", "1", "--json"], env)).stdout)).toMatchObject({ since: null })
})

test.skipIf(process.platform === "win32")(
  "nothing is measured in an empty store, or where a pipe is (skipped on Windows)",
  async () => {
    using data = temporaryFolder()
    const path = join(data.path, "hud.db")
    for (const create of [
      ["touch", path],
      ["mkfifo", path],
    ]) {
      Bun.spawnSync(create)
      const { code, stderr } = await cli(["stats"], { HUDFOLD_DATA: data.path, OPENCODE_DB })
      expect([code, stderr]).toEqual([2, expect.stringMatching(/nothing is measured in \S+\.db yet: /)])
      rmSync(path)
    }
  },
)

test("a store that cannot be read is one line that says why", async () => {
  using data = temporaryFolder()
  const path = join(data.path, "hud.db")
  new Database(path).exec("CREATE TABLE turn (none); PRAGMA user_version = 99")
  const newer = await cli(["stats"], { HUDFOLD_DATA: data.path, OPENCODE_DB })
  expect(newer.code).toBe(2)
  expect(newer.stderr).toMatch(
    /^hudfold: \S+hud\.db was written by a newer opencode-hudfold .+; update the plugin, or name another file in store\.path\n$/,
  )
  // what a newer version wrote may be in the log alone
  rmSync(path)
  using written = new Database(path)
  written.exec("PRAGMA journal_mode = WAL; PRAGMA application_id = 1; PRAGMA wal_checkpoint(TRUNCATE)")
  written.exec("CREATE TABLE turn (none); PRAGMA user_version = 99")
  expect((await cli(["stats"], { HUDFOLD_DATA: data.path, OPENCODE_DB })).stderr).toBe(newer.stderr)
  // a file where the data folder should be
  const none = await cli(["stats"], { HUDFOLD_DATA: path, OPENCODE_DB })
  expect([none.code, none.stderr]).toEqual([
    2,
    expect.stringMatching(/^hudfold: \S+ cannot be read \(ENOTDIR.+\); `hudfold doctor` says what to do\n$/),
  ])
})

test("ends on a damaged database in which two sessions are each other's parent", async () => {
  const database = new Database(OPENCODE_DB)
  const setParent = database.query("UPDATE session SET parent_id = ? WHERE id = 'ses_shop'")
  setParent.run("ses_sub")
  try {
    const { code, stdout, stderr } = await cli(["stats", "--json"], env)
    expect([code, stderr]).toEqual([0, ""])
    expect(JSON.parse(stdout).sum.calls).toBe(18)
  } finally {
    setParent.run(null)
    database.close()
  }
})
