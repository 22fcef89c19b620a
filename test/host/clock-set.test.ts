// The system clock is set forward or back: no wait lasts until it catches up, nothing expires early, and no file counts as
// changed.

import { expect, test } from "bun:test"
import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from "node:fs"
import { basename, join } from "node:path"
import { createEnv } from "../../src/digest/digests.ts"
import { createSessions } from "../../src/host/sessions.ts"
import { checkFiles } from "../../src/host/v1/event.ts"
import { withLock } from "../../src/setup/lock.ts"
import { prune, writeStatus } from "../../src/status/files.ts"
import { openAt, seed, temporaryFolder, until } from "../store/support.ts"
import { take } from "../support/conversation.ts"
import { read, SessionBuilder } from "../support/session.ts"
import { statusOf } from "../support/status.ts"

const HOUR = 3_600_000
const YEAR = 365 * 24 * HOUR
const JUMPS = { "an hour": HOUR, "ten years": 10 * YEAR }

const stamp = (path: string, ms: number) => utimesSync(path, new Date(ms), new Date(ms))

for (const [far, ms] of Object.entries(JUMPS))
  for (const content of ["", JSON.stringify({ pid: 1, host: "elsewhere", token: "x" })])
    test(`a setup lock from ${far} ahead that ${content ? "another machine" : "nobody"} holds does not block`, async () => {
      using folder = temporaryFolder()
      const path = join(folder.path, "place.lock")
      writeFileSync(path, content)
      stamp(path, Date.now() + ms)
      expect(await withLock(path, {}, async () => "mine")).toBe("mine")
    })

test.each([-HOUR, HOUR])("a setup that is at work keeps its lock when the clock is set by %d ms", async (ms) => {
  using folder = temporaryFolder()
  const path = join(folder.path, "place.lock")
  const ended = Promise.withResolvers<void>()
  const first = withLock(path, {}, () => ended.promise)
  await until(() => existsSync(path))
  stamp(path, Date.now() + ms)
  const stop = new AbortController()
  const onWait = () => stop.abort(new Error("it waits"))
  const second = withLock(path, { signal: stop.signal, onWait }, async () => "mine")
  expect(await second.catch((error: Error) => error.name)).toBe("AbortError")
  expect(readdirSync(folder.path)).toEqual(["place.lock"])
  ended.resolve()
  await first
})

test.each(Object.entries(JUMPS))(
  "with the clock %s ahead no status file and no switches file is removed",
  async (_, ms) => {
    using folder = temporaryFolder()
    writeStatus(folder.path, statusOf({ sessionID: "ses_1" }))
    writeFileSync(join(folder.path, "ses_1.switches.json"), "{}")
    // the first file of this process, stamped by the wrong clock
    writeStatus(folder.path, statusOf({ sessionID: "ses_2" }))
    stamp(join(folder.path, "ses_2.status.json"), Date.now() + ms)
    await prune(folder.path, Date.now() + ms)
    expect(readdirSync(folder.path).sort()).toEqual(["ses_1.status.json", "ses_1.switches.json", "ses_2.status.json"])
  },
)

test("the leftover of an interrupted write is removed although the clock was set back since", async () => {
  using folder = temporaryFolder()
  const left = join(folder.path, ".ses_1.status.json.0.tmp")
  writeFileSync(left, "{")
  stamp(left, Date.now() + HOUR)
  await prune(folder.path, Date.now())
  expect(readdirSync(folder.path)).toEqual([])
})

test.each(Object.entries(JUMPS))(
  "with the clock %s ahead the store opens with all its content, and again once it is set back",
  async (_, ms) => {
    using folder = temporaryFolder()
    const path = join(folder.path, "hud.db")
    await seed(path)
    const wall = Date.now
    Date.now = () => wall() + ms
    try {
      await using opened = await openAt(path)
      opened.store.saveCarried("ses_2", "msg_1", "{}")
    } finally {
      Date.now = wall
    }
    await using opened = await openAt(path)
    await opened.store.flush()
    expect(await opened.store.turns("ses_1")).toHaveLength(300)
    expect([...opened.store.loadCarried().keys()]).toEqual(["ses_2"])
    expect(opened.warnings).toEqual([])
  },
)

test.each<[string, number, boolean]>([
  ["an hour from now, as by another machine's clock, is not told as changed", HOUR, false],
  ["a moment ago is", -1000, true],
])("a file that was changed %s", async (_, ms, isTold) => {
  using folder = temporaryFolder()
  mkdirSync(join(folder.path, "src"))
  for (const name of ["src/a.ts", "src/b.ts"]) writeFileSync(join(folder.path, name), "x")
  stamp(join(folder.path, "src/a.ts"), Date.now() + ms)
  const session = createSessions(createEnv(folder.path)).get("ses_test")
  const path = (name: string) => ({ state: { ...read(name).state, input: { filePath: join(folder.path, name) } } })
  const parts = ["src/a.ts", "src/b.ts"].map((name) => ({ ...read(name), ...path(name) }))
  take(session.ledger, new SessionBuilder().user("look").assistant(parts).fresh())
  await checkFiles({ directory: folder.path, env: createEnv() }, session)
  const looked = () => [...session.signals.versions.keys()].map((one) => basename(one))
  expect(looked()).toContain("b.ts")
  expect(looked().includes("a.ts")).toBe(isTold)
})
