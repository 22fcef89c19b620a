// Folds across processes: a session resumed in a new process sends the same bytes and returns the same originals. Also: who
// gets no folds.

import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { HostMessage, HostPart } from "../../src/host/v1/message.ts"
import plugin from "../../src/plugin.ts"
import { openStore } from "../../src/store/open.ts"
import { bash, read, SessionBuilder, tool, usage } from "../support/session.ts"

type Call = (input: object, output: object) => Promise<void>
type Recall = { execute(args: object, context: object): Promise<{ output: string }> }

const folder = mkdtempSync(join(tmpdir(), "folds-"))
// a request waits a second for the store, which a busy machine may need to load its code
beforeAll(async () => (await openStore({ path: join(folder, "first.db"), onWarning() {} })).close())
afterAll(() => rmSync(folder, { recursive: true }))

/** An agent's rules as OpenCode lists them. The last rule that matches decides. */
const DENIES = [
  { permission: "*", pattern: "*", action: "deny" },
  { permission: "read", pattern: "*", action: "allow" },
]
const GRANTS = [...DENIES, { permission: "hud_recall", pattern: "*", action: "allow" }]
const AGENTS = [
  { name: "blind", permission: DENIES },
  { name: "granted", permission: GRANTS },
]

async function load(options: object = {}, store: object = { enabled: false }, stored?: HostMessage) {
  const logged: string[] = []
  const client = {
    app: {
      log: async ({ body }: { body: { message: string } }) => void logged.push(body.message),
      agents: async () => ({ data: AGENTS }),
    },
    session: { message: async () => (stored ? { data: stored } : { error: { name: "NotFoundError" } }) },
    tui: {},
  }
  const input = { client, directory: "/home/dev/shop", worktree: "/home/dev/shop" }
  // the tests check the log, so nothing may be logged because the machine is slow
  const hooks = await plugin.server(input as never, { store, deadlineMs: 5000, ...options })
  // the agents are requested in the background
  await new Promise((resolve) => setTimeout(resolve, 0))
  const call = (name: keyof typeof hooks) => hooks[name] as unknown as Call
  return {
    logged,
    tools: hooks.tool,
    transform: async (messages: HostMessage[]) => {
      await call("experimental.chat.messages.transform")({}, { messages })
      return messages
    },
    system: async (model: object = MODEL) => {
      const output = { system: ["You are OpenCode."] }
      await call("experimental.chat.system.transform")({ sessionID: "ses_test", model }, output)
      return output.system[0]
    },
    compacting: () => call("experimental.session.compacting")({ sessionID: "ses_test" }, { context: [] }),
    configured: async (config: object) => {
      await (hooks.config as (config: object) => Promise<void>)(config)
      return config
    },
    recall: async (ids: string, messages?: HostMessage[]) => {
      const recall = hooks.tool?.hud_recall as unknown as Recall
      const { output } = await recall.execute({ ids }, { sessionID: "ses_test", ...(messages ? { messages } : {}) })
      return output
    },
    dispose: () => (hooks.dispose as () => Promise<void>)(),
  }
}

const MODEL = { id: "claude-sonnet-4-5", providerID: "anthropic", limit: { context: 200_000, output: 8_000 } }

const listing = (name: string, lines = 300) =>
  Array.from({ length: lines }, (_, i) => `-rw-r--r-- 1 dev ${1000 + i} src/${name}/part-${i}.ts`).join("\n")

/** A session with large listings that were not used since. */
const worked = () => {
  const session = new SessionBuilder().user("make the login test pass on node 22, please")
  for (const name of ["auth", "cart", "mail"]) session.assistant([bash(`ls -l src/${name}`, listing(name))])
  for (let n = 0; n < 14; n++) session.assistant([read(`quiet-${n}.ts`)])
  return session
}

const outputOf = (messages: readonly HostMessage[], id: string) =>
  messages.flatMap(({ parts }) => parts).find((part) => part.id === id)?.state?.output

describe("a session resumed in a new process", () => {
  test("goes out with the same bytes on its first call, and its originals come back", async () => {
    const path = join(folder, "resumed.db")
    // if the second process decided again, it would fold the other of these two
    const session = worked()
      .assistant([read("big.ts", listing("big"))])
      .assistant([read("big.ts", listing("big"))])
    const first = await load({}, { path })
    const before = foldsIn(await first.transform(session.fresh()))
    expect([...before.values()].join("\n")).toContain("same output as the earlier call")
    await first.dispose()

    session.assistant([read("d.ts")])
    const second = await load({}, { path }, session.messages[1])
    const sent = await second.transform(session.fresh())
    const after = foldsIn(sent)
    expect([...before].map(([id]) => [id, after.get(id)])).toEqual([...before])
    for (const [id, text] of after) {
      const recallID = /^folded (r\d+) /.exec(text)?.[1] ?? ""
      expect(await second.recall(recallID, sent)).toBe(outputOf(session.messages, id) as string)
    }
    // no id is used twice, also not by another process
    expect(new Set([...after.values()].map((text) => text.split(" ")[1])).size).toBe(after.size)
    // without an array the original comes from OpenCode's server
    expect(await second.recall("r1")).toBe(outputOf(session.messages, [...before.keys()][0] ?? "") as string)
    expect(second.logged).toEqual([])
    await second.dispose()
  })

  test("does not restore what another session stored", async () => {
    const path = join(folder, "other.db")
    const first = await load({}, { path })
    await first.transform(worked().fresh())
    await first.dispose()
    const second = await load({}, { path })
    const other = new SessionBuilder("ses_other").user("hello").assistant([bash("ls", listing("auth"))])
    expect(foldsIn(await second.transform(other.fresh())).size).toBe(0)
    await second.dispose()
  })

  test("does not keep the fold of an output that has changed", async () => {
    const path = join(folder, "changed.db")
    const session = worked()
    const first = await load({}, { path })
    const [changed = ""] = foldsIn(await first.transform(session.fresh())).keys()
    await first.dispose()
    const part = session.messages.flatMap(({ parts }) => parts).find(({ id }) => id === changed) as HostPart
    part.state = { ...part.state, output: listing("elsewhere", 200) }
    for (const again of [1, 2]) {
      const next = await load({}, { path })
      const sent = await next.transform(session.fresh())
      const text = foldsIn(sent).get(changed)
      expect(text?.includes("folded r1 "), `process ${again}`).not.toBe(true)
      const id = /^folded (r\d+) /.exec(text ?? "")?.[1]
      if (id) expect(await next.recall(id, sent)).toBe(part.state?.output as string)
      await next.dispose()
    }
  })
})

test("the id of a dropped fold is not used again in a later process", async () => {
  const path = join(folder, "ids.db")
  const session = worked()
  const sent = async () => {
    const hooks = await load({}, { path })
    const folds = foldsIn(await hooks.transform(session.fresh()))
    await hooks.dispose()
    return folds
  }
  const folded = await sent()
  const last = `r${folded.size}`
  const [changed = ""] = [...folded].find(([, text]) => text.startsWith(`folded ${last} `)) ?? []
  const part = session.messages.flatMap(({ parts }) => parts).find(({ id }) => id === changed) as HostPart
  part.state = { ...part.state, output: "no longer worth a fold" }
  expect((await sent()).size).toBe(folded.size - 1)
  session.assistant([bash("ls -l src/late", listing("late"))])
  for (const name of ["x", "y", "z"]) session.assistant([read(`${name}.ts`)])
  const texts = [...(await sent()).values()]
  expect(texts).toHaveLength(folded.size)
  expect(texts.filter((text) => text.startsWith(`folded ${last} `))).toEqual([])
})

describe("folding for money", () => {
  /** A session that reads the same long file repeatedly, with the usage of each call. */
  const grow = (session: SessionBuilder, n: number, cached: number) => {
    session.assistant(
      [read("big.ts", listing("big", 1500)), bash(`ls -l src/${n}`, listing(`d${n}`, 30))],
      cached ? usage(2_000, cached) : usage(60_000),
    )
    return session
  }

  async function played(reads: readonly number[]) {
    const hooks = await load()
    const session = new SessionBuilder().user("mend the login page of the shop")
    let sent: HostMessage[] = []
    for (const [n, cached] of reads.entries()) sent = await hooks.transform(grow(session, n, cached).fresh())
    return { logged: hooks.logged, isFolded: (message: number) => foldsIn(sent.slice(message, message + 1)).size > 0 }
  }

  test("stops when the provider's cache held less than estimated three times in a row, which is logged once", async () => {
    const good = await played([60_000, 60_000, 60_000, 60_000, 60_000, 60_000, 60_000, 60_000])
    expect(good.logged).toEqual([])
    // a repeated output is folded when it arrives
    expect(good.isFolded(8)).toBe(true)
    const bad = await played([60_000, 60_000, 60_000, 60_000, 0, 0, 0, 0])
    expect(bad.logged.filter((line) => line.includes("folding stops in session ses_test"))).toHaveLength(1)
    expect(bad.logged).toHaveLength(1)
    // what was sent folded stays folded, new outputs are not folded
    expect(bad.isFolded(3)).toBe(true)
    expect(bad.isFolded(8)).toBe(false)
  })
})

describe("who gets no folds", () => {
  /** Plays a session with one agent to its end, then with another one if given. */
  const by = (agent: string, next?: string) => {
    const session = worked()
    for (const { info } of session.messages) info.agent = agent
    if (next === undefined) return session
    session.user("now build it")
    for (const { info } of session.messages.slice(-1)) info.agent = next
    return session
  }

  test("a disabled agent, whose array is not changed; the next agent of the session gets them", async () => {
    const { transform } = await load({ disabledAgents: ["plan"] })
    const handed = by("plan", "build")
    const planned = handed.fresh().slice(0, -1)
    expect(await transform(planned)).toEqual(handed.messages.slice(0, -1))
    expect(foldsIn(await transform(handed.fresh())).size).toBeGreaterThan(0)
    // back to the first agent: nothing stays folded
    handed.user("and plan it anew").messages.at(-1)!.info.agent = "plan"
    expect(await transform(handed.fresh())).toEqual(handed.messages)
  })

  test("an agent that may not call hud_recall; one that may call it gets them", async () => {
    const { transform } = await load({ fold: { price: { read: 1, write: 1 } } })
    expect(foldsIn(await transform(by("blind").fresh())).size).toBe(0)
    expect(foldsIn(await transform(by("blind", "granted").fresh())).size).toBeGreaterThan(0)
  })

  test("a session that was prompted without the tool, until a prompt allows it", async () => {
    const { transform } = await load({ fold: { price: { read: 1, write: 1 } } })
    const session = worked()
    const [prompt] = session.messages
    if (prompt) prompt.info.tools = { "*": false, read: true }
    expect(foldsIn(await transform(session.fresh())).size).toBe(0)
    if (prompt) prompt.info.tools = { "*": false, hud_recall: true }
    expect(foldsIn(await transform(session.fresh())).size).toBeGreaterThan(0)
  })

  test("nobody when folding is off: no tool, no mention in the system prompt, no output changed", async () => {
    const { transform, tools, system, configured } = await load({ fold: { enabled: false } })
    expect(tools).toBeUndefined()
    expect(await system()).not.toMatch(/folded|recall/)
    const session = worked()
    const sent = (await transform(session.fresh())).slice(0, session.messages.length)
    expect(sent).toEqual(session.messages)
    expect(await configured({})).toEqual({})
  })

  test("protected tools and files", async () => {
    const session = worked()
      .assistant([read("docs/plan.md", listing("plan")), tool("mcp_search", { q: "x" }, listing("found"))])
      .assistant([read("e.ts")])
    for (let i = 0; i < 20; i++) session.assistant([read(`f${i}.ts`)])
    const [plan, mcp] = session.messages[7]?.parts.filter(({ type }) => type === "tool") ?? []
    const open = await load()
    const folded = foldsIn(await open.transform(session.fresh()))
    expect([folded.has(plan?.id ?? ""), folded.has(mcp?.id ?? "")]).toEqual([true, true])
    const closed = await load({ fold: { protectedTools: ["mcp_*"], protectedFiles: ["docs/**"] } })
    const left = foldsIn(await closed.transform(session.fresh()))
    expect([left.has(plan?.id ?? ""), left.has(mcp?.id ?? "")]).toEqual([false, false])
    expect(left.size).toBe(folded.size - 2)
  })
})

describe("the transcript for a compaction", () => {
  /** The transcript of a session with folds, for a given size of the model's context. */
  async function transcribed(context: number) {
    const { transform, compacting, system } = await load()
    const session = worked()
    expect(foldsIn(await transform(session.fresh())).size).toBeGreaterThan(0)
    await system({ ...MODEL, id: "m", providerID: "p", limit: { context, output: 500 } })
    await compacting()
    return { session, transcript: await transform(session.fresh()), next: await transform(session.fresh()) }
  }

  test("is not changed while it fits the context", async () => {
    const { session, transcript, next } = await transcribed(200_000)
    expect(transcript).toEqual(session.messages)
    expect(foldsIn(next).size).toBeGreaterThan(0)
  })

  test("is folded if it does not fit, since OpenCode ends a session that is too large to compact", async () => {
    const { transcript } = await transcribed(1_500)
    expect(foldsIn(transcript).size).toBeGreaterThan(0)
  })
})

test("a recalled output is cut to the size that OpenCode is configured to pass on", async () => {
  const { transform, configured, recall } = await load()
  const sent = await transform(worked().fresh())
  expect(await recall("r1", sent)).not.toContain("[page ")
  await configured({ tool_output: { max_bytes: 4_000 } })
  const page = await recall("r1", sent)
  expect(page).toContain("[page 1 of ")
  expect(Buffer.byteLength(page)).toBeLessThanOrEqual(4_000)
})

describe("the explore agent", () => {
  test("is allowed the tool in addition to what the user configured", async () => {
    const { configured } = await load()
    const granted = { permission: { hud_recall: "allow" } }
    expect(await configured({})).toEqual({ agent: { explore: granted } })
    const config = { agent: { build: { prompt: "x" }, explore: { model: "m", permission: { bash: "deny" } } } }
    expect(await configured(config)).toEqual({
      agent: {
        build: { prompt: "x" },
        explore: { model: "m", permission: { bash: "deny", hud_recall: "allow" } },
      },
    })
  })

  test.each<object>([
    { agent: { explore: { permission: { hud_recall: "deny" } } } },
    { agent: { explore: { permission: { hud_recall: "ask" } } } },
    { agent: { explore: { permission: { "*": "deny" } } } },
    { agent: { explore: { permission: "deny" } } },
    { permission: { hud_recall: "deny" } },
    { permission: { "*": "ask" } },
    { permission: "ask" },
  ])("is left alone where the user said something of it: %j", async (config) => {
    const { configured } = await load()
    expect(await configured(structuredClone(config))).toEqual(config)
  })
})
