import { describe, expect, test } from "bun:test"
import { type Fold, REASONS, savedTokens } from "../../src/fold/fold.ts"
import { RECALL_DEFINITION } from "../../src/fold/recall.ts"
import { conversationOf } from "../../src/host/v1/conversation.ts"
import { sumReplays } from "../../src/replay/bill.ts"
import { readCompactions } from "../../src/replay/compactions.ts"
import { piece } from "../../src/replay/pieces.ts"
import type { ReplayedCall } from "../../src/replay/replay.ts"
import { messageAt } from "../../src/session/recorded.ts"
import { madeUpSession } from "../support/made-up.ts"
import { bash, edit, read, SessionBuilder, tool, usage } from "../support/session.ts"
import { filler, MARKED, OFF, replay } from "./session.ts"

const HOUR = 3_600_000
const LINE = "export function theLineThatIsNeeded(): string {"

/** A file of about 2,000 tokens with the line in its middle. */
function file(): string {
  const lines = Array.from({ length: 200 }, (_, i) => `  const value${i} = compute(${i}, "some text")`)
  return lines.toSpliced(100, 0, LINE).join("\n")
}

/** The file is read, then other things are done. */
function busy(steps: number): SessionBuilder {
  const session = new SessionBuilder().user("change the file").assistant([read("src/a.ts", file())])
  for (let i = 0; i < steps; i++) session.assistant([bash(`make step-${i}`, `step ${i} done`)])
  return session
}

/** Work goes on after an hour of rest, the cache being cold. */
function afterRest(): SessionBuilder {
  const session = busy(20)
  const late = session.timeOf(session.messages.length) + HOUR
  return session.assistant([bash("make last", "done")], { time: { created: late, completed: late } })
}

const change = tool("edit", { filePath: "src/a.ts", oldString: LINE, newString: "let it = be" }, "Edit applied.")

describe("without the plugin's doing", () => {
  test("the figures are those worked out by hand", () => {
    const session = new SessionBuilder()
      .user(filler("user", 1000))
      .assistant([{ type: "text", text: filler("assistant", 500) }])
      .assistant([{ type: "text", text: filler("assistant", 100) }])
      .assistant([])
    const { calls, without, with: sent } = replay(session, OFF)
    expect(calls).toBe(3)
    // 1000 written; 1000 read, 500 written; 1500 read, 100 written
    expect(without).toMatchObject({ tokens: 1000 + 1500 + 1600, cachedTokens: 2500, peakTokens: 1600 })
    expect(without.cost).toBeCloseTo(1250 + (100 + 625) + (150 + 125))
    expect(sent).toEqual(without)
  })

  test("an output that OpenCode pruned later still counts for the calls before that", () => {
    const part = read("src/a.ts", file())
    const session = new SessionBuilder().user("go").assistant([part]).assistant([]).assistant([])
    const state = { ...part.state, time: { start: 0, end: 0, compacted: session.timeOf(3) - 1 } }
    Object.assign(session.messages[1]?.parts.find(({ type }) => type === "tool") ?? {}, { state })
    const { without } = replay(session, OFF)
    expect(without.peakTokens).toBeGreaterThan(2000)
    expect(without.tokens).toBeLessThan(without.peakTokens + 300)
  })

  test("such an output is the same object at every call, so that its tokens are counted once", () => {
    const session = new SessionBuilder().user("go").assistant([read("src/a.ts", file())])
    for (const { state } of session.messages[1]?.parts ?? [])
      Object.assign(state ?? {}, { time: { start: 0, end: 0, compacted: session.timeOf(9) } })
    const [, message] = conversationOf(session.messages)
    const at = (n: number) => message && messageAt(message, session.timeOf(n)).parts.find(({ type }) => type === "tool")
    expect(at(2)).not.toHaveProperty("clearedMs")
    expect(at(3)).toBe(at(2) as NonNullable<ReturnType<typeof at>>)
    expect(at(9)).toHaveProperty("clearedMs")
  })
})

describe("the HUD", () => {
  const SYSTEM = 11_000
  const session = madeUpSession({ calls: 128, compactsAt: 1e9 })
  const said = (messages: SessionBuilder) => {
    const contexts: { said: number; sent: number; recorded: number }[] = []
    let before: ReplayedCall | undefined
    replay(messages, { hud: { sections: ["context"] } }, MARKED, (done) => {
      const [, size = "", unit] = /^context (?:about )?([\d.]+)(k?)/m.exec(done.prepared?.hud?.text ?? "") ?? []
      if (before && size !== "")
        contexts.push({
          said: Number(size) * (unit === "k" ? 1000 : 1),
          sent: before.with.tokens,
          recorded: before.without.tokens,
        })
      before = done
    })
    return contexts.filter(({ sent, recorded }) => recorded > 1.5 * sent)
  }

  test("says the size of the folded request, not of the recorded one", () => {
    const contexts = said(session)
    expect(contexts.length).toBeGreaterThan(5)
    // where nearly all is folded, the difference of two large estimates is left
    for (const { said, sent } of contexts) expect(said / (sent + SYSTEM)).toBeWithin(sent > SYSTEM ? 0.65 : 0.5, 1.35)
  })

  test("says what was recorded where the plugin ran", () => {
    const ran = madeUpSession({ calls: 128, compactsAt: 1e9 }).assistant([tool("hud_recall", { steps: "1" }, "Step 1")])
    const contexts = said(ran)
    expect(contexts.length).toBeGreaterThan(5)
    for (const { said, sent } of contexts) expect(said / (sent + SYSTEM)).toBeGreaterThan(1.35)
  })
})

describe("with folding", () => {
  test("an old step is folded, and the requests after it are smaller", () => {
    const calls: ReplayedCall[] = []
    const { folds, recalls } = replay(afterRest(), { hud: { enabled: false } }, MARKED, (done) => calls.push(done))
    const { steps, outputs, cuts, byReason } = folds
    expect([steps.count, outputs.count, cuts]).toEqual([15, 0, 1])
    // the cache is cold after an hour
    expect(byReason.free).toEqual(steps)
    const made = calls.flatMap(({ prepared }) => prepared?.newFolds ?? [])
    expect(made.reduce((sum, { tokens }) => sum + tokens, 0)).toBe(steps.tokens)
    expect(made[0]).toMatchObject({
      ...{ kind: "step", step: 1, call: 22, what: "read src/a.ts", reason: "free" },
      ...{ because: "a file that was read", cutBecause: "nothing after it was cached" },
    })
    const foldsSave = made.reduce((sum, one) => sum + savedTokens(one), 0)
    const sizes = calls.map((call) => call.with.tokens - call.without.tokens)
    expect(sizes.slice(0, -1).every((more) => more === sizes[0])).toBe(true)
    // the head of the record comes on top, and the tokens of each line are rounded up
    const saved = (sizes[0] ?? 0) - (sizes.at(-1) ?? 0)
    expect(Math.abs(saved - foldsSave)).toBeLessThan(0.04 * foldsSave)
    expect(recalls).toMatchObject({ lostLines: 0, calls: 0, cost: 0 })
  })

  test("a line that is copied from it afterwards is missed, and its recall charged", () => {
    // the file is recalled in full, which takes a call over the whole context
    const { recalls, with: sent } = replay(afterRest().assistant([change]), { hud: { enabled: false } })
    expect(recalls).toMatchObject({ copiedLines: 1, lostLines: 1, calls: 1 })
    expect(recalls.cost).toBeGreaterThan(1.25 * 2000 + 5 * 80)
    expect(recalls.cost).toBeLessThan(1.25 * 2500 + 5 * 80 + 0.1 * sent.peakTokens)
  })

  test("folding loses when what is folded is needed soon after", () => {
    const { without, with: sent, recalls } = replay(afterRest().assistant([change]), { hud: { enabled: false } })
    expect(sent.cost).toBeLessThan(without.cost)
    expect(sent.cost + recalls.cost).toBeGreaterThan(without.cost)
  })

  test("folds are counted by kind, reason and cut, an output also if its step was folded later", () => {
    const session = busy(3)
    for (let i = 0; i < 60; i++) session.assistant([read(`src/${i}.ts`, file())])
    const made: Fold[] = []
    const { folds } = replay(session, {}, MARKED, ({ prepared }) => made.push(...(prepared?.newFolds ?? [])))
    const count = (some: readonly Fold[]) => ({
      count: some.length,
      tokens: some.reduce((sum, { tokens }) => sum + tokens, 0),
    })
    expect(new Set(made.map(({ messageID }) => messageID)).size).toBeLessThan(made.length)
    for (const kind of ["step", "output"] as const)
      expect(folds[`${kind}s`]).toEqual(count(made.filter((one) => one.kind === kind)))
    for (const reason of REASONS)
      expect(folds.byReason[reason]).toEqual(count(made.filter((one) => one.reason === reason)))
    expect(folds.cuts).toBe(new Set(made.map(({ call }) => call)).size)
    expect(folds.cuts).toBeGreaterThan(1)
  })

  test("nothing is folded for a disabled agent, and it gets no HUD", () => {
    const { folds, hud } = replay(afterRest(), { disabledAgents: ["build"] })
    expect([folds.steps.count, folds.outputs.count, hud.calls]).toEqual([0, 0, 0])
  })

  test("the session replayed is not changed", () => {
    const session = afterRest()
    const before = session.fresh()
    replay(session)
    expect(session.messages).toEqual(before)
  })
})

test("a short session costs more with the plugin, by what the plugin adds", () => {
  const session = new SessionBuilder().user("fix it")
  for (let i = 0; i < 5; i++) session.assistant([read("src/file.ts"), bash("npm test", "1 failed", 1)])
  const { without, with: sent, hud, recalls, folds } = replay(session)
  expect([folds.steps.count, folds.outputs.count]).toEqual([0, 0])
  expect(hud.calls).toBeGreaterThan(0)
  expect(sent.cost + recalls.cost).toBeGreaterThan(without.cost)
  const added = hud.tokens + hud.noticeTokens
  // the HUD counts its tokens more closely than four characters each
  expect(Math.abs(sent.tokens - without.tokens - added)).toBeLessThan(0.5 * added)
})

test("without news, the plugin adds nothing to a short session but the description of its tool", () => {
  const session = new SessionBuilder().user("fix it")
  for (let i = 0; i < 5; i++) session.assistant([edit(`src/file${i}.ts`), bash("npm test", "1 failed", 1)])
  const { without, with: sent, hud } = replay(session)
  expect([hud.calls, hud.tokens]).toEqual([0, 0])
  expect(hud.noticeTokens).toBe(5 * piece("tool", RECALL_DEFINITION).tokens)
  expect(sent.tokens - without.tokens).toBe(hud.noticeTokens)
})

test("a subagent's session is named", () => {
  const task = tool("task", { prompt: "look" }, "found", { sessionId: "ses_child" })
  expect(replay(new SessionBuilder().user("go").assistant([task, task])).subagents).toEqual(["ses_child"])
})

test("a size that no request should exceed makes room sooner", () => {
  const session = new SessionBuilder().user("go")
  for (let i = 0; i < 40; i++) session.assistant([read(`src/${i}.ts`, file())])
  const peak = (given: unknown) => replay(session, given).with.peakTokens
  expect(peak({ fold: { maxContextTokens: 20_000 } })).toBeLessThan(20_000)
  expect(peak({ fold: { maxContextTokens: 20_000 } })).toBeLessThan(0.8 * peak({}))
  const cuts = new Set<string>()
  replay(session, { fold: { maxContextTokens: 20_000 } }, MARKED, ({ prepared }) => {
    for (const { reason, cutBecause } of prepared?.newFolds ?? []) if (reason === "must") cuts.add(cutBecause)
  })
  expect([...cuts]).toEqual(["the request nears 20k tokens, its maximum"])
})

test("a session without calls gives zeros", () => {
  expect(replay(new SessionBuilder().user("hello"))).toMatchObject({ calls: 0, without: { tokens: 0, cost: 0 } })
})

describe("what was charged", () => {
  const charged = (usd: number) => ({ ...usage(1000, 8000, 0), cost: usd })

  test("gives the price of a token, from which the cost in money follows", () => {
    const session = new SessionBuilder().user(filler("user", 2000)).assistant([], charged(0.0069)).assistant([])
    const { without, recorded } = replay(session, OFF, null)
    // anthropic: 1000 fresh + 8000 read at 0.1 + 100 answered at 5
    expect(recorded).toEqual({ cost: 1000 + 800 + 500, usd: 0.0069 })
    expect(without.usd).toBeCloseTo((without.cost * 0.0069) / 2300)
  })

  test("is unknown for several sessions when one of them does not say", () => {
    const one = replay(new SessionBuilder().user("go").assistant([], charged(1)), OFF, null)
    const other = replay(new SessionBuilder().user("go").assistant([]), OFF, null)
    const idle = replay(new SessionBuilder().user("go"), OFF, null)
    expect(sumReplays([one, other]).recorded).toEqual({ cost: 0, usd: 0 })
    expect(sumReplays([one, idle]).recorded).toEqual(one.recorded)
  })

  test("is in tokens alone at another provider's prices", () => {
    const { without, recorded } = replay(new SessionBuilder().user("go").assistant([], charged(1)), OFF)
    // Anthropic's: 1000 written + 8000 read at 0.1 + 100 answered at 5
    expect(recorded).toEqual({ cost: 1250 + 800 + 500, usd: 1 })
    expect(without.usd).toBeUndefined()
  })

  test("makes GitHub Copilot billed by tokens", () => {
    const copilot = { providerID: "github-copilot", modelID: "gpt-5.4" }
    const session = (usd: number) => new SessionBuilder("ses_1", copilot).user("go").assistant([], charged(usd))
    expect(replay(session(0), OFF, null).billing).toBe("requests")
    expect(replay(session(0.1), OFF, null).billing).toBe("tokens")
  })
})

describe("compactions in the record", () => {
  /** Grows to these sizes, is compacted, goes on. */
  function compacted(...sizes: number[]): SessionBuilder {
    const session = new SessionBuilder().user("go")
    for (const size of sizes) session.assistant([], usage(size - 100))
    return session.compaction().assistant([], usage(5000))
  }

  test("are distinguished from those the user asked for", () => {
    const session = compacted(50_000)
    const asked = { type: "compaction", auto: false }
    session.user("", [asked])
    const summary = { summary: true, finish: "stop", parentID: session.messages.at(-1)?.info.id }
    session.assistant([{ type: "text", text: "Summary." }], summary)
    const compactions = readCompactions(conversationOf(session.messages))
    expect(compactions.found).toEqual({ automatic: 1, asked: 1, avoided: 0 })
    expect(session.messages.flatMap((_, at) => compactions.compactionAfter(at, 0, 0) ?? [])).toEqual([
      "automatic",
      "asked",
    ])
  })

  test("one that failed is none", () => {
    const session = new SessionBuilder().user("go").assistant([], usage(90_000))
    session.user("", [{ type: "compaction", auto: false }])
    session.assistant([], { summary: true, parentID: session.messages.at(-1)?.info.id, error: { name: "APIError" } })
    const compactions = readCompactions(conversationOf(session.user("go on").assistant([], usage(91_000)).messages))
    expect(compactions.found).toEqual({ automatic: 0, asked: 0, avoided: 0 })
    expect(session.messages.flatMap((_, at) => compactions.compactionAfter(at, 0, 0) ?? [])).toEqual([])
  })

  test("the step before one counts, as it does when the compactor's hook reads it", () => {
    const huds: (string | undefined)[] = []
    const session = compacted(50_000, 60_000).assistant([bash("make")])
    replay(session, {}, MARKED, ({ prepared }) => huds.push(prepared?.hud?.text.split("\n")[1]))
    expect(huds).toEqual([undefined, undefined, "hudfold status, call 3", "hudfold status, call 4"])
  })

  test("one was avoidable if the context would have been no larger than one that was not compacted", () => {
    const { messages } = compacted(60_000, 91_000, 95_000)
    const avoided = (savedTokens: number) => {
      const compactions = readCompactions(conversationOf(messages))
      const kinds = messages.flatMap((_, at) => compactions.compactionAfter(at, 0, savedTokens) ?? [])
      expect(kinds).toEqual([compactions.found.avoided > 0 ? "avoided" : "automatic"])
      return compactions.found.avoided
    }
    expect(readCompactions(conversationOf(messages)).compactsAt("anthropic/claude-sonnet-4-5")).toBe(95_000)
    expect([avoided(0), avoided(3999), avoided(4000)]).toEqual([0, 0, 1])
  })

  test("a size that one model allows says nothing about another model", () => {
    const session = compacted(60_000, 95_000)
    Object.assign(session.messages.at(-1)?.info ?? {}, { modelID: "larger" }, usage(400_000))
    const compactions = readCompactions(conversationOf(session.messages))
    compactions.compactionAfter(2, 0, 30_000)
    expect(compactions.found.avoided).toBe(0)
    expect(compactions.compactsAt("anthropic/larger")).toBeUndefined()
  })
})

test("a sum adds up the figures, and takes the largest peak", () => {
  const one = replay(afterRest())
  const other = replay(new SessionBuilder().user("x".repeat(40_000)).assistant([]))
  const sum = sumReplays([one, other])
  expect(sum).toMatchObject({ calls: one.calls + 1, folds: one.folds, hud: { calls: one.hud.calls } })
  expect(sum.without.cost).toBeCloseTo(one.without.cost + other.without.cost)
  expect(sum.without.peakTokens).toBe(Math.max(one.without.peakTokens, other.without.peakTokens))
  expect(one.folds.steps.count).toBe(15)
})

test("each call is reported, and together they add up to the result", () => {
  const session = afterRest().assistant([change])
  const calls: ReplayedCall[] = []
  const whole = replay(session, {}, MARKED, (done) => calls.push(done))
  const total = (of: (call: ReplayedCall) => number) => calls.reduce((sum, call) => sum + of(call), 0)
  expect(calls.map(({ number }) => number)).toEqual(Array.from({ length: whole.calls }, (_, i) => i + 1))
  for (const side of ["without", "with"] as const)
    for (const name of ["tokens", "cachedTokens", "cost"] as const)
      expect(total((call) => call[side][name])).toBeCloseTo(whole[side][name])
  expect(total(({ recallCost }) => recallCost)).toBeCloseTo(whole.recalls.cost)
  expect(calls.flatMap(({ prepared }) => prepared?.newFolds ?? [])).toHaveLength(
    whole.folds.steps.count + whole.folds.outputs.count,
  )
})
