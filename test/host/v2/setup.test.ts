// The module as OpenCode 2 loads it: the loader's rules, the partial context of OpenCode 1, and the whole life of a session.

import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as module from "../../../src/plugin.ts"
import { openStore } from "../../../src/store/open.ts"
import { fakeHostV2, heard, loadedModule, PARTIAL_CONTEXT, textsOf, toolV2 } from "../../support/host-v2.ts"

const folder = mkdtempSync(join(tmpdir(), "host-v2-"))
const before = process.env.HUDFOLD_DATA
beforeAll(async () => {
  process.env.HUDFOLD_DATA = folder
  // a request waits half a second for the store, which a busy machine may need to load its code
  const store = await openStore({ path: join(folder, "first.db"), onWarning() {} })
  await store.close()
})
afterAll(() => {
  if (before === undefined) delete process.env.HUDFOLD_DATA
  else process.env.HUDFOLD_DATA = before
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

test("the life of a session: HUD, paragraph, folds, recall, compaction, the end of a turn, deletion, reload", async () => {
  const host = fakeHostV2()
  const store = { path: join(folder, "life.db") }
  const cleanup = await load(host, { store })
  expect([...host.tools.keys()]).toEqual(["hud_recall"])
  host.user("make the login test pass on node 22, please")
  const requests = await work(host, 30)
  for (const { system, messages } of requests) {
    expect(system).toHaveLength(2)
    expect(system[1]?.text).toStartWith("Instructions of the project.\n\nA <hud> block is a status by hudfold")
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
  await new Promise((resolve) => setTimeout(resolve, 400))
  expect(JSON.stringify(readdirSync(folder, { recursive: true }))).toContain("ses_v2")

  const summarised = textsOf((await host.compact()).messages)
  expect(summarised.at(-1)).toStartWith("Facts about this session")
  host.user("go on")
  const after = textsOf((await host.request()).messages)
  expect(after[0]).toStartWith("<conversation-checkpoint>")
  expect(after.filter((text) => text.startsWith("<hud>"))[0]).toContain("call 30")

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

test("an agent that may not call the tool gets no folds", async () => {
  const host = fakeHostV2()
  const cleanup = await load(host)
  host.denied = true
  host.user("make the login test pass on node 22, please")
  const requests = await work(host, 30)
  expect(requests.flatMap(({ messages }) => textsOf(messages)).filter((text) => text.startsWith("Steps "))).toEqual([])
  await cleanup()
})

test("two locations in one process: what one has not seen is the other's", async () => {
  const [one, other] = [fakeHostV2(), fakeHostV2({ sessionID: "ses_other", directory: "/home/dev/other" })]
  const cleanups = [await load(one), await load(other)]
  one.user("first task of the one location, in full words")
  other.user("second task of the other location, in full words")
  const [first, second] = [await one.request(), await other.request()]
  expect(textsOf(first.messages).join()).toContain("first task")
  expect(textsOf(first.messages).join()).not.toContain("second task")
  expect(textsOf(second.messages).join()).toContain("second task")
  for (const cleanup of cleanups) await cleanup()
})
