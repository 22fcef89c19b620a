// The lease, which lets one process at a time load the model.

import { expect, setDefaultTimeout, test } from "bun:test"
import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { createLease } from "../../src/engine/lease.ts"
import { spawnChild, temporaryFolder, until } from "../store/support.ts"
import { fixtures } from "./host.ts"

// processes are started, on a machine that may be busy
setDefaultTimeout(60_000)

const holder = (folder: string) => spawnChild([process.execPath, join(fixtures, "holds-lease.ts"), folder])

test("only one of two has it, even in one process, and the other one after its release", async () => {
  using folder = temporaryFolder()
  const [first, second] = [
    createLease(join(folder.path, "sidecar.lease")),
    createLease(join(folder.path, "sidecar.lease")),
  ]
  expect([await first.acquire(), await second.acquire(), await first.acquire()]).toEqual(["held", "busy", "held"])
  first.release()
  first.release()
  expect([await second.acquire(), await first.acquire()]).toEqual(["held", "busy"])
  second.release()
})

test("another process has it until it is killed, and leaves no other files behind", async () => {
  using folder = temporaryFolder()
  const lease = createLease(join(folder.path, "sidecar.lease"))
  {
    using other = holder(folder.path)
    await other.printed("held")
    expect(await lease.acquire()).toBe("busy")
  }
  // disposing it was a SIGKILL
  const acquired: unknown[] = []
  await until(() => {
    void lease.acquire().then((answer) => acquired.push(answer))
    return acquired.includes("held")
  })
  expect(readdirSync(folder.path)).toEqual(["sidecar.lease"])
  lease.release()
})

test("a failed attempt does not release the holder's lock", async () => {
  using folder = temporaryFolder()
  const [first, second] = [
    createLease(join(folder.path, "sidecar.lease")),
    createLease(join(folder.path, "sidecar.lease")),
  ]
  await first.acquire()
  // in the same process, because closing a descriptor of a file releases all the locks the process has on it
  expect(await second.acquire()).toBe("busy")
  using other = holder(folder.path)
  await other.printed("busy")
  first.release()
})

test("folder and file are accessible to their owner only", async () => {
  using folder = temporaryFolder()
  const inner = join(folder.path, "opencode-hudfold")
  const lease = createLease(join(inner, "sidecar.lease"))
  await lease.acquire()
  lease.release()
  expect(statSync(inner).mode & 0o777).toBe(0o700)
  expect(statSync(join(inner, "sidecar.lease")).mode & 0o777).toBe(0o600)
})

test.each([
  ["the folder is a file", (path: string) => writeFileSync(path, "")],
  ["the lease is a folder", (path: string) => mkdirSync(join(path, "sidecar.lease"), { recursive: true })],
])("if no lease is possible because %s, it says so", async (_, spoil) => {
  using folder = temporaryFolder()
  const path = join(folder.path, "data")
  spoil(path)
  expect(await createLease(join(path, "sidecar.lease")).acquire()).toEqual({ unavailable: expect.any(String) })
})

test("a host without SQLite reports that no lease is possible", async () => {
  using folder = temporaryFolder()
  const built = await Bun.build({
    entrypoints: [join(import.meta.dir, "../../src/engine/lease.ts")],
    target: "node",
    external: ["bun:sqlite"],
    outdir: folder.path,
    naming: "lease.mjs",
  })
  expect(built.success).toBe(true)
  const code = `import("./lease.mjs").then(async ({ createLease }) => console.log(JSON.stringify(await createLease("data/sidecar.lease").acquire())))`
  const ran = Bun.spawnSync([Bun.which("node") ?? "node", "-e", code], { cwd: folder.path })
  expect(ran.stdout.toString()).toBe('{"unavailable":"the host has no SQLite"}\n')
  expect(existsSync(join(folder.path, "data"))).toBe(false)
})
