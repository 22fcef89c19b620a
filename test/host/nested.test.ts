// Values nested 200,000 deep, wherever a tool, a model or a client can put one. JSON.stringify needs seconds to fail on them.

import { expect, test } from "bun:test"
import { jsonOf } from "../../src/system/values.ts"
import { bash, read, SessionBuilder, tool } from "../support/session.ts"
import { load } from "./loaded.ts"

const DEPTH = 200_000
/** What one hook may take for everything below; JSON.stringify takes longer for a single value. */
const MAX_MS = 500

const nested = (wrap: (inner: unknown) => unknown) => {
  let value: unknown = "src/deep.ts"
  for (let depth = 0; depth < DEPTH; depth++) value = wrap(value)
  return value
}
const circular: { self?: unknown; again?: unknown } = {}
circular.self = circular
circular.again = circular

const VALUES: Readonly<Record<string, unknown>> = {
  "lists in lists": nested((inner) => [inner]),
  "objects in objects": nested((inner) => ({ a: inner })),
  "lists of two": nested((inner) => ["x", inner]),
  "an object in itself, twice": circular,
}
const TEXTS: Readonly<Record<string, string>> = {
  brackets: "[".repeat(DEPTH) + "]".repeat(DEPTH),
  "objects as JSON": `${'{"a":'.repeat(DEPTH)}1${"}".repeat(DEPTH)}`,
  elements: "<a>".repeat(DEPTH) + "</a>".repeat(DEPTH),
  "indented lines": Array.from({ length: 2000 }, (_, depth) => `${" ".repeat(depth)}a:`).join("\n"),
}

/** Sends the session twice, the second time one step longer, and calls the other hooks with the value. */
async function slowest(session: SessionBuilder, value: unknown): Promise<number> {
  const hooks = await load({ store: { enabled: false } })
  const times: number[] = []
  const timed = async (work: () => Promise<unknown>) => {
    const started = performance.now()
    await work()
    times.push(performance.now() - started)
  }
  await timed(() => hooks.transform([...session.messages]))
  session.assistant([read("last.ts")])
  await timed(() => hooks.transform([...session.messages]))
  for (const type of [
    "todo.updated",
    "permission.asked",
    "message.updated",
    "message.part.updated",
    "session.status",
  ]) {
    const properties = { sessionID: "ses_test", todos: value, info: value, part: value, patterns: value, id: value }
    await timed(() => hooks.event(type, { ...properties, status: value }))
  }
  await hooks.dispose()
  expect(hooks.logged).toEqual([])
  return Math.max(...times)
}

const quiet = (session: SessionBuilder) => {
  for (let n = 0; n < 14; n++) session.assistant([read(`quiet-${n}.ts`)])
  return session
}

test.each(Object.entries(VALUES))(
  "%s as arguments, metadata, todos and in events: no hook is slow, none fails",
  async (_, value) => {
    const calls = () => [
      tool("mcp_x", { deep: value, filePath: "src/a.ts" }, "done\n".repeat(300)),
      tool("bash", { command: "ls", deep: value }, "a.ts\n".repeat(300)),
      tool("edit", { filePath: value, edits: value }, "done"),
      tool("todowrite", { todos: value }, "ok"),
    ]
    const session = new SessionBuilder().user("look at it").assistant(calls())
    // once among the newest messages, and once where it is folded
    expect(await slowest(session, value)).toBeLessThan(MAX_MS)
    expect(await slowest(quiet(session), value)).toBeLessThan(MAX_MS)
  },
)

test.each(Object.entries(TEXTS))("%s as output and as an argument: no hook is slow, none fails", async (_, text) => {
  const calls = [
    bash("cat deep", text),
    read("deep.json", text),
    tool("mcp_x", { text }, text),
    tool("webfetch", { url: text }, text),
  ]
  expect(await slowest(quiet(new SessionBuilder().user(text).assistant(calls)), text)).toBeLessThan(MAX_MS)
})

test("what nests deeper than 200 levels, is circular or a BigInt has no JSON; all else has its own", () => {
  const levels = (count: number) => JSON.parse("[".repeat(count) + "]".repeat(count)) as unknown
  expect(jsonOf(levels(200))).toBe("[".repeat(200) + "]".repeat(200))
  expect([levels(202), circular, 1n, { n: 1n }].map(jsonOf)).toEqual([undefined, undefined, undefined, undefined])
  for (const value of [null, 1, "x", [], {}, { a: [1, { b: null }] }]) expect(jsonOf(value)).toBe(JSON.stringify(value))
})
