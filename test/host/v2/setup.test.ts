// The module as OpenCode 2 loads it: the loader's rules, the partial context of OpenCode 1, and the whole life of a session.

import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { logClient } from "../../../src/host/v2/setup.ts"
import * as module from "../../../src/plugin.ts"
import { readStatus, statusFolder } from "../../../src/status/files.ts"
import { openStore } from "../../../src/store/open.ts"
import { until } from "../../store/support.ts"
import {
  type FakeOptions,
  fakeHostV2,
  heard,
  loadedModule,
  MODEL_V2,
  PARTIAL_CONTEXT,
  textsOf,
  toolV2,
  USAGE,
} from "../../support/host-v2.ts"
import { opencodeDatabase, V2_TABLES } from "../../support/opencode-database.ts"

const folder = mkdtempSync(join(tmpdir(), "host-v2-"))
const before = { HUDFOLD_DATA: process.env.HUDFOLD_DATA, OPENCODE_DB: process.env.OPENCODE_DB }
beforeAll(async () => {
  process.env.HUDFOLD_DATA = folder
  process.env.OPENCODE_DB = join(folder, "opencode.db")
  // a request waits half a second for the store, which a busy machine may need to load its code
  const store = await openStore({ path: join(folder, "first.db"), onWarning() {} })
  await store.close()
})
afterAll(() => {
  for (const [name, value] of Object.entries(before))
    if (value === undefined) delete process.env[name]
    else process.env[name] = value
  rmSync(folder, { recursive: true, force: true })
})

const plugin = loadedModule(module)
const load = async (host: ReturnType<typeof fakeHostV2>, options: object = {}) => {
  const cleanup = await plugin.setup(host.context({ store: { enabled: false }, deadlineMs: 5000, ...options }))
  return cleanup as () => Promise<void>
}

describe("the loader", () => {
  const { id, server, setup } = module.default
  class Plugin {
    id = "x"
    setup() {}
  }
  const rows: [string, object, boolean][] = [
    ["{id, server, setup}", { default: { id, server, setup } }, true],
    ["{id, setup}", { default: { id, setup } }, true],
    ["{id, server}", { default: { id, server } }, false],
    ["a function", { default: () => {} }, false],
    ["named exports only", { id, setup }, false],
    ["setup without id", { default: { setup } }, false],
    ["a class instance", { default: new Plugin() }, false],
    [
      "an id on a getter",
      {
        default: {
          get id() {
            return "x"
          },
          setup,
        },
      },
      false,
    ],
    ["an effect beside it", { default: { id, setup, effect: {} } }, false],
    ["what this package exports", module, true],
  ]
  test.each(rows)("%s", (_, given, loads) => {
    if (loads) expect(loadedModule(given as never).id).toBeString()
    else expect(() => loadedModule(given as never)).toThrow()
  })

  test("the export has no effect, which would be taken for the setup", () => {
    expect(Object.keys(module.default)).toEqual(["id", "server", "setup"])
  })
})

test("with the context of OpenCode 1, setup does nothing", async () => {
  const files = readdirSync(folder)
  for (const context of [PARTIAL_CONTEXT, {}, undefined, null, { session: {} }])
    expect(await plugin.setup(context as never)).toBeUndefined()
  await heard()
  expect(readdirSync(folder)).toEqual(files)
})

test("a location whose options switch the plugin off has no hooks", async () => {
  const host = fakeHostV2()
  expect(await load(host, { enabled: false })).toBeUndefined()
  host.user("say hello")
  expect(textsOf((await host.request()).messages)).toEqual(["say hello"])
})

const listing = (name: string) =>
  Array.from({ length: 300 }, (_, i) => `-rw-r--r-- 1 dev ${1000 + i} src/${name}/part-${i}.ts`).join("\n")

/** Runs steps until something is folded. */
async function work(host: ReturnType<typeof fakeHostV2>, steps: number) {
  const sent = []
  for (let n = 0; n < steps; n++) {
    sent.push(await host.request())
    const [id, name] = [`call_${n}`, `dir-${n}`]
    host.answer(
      n < 3
        ? [
            { type: "text", text: `Looking at ${name}.` },
            toolV2(id, "shell", { command: `ls -l src/${name}` }, listing(name)),
          ]
        : [toolV2(id, "read", { path: `src/quiet-${n}.ts` }, `export const n${n} = ${n}\n`)],
    )
    await heard()
  }
  return sent
}

test("the life of a session: HUD, folds, recall, compaction, the end of a turn, deletion, reload", async () => {
  const host = fakeHostV2()
  const store = { path: join(folder, "life.db") }
  const cleanup = await load(host, { store })
  expect([...host.tools.keys()]).toEqual(["hud_recall"])
  host.user("make the login test pass on node 22, please")
  const requests = await work(host, 30)
  for (const { system, messages } of requests) {
    expect(system).toEqual([
      { type: "text", text: "You are OpenCode." },
      { type: "text", text: "Instructions of the project." },
    ])
    expect(textsOf(messages).filter((text) => text.startsWith("<hud>")).length).toBeLessThanOrEqual(1)
  }
  const last = requests.at(-1)
  const texts = textsOf(last?.messages ?? [])
  expect(texts.at(-1)).toStartWith("<hud>")
  const record = texts.find((text) => /^Steps \d+-\d+ of this session/.test(text)) ?? ""
  expect(record).toContain("ls -l src/dir-0")
  expect(await host.call("hud_recall", { steps: "1" })).toContain("src/dir-0/part-299.ts")

  host.end()
  // the panel's file follows a moment later
  await until(() => JSON.stringify(readdirSync(folder, { recursive: true })).includes("ses_v2"))

  const summarised = textsOf((await host.compact()).messages)
  expect(summarised.at(-1)).toStartWith("Facts about this session")
  host.user("go on")
  const after = textsOf((await host.request()).messages)
  expect(after[0]).toStartWith("<conversation-checkpoint>")
  expect(after.filter((text) => text.startsWith("<hud>"))[0]).toContain("call 31")
  // OpenCode answers with what followed the compaction; what was before it is in its database
  expect(await host.call("hud_recall", { steps: "1-3" })).not.toContain("part-299.ts")
  const database = opencodeDatabase(join(folder, "opencode.db"), V2_TABLES)
  database.v2("ses_v2", 1, host.messages)
  database.close()
  for (const steps of ["1", "1-20"]) expect(await host.call("hud_recall", { steps })).toContain("src/dir-0/part-299.ts")

  await cleanup()
  host.unload()
  const again = await load(host, { store })
  await host.request()
  host.emit("session.deleted")
  await heard()
  await again()
  const stored = await openStore({ path: store.path, onWarning() {} })
  expect(await stored.loadFolds("ses_v2")).toEqual([])
  await stored.close()
  expect(existsSync(store.path)).toBe(true)
}, 20_000)

test("a session deleted while its request waits for OpenCode's answer leaves no status", async () => {
  const host = fakeHostV2({ sessionID: "ses_gone" })
  const cleanup = await load(host, { store: { path: join(folder, "gone.db") } })
  host.user("make the login test pass on node 22, please")
  await host.request()
  await work(host, 2)
  const waiting = host.request()
  host.emit("session.deleted")
  await waiting
  await cleanup()
  expect(JSON.stringify(readdirSync(folder, { recursive: true }))).not.toContain("ses_gone")
})

test("of a deleted session nothing stays that an earlier process has stored", async () => {
  const host = fakeHostV2({ sessionID: "ses_old" })
  const store = { path: join(folder, "old.db") }
  const cleanup = await load(host, { store })
  host.user("make the login test pass on node 22, please")
  await work(host, 30)
  await cleanup()
  host.unload()
  const folds = async () => {
    const stored = await openStore({ path: store.path, onWarning() {} })
    const { length } = await stored.loadFolds("ses_old")
    await stored.close()
    return length
  }
  expect(await folds()).toBeGreaterThan(0)
  expect(await readStatus(statusFolder(folder), "ses_old")).toBeDefined()
  const again = await load(host, { store })
  host.emit("session.deleted")
  await heard()
  await again()
  expect(await folds()).toBe(0)
  expect(await readStatus(statusFolder(folder), "ses_old")).toBeUndefined()
}, 20_000)

test("every folded step can be recalled, a failed one that reasoned too; a new process sends the same", async () => {
  const host = fakeHostV2({ sessionID: "ses_again" })
  const store = { path: join(folder, "again.db") }
  const cleanup = await load(host, { store })
  host.user("make the login test pass on node 22, please")
  await work(host, 2)
  const time = { created: Date.now(), completed: Date.now() }
  const content = [
    { type: "reasoning", text: "The clock is wrong." },
    toolV2("call_failed", "shell", { command: "ls -l src/failed" }, listing("failed")),
  ]
  host.store({ id: "msg_failed", type: "assistant", error: { type: "Aborted" }, content, tokens: USAGE, cost: 0, time })
  await heard()
  await work(host, 30)
  const texts = textsOf((await host.request()).messages)
  const [, to = 0] =
    /^Steps 1-(\d+) of this session/.exec(texts.find((text) => text.startsWith("Steps 1-")) ?? "") ?? []
  expect(Number(to)).toBeGreaterThan(3)
  expect(await host.call("hud_recall", { steps: "1" })).toContain("src/dir-0/part-299.ts")
  expect(await host.call("hud_recall", { steps: "3" })).toContain("src/failed/part-299.ts")
  expect(await host.call("hud_recall", { steps: `1-${to}` })).not.toContain("Not folded")
  await cleanup()
  host.unload()
  const again = await load(host, { store })
  const without = (all: readonly string[]) => all.filter((text) => !text.startsWith("<hud>"))
  expect(without(textsOf((await host.request()).messages))).toEqual(without(texts))
  await again()
}, 20_000)

test("a permission that is asked for is in the next HUD until it is answered", async () => {
  const host = fakeHostV2()
  const cleanup = await load(host, { fold: { enabled: false } })
  host.user("tidy up")
  await work(host, 2)
  const hud = async () => textsOf((await host.request()).messages).find((text) => text.startsWith("<hud>")) ?? ""
  host.emit("permission.asked", { id: "per_1", action: "bash", resources: ["rm -rf x"] })
  await heard()
  expect(await hud()).toContain("waiting permission for bash rm -rf x")
  host.emit("permission.replied", { requestID: "per_1", reply: "once" })
  await heard()
  expect(await hud()).not.toContain("waiting")
  await cleanup()
})

test("an agent that may not call the tool gets no folds", async () => {
  const host = fakeHostV2()
  const cleanup = await load(host)
  host.denied = true
  host.user("make the login test pass on node 22, please")
  const requests = await work(host, 30)
  expect(requests.flatMap(({ messages }) => textsOf(messages)).filter((text) => text.startsWith("Steps "))).toEqual([])
  await cleanup()
})

test("two locations in one process hear each other's events, and each counts its own sessions", async () => {
  const listeners: NonNullable<FakeOptions["listeners"]> = new Set()
  const one = fakeHostV2({ listeners })
  const other = fakeHostV2({ listeners, sessionID: "ses_other", directory: "/home/dev/other" })
  const store = { path: join(folder, "locations.db") }
  const [leave, stay] = [await load(one, { store }), await load(other, { store })]
  const turn = async (host: typeof one, task: string) => {
    host.user(task)
    const { messages } = await host.request()
    host.emit("session.execution.started")
    await heard()
    host.answer([{ type: "text", text: "Done." }])
    host.end()
    await heard()
    return textsOf(messages).join()
  }
  expect(await turn(one, "first task of the one location, in full words")).not.toContain("second task")
  expect(await turn(other, "second task of the other location, in full words")).not.toContain("first task")
  await leave()
  one.unload()
  await heard()
  expect(listeners.size).toBe(1)
  // the location that stays still has its hooks and the store
  expect(await turn(other, "third task of the other location")).toContain("second task")
  await stay()
  const stored = await openStore({ path: store.path, onWarning() {} })
  const calls = async (id: string) => (await stored.turns(id)).map(({ calls, output }) => ({ calls, output }))
  expect(await calls("ses_v2")).toEqual([{ calls: 1, output: USAGE.output }])
  expect(await calls("ses_other")).toEqual(Array(2).fill({ calls: 1, output: USAGE.output }))
  await stored.close()
})

test("in a folder of the project, commands run there, not in the project's own", async () => {
  const host = fakeHostV2({ directory: "/home/dev/shop/web", project: "/home/dev/shop" })
  const cleanup = await load(host)
  host.user("make the login test pass on node 22, please")
  await work(host, 30)
  const run = (id: string, input: object, output: string) =>
    toolV2(id, "shell", { command: "npm test", ...input }, output)
  host.answer([run("call_web", {}, "1 failed\nCommand exited with code 1.")])
  await host.request()
  // the same command in the project's own folder is another one
  host.answer([run("call_shop", { workdir: "/home/dev/shop" }, "2 passed\nCommand exited with code 0.")])
  const texts = textsOf((await host.request()).messages)
  const hud = texts.findLast((text) => text.startsWith("<hud>")) ?? ""
  expect(hud).toContain("\nfailing `npm test` ")
  await cleanup()
})

test("a call that is interrupted while its tools run counts in its turn", async () => {
  const host = fakeHostV2({ sessionID: "ses_interrupted" })
  const store = { path: join(folder, "interrupted.db") }
  const cleanup = await load(host, { store })
  host.user("make the login test pass on node 22, please")
  await work(host, 2)
  await host.request()
  const error = { type: "aborted", message: "Step interrupted" }
  host.emit("session.step.started", { assistantMessageID: "msg_stopped" })
  host.emit("session.step.failed", { assistantMessageID: "msg_stopped", error, cost: 0.01, tokens: USAGE })
  host.end("interrupted")
  await heard()
  await cleanup()
  const stored = await openStore({ path: store.path, onWarning() {} })
  expect((await stored.turns("ses_interrupted")).map(({ calls }) => calls)).toEqual([3])
  await stored.close()
})

test("limits and prices are those of OpenCode's list, usage is that of the steps that ended", async () => {
  const other = { ...MODEL_V2, id: "claude-opus-4-5", limit: { context: 1_000_000 } }
  const host = fakeHostV2({ sessionID: "ses_priced", models: [other, MODEL_V2] })
  const store = { path: join(folder, "prices.db") }
  const cleanup = await load(host, { store })
  host.user("make the login test pass on node 22, please")
  await host.request()
  host.emit("session.execution.started")
  await heard()
  for (let n = 0; n < 3; n++) {
    host.answer([toolV2(`call_${n}`, "read", { path: `src/${n}.ts` }, "export {}\n")], {
      ...USAGE,
      cache: { read: 60_000 + n * 400, write: 0 },
    })
    await heard()
    await host.request()
  }
  host.end()
  await heard()
  // the panel's file follows a moment later
  await until(async () => (await readStatus(statusFolder(folder), "ses_priced"))?.saved?.calls === 3)
  const status = await readStatus(statusFolder(folder), "ses_priced")
  expect(status).toMatchObject({
    model: "anthropic/claude-sonnet-4-5",
    context: { limit: 200_000, compactsAt: 180_000, estimated: false },
    saved: { calls: 3 },
  })
  // the last call's input, and what its tool returned since
  expect(status?.context.tokens).toBeWithin(61_200, 61_300)
  // 0.3, 3 and 15 dollars per million
  const paid = (180_000 + 1200) * 0.3e-6 + 3 * 400 * 3e-6 + 3 * 100 * 15e-6
  expect(status?.saved?.paidUsd).toBeCloseTo(paid, 6)
  await cleanup()
})

test.each(["", "/"])("a location in the folder %p leaves paths in outputs whole", async (directory) => {
  const host = fakeHostV2({ directory })
  const cleanup = await load(host)
  host.user("list the other project, please")
  const said = "ls: /home/dev/other: No such file or directory\nCommand exited with code 1."
  host.answer([toolV2("call_1", "shell", { command: "ls ../other" }, said)])
  expect(textsOf((await host.request()).messages).at(-1)).toContain("ls: /home/dev/other: No such file")
  await cleanup()
})

test("a full log is kept beside the next one, also when two lines are logged at once", async () => {
  const path = join(folder, "opencode2.log")
  writeFileSync(path, "x".repeat(1_000_000))
  const log = (message: string) =>
    logClient().app?.log({ body: { service: "opencode-hudfold", level: "warn", message } })
  await Promise.all([log("first"), log("second")])
  expect(statSync(`${path}.old`).size).toBe(1_000_000)
  expect(readFileSync(path, "utf8")).toMatch(/^\S+ warn first\n\S+ warn second\n$/)
})

test("a link in place of the log is not followed", async () => {
  const path = join(folder, "opencode2.log")
  const other = join(folder, "other.txt")
  rmSync(path, { force: true })
  writeFileSync(other, "")
  symlinkSync(other, path)
  const body = { service: "opencode-hudfold", level: "warn", message: "a line" } as const
  await expect(logClient().app?.log({ body })).rejects.toThrow()
  rmSync(path)
  expect(readFileSync(other, "utf8")).toBe("")
})
