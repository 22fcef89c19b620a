// The shipped CLI, one file on Node, which reads SQLite by running itself on Bun.
import { afterAll, beforeAll, expect, test } from "bun:test"
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { clearBunEnvironment } from "../../src/cli/runtime.ts"
import { nodeHasSqlite, opencode, temporaryFolder } from "../store/support.ts"
import { bundleInto, cli, linkCommands, type Recorded, type Result, recordSession } from "./support.ts"

const node = Bun.which("node") ?? "node"
const folder = temporaryFolder()
let recorded: Recorded
let bundle: string
let expected: string

beforeAll(async () => {
  recorded = await recordSession()
  bundle = await bundleInto(folder.path)
  expected = (await cli(["inspect", recorded.session], recorded.env)).stdout
}, 120_000)
afterAll(async () => {
  await recorded?.close()
  folder[Symbol.dispose]()
})

async function onNode(path: string, args: string[], env: Record<string, string> = {}, cwd?: string): Promise<Result> {
  const child = Bun.spawn([node, bundle, ...args], {
    env: { PATH: path, HOME: folder.path, ...recorded.env, ...env },
    ...(cwd === undefined ? {} : { cwd }),
    stdout: "pipe",
    stderr: "pipe",
  })
  const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  return { code: await child.exited, stdout, stderr }
}

test("an export is read on plain Node, without any Bun", async () => {
  using bin = temporaryFolder()
  const { code, stdout, stderr } = await onNode(bin.path, [
    "inspect",
    recorded.file,
    "--options",
    '{"fold":{"enabled":false}}',
  ])
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
  expect(stdout).toContain("<hud>")
})

test.each(["18.20.8", "20.9.0"])("an old Node is named, with the one that is needed: %s", async (version) => {
  const old = `data:text/javascript,Object.defineProperty(process.versions,'node',{value:'${version}'})`
  const { code, stdout, stderr } = await onNode("", ["status"], { NODE_OPTIONS: `--import ${old}` })
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" })
  expect(stderr).toBe(`hudfold: needs Node 20.12 or newer, and this is Node ${version}\n`)
})

test("a session is read with the bun on PATH", async () => {
  using bin = temporaryFolder()
  const path = linkCommands(bin.path, { bun: process.execPath })
  expect(await onNode(path, ["inspect", recorded.session])).toEqual({ code: 0, stdout: expected, stderr: "" })
  // Bun's own cache of the bundle
  expect(existsSync(join(folder.path, ".bun"))).toBe(false)
})

test("a session is read with OpenCode's own binary when there is no bun", async () => {
  using bin = temporaryFolder()
  const path = linkCommands(bin.path, { opencode })
  expect(await onNode(path, ["inspect", recorded.session])).toEqual({ code: 0, stdout: expected, stderr: "" })
})

test("started by a link without an extension, as npm installs it, it finds its own file", async () => {
  using bin = temporaryFolder()
  const path = linkCommands(bin.path, { opencode })
  const link = join(bin.path, "opencode-hudfold")
  symlinkSync(bundle, link)
  const child = Bun.spawn([node, link, "inspect", recorded.session], { env: { PATH: path, ...recorded.env } })
  expect(await new Response(child.stdout).text()).toBe(expected)
})

test("the exit code and the message of the second run are passed on", async () => {
  using bin = temporaryFolder()
  const path = linkCommands(bin.path, { opencode })
  const { code, stdout, stderr } = await onNode(path, ["inspect", "ses_nope"])
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" })
  expect(stderr).toMatch(/^hudfold: no session "ses_nope" in [^\n]+\n$/)
})

test("without bun and opencode, it uses Node's own SQLite, or says what to do", async () => {
  using bin = temporaryFolder()
  const { code, stdout, stderr } = await onNode(bin.path, ["inspect", recorded.session])
  expect({ code, stdout }).toEqual(nodeHasSqlite ? { code: 0, stdout: expected } : { code: 2, stdout: "" })
  if (nodeHasSqlite) expect(stderr).toBe("")
  else
    expect(stderr).toMatch(
      /^hudfold: Node [^\n]+ put opencode or bun on PATH, or use Node 22\.16 or newer, or name a file: [^\n]+\n$/,
    )
})

test.skipIf(nodeHasSqlite)("a store that cannot be read there is said, since an estimate ignores it", async () => {
  using bin = temporaryFolder()
  writeFileSync(join(bin.path, "hud.db"), "SQLite format 3\0".padEnd(4096, "\0"))
  const env = { HUDFOLD_DATA: bin.path }
  const { code, stderr } = await onNode(bin.path, ["replay", recorded.file], env)
  expect([code, stderr]).toEqual([
    0,
    expect.stringMatching(/^hudfold: Node [^\n]+ has no SQLite[^\n]+; what hudfold saved in a session is not known\n$/),
  ])
})

// Node 20 lacks functions that Bun and newer Nodes have; the compiler's `lib` keeps them out of what is written here
test("stats without a store says on plain Node that nothing is measured", async () => {
  using bin = temporaryFolder()
  const { code, stderr } = await onNode(bin.path, ["stats"], { HUDFOLD_DATA: bin.path })
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: expect.stringMatching(/^hudfold: nothing is measured in \S+hud\.db yet: /),
  })
})

test("a bun that is really node does not start endless copies", async () => {
  using bin = temporaryFolder()
  const path = linkCommands(bin.path, { bun: node })
  const { code, stderr } = await onNode(path, ["inspect", recorded.session])
  expect(code).toBe(nodeHasSqlite ? 0 : 2)
  expect(stderr).toMatch(nodeHasSqlite ? /^$/ : /^hudfold: [^\n]+\n$/)
})

test("Bun's preloads of the current project are not run", async () => {
  using bin = temporaryFolder()
  using project = temporaryFolder()
  writeFileSync(join(project.path, "bunfig.toml"), 'preload = ["./evil.js"]\n')
  writeFileSync(join(project.path, "evil.js"), 'process.stdout.write("preloaded")\n')
  writeFileSync(join(project.path, ".env"), "OPENCODE_DB=/nowhere.db\n")
  const path = linkCommands(bin.path, { bun: process.execPath })
  const result = await onNode(path, ["inspect", recorded.session], {}, project.path)
  expect(result).toEqual({ code: 0, stdout: expected, stderr: "" })
})

test("sessions in a data folder relative to the working directory are found, and nothing of the plugin's own is put there", async () => {
  using bin = temporaryFolder()
  using project = temporaryFolder()
  mkdirSync(join(project.path, "sub"))
  symlinkSync(recorded.env.XDG_DATA_HOME, join(project.path, "data"))
  const path = linkCommands(bin.path, { opencode })
  const env = { XDG_DATA_HOME: "../data" }
  const { stderr, ...result } = await onNode(path, ["inspect", recorded.session], env, join(project.path, "sub"))
  expect(result).toEqual({ code: 0, stdout: expected })
  expect(stderr).toMatch(/^hudfold: XDG_DATA_HOME must be an absolute path and is ignored; [^\n]+\n$/)
})

test("the variable that turns OpenCode into Bun is not inherited by child processes", () => {
  const env = { BUN_BE_BUN: "1", HUDFOLD_ON_BUN: process.cwd(), PATH: "/bin" }
  clearBunEnvironment(env)
  expect(env).toEqual({ PATH: "/bin" } as typeof env)
})
