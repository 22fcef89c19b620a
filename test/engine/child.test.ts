// What the sidecar's process has according to the operating system: its environment, descriptors, folder and arguments, and
// those of a child of its own.

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { join } from "node:path"
import { launchSpec } from "../../src/engine/launch.ts"
import { startProcess } from "../../src/engine/process.ts"
import { opencode, temporaryFolder } from "../store/support.ts"
import { CREDENTIALS, LOADERS, NETWORK, PLANTED, polluted } from "../support/credentials.ts"

setDefaultTimeout(60_000)

const linux = process.platform === "linux"
const why = linux ? "" : " (skipped: no /proc here)"
const environ = (pid: number) => readFileSync(`/proc/${pid}/environ`, "utf8").split("\0").filter(Boolean)
const namesOf = (pid: number) => environ(pid).map((one) => one.slice(0, one.indexOf("=")))

/** Starts a child, prints its id, and runs until stdin ends. */
const MAIN = `import { spawn } from "node:child_process"
const child = spawn("sleep", ["600"], { stdio: "ignore" })
process.stdin.on("end", () => { child.kill("SIGKILL"); process.exit(0) })
process.stdin.resume()
process.stdout.write(child.pid + "\\n")
`

const node = Bun.which("node") ?? "node"
const runtimes = [
  ["bun", process.execPath, true],
  ["opencode", opencode, true],
  ["node", node, false],
] as const

describe.skipIf(!linux).each(runtimes)(`a sidecar on %s${why}`, (_, command, isBun) => {
  const folder = temporaryFolder()
  const sidecar = join(folder.path, "sidecar")
  const names = [...CREDENTIALS, ...LOADERS, ...NETWORK]
  const open: number[] = []
  const server = createServer()
  let child: Awaited<ReturnType<typeof startProcess>>
  let grandchild = 0
  beforeAll(async () => {
    mkdirSync(sidecar)
    writeFileSync(join(sidecar, "package.json"), '{ "type": "module" }')
    writeFileSync(join(sidecar, "main.js"), MAIN)
    // a file and a socket that the child must not inherit
    writeFileSync(join(folder.path, "private.txt"), "")
    open.push(openSync(join(folder.path, "private.txt"), "r"))
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    const env = { ...polluted(names), PATH: process.env.PATH, HOME: folder.path }
    const host = { execPath: command, isBun, platform: process.platform, find: () => command }
    const spec = launchSpec(isBun ? "auto" : "node", join(sidecar, "main.js"), env, host)
    if ("reason" in spec) throw new Error(spec.reason)
    child = await startProcess(spec, true, 1_500)
    grandchild = await new Promise<number>((resolve, reject) => {
      child.stdout.once("data", (chunk) => resolve(Number(String(chunk))))
      void child.exited.then((how) => reject(new Error(`${how}: ${child.lastLines().join("\n")}`)))
    })
  })
  afterAll(async () => {
    await child?.stop()
    for (const fd of open) closeSync(fd)
    server.close()
    folder[Symbol.dispose]()
  })
  const pid = () => child.pid ?? 0

  test.each(names)("has no %s in its environment, and neither does its child", (name) => {
    expect(namesOf(pid())).toContain("PATH")
    expect([...namesOf(pid()), ...namesOf(grandchild)]).not.toContain(name)
  })

  test("has only the listed variables in its environment", () => {
    const added = isBun ? ["BUN_BE_BUN", "BUN_ENABLE_CRASH_REPORTING", "BUN_RUNTIME_TRANSPILER_CACHE_PATH"] : []
    expect(namesOf(pid()).sort()).toEqual(["PATH", "HOME", ...added].sort())
    expect(environ(pid()).join("\n")).not.toContain(PLANTED)
  })

  test("has its program as the only argument, and runs in its own folder", () => {
    const args = readFileSync(`/proc/${pid()}/cmdline`, "utf8").split("\0").filter(Boolean).slice(1)
    expect(args).toEqual([...(isBun ? ["--no-install"] : []), join(sidecar, "main.js")])
    expect(readlinkSync(`/proc/${pid()}/cwd`)).toBe(sidecar)
  })

  test("uses its own pipes, and inherits no open descriptor of the host", () => {
    const descriptors = readdirSync(`/proc/${pid()}/fd`).map((fd) => [fd, readlinkSync(`/proc/${pid()}/fd/${fd}`)])
    for (const fd of ["0", "1", "2"]) expect(Object.fromEntries(descriptors)[fd]).toMatch(/^(?:pipe|socket):/)
    const host = new Set(readdirSync("/proc/self/fd").flatMap((fd) => linkOf(`/proc/self/fd/${fd}`)))
    expect(host.has(join(folder.path, "private.txt"))).toBe(true)
    const shared = descriptors.filter(([fd, target]) => Number(fd) > 2 && host.has(target ?? ""))
    expect(shared.filter(([, target]) => !/^\/dev\/|^anon_inode:/.test(target ?? ""))).toEqual([])
  })
})

function linkOf(path: string): string[] {
  try {
    return [readlinkSync(path)]
  } catch {
    // the descriptor used for listing the folder
    return []
  }
}
