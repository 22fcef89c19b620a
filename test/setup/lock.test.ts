// The setup lock, with processes that end in every way.

import { expect, test } from "bun:test"
import { chmodSync, readdirSync, utimesSync, writeFileSync } from "node:fs"
import { hostname } from "node:os"
import { join } from "node:path"
import { withLock } from "../../src/setup/lock.ts"
import { spawnChild, temporaryFolder } from "../store/support.ts"

const fixture = join(import.meta.dir, "fixtures/hold-lock.ts")
const holder = (path: string) => spawnChild([process.execPath, fixture, path])

test("a second process waits until the first is done, and reports its pid", async () => {
  using folder = temporaryFolder()
  const path = join(folder.path, "place.lock")
  using child = holder(path)
  await child.printed("held")
  const waited = Promise.withResolvers<number>()
  const second = withLock(path, { onWait: waited.resolve }, async () => readdirSync(folder.path))
  expect(await waited.promise).not.toBe(process.pid)
  expect((await child.finish()).code).toBe(0)
  expect(await second).toEqual(["place.lock"])
  expect(readdirSync(folder.path)).toEqual([])
})

test("the lock of a killed process is taken over", async () => {
  using folder = temporaryFolder()
  const path = join(folder.path, "place.lock")
  const child = holder(path)
  await child.printed("held")
  child[Symbol.dispose]()
  expect(await withLock(path, {}, async () => "mine")).toBe("mine")
  expect(readdirSync(folder.path)).toEqual([])
})

test("ten waiters that find an abandoned lock at the same time still run one by one", async () => {
  using folder = temporaryFolder()
  const path = join(folder.path, "place.lock")
  writeFileSync(path, JSON.stringify({ pid: 2 ** 22 + 1, host: hostname(), token: "dead" }))
  let inside = 0
  let most = 0
  const work = async () => {
    most = Math.max(most, ++inside)
    await Promise.resolve()
    inside--
  }
  await Promise.all(Array.from({ length: 10 }, () => withLock(path, {}, work)))
  expect(most).toBe(1)
  expect(readdirSync(folder.path)).toEqual([])
}, 120_000)

test("a lock that is empty or of another machine holds only while it is fresh", async () => {
  using folder = temporaryFolder()
  const path = join(folder.path, "place.lock")
  for (const content of ["", JSON.stringify({ pid: 1, host: "elsewhere", token: "x" })]) {
    writeFileSync(path, content)
    const stop = new AbortController()
    const onWait = () => stop.abort(new Error("it waits"))
    const waiting = withLock(path, { signal: stop.signal, onWait }, async () => "mine")
    expect(await waiting.catch((error: Error) => error.name)).toBe("AbortError")
    utimesSync(path, new Date(0), new Date(0))
    expect(await withLock(path, {}, async () => "mine")).toBe("mine")
  }
})

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
