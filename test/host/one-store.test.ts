// One open store for each file in a process: a second one would release the first one's POSIX locks, and another process could
// then delete the log that is in use.

import { afterEach, beforeEach, expect, test } from "bun:test"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { createLog } from "../../src/host/log.ts"
import { shareStore } from "../../src/host/store.ts"
import { runFixture, temporaryFolder } from "../store/support.ts"

const before = process.env.HUDFOLD_DATA
let folder: ReturnType<typeof temporaryFolder>
beforeEach(() => {
  folder = temporaryFolder()
  process.env.HUDFOLD_DATA = folder.path
})
afterEach(() => {
  if (before === undefined) delete process.env.HUDFOLD_DATA
  else process.env.HUDFOLD_DATA = before
  folder[Symbol.dispose]()
})

const share = (path?: string) => shareStore({ enabled: true, path }, createLog(undefined))

test("however the file is spelled", async () => {
  const shares = [share(), share("hud.db"), share(join(folder.path, "hud.db"))]
  const [first, ...others] = await Promise.all(shares.map((one) => one.opening()))
  expect(existsSync(join(folder.path, "hud.db"))).toBe(true)
  for (const other of others) expect(other).toBe(first)
  await Promise.all(shares.map((one) => one.release()))
})

test("opened again only when the one before has written everything", async () => {
  const first = share()
  const closing = await first.opening()
  await closing?.flush()
  using holder = runFixture("hold-lock.ts", join(folder.path, "hud.db"))
  await holder.printed("locked")
  closing?.saveAnchors("ses_1", [{ after: "msg_1", text: "new" }])
  const released = first.release()
  const second = share()
  const opening = second.opening()
  // long enough to open it, and shorter than the first one's attempts
  await Promise.race([opening, new Promise((resolve) => setTimeout(resolve, 500))])
  await holder.finish()
  await released
  expect(await (await opening)?.loadAnchors("ses_1")).toEqual([{ after: "msg_1", text: "new" }])
  await second.release()
})
