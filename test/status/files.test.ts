import { afterAll, expect, test } from "bun:test"
import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import {
  forget,
  listStatus,
  prune,
  readStatus,
  readSwitches,
  sessionOf,
  writeStatus,
  writeSwitches,
} from "../../src/status/files.ts"
import { ALL_ON } from "../../src/status/status.ts"
import { episode, fold, statusOf } from "../support/status.ts"

const root = mkdtempSync(join(tmpdir(), "status-files-"))
afterAll(() => rmSync(root, { recursive: true }))
let folders = 0
const newFolder = () => join(root, `sessions-${++folders}`)

test("a status is read back as written, and no partial file remains", async () => {
  const folder = newFolder()
  for (const calls of [1, 2, 3]) writeStatus(folder, statusOf({ sessionID: "ses_1", calls }))
  expect((await readStatus(folder, "ses_1"))?.sessionID).toBe("ses_1")
  expect(readdirSync(folder)).toEqual(["ses_1.status.json"])
  expect(sessionOf("ses_1.status.json")).toBe("ses_1")
  expect(sessionOf("ses_1.switches.json")).toBeUndefined()
})

test("a file that is not a status, or of another version, is ignored", async () => {
  const folder = newFolder()
  mkdirSync(folder)
  writeFileSync(join(folder, "ses_1.status.json"), "{")
  writeFileSync(join(folder, "ses_2.status.json"), JSON.stringify({ ...statusOf(), version: 1 }))
  expect(await readStatus(folder, "ses_1")).toBeUndefined()
  expect(await readStatus(folder, "ses_2")).toBeUndefined()
  expect(await readStatus(folder, "ses_3")).toBeUndefined()
})

test("a file that is far too large is ignored, and control characters are removed", async () => {
  const folder = newFolder()
  const failures = [{ what: "npm\u001b[31m test\u202e", detail: "\u0000a\u009b1mb", since: 1, times: 1 }]
  writeStatus(folder, statusOf({ failures }))
  expect((await readStatus(folder, "ses_1"))?.failures).toEqual([
    { what: "npm[31m test", detail: "a1mb", since: 1, times: 1 },
  ])
  const record = "Steps 3-4\n3 read a\u001b[31m\n4 said: done"
  writeStatus(folder, statusOf({ folding: { ...statusOf().folding, episodes: [episode({ record })] } }))
  expect((await readStatus(folder, "ses_1"))?.folding.episodes[0]?.record).toBe("Steps 3-4\n3 read a[31m\n4 said: done")
  const newest = Array.from({ length: 40_000 }, () => fold())
  writeStatus(folder, statusOf({ folding: { ...statusOf().folding, newest } }))
  expect(await readStatus(folder, "ses_1")).toBeUndefined()
})

test("a session id cannot lead out of the folder", async () => {
  const folder = newFolder()
  for (const sessionID of ["../ses_1", "a/b", "", "x".repeat(101)]) {
    expect(() => writeStatus(folder, statusOf({ sessionID }))).toThrow("not a session id")
    await expect(writeSwitches(folder, sessionID, { hud: "paused", folding: "on" })).rejects.toThrow()
    expect(await readStatus(folder, sessionID)).toBeUndefined()
    expect(readSwitches(folder, sessionID)).toEqual({ hud: "on", folding: "on" })
  }
})

test("switches are on by default, and an unreadable file switches nothing off", async () => {
  const folder = newFolder()
  expect(readSwitches(folder, "ses_1")).toEqual({ hud: "on", folding: "on" })
  await writeSwitches(folder, "ses_1", { hud: "on", folding: "paused" })
  expect(readSwitches(folder, "ses_1")).toEqual({ hud: "on", folding: "paused" })
  await writeSwitches(folder, "ses_1", { hud: "on", folding: "on" })
  expect(readdirSync(folder)).toEqual([])
  writeFileSync(join(folder, "ses_1.switches.json"), `{"hud":"of`)
  expect(readSwitches(folder, "ses_1")).toEqual({ hud: "on", folding: "on" })
})

test("switches are in the file at once, so that no other change can come between reading and writing them", () => {
  const folder = newFolder()
  for (const switches of [{ hud: "paused", folding: "on" }, ALL_ON] as const) {
    void writeSwitches(folder, "ses_1", switches)
    expect(readSwitches(folder, "ses_1")).toEqual(switches)
  }
})

test("the newest sessions come first; old ones and leftovers of interrupted writes are removed", async () => {
  const folder = newFolder()
  const nowMs = Date.now()
  const at = (name: string, daysAgo: number) => {
    const time = new Date(nowMs - daysAgo * 24 * 3600 * 1000)
    utimesSync(join(folder, name), time, time)
  }
  for (const [i, id] of ["ses_old", "ses_new", "ses_ancient"].entries()) {
    writeStatus(folder, statusOf({ sessionID: id }))
    at(`${id}.status.json`, [5, 1, 100][i] ?? 0)
  }
  for (const [id, daysAgo] of [
    ["ses_ancient", 100],
    ["ses_gone", 100],
    ["ses_old", 100],
    ["ses_lost", 80],
  ] as const) {
    await writeSwitches(folder, id, { hud: "paused", folding: "on" })
    at(`${id}.switches.json`, daysAgo)
  }
  writeFileSync(join(folder, ".ses_new.status.json.1-1.tmp"), "{")
  at(".ses_new.status.json.1-1.tmp", 1)
  expect((await listStatus(folder)).map(({ sessionID }) => sessionID)).toEqual(["ses_new", "ses_old", "ses_ancient"])
  await prune(folder, nowMs)
  const left = ["ses_lost.switches.json", "ses_new.status.json", "ses_old.status.json", "ses_old.switches.json"]
  expect(readdirSync(folder).sort()).toEqual(left)
  forget(folder, "ses_old")
  expect(readdirSync(folder).sort()).toEqual(left.slice(0, 2))
})

test("what the user has switched stays when 200 newer sessions have taken the place of its status", async () => {
  const folder = newFolder()
  const switches = { hud: "paused", folding: "on", whole: { msg_1: 7 } } as const
  await writeSwitches(folder, "ses_mine", switches)
  const sessions = ["ses_mine", ...Array.from({ length: 200 }, (_, number) => `ses_${number}`)]
  for (const id of sessions) writeStatus(folder, statusOf({ sessionID: id }))
  const twoDaysAgo = new Date(Date.now() - 2 * 24 * 3600 * 1000)
  utimesSync(join(folder, "ses_mine.status.json"), twoDaysAgo, twoDaysAgo)
  await prune(folder, Date.now())
  expect((await listStatus(folder)).map(({ sessionID }) => sessionID).sort()).toEqual(sessions.slice(1).sort())
  expect(readSwitches(folder, "ses_mine")).toEqual(switches)
})

test("a clock that is 200 days ahead for two starts removes no switches and no status", async () => {
  const folder = newFolder()
  const aheadMs = Date.now() + 200 * 24 * 3600 * 1000
  await writeSwitches(folder, "ses_gone", { hud: "paused", folding: "on" })
  for (const id of ["ses_before", "ses_first", "ses_second"]) writeStatus(folder, statusOf({ sessionID: id }))
  for (const id of ["ses_first", "ses_second"])
    utimesSync(join(folder, `${id}.status.json`), new Date(aheadMs), new Date(aheadMs))
  await prune(folder, aheadMs)
  expect(readdirSync(folder)).toHaveLength(4)
})

test("the leftover of an interrupted write is removed although the clock was set back since", async () => {
  const folder = newFolder()
  mkdirSync(folder)
  const left = join(folder, ".ses_1.status.json.0.tmp")
  writeFileSync(left, "{")
  const ahead = new Date(Date.now() + 3_600_000)
  utimesSync(left, ahead, ahead)
  await prune(folder, Date.now())
  expect(readdirSync(folder)).toEqual([])
})

test("a clock that gives no number removes nothing", async () => {
  const folder = newFolder()
  writeStatus(folder, statusOf({ sessionID: "ses_1" }))
  await writeSwitches(folder, "ses_2", { hud: "paused", folding: "on" })
  await prune(folder, Number.NaN)
  expect(readdirSync(folder)).toHaveLength(2)
})

test("a foreign file in the folder does not break pruning", async () => {
  const folder = newFolder()
  writeStatus(folder, statusOf({ sessionID: "ses_1" }))
  const stray = join(folder, "copy of ses_1.status.json")
  writeFileSync(stray, "{}")
  utimesSync(stray, new Date(0), new Date(0))
  await prune(folder, Date.now())
  forget(folder, "../ses_1")
  expect(readdirSync(folder).sort()).toEqual(["copy of ses_1.status.json", "ses_1.status.json"])
})
