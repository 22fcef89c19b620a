// What a user installs: the packed tarball, put in place by the real OpenCode, and the same files under plain Node.

import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { execFile } from "node:child_process"
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { createHost, findOpencode } from "../opencode/host.ts"
import { startProvider } from "../opencode/provider.ts"
import { hudsOf } from "../opencode/request.ts"
import { nodeHasSqlite } from "../store/support.ts"
import { PARTIAL_CONTEXT } from "../support/host-v2.ts"
import { testLarge } from "../support/large.ts"
import { pack } from "../support/pack.ts"
import { say, TWICE } from "../support/world.ts"

const run = promisify(execFile)
const root = fileURLToPath(new URL("../..", import.meta.url))
const MAX_BYTES = 10 * 1024 * 1024
const folder = mkdtempSync(join(tmpdir(), "opencode-hudfold-pack-"))
let tarball = ""

beforeAll(async () => {
  tarball = (await pack(folder)).tarball
}, 60_000)

afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe("the package", () => {
  test("installed by the real OpenCode, it is small, loads and sends its HUD", async () => {
    const provider = await startProvider([TWICE, say("done")])
    const host = createHost({ opencode: findOpencode(), url: provider.url, plugin: `opencode-hudfold@file:${tarball}` })
    try {
      const { exitCode, stderr } = await host.run("read the readme")
      expect(stderr).not.toContain("opencode-hudfold")
      expect(exitCode).toBe(0)
      expect(provider.from("main").flatMap(hudsOf)).toHaveLength(1)
      const cache = join(host.root, "cache", "opencode", "packages")
      const files = readdirSync(cache, { recursive: true, encoding: "utf8" }).map((name) => join(cache, name))
      const bytes = files.reduce((total, file) => total + (statSync(file).isFile() ? statSync(file).size : 0), 0)
      const manifests = files.filter((file) => /node_modules[/\\](@[^/\\]+[/\\])?[^/\\]+[/\\]package\.json$/.test(file))
      expect(bytes).toBeLessThan(MAX_BYTES)
      expect(manifests.map((file) => dirname(file).split(/[/\\]/).at(-1))).toEqual(["opencode-hudfold"])
    } finally {
      await host.close()
      await provider.close()
    }
  }, 120_000)
})

describe("under plain Node, without Bun", () => {
  test("the built plugin loads, its hooks work, and its store is a file, or in memory where Node has no SQLite", async () => {
    const program = `
      const { default: plugin } = await import(${JSON.stringify(join(root, "dist/plugin.js"))})
      const logged = []
      const client = { app: { log: async ({ body }) => void logged.push(body), agents: async () => ({ data: [] }) }, tui: { showToast: async () => {} } }
      const input = { client, directory: "/r", worktree: "/r" }
      const hooks = await plugin.server(input, {})
      const other = await plugin.server(input, {})
      const info = { id: "m2", role: "assistant", sessionID: "s", time: { created: 1 } }
      const part = { id: "p", type: "tool", tool: "read", callID: "c", state: { status: "completed", input: { filePath: "/r/a.ts" }, output: "1: first", time: { start: 1, end: 2 } } }
      const messages = [{ info: { id: "m1", role: "user", sessionID: "s" }, parts: [{ type: "text", text: "go" }] }, { info, parts: [part, { ...part, id: "q", callID: "d" }] }]
      await hooks["experimental.chat.messages.transform"]({}, { messages })
      const system = { system: ["You are OpenCode."] }
      await hooks["experimental.chat.system.transform"]({ sessionID: "s", model: {} }, system)
      await hooks.event({ event: { type: "session.idle", properties: { sessionID: "s" } } })
      await hooks.dispose()
      await other.dispose()
      console.log(JSON.stringify({ bun: typeof Bun, last: messages.at(-1).parts[0].text, system: system.system, logged }))`
    const { stdout, stderr } = await run("node", ["--input-type=module", "-e", program], {
      env: { PATH: process.env.PATH ?? "", XDG_DATA_HOME: folder },
    })
    const { bun, last, system, logged } = JSON.parse(stdout) as {
      bun: string
      last: string
      system: string[]
      logged: { level: string; message: string }[]
    }
    expect(stderr).toBe("")
    expect(bun).toBe("undefined")
    expect(last).toContain("same result again read a.ts 2x")
    expect(system).toEqual(["You are OpenCode."])
    const memory = { level: "warn", message: expect.stringContaining("memory") }
    expect(logged).toMatchObject(nodeHasSqlite ? [] : [memory])
    expect(existsSync(join(folder, "opencode-hudfold/hud.db"))).toBe(nodeHasSqlite)
  }, 30_000)
})

test("under plain Node in OpenCode 2: HUD, folds, recall, and the store's file where Node has SQLite", async () => {
  const fake = join(folder, "host-v2.js")
  const built = await Bun.build({ entrypoints: [join(root, "test/support/host-v2.ts")], target: "node" })
  await Bun.write(fake, built.outputs[0] as Blob)
  const program = `
    const { default: plugin } = await import(${JSON.stringify(join(root, "dist/plugin.js"))})
    const { fakeHostV2, textsOf, toolV2, heard } = await import(${JSON.stringify(fake)})
    const host = fakeHostV2()
    const cleanup = await plugin.setup(host.context({ deadlineMs: 5000, fold: { maxContextTokens: 8000 } }))
    host.user("make the login test pass on node 22, please")
    let texts = []
    for (let n = 0; n < 20; n++) {
      texts = textsOf((await host.request()).messages)
      const listing = Array.from({ length: 300 }, (_, i) => "export const value" + n + "_" + i + " = " + i).join("\\n")
      host.answer([toolV2("call_" + n, "read", { path: "src/file-" + n + ".ts" }, listing)])
      await heard()
    }
    const recalled = await host.call("hud_recall", { steps: "1" })
    host.end()
    await heard()
    await cleanup()
    host.unload()
    console.log(JSON.stringify({ bun: typeof Bun, hud: texts.at(-1).startsWith("<hud>"), record: texts.some((text) => text.startsWith("Steps 1-")), recalled: recalled.includes("value0_299") }))`
  const data = join(folder, "data-v2")
  const { stdout, stderr } = await run("node", ["--input-type=module", "-e", program], {
    env: { PATH: process.env.PATH ?? "", XDG_DATA_HOME: data },
  })
  expect(stderr).toBe("")
  expect(JSON.parse(stdout)).toEqual({ bun: "undefined", hud: true, record: true, recalled: true })
  expect(existsSync(join(data, "opencode-hudfold/hud.db"))).toBe(nodeHasSqlite)
}, 30_000)

describe("where OpenCode 2 looks", () => {
  // under plain Node, with none of the terminal's libraries
  const loaded = async (target: string) => {
    const partial = Object.keys(PARTIAL_CONTEXT)
    const program = `
      const module = await import(${JSON.stringify(target)})
      const context = Object.fromEntries(${JSON.stringify(partial)}.map((name) => [name, {}]))
      const { id, server, setup } = module.default
      const nothing = await setup(context)
      console.log(JSON.stringify({ exports: Object.keys(module), keys: Object.keys(module.default), id, nothing: nothing === undefined, plain: Object.getPrototypeOf(module.default) === Object.prototype, types: [typeof server, typeof setup] }))`
    const { stdout, stderr } = await run("node", ["--input-type=module", "-e", program], {
      cwd: root,
      env: { PATH: process.env.PATH ?? "", HUDFOLD_DATA: join(folder, "untouched") },
    })
    expect(stderr).toBe("")
    return JSON.parse(stdout) as object
  }
  const EXPECTED = {
    exports: ["default"],
    keys: ["id", "server", "setup"],
    id: "opencode-hudfold",
    nothing: true,
    plain: true,
    types: ["function", "function"],
  }

  test("in a configured folder, server.* comes before index.*; it is the plugin", async () => {
    const entries = readdirSync(root).filter((name) => /^(?:server|index|tui)\./.test(name))
    expect(entries.sort()).toEqual(["server.js", "tui.js"])
    expect(await loaded(join(root, "server.js"))).toEqual(EXPECTED)
    expect(existsSync(join(folder, "untouched"))).toBe(false)
  })

  test("of an installed package it is the export ./server", async () => {
    expect(await loaded("opencode-hudfold/server")).toEqual(EXPECTED)
  })

  test("the terminal's half forwards to what is built", async () => {
    const text = readFileSync(join(root, "tui.js"), "utf8")
    expect(text).toContain('export { default } from "./dist/tui.js"')
    expect(existsSync(join(root, "dist/tui.js"))).toBe(true)
  })
})

describe("a checkout", () => {
  // by its source, every test in test/e2e loads it, and by its folder the one of the first use
  testLarge(
    "loads by its folder",
    async () => {
      const provider = await startProvider([TWICE, say("done")])
      const host = createHost({ opencode: findOpencode(), url: provider.url, plugin: root })
      try {
        expect((await host.run("read the readme")).exitCode).toBe(0)
        expect(provider.from("main").flatMap(hudsOf)).toHaveLength(1)
      } finally {
        await host.close()
        await provider.close()
      }
    },
    60_000,
  )
})
