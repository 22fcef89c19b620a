// A store that opens after a request stopped waiting for it: the request goes out without it, and nothing may act on the old
// array later.

import { Database } from "bun:sqlite"
import { expect, test } from "bun:test"
import { join } from "node:path"
import { readStatus, statusFolder } from "../../src/status/files.ts"
import { until } from "../store/support.ts"
import { temporaryData } from "../support/data.ts"
import { host } from "../support/hosted.ts"
import { bash, read, SessionBuilder, usage } from "../support/session.ts"

test("a request that stopped waiting for the store takes nothing from the next request once the store is open", async () => {
  using folder = temporaryData()
  const path = join(folder.path, "hud.db")
  const lock = locked(path)
  const logged: string[] = []
  const app = { log: async ({ body }: { body: { message: string } }) => void logged.push(body.message) }
  const hooks = await host({ options: { store: { path }, deadlineMs: 5000 }, client: { app, session: {}, tui: {} } })
  const session = new SessionBuilder().user("make the login test pass on node 22, please")
  session.assistant([read("a.ts")], usage(4000)).assistant([bash("npm test", "1 failed", 1)], usage(400, 4000))
  await hooks.event("session.status", { status: { type: "busy" } })
  expect((await hooks.request(session.messages)).hud).toBeUndefined()
  session.assistant([read("b.ts")], usage(500, 4400))
  const next = await hooks.request(session.messages)
  expect(next.hud).toContain("b.ts")
  lock.exec("ROLLBACK")
  lock.close()
  await until(() => isOpen(path))
  // what the session left in the store is read within a few turns of the event loop
  for (let turn = 0; turn < 100; turn++) await new Promise((resolve) => setImmediate(resolve))
  await hooks.event("message.updated", {
    info: { ...session.messages.at(-1)?.info, id: "msg_next", ...usage(300, 5000) },
  })
  await hooks.event("session.idle", {})
  await hooks.dispose()
  expect(hooks.wrong).toEqual([])
  expect((await readStatus(statusFolder(folder.path), "ses_test"))?.saved.calls).toBe(1)
  expect(logged).toHaveLength(1)
  expect(logged[0]).toContain("was not done after 1000 ms")
})

test("of two requests that wait for the store at once, each gets its own HUD, and the newer is the session's state", async () => {
  using _data = temporaryData()
  const options = { deadlineMs: 5000, fold: { enabled: false } }
  const hooks = await host({ options, client: { app: { log: async () => {} }, session: {}, tui: {} } })
  const session = new SessionBuilder().user("make the login test pass on node 22, please")
  session.assistant([bash("npm test", "1 failed", 1)], usage(4000)).assistant([read("a.ts")], usage(400, 4000))
  const requests = [hooks.request(session.messages.slice(0, 2)), hooks.request(session.messages)]
  const [older, newer] = await Promise.all(requests)
  expect(older?.hud).toContain("hudfold status, call 2")
  expect(newer?.hud).toContain("hudfold status, call 3")
  session.assistant([read("b.ts")], usage(500, 4400))
  expect((await hooks.request(session.messages)).hud).toContain("hudfold status, call 4")
  await hooks.dispose()
  expect(hooks.wrong).toEqual([])
})

test("a session that begins while the store opens gets no folds until they can be kept, and waits a moment once", async () => {
  using folder = temporaryData()
  const path = join(folder.path, "hud.db")
  const lock = locked(path)
  const logged: string[] = []
  const app = { log: async ({ body }: { body: { message: string } }) => void logged.push(body.message) }
  const options = { store: { path }, deadlineMs: 5000, fold: { price: { read: 1, write: 1 } } }
  const hooks = await host({ options, client: { app, session: {}, tui: {} } })
  await hooks.event("session.created", {})
  const session = new SessionBuilder().user("make the login test pass on node 22, please")
  for (let n = 0; n < 20; n++) session.assistant([bash(`ls -l src/dir${n}`, listing(n)), read(`file${n}.ts`)])
  await hooks.request(session.messages.slice(0, 1))
  const size = async () => JSON.stringify((await hooks.request(session.messages)).messages).length
  const whole = JSON.stringify(session.messages).length
  expect(await size()).toBeGreaterThanOrEqual(whole)
  lock.exec("ROLLBACK")
  lock.close()
  await until(async () => (await size()) < whole / 2)
  expect(countFolds(path)).toBeGreaterThan(0)
  await hooks.dispose()
  expect(logged).toEqual([])
})

test("of a session whose requests did not wait for its folds, what has changed since is not sent folded", async () => {
  using folder = temporaryData()
  const path = join(folder.path, "hud.db")
  const options = { store: { path }, deadlineMs: 5000, fold: { price: { read: 1, write: 1 } } }
  const client = { app: { log: async () => {} }, session: {}, tui: {} }
  const session = new SessionBuilder().user("make the login test pass on node 22, please")
  for (let n = 0; n < 20; n++) session.assistant([bash(`ls -l src/dir${n}`, listing(n)), read(`file${n}.ts`)])
  const first = await host({ options, client })
  const folded = (await first.request(session.messages)).folds
  const [changed = ""] = folded.keys()
  expect(folded.get(changed)).toContain("100 lines")
  await first.dispose()

  const part = session.messages.flatMap(({ parts }) => parts).find(({ id }) => id === changed)
  expect(part?.state?.output).toBeString()
  if (part) part.state = { ...part.state, output: listing(77).slice(0, 2000) }
  const lock = new Database(path)
  lock.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; CREATE TABLE mine (id)")
  const second = await host({ options, client })
  expect((await second.request(session.messages)).folds.size).toBe(0)
  lock.exec("ROLLBACK")
  lock.close()
  await until(async () => (await second.request(session.messages)).folds.size > 10)
  const { folds } = await second.request(session.messages)
  expect(folds.get(changed)?.includes("100 lines")).not.toBe(true)
  await second.dispose()
  expect(second.wrong).toEqual([])
})

/** A new database that cannot be opened until this transaction ends. */
function locked(path: string): Database {
  const lock = new Database(path, { create: true })
  lock.exec("BEGIN EXCLUSIVE; CREATE TABLE mine (id)")
  return lock
}

const listing = (of: number) =>
  Array.from({ length: 100 }, (_, i) => `-rw-r--r-- 1 dev ${1000 + i} src/dir${of}/part-${i}.ts`).join("\n")

function countFolds(path: string): number {
  const db = new Database(path, { readonly: true })
  try {
    return db.query<{ n: number }, []>("SELECT count(*) AS n FROM fold").get()?.n ?? 0
  } finally {
    db.close()
  }
}

/** The schema is in place, and the first statements after it were run. */
async function isOpen(path: string): Promise<boolean> {
  const db = new Database(path, { readonly: true })
  try {
    return db.query<{ n: number }, []>("SELECT count(*) AS n FROM sqlite_master WHERE name = 'turn'").get()?.n === 1
  } catch {
    return false
  } finally {
    db.close()
  }
}
