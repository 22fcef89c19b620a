// The child process: its last output, how it is stopped, and that it does not keep its host alive.

import { afterAll, expect, setDefaultTimeout, test } from "bun:test"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { startProcess } from "../../src/engine/process.ts"
import { AS_BUN } from "../../src/system/process.ts"
import { opencode, temporaryFolder, until } from "../store/support.ts"
import { running } from "../support/sidecar.ts"
import { children, fixture, fixtures, specOf } from "./host.ts"

// processes are started, on a machine that may be busy
setDefaultTimeout(60_000)

afterAll(() => {
  expect(children().filter(({ command }) => command.includes("fixtures"))).toEqual([])
})

/** A program of one line, run by this Bun. */
const program = (code: string) => ({ ...specOf(join(fixtures, "none")), args: ["-e", code] })

test.each([
  ["does not exist", { command: "/nowhere/bun" }, /could not be started: .*ENOENT/],
  ["is not executable", { command: import.meta.path }, /could not be started: .*EACCES/],
  ["has no working directory", { cwd: "/nowhere" }, /could not be started: \/nowhere is missing; .*hudfold setup/],
])("a program that %s fails with the reason", async (_, over, message) => {
  const failure = startProcess({ ...fixture("plain"), ...over }, false, 1_500)
  await expect(failure).rejects.toMatchObject({ code: "START_FAILED", message: expect.stringMatching(message) })
})

test.each([
  ["process.exit(3)", "exit code 3"],
  ['process.kill(process.pid, "SIGKILL")', "killed by SIGKILL"],
])("a process that ends by %s reports how", async (code, how) => {
  const child = await startProcess(program(code), false, 1_500)
  expect(await child.exited).toBe(how)
})

test("the last lines of stderr are kept, truncated and redacted", async () => {
  const lines = "for (let n = 0; n < 200_000; n++) process.stderr.write('line ' + n + '\\n');"
  const key = ["sk", "a1b2c3d4".repeat(4)].join("-")
  const child = await startProcess(
    program(`${lines} process.stderr.write('x'.repeat(5000) + '\\nkey ${key}\\nno end')`),
    false,
    1_500,
  )
  await child.exited
  await until(() => child.lastLines().at(-1) === "no end")
  const kept = child.lastLines()
  expect(kept).toHaveLength(50)
  expect(kept.slice(-4)).toEqual(["line 199999", `${"x".repeat(399)}…`, "key [redacted]", "no end"])
})

test.skipIf(process.platform === "win32")("of a crash the reason is kept, not Bun's request to report it", async () => {
  const code = 'console.error("loading"); process.kill(process.pid, "SIGSEGV"); setTimeout(() => {}, 10_000)'
  const child = await startProcess({ ...program(code), command: opencode, env: AS_BUN }, false, 1_500)
  expect(await child.exited).toMatch(/^killed by SIG/)
  expect(child.lastLines()).toEqual(["loading", expect.stringMatching(/^panic\(.*Segmentation fault/)])
})

test.each([
  ["plain", "exit code 0"],
  ["never-reads", "killed by SIGKILL"],
  ["ignores-end", "killed by SIGKILL"],
])("%s is stopped by the first step that works: %s", async (name, how) => {
  const child = await startProcess(fixture(name), false, name === "plain" ? 60_000 : 400)
  // once it answers, its signal handlers are installed; the one that never reads has none
  if (name !== "never-reads") {
    const answered = new Promise((resolve) => child.stdout.once("data", resolve))
    child.stdin.write('{"jsonrpc":"2.0","id":0,"method":"engine/hello","params":{}}\n')
    await answered
  }
  const [exit, again] = await Promise.all([child.stop(), child.stop()])
  expect([exit, again]).toEqual([how, how])
})

const HOST = `
import { startProcess } from ${JSON.stringify(join(import.meta.dir, "../../src/engine/process.ts"))}
const child = await startProcess(JSON.parse(process.argv[2]), false, 1_500)
child.stdout.on("data", () => {})
child.stdin.write('{"jsonrpc":"2.0","id":0,"method":"engine/hello","params":{}}\\n')
child.stdout.once("data", () => { process.stdout.write("answered\\n"); if (process.argv[3] === "hang") process.kill(child.pid, "SIGSTOP") })
// keeps this host alive until the child has answered
const timer = setInterval(() => {}, 10)
child.stdout.once("data", () => clearInterval(timer))
`

test.each([
  ["bun", [process.execPath], {}, ""],
  ["OpenCode's binary", [opencode], { BUN_BE_BUN: "1" }, ""],
  ["node", [Bun.which("node") ?? "node"], {}, ""],
  ["bun with a suspended child", [process.execPath], {}, "hang"],
])("a host on %s exits while its child is idle, and the child with it", async (_, command, env, mode) => {
  using folder = temporaryFolder()
  const entry = join(folder.path, "host.ts")
  writeFileSync(entry, HOST)
  const built = await Bun.build({ entrypoints: [entry], target: "node", outdir: folder.path, naming: "host.mjs" })
  expect(built.success).toBe(true)
  // a separate copy, so that it is not mistaken for another test's
  const main = join(folder.path, "sidecar.ts")
  writeFileSync(main, `import ${JSON.stringify(join(fixtures, "plain.ts"))}\n`)
  const host = Bun.spawn([...command, join(folder.path, "host.mjs"), JSON.stringify(specOf(main)), mode], {
    env: { ...process.env, ...env },
    stdin: "ignore",
    stdout: "pipe",
  })
  expect(await new Response(host.stdout).text()).toBe("answered\n")
  expect(await host.exited).toBe(0)
  await until(() => running(main).length === 0)
})
