// What would break a turn of OpenCode 2's must be impossible from our side: a hook that throws, one that hangs, and a
// malformed part. Sessions of any shape go through, and a host that answers nothing or nonsense.

import { expect, test } from "bun:test"
import * as fc from "fast-check"
import { hooksV2 } from "../../../src/host/v2/hooks.ts"
import * as module from "../../../src/plugin.ts"
import { fakeHostV2, heard, loadedModule, type Stored, textsOf, toolV2, USAGE } from "../../support/host-v2.ts"
import { LARGE } from "../../support/large.ts"

const RUNS = LARGE ? 25 : 10
const DEADLINE_MS = 5000
// the smallest ceiling, so that nearly every session is folded
const OPTIONS = {
  store: { enabled: false },
  deadlineMs: DEADLINE_MS,
  fold: { maxContextTokens: 8000, compaction: true },
}
const plugin = loadedModule(module)
const load = async (context: object) => (await plugin.setup(context)) as () => Promise<void>

const words = fc.string({ maxLength: 60 })
const large = fc.integer({ min: 0, max: 600 }).map((n) => `line of an output ${n}\n`.repeat(n))
const call = fc
  .record({
    name: fc.constantFrom("shell", "read", "grep", "edit", "subagent", "odd_tool"),
    text: large,
    failed: fc.boolean(),
  })
  .map(
    ({ name, text, failed }) =>
      (id: string) =>
        toolV2(id, name, { command: "ls", path: `src/${id}.ts` }, text, failed),
  )
const withFile = large.map((text) => (id: string) => ({
  type: "tool",
  id,
  name: "read",
  state: {
    status: "completed",
    input: {},
    content: [
      { type: "text", text },
      { type: "file", uri: "data:", mime: "image/png" },
    ],
  },
  time: {},
}))
const step = fc.record({
  said: fc.array(fc.record({ type: fc.constantFrom("text", "reasoning"), text: words }), { maxLength: 2 }),
  calls: fc.array(fc.oneof(call, withFile), { minLength: 1, maxLength: 3 }),
})
const session = fc.array(
  fc.oneof(
    { weight: 8, arbitrary: step },
    { weight: 1, arbitrary: words.map((user) => ({ user })) },
    { weight: 1, arbitrary: words.map((system) => ({ system })) },
  ),
  { minLength: 4, maxLength: 30 },
)

test("sessions of any shape go out whole: the host takes them, no word of the user is lost, nothing is modified", async () => {
  let folded = 0
  let summarised = 0
  await fc.assert(
    fc.asyncProperty(session, async (pieces) => {
      const host = fakeHostV2()
      const cleanup = await load(host.context(OPTIONS))
      host.user("the first words of the user in this session")
      for (const [n, piece] of pieces.entries()) {
        if ("user" in piece) host.user(`said ${n}: ${piece.user}`)
        else if ("system" in piece) host.store({ id: `sys_${n}`, type: "system", text: `told ${n}: ${piece.system}` })
        else {
          // call ids repeat, as some providers' do
          host.answer([...piece.said, ...piece.calls.map((make, at) => make(`call_${at}`))], USAGE)
          await heard()
        }
        // rejects for a malformed part and for a call without its result; the messages are frozen
        const texts = textsOf((await host.request()).messages)
        const said = host.messages.flatMap(({ type, text }) =>
          type === "user" || type === "system" ? [String(text)] : [],
        )
        expect(texts.filter((text) => said.includes(text))).toEqual(said)
        if (texts.some((text) => /^(?:Steps? \d|folded r)/.test(text))) folded++
      }
      // a compaction that no model writes has the user's words too
      const words = host.messages.flatMap(({ type, text }) => (type === "user" ? [String(text)] : []))
      await host.compact()
      const summary = String(host.messages.at(-1)?.summary)
      if (summary !== "the model's summary") {
        summarised++
        for (const text of words) expect(summary).toContain(text)
      }
      expect(textsOf((await host.request()).messages)[0]).toContain(summary)
      await cleanup()
    }),
    { numRuns: RUNS },
  )
  expect(folded).toBeGreaterThan(2 * RUNS)
  expect(summarised).toBeGreaterThan(0.7 * RUNS)
}, 120_000)

test("whatever is passed in place of messages, the hooks resolve and leave it as it is", async () => {
  const host = fakeHostV2()
  const hooks = new Map<string, (event: object) => Promise<void>>()
  const context = host.context(OPTIONS) as { session: { hook: unknown } }
  context.session.hook = async (name: string, callback: (event: object) => Promise<void>) =>
    void hooks.set(name, callback)
  const cleanup = await load(context)
  const odd = fc.oneof(fc.anything(), fc.record({ role: fc.anything(), content: fc.anything(), id: fc.anything() }))
  await fc.assert(
    fc.asyncProperty(fc.array(odd, { minLength: 1 }), fc.anything(), fc.anything(), async (messages, model, system) => {
      for (const hook of hooks.values()) {
        const event = { sessionID: "ses_v2", agent: "build", messages: [...messages], model, system, tools: null }
        const given = [...messages]
        expect(await hook(event)).toBeUndefined()
        // in front of a HUD, what was there is there still
        expect(event.messages.filter((one) => given.includes(one))).toEqual(
          given.filter((one) => event.messages.includes(one)),
        )
        for (const one of event.messages)
          if (!given.includes(one)) expect(Array.isArray((one as Stored).content)).toBe(true)
      }
    }),
    { numRuns: 300 },
  )
  await cleanup()
}, 60_000)

test("a request that cannot be changed goes out whole, and nothing counts as folded", async () => {
  const host = fakeHostV2()
  const cleanup = await load(host.context(OPTIONS))
  host.user("make the login test pass on node 22, please")
  for (let n = 0; n < 15; n++) {
    const { messages } = await host.request((event) => void Object.freeze(event))
    expect(textsOf(messages).filter((text) => /hudfold/.test(text))).toEqual([])
    host.answer([toolV2(`call_${n}`, "read", { path: `src/${n}.ts` }, `line of an output ${n}\n`.repeat(300))])
    await heard()
  }
  expect(await host.call("hud_recall", { steps: "1-9" })).toStartWith("Nothing is folded in this session")
  expect(textsOf((await host.request()).messages).some((text) => /^Steps? \d/.test(text))).toBe(true)
  await cleanup()
})

const never = () => new Promise(() => {})
const fails = () => {
  throw new Error("not today")
}
test.each([
  ["throws", fails],
  ["rejects", async () => fails()],
  ["hangs", never],
  ["answers nonsense", async () => ({ data: [null, 7, { id: 7 }, { content: "x" }] })],
])("a host whose answers fail (%s) still gets its requests, with a HUD", async (_, answer) => {
  const host = fakeHostV2()
  const context = host.context({ ...OPTIONS, fold: {} }) as Record<string, Record<string, unknown>>
  Object.assign(context, { model: { list: answer }, event: { subscribe: answer } })
  Object.assign(context.session ?? {}, { context: answer })
  const cleanup = await load(context)
  host.user("make the login test pass on node 22, please")
  for (const id of ["call_1", "call_2"]) host.answer([toolV2(id, "shell", { command: "ls src" }, "login.ts")])
  expect(textsOf((await host.request()).messages).at(-1)).toContain("same result again ls src 2x")
  expect(await host.call("hud_recall", { ids: "r0000000" })).toBeString()
  await cleanup()
})

test("setup neither throws nor hangs when nothing can be registered", async () => {
  for (const answer of [fails, async () => fails(), never]) {
    const context = { session: { hook: answer }, tool: { transform: answer }, options: OPTIONS }
    const cleanup = await load(context)
    expect(await cleanup()).toBeUndefined()
  }
}, 10_000)

test.each([
  ["throws", fails],
  ["hangs", never],
  ["throws in its commit", async () => fails],
])(
  "a body that %s leaves the request as it was",
  async (_, body) => {
    const said: string[] = []
    const log = { report: (...words: unknown[]) => void said.push(words.join(" ")) }
    const context = { options: { deadlineMs: 20 }, log }
    const hooks = hooksV2(context as never, body as never)
    const messages = [{ role: "user", content: [] }]
    const event = { sessionID: "ses", messages, system: [] }
    await hooks.context(event)
    await hooks.compaction(event)
    expect(event).toEqual({ sessionID: "ses", messages: [{ role: "user", content: [] }], system: [] })
    expect(event.messages).toBe(messages)
    expect(said).toHaveLength(2)
  },
  10_000,
)
