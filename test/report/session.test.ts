import { describe, expect, test } from "bun:test"
import { homedir } from "node:os"
import type { HostMessage } from "../../src/host/v1/message.ts"
import { savedCost } from "../../src/replay/bill.ts"
import { sumCosts } from "../../src/report/costs.ts"
import type { SessionReport } from "../../src/report/session.ts"
import { madeUpSession } from "../support/made-up.ts"
import { bash, edit, failedTool, read, SessionBuilder, tool } from "../support/session.ts"
import { reportOf, sessionOf } from "./support.ts"

const long = sessionOf({ messages: madeUpSession({ calls: 150, compactsAt: 80_000 }).messages })
/** the number of the call that the first compaction followed */
const compactedAfter = long.calls.findIndex(({ compaction }) => compaction) + 1
const sum = (numbers: readonly number[]) => numbers.reduce((total, one) => total + one, 0)

test("two projects whose folders have the same name are two projects", () => {
  const { messages } = new SessionBuilder().user("go")
  const projectOf = (directory: string) => sessionOf({ directory, messages }).project
  expect(["/home/dev/shop/web", "/home/dev/bank/web", `${homedir()}/web`].map(projectOf)).toEqual([
    "/home/dev/shop/web",
    "/home/dev/bank/web",
    "~/web",
  ])
})

test("all tools of a call are named, however many it called at once", () => {
  const { messages } = new SessionBuilder()
    .user("go")
    .assistant(Array.from({ length: 50 }, (_, at) => read(`src/${at}.ts`)))
  expect(sessionOf({ messages }).calls[0]?.used).toHaveLength(50)
})

describe("the calls", () => {
  const { calls, replay } = long

  test("are all there, and add up to what `replay` says", () => {
    expect(calls).toHaveLength(150)
    for (const side of ["without", "with"] as const) {
      const sizes = calls.map((call) => call[side].tokens)
      expect(sum(sizes)).toBe(replay[side].tokens)
      expect(sum(calls.map((call) => call[side].cached))).toBe(replay[side].cachedTokens)
      expect(Math.max(...sizes)).toBe(replay[side].peakTokens)
    }
    // each call's saving is rounded
    expect(Math.abs(sum(calls.map(({ saved }) => saved)) - savedCost(replay))).toBeLessThan(150)
    expect(replay.recorded.usd).toBeGreaterThan(0)
    expect(sum(calls.map(({ savedUsd = 0 }) => savedUsd))).toBeCloseTo(
      (replay.without.usd ?? 0) - (replay.with.usd ?? 0) - (replay.recalls.usd ?? 0),
      3,
    )
  })

  test("reported figures are copied, and absent if there are none", () => {
    expect(calls[0]?.reported?.tokens).toBe(11_004)
    const [none] = sessionOf({ messages: new SessionBuilder().user("go").assistant([]).messages }).calls
    expect(none).toMatchObject({ reported: undefined })
  })

  test("amounts of money are present only if the recording has costs", () => {
    const { calls } = sessionOf({ messages: new SessionBuilder().user("go").assistant([]).messages })
    expect(calls[0]).toMatchObject({ savedUsd: undefined })
  })
})

test("impossible times and costs are not in the figures", () => {
  const { messages } = new SessionBuilder().user("go").assistant([], { cost: 0.01 }).assistant([]).assistant([])
  const [, first, odd] = messages
  if (!first || !odd) throw new Error("the session is shorter than it was made")
  // possible in JSON, where 1e400 is read as Infinity
  Object.assign(first.info, { time: { created: "yesterday" }, tokens: { input: Number.POSITIVE_INFINITY } })
  Object.assign(odd.info, { time: { created: 1e300 }, cost: Number.POSITIVE_INFINITY })
  const session = sessionOf({ messages })
  expect(session.calls.map(({ seconds }) => seconds)).toEqual([0, 0, 0])
  expect(session.startMs).toBe(messages[3]?.info.time?.created ?? 0)
  expect(session.calls.filter(({ reported }) => reported)).toEqual([])
  expect(session.replay.recorded).toEqual({ cost: 0, usd: 0.01 })
})

test("folds and compactions have the numbers of their calls", () => {
  const { steps, outputs } = long.replay.folds
  expect(steps.count).toBeGreaterThan(0)
  expect(outputs.count).toBeGreaterThan(0)
  for (const [kind, amount] of [
    ["step", steps],
    ["output", outputs],
  ] as const) {
    const folds = long.folds.filter((fold) => fold.kind === kind)
    expect(folds).toHaveLength(amount.count)
    expect(sum(folds.map(({ tokens }) => tokens))).toBe(Math.round(amount.tokens))
  }
  const compactions = long.calls.flatMap(({ compaction }) => compaction ?? [])
  expect(new Set(compactions)).toEqual(new Set(["avoided"]))
  expect(compactions).toHaveLength(long.replay.compactions.automatic)
  const [before, after] = long.calls.slice(compactedAfter - 1)
  expect(after?.without.tokens).toBeLessThan((before?.without.tokens ?? 0) / 2)
})

test("a step whose record is shortened later is not folded once more", () => {
  const { messages } = madeUpSession({ calls: 60 })
  const { folds, replay } = sessionOf({ messages, wanted: { fold: { maxContextTokens: 8000 } } })
  expect(folds).toHaveLength(replay.folds.steps.count + replay.folds.outputs.count)
})

test("a report comes out of its page as it was put in", () => {
  const report = reportOf([{ messages: madeUpSession({ calls: 150 }).messages }])
  expect(JSON.parse(JSON.stringify(report))).toEqual(report)
})

test("the HUD of a call is the one that is sent with it", () => {
  expect(long.calls[0]).toMatchObject({ hud: undefined })
  expect(long.calls[99]?.hud?.text).toStartWith("<hud>\nhudfold status, call 100\n")
})

/** The recorded requests at four characters a token and OpenAI's prices, whose cache finds all that was sent before. */
function costsByHand(messages: readonly HostMessage[]): Map<string, number> {
  const sums = new Map<string, number>()
  const sent: { kind: string; tokens: number; cost: number }[] = []
  for (const { info, parts } of messages) {
    if (info.role === "assistant") {
      for (const one of sent) {
        sums.set(one.kind, (sums.get(one.kind) ?? 0) + one.tokens * one.cost)
        one.cost = 0.1
      }
    }
    const add = (kind: string, text: string) => sent.push({ kind, tokens: Math.ceil(text.length / 4), cost: 1 })
    for (const part of parts as { type: string; text: string; tool: string; callID: string; state: never }[]) {
      if (part.type === "text") add(info.role === "user" ? "user" : "text", `${info.role}${part.text}`)
      if (part.type === "reasoning") add("reasoning", `reasoning${part.text}`)
      if (part.type !== "tool") continue
      const { input, output } = part.state as { input: unknown; output: string }
      add(part.tool, `call ${part.callID} ${part.tool}${JSON.stringify(input)}`)
      add(part.tool, `result ${part.callID}${output}`)
    }
  }
  return sums
}

describe("what each tool and kind of text costs", () => {
  const sums = (session: SessionReport, side: "without" | "with") =>
    session.costs.reduce((total, cost) => total + cost[side], 0)

  test("is what the recorded requests come to by the test's own arithmetic", () => {
    const session = new SessionBuilder("ses_1", { providerID: "openai", modelID: "gpt-5.4" }).user("go on with it")
    session.assistant([{ type: "reasoning", text: "where is it? ".repeat(40) }, read("src/a.ts", "x".repeat(4000))])
    session.assistant([{ type: "text", text: "I look for it. ".repeat(30) }, bash("make", "made\n".repeat(300))])
    session.assistant([
      tool("grep", { pattern: "it" }, "src/a.ts:1: it\n".repeat(100)),
      read("src/b.ts", "y".repeat(800)),
    ])
    session
      .user("and now the other")
      .assistant([edit("src/a.ts")])
      .assistant([])
    const byHand = costsByHand(session.messages)
    const { costs } = sessionOf({ messages: session.messages })
    const sums = new Map(sumCosts(costs).map((cost) => [cost.tool || cost.kind, cost]))
    sums.delete("hudfold")
    expect([...sums.keys()].sort()).toEqual([...byHand.keys()].sort())
    // texts are cut into tokens and costs into whole ones
    for (const [name, { without }] of sums) expect(Math.abs(without - (byHand.get(name) ?? 0))).toBeLessThan(2)
    expect(["read", "bash", "grep", "edit"].map((name) => sums.get(name)?.calls)).toEqual([2, 1, 1, 1])
  })

  test("adds up to what the conversation costs, with the plugin and without", () => {
    // each of the costs is rounded
    for (const side of ["without", "with"] as const)
      expect(Math.abs(sums(long, side) - long.replay[side].cost)).toBeLessThan(long.costs.length)
    expect(sumCosts(long.costs).find(({ kind }) => kind === "hudfold")).toMatchObject({ without: 0, tool: "" })
  })

  test("counts the output as it was new, even if OpenCode pruned it later", () => {
    const part = read("src/a.ts", "x".repeat(4000))
    const session = new SessionBuilder().user("go").assistant([part]).assistant([]).assistant([])
    const state = { ...part.state, time: { start: 0, end: 0, compacted: session.timeOf(3) - 1 } }
    Object.assign(session.messages[1]?.parts.find(({ type }) => type === "tool") ?? {}, { state })
    const cost = sessionOf({ messages: session.messages }).costs.find(({ tool }) => tool === "read")
    expect(cost?.outputTokens).toBeGreaterThan(1000)
    expect(cost?.without).toBeLessThan(1.5 * (cost?.outputTokens ?? 0))
  })

  test("is lower with the plugin if steps are folded, and its own text costs instead", () => {
    const of = (name: string) => sumCosts(long.costs).find(({ tool, kind }) => (tool || kind) === name)
    expect(of("read")?.with).toBeLessThan((2 / 3) * (of("read")?.without ?? 0))
    expect(of("hudfold")?.with).toBeGreaterThan(0)
    expect(of("user")?.with).toBeGreaterThan(0.9 * (of("user")?.without ?? 0))
    const doubled = sumCosts([...long.costs, ...long.costs]).find(({ tool }) => tool === "read")
    expect(doubled?.with).toBe(2 * (of("read")?.with ?? 0))
  })
})

describe("the tool calls of a call", () => {
  const session = new SessionBuilder().user("go")
  session.assistant([edit("src/a.ts"), failedTool("bash", { command: "make" }, "no rule")])
  session.assistant([edit("src/a.ts"), bash("npm test", "1 fail", 1)]).assistant([])
  const used = sessionOf({ messages: session.messages }).calls.map((call) => call.used)

  test("are named, with failures marked", () => {
    const edit = { name: "edit src/a.ts" }
    expect(used).toEqual([[edit, { name: "make", failed: true }], [edit, { name: "npm test", failed: true }], []])
  })

  test("are named without the folder of the session", () => {
    const [root, cwd] = ["/home/dev", "/home/dev/shop"]
    const { messages } = new SessionBuilder()
      .user("go")
      .assistant([tool("bash", { command: "ls", workdir: cwd }, "a.ts")], { path: { root, cwd } })
    expect(sessionOf({ messages }).calls[0]?.used).toEqual([{ name: "ls" }])
  })
})

test("it contains no secrets, and of outputs only what digest lines and records say", () => {
  const secret = `sk-ant-${"a1b2c3d4".repeat(4)}`
  const session = new SessionBuilder().user(`use ${secret} please`)
  for (let i = 0; i < 40; i++) {
    session.assistant([
      bash(
        `curl -H "Authorization: Bearer ${secret}" https://example.com/${i}`,
        `the answer is fortytwo ${i}\n`.repeat(200),
      ),
      tool(`mcp_${secret}`, { key: secret }, secret.repeat(100)),
    ])
  }
  const json = JSON.stringify(reportOf([{ title: `with ${secret}`, messages: session.messages }]))
  expect(json).toContain("[redacted]")
  expect(json).not.toContain(secret.slice(7, 30))
  expect(json).not.toContain("the answer is fortytwo 3\\n")
})
