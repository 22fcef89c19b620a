// The hooks, called as OpenCode calls them: what each does, what switches it off, and what it does not change.

import { describe, expect, test } from "bun:test"
import type { HostMessage } from "../../src/host/v1/message.ts"
import plugin from "../../src/plugin.ts"
import { recordsIn, wrongIn } from "../support/records.ts"
import { bash, read, SessionBuilder, usage } from "../support/session.ts"

type Call = (input: object, output: object) => Promise<void>

async function load(options: object = {}, more: object = {}) {
  const client = { app: { log: async () => {}, agents: async () => ({ data: [{ name: "build" }] }) }, tui: {}, ...more }
  const input = { client, directory: "/home/dev/shop", worktree: "/home/dev/shop" }
  const hooks = await plugin.server(input as never, { store: { enabled: false }, ...options })
  // the agents are requested in the background
  await new Promise((resolve) => setTimeout(resolve, 0))
  const call = (name: keyof typeof hooks) => hooks[name] as unknown as Call
  return {
    hooks,
    call,
    transform: async (messages: HostMessage[]) => {
      await call("experimental.chat.messages.transform")({}, { messages })
      return messages
    },
    system: async (text: string, sessionID?: string, model: object = MODEL) => {
      const output = { system: [text, "second"] }
      await call("experimental.chat.system.transform")({ sessionID, model }, output)
      return output.system
    },
    compacting: async () => {
      const output: { context: string[] } = { context: [] }
      await call("experimental.session.compacting")({ sessionID: "ses_test" }, output)
      return output.context
    },
    event: (type: string, properties: object) => call("event")({ event: { type, properties } }, {}),
  }
}

const MODEL = { id: "claude-sonnet-4-5", providerID: "anthropic", limit: { context: 100_000 } }

/** Long enough for a HUD, with nothing that fails or repeats. */
const looked = () =>
  [..."abcdef"].reduce(
    (session, name) => session.assistant([read(`${name}.ts`)], usage(15_000, 15_000)),
    new SessionBuilder().user("look around"),
  )

/** A session with news from the start: a file was read twice. */
const worked = () =>
  new SessionBuilder()
    .user("make the login test pass on node 22, please")
    .assistant([read("a.ts"), bash("npm test", "Tests: 1 failed, 3 passed, 4 total", 1)], usage(30_000))
    .assistant([read("a.ts")], usage(15_000, 15_000))

/** With folding off the HUD is complete from the start. */
const ALONE = { fold: { enabled: false } }

const hudOf = (messages: HostMessage[]) => JSON.stringify(messages.at(-1)).match(/<hud>.*<\/hud>/)?.[0]

describe("switches", () => {
  test("with the plugin off, nothing is registered", async () => {
    expect((await load({ enabled: false })).hooks).toEqual({})
  })

  test("with the HUD and folding off, nothing is added anywhere", async () => {
    const { hooks, transform, system, compacting } = await load({ hud: { enabled: false }, fold: { enabled: false } })
    const session = worked()
    expect(await transform(session.fresh())).toEqual(session.messages)
    expect(await system("You are OpenCode.", "ses_test")).toEqual(["You are OpenCode.", "second"])
    expect(await compacting()).toEqual([])
    expect(hooks.tool).toBeUndefined()
  })

  test("the HUD says what the newest messages do not show, and all once something is folded or with folding off", async () => {
    const session = new SessionBuilder()
      .user("make the login test pass on node 22, please")
      .assistant([bash("npm test", "Tests: 1 failed, 3 passed, 4 total", 1)], usage(15_000))
    const { transform } = await load()
    for (let n = 0; n < 10; n++) {
      expect(await transform(session.fresh())).toEqual(session.messages)
      session.assistant([read(`src/file-${n}.ts`)], usage(1000, 20_000))
    }
    for (let n = 0; n < 2; n++) session.assistant([bash("ls src", "login.ts")], usage(1000, 20_000))
    const repeated = "same result again ls src 2x"
    expect(hudOf(await transform(session.fresh()))).toBe(`<hud>\\nhudfold status, call 14\\n${repeated}\\n</hud>`)
    const failing = "failing `npm test` at call 1: Tests: 1 failed, 3 passed, 4 total"
    const alone = hudOf(await (await load(ALONE)).transform(session.fresh()))
    expect(alone).toContain(failing)
    expect(alone).toContain("file-8.ts")
    session.assistant([read("src/large.ts", "export const a = 1\n".repeat(2000))], usage(1000, 30_000))
    for (let n = 0; n < 40; n++) session.assistant([bash(`make step-${n}`, `step ${n} done`)], usage(1000, 30_000))
    const sent = await (await load()).transform(session.fresh())
    // the first request has the folds, so its HUD is complete as well
    expect(JSON.stringify(sent)).toContain("kept by hudfold as a record")
    expect(hudOf(sent)).toMatch(/files read: [^,\\]+, /)
  })

  test("with folding off, the HUD is complete as soon as a check has failed", async () => {
    const session = new SessionBuilder()
      .user("make the login test pass on node 22, please")
      .assistant([read("a.ts"), bash("npm test", "Tests: 1 failed", 1)], usage(15_000))
    expect(await (await load()).transform(session.fresh())).toEqual(session.messages)
    const hud = hudOf(await (await load(ALONE)).transform(session.fresh()))
    expect(hud).toContain("failing `npm test` at call 1")
    expect(hud).toContain("files read: a.ts")
  })

  test("with the HUD off, steps are still folded", async () => {
    const { transform } = await load({ hud: { enabled: false } })
    const session = worked().assistant([bash("ls", "a.ts\n".repeat(400))])
    for (let n = 0; n < 14; n++) session.assistant([read(`quiet-${n}.ts`)])
    const messages = await transform(session.fresh())
    expect(wrongIn(session.messages, messages)).toEqual([])
    expect(recordsIn(messages).join("\n")).toContain("bash ls")
  })

  test.each([
    ["plan", "plan"],
    // as OpenCode's screen names it
    ["Plan", "plan"],
    ["reviewer", "Reviewer"],
  ])("the disabled agent %s gets no HUD as %s, the next agent of the same session does", async (named, agent) => {
    const { transform } = await load({ disabledAgents: [named] })
    const session = worked()
    for (const message of session.messages) message.info.agent = agent
    expect(hudOf(await transform(session.fresh()))).toBeUndefined()
    session.user("now build it")
    expect(hudOf(await transform(session.fresh()))).toBeDefined()
  })

  test("from an array that has been through the hook already, a disabled agent gets what OpenCode made", async () => {
    const { transform } = await load({ ...ALONE, disabledAgents: ["plan"] })
    const session = worked()
    const messages = await transform(session.fresh())
    expect(hudOf(messages)).toBeDefined()
    session.user("plan it first").messages.at(-1)!.info.agent = "plan"
    messages.push(...session.fresh().slice(-1))
    expect(await transform(messages)).toEqual(session.messages)
  })
})

describe("the system prompt", () => {
  test.each([
    ["the session's", "You are OpenCode.", "ses_test"],
    ["a title's", "You are a title generator. You output ONLY a title.", "ses_test"],
    ["a compaction's", "You are a context summarization agent.", "ses_test"],
    ["that of no session", "Write an agent.", undefined],
  ])("stays as it was when it is %s, before and after a HUD", async (_, prompt, sessionID) => {
    const { system, transform } = await load()
    expect(await system(prompt, sessionID)).toEqual([prompt, "second"])
    expect(hudOf(await transform(worked().fresh()))).toBeDefined()
    expect(await system(prompt, sessionID)).toEqual([prompt, "second"])
  })

  test("names the model that the session calls, unless it is a helper call's", async () => {
    const { system, transform } = await load(ALONE)
    const small = { ...MODEL, id: "claude-haiku-4-5", limit: { context: 50_000 } }
    await system("You are OpenCode.", "ses_test")
    await system("You are a title generator. You output ONLY a title.", "ses_test", small)
    expect(hudOf(await transform(worked().fresh()))).toContain("context 30k of 100k (30%)")
    await system("You are OpenCode.", "ses_test", small)
    expect(hudOf(await transform(worked().fresh()))).toContain("context 30k of 50k (60%)")
  })

  test("provides the size of the context, from the next call on", async () => {
    // with folding, the size is said once something is folded
    const { system, transform } = await load(ALONE)
    expect(hudOf(await transform(worked().fresh()))).toContain("context 30k\\n")
    await system("You are OpenCode.", "ses_test")
    expect(hudOf(await transform(worked().fresh()))).toContain("context 30k of 100k (30%)")
  })
})

describe("compaction", () => {
  test("gets the facts, its array gets no HUD, and the call after it has one again", async () => {
    const { transform, compacting } = await load()
    const session = worked()
    await transform(session.fresh())
    expect((await compacting()).join()).toContain("failing since call 1: `npm test`")
    expect(await transform(session.fresh())).toEqual(session.messages)
    expect(hudOf(await transform(session.fresh()))).toBeDefined()
  })

  test("gets the facts also when OpenCode does not return the stored messages", async () => {
    const session = { messages: () => new Promise(() => {}) }
    const { transform, compacting } = await load({}, { session })
    await transform(worked().fresh())
    expect((await compacting()).join()).toContain("failing since call 1: `npm test`")
  })

  test.each(["session.error", "session.compacted", "session.idle"])(
    "one that %s ended silences nothing",
    async (type) => {
      const { transform, compacting, event } = await load()
      await compacting()
      await transform([])
      await event(type, { sessionID: "ses_test" })
      expect(hudOf(await transform(worked().fresh()))).toBeDefined()
    },
  )
})

describe("events", () => {
  test("permissions are in the next HUD until they are gone", async () => {
    const { transform, event } = await load(ALONE)
    await event("permission.asked", { sessionID: "ses_test", id: "per_1", permission: "bash", patterns: ["rm -rf x"] })
    const hud = hudOf(await transform(looked().fresh()))
    expect(hud).toContain("waiting permission for bash rm -rf x")
    await event("permission.replied", { sessionID: "ses_test", requestID: "per_1", reply: "once" })
    expect(hudOf(await transform(looked().fresh()))).not.toContain("waiting")
  })

  test("a deleted session is forgotten", async () => {
    const { transform, event } = await load(ALONE)
    await event("permission.asked", { sessionID: "ses_test", id: "per_1", permission: "bash", patterns: ["rm -rf x"] })
    await event("session.deleted", { sessionID: "ses_test" })
    expect(hudOf(await transform(looked().fresh()))).not.toContain("waiting")
  })
})

test("two instances of the plugin produce one HUD", async () => {
  const one = await load()
  const other = await load()
  const messages = await other.transform(await one.transform(worked().fresh()))
  expect(JSON.stringify(messages).match(/<hud>/g)).toHaveLength(1)
})

test("interleaved sessions do not affect each other", async () => {
  const { transform } = await load(ALONE)
  const second = new SessionBuilder("ses_other")
    .user("other work entirely, please")
    .assistant([read("z.ts"), bash("make", "Error: no rule", 2)])
  await transform(worked().fresh())
  expect(hudOf(await transform(second.fresh()))).not.toContain("npm test")
  expect(hudOf(await transform(worked().fresh()))).not.toContain("make`")
  expect(hudOf(await transform(worked().fresh()))).not.toContain("z.ts")
})

test.each(["tail", "tool", "sticky"])("no message is kept alive between calls in the %s slot", async (slot) => {
  const { transform } = await load({ hud: { slot } })
  const seen: WeakRef<HostMessage>[] = []
  for (let i = 0; i < 50; i++) {
    const session = new SessionBuilder(`ses_${i}`)
      .user("mend it")
      .assistant([read(`f${i}.ts`), bash("npm test", "Tests: 1 failed", 1)])
      .assistant([read(`f${i}.ts`)])
    expect(JSON.stringify(await transform(session.fresh()))).toContain("<hud>")
    seen.push(...(await transform(session.fresh())).map((message) => new WeakRef(message)))
  }
  // the work between requests holds the last call's messages until it is done; the collector may miss a few on the stack
  const kept = () => seen.filter((reference) => reference.deref() !== undefined).length
  for (let left = 500; left > 0 && kept() >= seen.length / 5; left--) {
    await new Promise((resolve) => setTimeout(resolve, 10))
    Bun.gc(true)
  }
  expect(kept()).toBeLessThan(seen.length / 5)
})
