// The setup lock, with processes that end in every way.

import { expect, test } from "bun:test"
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { placesIn } from "../../src/engine/installed.ts"
import { createLeaseFile } from "../../src/engine/lease.ts"
import { removeLease, withLock } from "../../src/setup/lock.ts"
import { uninstall } from "../../src/setup/plan.ts"
import { spawnChild, temporaryFolder } from "../store/support.ts"

const fixture = join(import.meta.dir, "fixtures/hold-lock.ts")
const holder = (path: string) => spawnChild([process.execPath, fixture, path])

test("a second process waits until the first is done, and says so", async () => {
  using folder = temporaryFolder()
  const path = join(folder.path, "place.lock")
  using child = holder(path)
  await child.printed("held")
  const waited = Promise.withResolvers<string>()
  const second = withLock(path, { onWait: waited.resolve }, async () => readdirSync(folder.path))
  expect(await waited.promise).toBe("another setup is running; waiting for it")
  expect((await child.finish()).code).toBe(0)
  expect(await second).toEqual(["place.lock"])
})

test("the lock of a killed process is taken over", async () => {
  using folder = temporaryFolder()
  const path = join(folder.path, "place.lock")
  const child = holder(path)
  await child.printed("held")
  child[Symbol.dispose]()
  expect(await withLock(path, {}, async () => "mine")).toBe("mine")
})

test("ten waiters that find an abandoned lock at the same time still run one by one", async () => {
  using folder = temporaryFolder()
  const path = join(folder.path, "place.lock")
  writeFileSync(path, "")
  let inside = 0
  let most = 0
  const work = async () => {
    most = Math.max(most, ++inside)
    await Promise.resolve()
    inside--
  }
  await Promise.all(Array.from({ length: 10 }, () => withLock(path, {}, work)))
  expect(most).toBe(1)
}, 120_000)

test("a lock file that nobody holds does not block, whatever it contains", async () => {
  using folder = temporaryFolder()
  const path = join(folder.path, "place.lock")
  for (const content of ["", JSON.stringify({ pid: 1, host: "elsewhere", token: "x" })]) {
    writeFileSync(path, content)
    expect(await withLock(path, {}, async () => "mine")).toBe("mine")
  }
})

test("processes that take a lock again and again are never inside together", async () => {
  using folder = temporaryFolder()
  const path = join(folder.path, "place.lock")
  const inside = join(folder.path, "inside")
  const script = `import { mkdirSync, rmdirSync } from "node:fs"
import { withLock } from ${JSON.stringify(join(import.meta.dir, "../../src/setup/lock.ts"))}
for (let turn = 0; turn < 5; turn++)
  await withLock(${JSON.stringify(path)}, {}, async () => {
    mkdirSync(${JSON.stringify(inside)})
    await Bun.sleep(1)
    rmdirSync(${JSON.stringify(inside)})
  })`
  const children = Array.from({ length: 4 }, () => spawnChild([process.execPath, "-e", script]))
  const ends = await Promise.all(children.map((child) => child.finish()))
  expect(ends.map(({ code }) => code)).toEqual([0, 0, 0, 0])
}, 60_000)

test.skipIf(process.getuid?.() === 0)(
  "a folder that is not writable is reported (skipped for root, who can write to it)",
  async () => {
    using folder = temporaryFolder()
    chmodSync(folder.path, 0o500)
    const held = withLock(join(folder.path, "place.lock"), {}, async () => "mine")
    await expect(held).rejects.toThrow(/is not writable \(EACCES\); set HUDFOLD_DATA to another/)
  },
)

test("a folder that cannot be created is reported", async () => {
  using folder = temporaryFolder()
  writeFileSync(join(folder.path, "file"), "")
  const held = withLock(join(folder.path, "file", "place.lock"), {}, async () => "mine")
  await expect(held).rejects.toThrow(/is not writable \((?:ENOTDIR|EEXIST)\)/)
})

test("a waiter whose file was removed meanwhile locks the new one", async () => {
  using folder = temporaryFolder()
  const path = join(folder.path, "place.lock")
  using child = holder(path)
  await child.printed("held")
  const waited = Promise.withResolvers<string>()
  const second = withLock(path, { onWait: waited.resolve }, async () => existsSync(path))
  await waited.promise
  rmSync(path)
  await child.finish()
  expect(await second).toBe(true)
})

test("removing a lease leaves the file that another process creates right after", async () => {
  using folder = temporaryFolder()
  const path = join(folder.path, "place.lock")
  // often, since the moment right after is not always met
  for (let n = 0; n < 100; n++) {
    createLeaseFile(path)
    const removed = removeLease(path)
    while (existsSync(path)) {
      await new Promise((resolve) => setImmediate(resolve))
      // waits without letting `removeLease` continue once the file is gone
      for (const end = performance.now() + 20; existsSync(path) && performance.now() < end; );
    }
    createLeaseFile(path)
    await removed
    expect(existsSync(path)).toBe(true)
  }
})

test("uninstalling leaves the lease of a process that has loaded the model, so that no second one loads it", async () => {
  using folder = temporaryFolder()
  const holdsLease = join(import.meta.dir, "../engine/fixtures/holds-lease.ts")
  using first = spawnChild([process.execPath, holdsLease, folder.path])
  await first.printed("held")
  mkdirSync(join(folder.path, "sidecar"))
  await uninstall(placesIn(folder.path), false, {})
  expect(readdirSync(folder.path)).toEqual(["sidecar.lease"])
  using second = spawnChild([process.execPath, holdsLease, folder.path])
  expect((await second.finish()).stdout).toBe("busy\n")
  await first.finish()
  await uninstall(placesIn(folder.path), false, {})
  expect(existsSync(folder.path)).toBe(false)
})
