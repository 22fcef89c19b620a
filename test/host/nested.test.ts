// Values nested 200,000 deep, wherever a tool, a model or a client can put one. JSON.stringify needs seconds to fail on them.

import { expect, test } from "bun:test"
import { jsonOf } from "../../src/system/values.ts"
import { bash, read, SessionBuilder, tool } from "../support/session.ts"
import { load } from "./loaded.ts"

const DEPTH = 200_000
/** How many levels one hook may read for everything below; JSON.stringify reads twice as many before it fails on one value. */
const MAX_READS = 20_000
/** Hooks need less than a second for all of it, and a regular expression that goes back for every character minutes. */
const PATIENCE_MS = 60_000

let reads = 0
/** Counts how often the level is read. */
const counted = <T extends object>(level: T, key: keyof T): T => {
  const inner = level[key]
  return Object.defineProperty(level, key, {
    enumerable: true,
    get() {
      reads++
      return inner
    },
  })
}
const nested = (wrap: (inner: unknown) => object, key: string) => {
  let value: unknown = "src/deep.ts"
  for (let depth = 0; depth < DEPTH; depth++) value = counted(wrap(value), key as never)
  return value
}
const circular: { self?: unknown; again?: unknown } = {}
circular.self = circular
circular.again = circular
counted(circular, "self")

const VALUES: Readonly<Record<string, unknown>> = {
  "lists in lists": nested((inner) => [inner], "0"),
  "objects in objects": nested((inner) => ({ a: inner }), "a"),
  "lists of two": nested((inner) => ["x", inner], "1"),
  "an object in itself, twice": circular,
}
const TEXTS: Readonly<Record<string, string>> = {
  brackets: "[".repeat(DEPTH) + "]".repeat(DEPTH),
  "objects as JSON": `${'{"a":'.repeat(DEPTH)}1${"}".repeat(DEPTH)}`,
  elements: "<a>".repeat(DEPTH) + "</a>".repeat(DEPTH),
  "indented lines": Array.from({ length: 2000 }, (_, depth) => `${" ".repeat(depth)}a:`).join("\n"),
}

/**
 * Sends the session twice, the second time one step longer, and calls the other hooks with the value. Returns the most levels
 * that one hook read.
 */
async function mostReads(session: SessionBuilder, value: unknown): Promise<number> {
  const hooks = await load({ store: { enabled: false } })
  const counts: number[] = []
  const count = async (work: () => Promise<unknown>) => {
    reads = 0
    await work()
    counts.push(reads)
  }
  await count(() => hooks.transform([...session.messages]))
  session.assistant([read("last.ts")])
  await count(() => hooks.transform([...session.messages]))
  for (const type of [
    "todo.updated",
    "permission.asked",
    "message.updated",
    "message.part.updated",
    "session.status",
  ]) {
    const properties = { sessionID: "ses_test", todos: value, info: value, part: value, patterns: value, id: value }
    await count(() => hooks.event(type, { ...properties, status: value }))
  }
  await hooks.dispose()
  expect(hooks.logged.filter((line) => !line.includes("took longer"))).toEqual([])
  return Math.max(...counts)
}

const quiet = (session: SessionBuilder) => {
  for (let n = 0; n < 14; n++) session.assistant([read(`quiet-${n}.ts`)])
  return session
}

test.each(Object.entries(VALUES))(
  "%s as arguments, metadata, todos and in events: no hook reads it to the end, none fails",
  async (_, value) => {
    const calls = () => [
      tool("mcp_x", { deep: value, filePath: "src/a.ts" }, "done\n".repeat(300)),
      tool("bash", { command: "ls", deep: value }, "a.ts\n".repeat(300)),
      tool("bash", { command: ["ls", value] }, "a.ts\n".repeat(300)),
      tool("edit", { filePath: value, edits: value }, "done"),
      tool("todowrite", { todos: value }, "ok"),
    ]
    const session = new SessionBuilder().user("look at it").assistant(calls())
    // once among the newest messages, and once where it is folded
    expect(await mostReads(session, value)).toBeLessThan(MAX_READS)
    expect(await mostReads(quiet(session), value)).toBeLessThan(MAX_READS)
  },
  PATIENCE_MS,
)

test.each(Object.entries(TEXTS))(
  "%s as output and as an argument: no hook is slow, none fails",
  async (_, text) => {
    const calls = [
      bash("cat deep", text),
      read("deep.json", text),
      tool("mcp_x", { text }, text),
      tool("webfetch", { url: text }, text),
    ]
    await mostReads(quiet(new SessionBuilder().user(text).assistant(calls)), text)
  },
  PATIENCE_MS,
)

test("what nests deeper than 200 levels, is circular or a BigInt has no JSON; all else has its own", () => {
  const levels = (count: number) => JSON.parse("[".repeat(count) + "]".repeat(count)) as unknown
  expect(jsonOf(levels(200))).toBe("[".repeat(200) + "]".repeat(200))
  expect([levels(202), circular, 1n, { n: 1n }].map(jsonOf)).toEqual([undefined, undefined, undefined, undefined])
  for (const value of [null, 1, "x", [], {}, { a: [1, { b: null }] }]) expect(jsonOf(value)).toBe(JSON.stringify(value))
})
