// Which outputs are folded, and why. Sessions and prices are extreme, so that the answer does not depend on the exact
// figures in the table of needs.

import { describe, expect, test } from "bun:test"
import { createEnv } from "../../src/digest/digests.ts"
import type { Situation } from "../../src/fold/candidates.ts"
import type { Fold } from "../../src/fold/fold.ts"
import { type Decision, planFolds } from "../../src/fold/plan.ts"
import type { Pricing } from "../../src/fold/pricing.ts"
import { cachedPrefix, wireOf } from "../../src/fold/prompt-cache.ts"
import type { HostPart } from "../../src/host/v1/message.ts"
import { nameOf } from "../../src/session/event.ts"
import { createLedger } from "../../src/session/ledger.ts"
import { take } from "../support/conversation.ts"
import { PRICING } from "../support/pricing.ts"
import { bash, edit, failedTool, ROOT, read, SessionBuilder, tool } from "../support/session.ts"

const NO_CACHE: Pricing = { ...PRICING, read: 1, write: 1, lifetimeMs: 0 }

/** What is decided for the next call. Warm: all but the newest message is in the provider's cache. */
function decide(session: SessionBuilder, situation: Partial<Situation> & { isCold?: boolean } = {}): Decision[] {
  const ledger = createLedger(createEnv(ROOT))
  take(ledger, session.messages)
  const { entries, facts } = ledger
  const { isCold, pricing = PRICING, folds = new Map() } = situation
  const wire = wireOf(entries, folds, [])
  const sentTokens = wire.reduce((sum, { tokens }) => sum + tokens, 0)
  const last = wireOf(entries.slice(0, -1), folds, [])
  // every call before was a request with a mark at its end
  const ends = last.flatMap(({ source }, at) => (last[at + 1]?.source === source ? [] : [at + 1]))
  const sent = isCold ? undefined : { wire: last, messages: entries.length - 1, ends, atMs: 0, model: "m" }
  return planFolds({
    entries,
    facts,
    folds,
    pricing,
    wire,
    cached: cachedPrefix({ wire, hud: "tail", pricing, model: "m", nowMs: 0 }, sent),
    sentTokens,
    contextTokens: sentTokens,
    quotedAt: new Map(),
    isProtected: () => false,
    stopped: false,
    ...situation,
  })
}

const named = (decisions: readonly Decision[]) => decisions.map(({ event }) => `${nameOf(event)} @${event.call}`)

const lines = (text: string, tokens: number) =>
  Array.from({ length: Math.ceil((tokens * 4) / (text.length + 6)) }, (_, i) => `${text} ${i}`).join("\n")
const list = (name: string, tokens = 2_000) => bash(`ls -l ${name}`, lines(`-rw-r--r-- 1 dev src/${name}`, tokens))
const small = () => tool("glob", { pattern: `*.${Math.random()}` }, "a.ts")
const begun = () => new SessionBuilder().user("make the login test of the shop pass on node 22, please")
/** Calls without outputs that can be folded. */
const idle = (session: SessionBuilder, calls: number) => {
  for (let i = 0; i < calls; i++) session.assistant([edit(`idle-${i}.ts`)])
  return session
}
const saved = (decisions: readonly Decision[]) =>
  decisions.reduce((sum, { tokens, textTokens }) => sum + tokens - textTokens, 0)

describe("free", () => {
  const session = () => {
    const begin = begun()
      .assistant([list("auth")])
      .assistant([read("a.ts", lines("code", 2_000))])
    return idle(idle(begin, 20).assistant([list("cart")]), 20)
  }
  const all = ["ls -l auth @1", "read a.ts @2", "ls -l cart @23"]

  test("is everything no longer in use while nothing is cached", () => {
    const cold = decide(session(), { isCold: true })
    expect(named(cold)).toEqual(all)
    expect(cold.map(({ reason }) => reason)).toEqual(["free", "free", "free"])
    expect(cold.map(({ because }) => because)).toEqual([
      expect.stringContaining("an older listing"),
      expect.stringContaining("a file not touched for a while"),
      expect.stringContaining("an older listing"),
    ])
  })

  test("is everything with a provider that has no cache", () => {
    const decisions = decide(session(), { pricing: NO_CACHE })
    expect(named(decisions)).toEqual(all)
    expect(new Set(decisions.map(({ reason }) => reason))).toEqual(new Set(["free"]))
  })

  test("is a duplicate as it arrives; the earlier output stays", () => {
    const again = idle(begun().assistant([read("a.ts", lines("code", 3_000))]), 3).assistant([
      read("a.ts", lines("code", 3_000)),
    ])
    const decisions = decide(again)
    expect(named(decisions)).toEqual(["read a.ts @5"])
    expect(decisions[0]).toMatchObject({
      needKind: "duplicate",
      reason: "free",
      because: "the same output is already in the context",
    })
  })

  test("is not a duplicate of an output that is folded or cleared, nor both of two at once", () => {
    const again = idle(begun().assistant([read("a.ts", lines("code", 3_000))]), 3).assistant([
      read("a.ts", lines("code", 3_000)),
    ])
    const above = again.messages[1]?.parts.find(({ type }) => type === "tool") as HostPart
    const folds = new Map([[above.id ?? "", { tokens: 3_000, textTokens: 20 } as Fold]])
    expect(decide(again, { folds })).toEqual([])
    above.state = { ...above.state, time: { compacted: 1 } }
    expect(decide(again)).toEqual([])
    const twins = begun().assistant([read("a.ts", lines("code", 3_000)), read("a.ts", lines("code", 3_000))])
    expect(named(decide(twins))).toHaveLength(1)
  })
})

describe("pays", () => {
  test("a large output with little after it, and the reason says what it saves and costs", () => {
    const session = idle(begun().assistant([list("auth", 60_000)]), 20)
    const [decision, ...others] = decide(session)
    expect(others).toEqual([])
    expect(decision?.reason).toBe("pays")
    const { tokens = 0, textTokens = 0, because = "" } = decision ?? {}
    expect(because).toMatch(
      /^an older listing; saves \d+ tokens on each of about \d+ more calls; resending what follows costs \d+ tokens once, for all folds of this call$/,
    )
    expect(because).toContain(`saves ${tokens - textTokens} tokens on`)
  })

  test("not a small output with much after it", () => {
    const session = begun()
      .assistant([list("auth", 300)])
      .assistant([read("kept.ts", lines("code", 60_000))])
    const kept = (event: { input: string }) => event.input === "kept.ts"
    expect(decide(idle(session, 6), { isProtected: kept })).toEqual([])
  })

  test("nothing for outputs that were folded before OpenCode pruned them", () => {
    const session = begun().assistant([list("src", 200)])
    for (let i = 0; i < 10; i++) session.assistant([list(`old${i}`, 4_000)])
    idle(session, 10)
    const parts = session.messages.flatMap(({ parts }) => parts).filter(({ type }) => type === "tool")
    const pruned = parts.slice(1, 11)
    for (const part of pruned) part.state = { ...part.state, time: { ...part.state?.time, compacted: 5 } }
    const folds = new Map(
      pruned.map(({ id = "" }) => [id, { partID: id, tokens: 4_000, textTokens: 40 } as Fold] as const),
    )
    expect(named(decide(session, { folds }))).toEqual(named(decide(session)))
  })

  test("an output that would not pay alone, once the prefix is broken before it", () => {
    const run = () => bash("npm test", lines("ok", 600))
    const kept = () => read("kept.ts", lines("code", 5_000))
    const isProtected: Situation["isProtected"] = ({ input }) => input === "kept.ts"
    const alone = begun().assistant([run()]).assistant([kept()])
    expect(decide(idle(alone, 8), { isProtected })).toEqual([])
    const session = begun()
      .assistant([list("auth", 90_000)])
      .assistant([run()])
      .assistant([kept()])
    expect(named(decide(idle(session, 14), { isProtected }))).toEqual(["ls -l auth @1", "npm test @2"])
  })

  test("not an output that gains little, however cheap", () => {
    const small = idle(begun().assistant([list("auth", 2_000)]), 40)
    expect(decide(small)).toEqual([])
    const large = idle(begun().assistant([list("auth", 40_000)]), 40)
    expect(named(decide(large))).toEqual(["ls -l auth @1"])
  })
})

describe("with a provider that finds entries only near a mark", () => {
  const found = (lookback: number) => ({ pricing: { ...PRICING, lookback } })
  const bulk = () => idle(begun().assistant([tool("todowrite", { q: "x" }, lines("plan", 90_000))]), 60)

  test("an output behind an entry within reach loses only what follows the entry", () => {
    const session = bulk()
      .assistant([bash("node late.js", lines("step", 20_000))])
      .assistant([small()])
    expect(named(decide(session, found(20)))).toEqual(["node late.js @62"])
  })

  test("one further back loses everything cached, and stays", () => {
    const session = idle(bulk().assistant([list("late", 20_000)]), 10)
    expect(named(decide(session))).toEqual(["ls -l late @62"])
    expect(decide(session, found(20))).toEqual([])
  })

  test("everything no longer in use is folded when the newest step has more blocks than the lookback, so nothing is found", () => {
    const session = idle(begun().assistant([list("auth", 1_000)]), 60)
    expect(decide(session, found(20))).toEqual([])
    session.assistant(Array.from({ length: 12 }, small))
    expect(decide(session, found(20)).map(({ reason }) => reason)).toEqual(["free"])
  })
})

test("what is never folded stays even if nothing is cached and room is needed", () => {
  const session = begun()
    .assistant([
      tool("task", { prompt: "x" }, lines("answer", 30_000)),
      tool("hud_recall", { ids: "r1" }, lines("a", 9_000)),
    ])
    .assistant([small(), small()])
  const tight = { pricing: { ...PRICING, lookback: 8 }, compactsAt: 20_000, contextTokens: 40_000 }
  expect(decide(session, tight)).toEqual([])
})

describe("must", () => {
  /** Old listings before much that has to stay: to fold one of them early never pays. */
  const full = () => {
    const session = begun()
    for (let i = 0; i < 20; i++) session.assistant([list(`d${i}`, 3_000)])
    return idle(session.assistant([read("kept.ts", lines("code", 60_000))]), 4).assistant([list("newest", 4_000)])
  }
  const isProtected: Situation["isProtected"] = ({ input }) => input === "kept.ts"
  const near = { isProtected, compactsAt: 90_000, contextTokens: 85_000 }

  test("nothing while OpenCode is far from compacting, or never does", () => {
    expect(decide(full(), { isProtected, compactsAt: 400_000 })).toEqual([])
    expect(decide(full(), { isProtected, contextTokens: 1_000_000 })).toEqual([])
  })

  test("enough to be well below it, and no more; never the newest call's", () => {
    const decisions = decide(full(), near)
    expect(decisions.length).toBeGreaterThan(0)
    expect(new Set(decisions.map(({ reason }) => reason))).toEqual(new Set(["must"]))
    expect(decisions[0]?.because).toBe("the context nears 90000 tokens, where OpenCode compacts; an older listing")
    expect(named(decisions)).not.toContain("ls -l newest @26")
    // the rest is no reason to fold more
    const folds = new Map(decisions.map((one) => [one.event.partID, one as unknown as Fold]))
    expect(decide(full(), { ...near, folds, contextTokens: near.contextTokens - saved(decisions) })).toEqual([])
    // the closer it is, the more has to go
    const least = decide(full(), { ...near, contextTokens: 73_000 })
    expect(least.length).toBeGreaterThan(0)
    expect(least.length).toBeLessThan(decisions.length)
  })

  test("everything when that is not enough, except the newest call's", () => {
    const all = decide(full(), { ...near, contextTokens: 1_000_000 })
    expect(all).toHaveLength(20)
    expect(named(all)).not.toContain("ls -l newest @26")
  })

  test("also a file that was just read, which nothing else would fold yet", () => {
    const session = begun()
      .assistant([read("a.ts", lines("code", 60_000))])
      .assistant([small()])
    expect(decide(session, { isCold: true })).toEqual([])
    const decisions = decide(session, { compactsAt: 70_000, contextTokens: 62_000 })
    expect(decisions.map(({ event, reason }) => [nameOf(event), reason])).toEqual([["read a.ts", "must"]])
  })

  test("the least needed first", () => {
    const session = begun()
      .assistant([tool("other_tool", { q: "x" }, lines("result", 30_000))])
      .assistant([read("old.ts", lines("code", 30_000))])
      .assistant([read("kept.ts", lines("code", 60_000))])
      .assistant([tool("write", { filePath: `${ROOT}/old.ts`, content: "x" }, "ok")])
    const decisions = decide(idle(session, 3), { isProtected, compactsAt: 90_000, contextTokens: 73_000 })
    expect(decisions.map(({ needKind, reason }) => [needKind, reason])).toEqual([["superseded", "must"]])
  })

  test("also when folding to save cost has stopped, which then folds nothing else", () => {
    expect(decide(full(), { ...near, stopped: true }).map(({ reason }) => reason)).toContain("must")
    const cold = { isCold: true, stopped: true }
    expect(decide(full(), cold)).toEqual([])
    expect(decide(full(), { ...cold, stopped: false })).not.toEqual([])
  })
})

describe("what the agent will need", () => {
  const cold = { isCold: true }

  test("the newest call's outputs stay, whatever they are", () => {
    const session = begun().assistant([
      list("a"),
      bash("npm test", lines("ok", 2_000)),
      read("b.ts", lines("x", 2_000)),
    ])
    expect(decide(session, cold)).toEqual([])
    expect(decide(session, { ...cold, compactsAt: 100 })).toEqual([])
  })

  test("a file read and not yet edited stays for some calls, a run that passed does not", () => {
    const session = begun()
      .assistant([read("a.ts", lines("code", 2_000)), bash("npm test", lines("ok", 2_000))])
      .assistant([small()])
    expect(named(decide(session, cold))).toEqual(["npm test @1"])
    expect(named(decide(idle(session, 20), cold))).toContain("read a.ts @1")
  })

  test("a file stays while it is edited", () => {
    const session = idle(begun().assistant([read("a.ts", lines("code", 2_000))]), 20)
    expect(named(decide(session, cold))).toEqual(["read a.ts @1"])
    expect(decide(session.assistant([edit("a.ts")]), cold)).toEqual([])
  })

  test("what was just quoted stays", () => {
    const session = idle(begun().assistant([read("a.ts", lines("code", 2_000))]), 20)
    const partID = session.messages[1]?.parts[1]?.id ?? ""
    expect(decide(session, { ...cold, quotedAt: new Map([[partID, 21]]) })).toEqual([])
    expect(decide(session, { ...cold, quotedAt: new Map([[partID, 2]]) })).toHaveLength(1)
  })

  test("a recalled output stays for some calls, not forever", () => {
    const session = begun().assistant([tool("hud_recall", { ids: "r1" }, lines("code", 3_000))])
    expect(decide(idle(session, 3), cold)).toEqual([])
    expect(decide(session, { ...cold, compactsAt: 100 })).toEqual([])
    expect(named(decide(idle(session, 400), cold))).toEqual(["hud_recall r1 @1"])
  })

  test.each(["todowrite", "task", "skill", "question"])("the answer of %s is never folded", (name) => {
    const session = idle(begun().assistant([tool(name, { q: "x" }, lines("answer", 5_000))]), 100)
    expect(decide(session, { ...cold, compactsAt: 100 })).toEqual([])
  })

  test("protected, small, cleared and folded outputs are never folded", () => {
    const session = begun()
      .assistant([list("auth"), bash("ls b", "a.ts b.ts c.ts d.ts e.ts")])
      .assistant([list("cart"), list("mail")])
    idle(session, 10)
    const [cleared, folded] = session.messages[2]?.parts.filter(({ type }) => type === "tool") ?? []
    if (cleared) cleared.state = { ...cleared.state, time: { compacted: 1 } }
    const folds = new Map([[folded?.id ?? "", { tokens: 2_000, textTokens: 20 } as Fold]])
    expect(named(decide(session, { ...cold, folds }))).toEqual(["ls -l auth @1"])
    const isProtected: Situation["isProtected"] = ({ input }) => input === "ls -l auth"
    expect(decide(session, { ...cold, folds, isProtected, compactsAt: 100 })).toEqual([])
  })
})

describe("what a newer one makes needless", () => {
  test("a read whose file was read again or written since, by what", () => {
    for (const newer of [
      read("a.ts", lines("newer", 2_000)),
      tool("write", { filePath: `${ROOT}/a.ts`, content: "x" }, "ok"),
    ]) {
      const session = begun()
        .assistant([read("a.ts", lines("code", 2_000))])
        .assistant([newer])
        .assistant([small()])
      const [decision, ...others] = decide(session, { isCold: true })
      expect(others).toEqual([])
      expect(decision).toMatchObject({
        needKind: "superseded",
        because: expect.stringContaining("the file was read or written again since"),
      })
      expect(decision?.event.call).toBe(1)
      expect(decision?.by?.tool).toBe(newer.tool as string)
    }
  })

  test("not by an edit, nor by a read of less", () => {
    const part = tool("read", { filePath: `${ROOT}/a.ts`, offset: 10, limit: 5 }, lines("part", 200))
    const session = begun()
      .assistant([read("a.ts", lines("code", 2_000))])
      .assistant([part])
      .assistant([edit("a.ts")])
    expect(decide(session, { isCold: true }).map(({ needKind }) => needKind)).not.toContain("superseded")
  })

  test("an output that came again verbatim", () => {
    const session = idle(begun().assistant([list("auth")]), 6)
      .assistant([list("auth")])
      .assistant([small()])
    const [decision] = decide(session, { isCold: true })
    expect(decision).toMatchObject({
      needKind: "repeated",
      because: expect.stringContaining("the same output came again later"),
    })
    expect([decision?.event.call, decision?.by?.call]).toEqual([1, 8])
  })
})

describe("a call that failed", () => {
  test("gives its long arguments, not its message", () => {
    const failed = failedTool(
      "edit",
      { filePath: `${ROOT}/a.ts`, oldString: lines("old", 3_000) },
      "oldString not found",
    )
    const [decision, ...others] = decide(idle(begun().assistant([failed]), 30), { isCold: true })
    expect(others).toEqual([])
    expect(decision).toMatchObject({
      side: "input",
      needKind: "attempt",
      because: expect.stringContaining("the arguments of a failed call"),
    })
  })

  test("with short arguments stays", () => {
    const failed = failedTool("edit", { filePath: `${ROOT}/a.ts`, oldString: "a" }, lines("what went wrong", 3_000))
    expect(decide(idle(begun().assistant([failed]), 30), { isCold: true })).toEqual([])
  })

  test("of a command stays longer than one that passed", () => {
    const run = (exit: number) =>
      begun()
        .assistant([bash("npm test", `${lines("ok", 3_000)}\nTests: ${exit} failed`, exit)])
        .assistant([small()])
    expect(named(decide(run(0), { isCold: true }))).toEqual(["npm test @1"])
    expect(decide(run(1), { isCold: true })).toEqual([])
    expect(named(decide(idle(run(1), 30), { isCold: true }))).toEqual(["npm test @1"])
  })
})
