// A compaction that no model writes: off by default; with it nothing of the user is lost, and every step stays recallable.

import { afterAll, beforeAll, expect, test } from "bun:test"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as module from "../../../src/plugin.ts"
import { fakeHostV2, heard, loadedModule, MODEL_V2, textsOf, toolV2, USAGE } from "../../support/host-v2.ts"
import { opencodeDatabase, V2_TABLES } from "../../support/opencode-database.ts"

const folder = mkdtempSync(join(tmpdir(), "compaction-v2-"))
const before = process.env.OPENCODE_DB
beforeAll(() => {
  process.env.OPENCODE_DB = join(folder, "opencode.db")
})
afterAll(() => {
  if (before === undefined) delete process.env.OPENCODE_DB
  else process.env.OPENCODE_DB = before
  rmSync(folder, { recursive: true, force: true })
})

const BY_MODEL = "the model's summary"
const WORDS = ["make the login test pass on node 22, please", '  keep the <names>,\n\tand mind "quotes"  ']
const listing = (n: number) => Array.from({ length: 60 }, (_, i) => `export const value${n}_${i} = ${i}`).join("\n")

async function begin(options: object = {}, model: object = MODEL_V2) {
  const host = fakeHostV2({ model })
  const given = { store: { enabled: false }, deadlineMs: 5000, ...options }
  const cleanup = (await loadedModule(module).setup(host.context(given))) as () => Promise<void>
  /** of each request, in tokens */
  const sizes: number[] = []
  const step = async (content: Record<string, unknown>) => {
    const size = Math.round(JSON.stringify((await host.request()).messages).length / 4)
    sizes.push(size)
    host.answer([content], { ...USAGE, cache: { read: size, write: 0 } })
    await heard()
  }
  const turn = async (words: string, first: number, steps: number) => {
    host.user(words)
    for (let n = first; n < first + steps; n++)
      await step(toolV2("call_1", "read", { path: `src/file-${n}.ts` }, listing(n)))
    await step({ type: "text", text: `Done with ${words}.` })
  }
  await turn(WORDS[0] as string, 0, 6)
  await turn(WORDS[1] as string, 6, 6)
  const compact = async (told?: string) => {
    const { messages } = await host.compact(told)
    return { asked: textsOf(messages), summary: String(host.messages.at(-1)?.summary) }
  }
  return { host, sizes, step, turn, compact, cleanup }
}

test("unless it is asked for, the model writes the summary, and gets the facts", async () => {
  const { compact, cleanup } = await begin()
  const { asked, summary } = await compact()
  expect(summary).toBe(BY_MODEL)
  expect(asked.at(-1)).toStartWith("Facts about this session")
  await cleanup()
})

test("it holds the user's words verbatim, a record of every step, and the facts; all steps come back", async () => {
  const { host, turn, compact, cleanup } = await begin({ fold: { compaction: true } })
  const { summary } = await compact("Summarise the conversation above.")
  expect(summary).not.toContain("Summarise the conversation")
  for (const words of WORDS) expect(summary).toContain(`The user: ${words}\n`)
  for (let n = 0; n < 12; n++) expect(summary).toContain(`read src/file-${n}.ts`)
  expect(summary).toContain("Facts about this session")
  // what the steps returned is not in it
  expect(summary).not.toContain("value3_59")

  const database = opencodeDatabase(join(folder, "opencode.db"), V2_TABLES)
  database.v2("ses_v2", 1, host.messages)
  database.close()
  expect(await host.call("hud_recall", { steps: "4" })).toContain("value3_59")

  await turn("and now the logout", 20, 2)
  const texts = textsOf((await host.request()).messages)
  expect(texts[0]).toContain(summary)
  // the next one carries it on
  const { summary: second } = await compact()
  expect(second).toContain(`The user: ${WORDS[1]}\n`)
  expect(second).toContain("The user: and now the logout\n")
  expect(second).toContain("read src/file-0.ts")
  expect(second).toContain("read src/file-21.ts")
  expect(second.match(/conversation-checkpoint/g)).toBeNull()
  await cleanup()
})

const WRAPPER = [
  "The following is a summary of earlier conversation.\n\n<summary>\n",
  "\n</summary>\n\n<recent-context>\nthe newest\n</recent-context>",
] as const

test("an earlier summary is carried without its head and its facts, which may have changed", async () => {
  const { host, turn, step, compact, cleanup } = await begin({ fold: { compaction: true } })
  const run = async (text: string, exit: number) => {
    host.user("run the tests")
    await step(toolV2("call_1", "shell", { command: "npm test" }, text, false, { exit }))
    await step({ type: "text", text: "Ran." })
  }
  const count = (text: string, words: string) => text.split(words).length - 1
  await run("Tests: 3 failed, 5 passed\n\nCommand exited with code 1.", 1)
  const { summary: first } = await compact()
  expect(count(first, "- failing since")).toBe(1)

  // as OpenCode wraps it: a sentence before it, and the newest messages behind
  const stored = host.messages.at(-1)
  if (stored) stored.summary = `${WRAPPER[0]}${first}${WRAPPER[1]}`
  await run("Tests: 8 passed\n\nCommand exited with code 0.", 0)
  const quoted = "put <facts>\nas they are\n</facts> into the page"
  await turn(quoted, 20, 1)
  const { summary: second } = await compact()
  expect(count(second, "Put together by hudfold")).toBe(1)
  expect(count(second, "Facts about this session")).toBe(1)
  expect(second).not.toContain("- failing since")
  expect(second).toContain(WRAPPER[1])
  for (const words of [...WORDS, quoted]) expect(count(second, `The user: ${words}`)).toBe(1)

  const { summary: third } = await compact()
  expect(count(third, "Put together by hudfold")).toBe(1)
  expect(count(third, "Facts about this session")).toBe(1)
  expect(count(third, `The user: ${quoted}`)).toBe(1)
  await cleanup()
})

test.each([
  ["the agent may not recall", {}, MODEL_V2, true],
  ["it would be too long for the model's context", {}, { ...MODEL_V2, limit: { context: 3000, output: 500 } }, false],
  ["folding is off", { enabled: false }, MODEL_V2, false],
])("the model writes it where %s", async (_, fold, model, denied) => {
  const { host, compact, cleanup } = await begin({ fold: { compaction: true, ...fold } }, model)
  host.denied = denied
  expect((await compact()).summary).toBe(BY_MODEL)
  await cleanup()
})

test.each([
  ["is summarised", 0],
  ["is kept in OpenCode's words", 2],
])("the step before a compaction, which no request has shown yet, is in the facts where it %s", async (_, kept) => {
  const { host, compact, cleanup } = await begin()
  host.answer([toolV2("call_1", "write", { path: "src/newest.ts", content: "" }, "Wrote file")])
  await heard()
  const texts = textsOf((await host.compact(undefined, kept)).messages)
  expect(texts.at(-1)).toContain("files edited: src/newest.ts")
  expect((await compact()).asked.at(-1)).toContain("files edited: src/newest.ts")
  host.user("go on")
  expect(textsOf((await host.request()).messages).at(-1)).toContain("files edited: newest.ts")
  await cleanup()
})

test.each([{ retained: [] }, { retained: WORDS }])(
  "what was known before a compaction by the provider, whose summary only it can read, is known after it: %o",
  async ({ retained }) => {
    const { host, step, cleanup } = await begin()
    await host.request()
    host.store({ id: "msg_native", type: "compaction", status: "completed", reason: "auto", retained })
    const hudOf = async () => {
      host.user("go on")
      return textsOf((await host.request()).messages).at(-1)
    }
    const first = await hudOf()
    expect(first).toContain("call 15")
    expect(first).toContain("compacted once")
    await step(toolV2("call_1", "read", { path: "src/last.ts" }, listing(20)))
    await host.request()
    host.store({ id: "msg_native_2", type: "compaction", status: "completed", reason: "auto", retained })
    const second = await hudOf()
    expect(second).toContain("call 16")
    expect(second).toContain("compacted 2 times")
    await cleanup()
  },
)

test("the facts and the records are not the user's words where the provider kept them with those", async () => {
  const { host, step, cleanup } = await begin({ fold: { maxContextTokens: 8000 } })
  for (let n = 20; n < 40; n++) await step(toolV2("call_1", "read", { path: `src/file-${n}.ts` }, listing(n)))
  const record = textsOf((await host.request()).messages).find((text) => /^Steps \d/.test(text))
  const ours = [record, textsOf((await host.compact()).messages).at(-1)] as string[]
  host.messages.pop()
  const retained = [WORDS[0] as string, ...ours]
  host.store({ id: "msg_native", type: "compaction", status: "completed", reason: "auto", retained })
  const texts = textsOf((await host.request()).messages)
  expect(texts.slice(0, retained.length)).toEqual(retained)
  expect(texts.at(-1)).toMatch(/^<hud>(?!.*task "(?:Facts|Steps))/s)
  expect(textsOf((await host.compact()).messages).at(-1)).not.toMatch(/asked: "(?:Facts|Steps)/)
  await cleanup()
})

test("the model writes it where an earlier summary is one that only the provider can read", async () => {
  const { host, turn, compact, cleanup } = await begin({ fold: { compaction: true } })
  host.store({ id: "msg_native", type: "compaction", status: "completed", reason: "auto" })
  await turn("go on", 20, 6)
  expect((await compact()).summary).toBe(BY_MODEL)
  await cleanup()
})

test("the provider's own summary is sent also when the steps right after it are folded", async () => {
  const { host, step, cleanup } = await begin({ fold: { maxContextTokens: 8000 } })
  await host.request()
  host.store({ id: "msg_native", type: "compaction", status: "completed", reason: "auto", retained: WORDS })
  for (let n = 20; n < 40; n++) await step(toolV2("call_1", "read", { path: `src/file-${n}.ts` }, listing(n)))
  const { messages } = await host.request()
  expect(textsOf(messages.slice(0, 2))).toEqual(WORDS)
  expect(messages[2]?.content).toMatchObject([{ type: "compaction", encrypted: "sealed msg_native" }])
  expect(textsOf(messages)[3]).toStartWith("Steps 15-")
  await cleanup()
})

test.each(["mistral/devstral-medium", "ollama/gemma3"])(
  "neither the facts nor a record is a user's message that %s would not take there",
  async (name) => {
    const [providerID, id] = name.split("/")
    const model = { ...MODEL_V2, providerID, id, limit: { context: 40_000, output: 2000 } }
    const { host, turn, cleanup } = await begin({ fold: { protectedFiles: ["file-30.ts"] } }, model)
    await turn("now all the others", 20, 60)
    const { messages } = await host.compact("Summarise this.")
    const texts = textsOf(messages).join("\n")
    expect(texts).toContain("Facts about this session")
    expect(texts).toContain("kept by hudfold as a record")
    const roles = messages.map(({ role }) => role)
    expect(roles.filter((role, at) => role === "user" && ["user", "tool"].includes(roles[at - 1] ?? ""))).toEqual([])
    await cleanup()
  },
)

test("a session that fits the model's context only with its folds is sent folded", async () => {
  const { host, sizes, step, cleanup } = await begin({}, { ...MODEL_V2, limit: { context: 60_000, output: 2000 } })
  host.user("now read the long ones")
  for (let n = 20; n < 40; n++) {
    const long = Array.from({ length: 10 }, (_, part) => listing(100 * n + part)).join("\n")
    await step(toolV2("call_1", "read", { path: `src/file-${n}.ts` }, long))
  }
  expect(Math.max(...sizes)).toBeLessThan(40_000)
  const size = JSON.stringify(host.messages).length / 4
  expect(size).toBeGreaterThan(60_000)
  const sent = JSON.stringify((await host.compact("Summarise this.")).messages).length / 4
  expect(sent).toBeLessThan(40_000)
  await cleanup()
})

test("another plugin's summary stands", async () => {
  const { host, compact, cleanup } = await begin({ fold: { compaction: true } })
  expect((await compact()).summary).toContain("The user:")
  host.user("go on")
  const context = host.context({ store: { enabled: false }, fold: { compaction: true } })
  await cleanup()
  host.unload()
  host.hook("compaction", (event) => {
    event.result = { summary: "another's" }
  })
  const again = (await loadedModule(module).setup(context)) as () => Promise<void>
  expect((await compact()).summary).toBe("another's")
  await again()
})

test.each([
  ["in the same process", false],
  ["in the next process", true],
])("a compaction that is undone or fails, %s, leaves the session as it was sent before", async (_, isNext) => {
  const options = { fold: { compaction: true }, store: { path: join(folder, `undone-${isNext}.db`) }, deadlineMs: 5000 }
  const { host, turn, compact, cleanup } = await begin(options)
  await turn("now all the others", 20, 20)
  host.user("go on")
  const texts = async () => textsOf((await host.request()).messages).filter((text) => !text.includes("<hud>"))
  const before = await texts()
  const messages = [...host.messages]
  expect((await compact()).summary).not.toBe(BY_MODEL)
  host.messages.splice(0, host.messages.length, ...messages)
  if (isNext) {
    await cleanup()
    host.unload()
    await loadedModule(module).setup(host.context(options))
  }
  expect(await texts()).toEqual(before)
})

test("a session that was resumed only to be compacted is summarised the same way", async () => {
  const { host, cleanup } = await begin()
  await cleanup()
  host.unload()
  const context = host.context({ store: { enabled: false }, fold: { compaction: true }, deadlineMs: 5000 })
  const again = (await loadedModule(module).setup(context)) as () => Promise<void>
  await host.compact()
  expect(String(host.messages.at(-1)?.summary)).toContain(`The user: ${WORDS[1]}\n`)
  await again()
})

test("a session stays below the size at which OpenCode 2 compacts, also with a small context", async () => {
  // it compacts when less than 20,000 tokens are free
  const { sizes, turn, cleanup } = await begin({}, { ...MODEL_V2, limit: { context: 40_000, output: 2000 } })
  await turn("now all the others", 20, 60)
  expect(Math.max(...sizes)).toBeGreaterThan(10_000)
  expect(Math.max(...sizes)).toBeLessThan(20_000)
  await cleanup()
})
