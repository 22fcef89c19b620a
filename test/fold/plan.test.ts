// When a cut pays, and what it folds. Sessions and prices are extreme, so that the answers do not depend on the exact
// figures.

import { describe, expect, test } from "bun:test"
import { createEnv } from "../../src/digest/digests.ts"
import type { Fold, Folds } from "../../src/fold/fold.ts"
import { type CutPlan, LARGE_TOKENS, planFolds, RELIEVED_SHARE, type Situation } from "../../src/fold/plan.ts"
import type { Pricing } from "../../src/fold/pricing.ts"
import { cachedPrefix, wireOf } from "../../src/fold/prompt-cache.ts"
import { createLedger } from "../../src/session/ledger.ts"
import { OUTPUT_STEPS, SETTLED_AGE } from "../../src/session/steps.ts"
import { take } from "../support/conversation.ts"
import { PRICING } from "../support/pricing.ts"
import { bash, edit, ROOT, read, SessionBuilder, tool } from "../support/session.ts"

const NO_CACHE: Pricing = { ...PRICING, read: 1, write: 1, lifetimeMs: 0 }

/** What is decided for the next call. Warm: all but the newest message is in the provider's cache. */
function plan(session: SessionBuilder, situation: Partial<Situation> & { isCold?: boolean } = {}): CutPlan {
  const ledger = createLedger(createEnv(ROOT))
  take(ledger, session.messages)
  const { entries, facts } = ledger
  const { isCold, pricing = PRICING, folds = new Map() } = situation
  const wire = wireOf(entries, folds, [])
  const sentTokens = wire.reduce((sum, { tokens }) => sum + tokens, 0)
  const last = wireOf(entries.slice(0, -1), folds, [])
  // every call before was a request with a mark at its end
  const ends = last.flatMap(({ source }, at) => (last[at + 1]?.source === source ? [] : [at + 1]))
  const sent = isCold ? undefined : { wire: last, ends, atMs: 0, model: "m" }
  return planFolds({
    entries,
    facts,
    folds,
    pricing,
    wire,
    cached: cachedPrefix({ wire, hud: "tail", pricing, model: "m", nowMs: 0 }, sent),
    sentTokens,
    // a large request has been cut lately
    tokensAfterCut: sentTokens,
    contextTokens: sentTokens,
    maxTokens: Number.POSITIVE_INFINITY,
    bindsThinking: false,
    isProtected: () => false,
    isWhole: () => false,
    onlyMakesRoom: false,
    isRetry: false,
    ...situation,
  })
}

/** Numbers of the steps that are folded whole, and of those whose outputs are. */
function folded({ decisions }: CutPlan) {
  const of = (kind: "step" | "output") => decisions.flatMap((one) => (one.kind === kind ? [one.step.entry.call] : []))
  return { steps: of("step"), outputs: of("output") }
}

const lines = (text: string, tokens: number) =>
  Array.from({ length: Math.ceil((tokens * 4) / (text.length + 6)) }, (_, i) => `${text} ${i}`).join("\n")
let unique = 0
const list = (tokens: number) => bash(`ls -l ${++unique}`, lines(`-rw-r--r-- 1 dev folder-${unique}`, tokens))
const begun = () => new SessionBuilder().user("make the login test of the shop pass on node 22, please")
const idle = (session: SessionBuilder, steps: number) => {
  for (let i = 0; i < steps; i++) session.assistant([bash(`true ${++unique}`)])
  return session
}
const MANY = SETTLED_AGE + 30

describe("nothing is folded", () => {
  test("while nothing is settled, even if folding is free", () => {
    expect(plan(begun(), { isCold: true }).decisions).toEqual([])
    const session = begun()
      .assistant([read("a.ts", lines("code", 20_000))])
      .assistant([edit("a.ts")])
    expect(plan(session, { isCold: true }).decisions).toEqual([])
  })

  test("when it would save too little", () => {
    expect(plan(idle(begun(), 12), { isCold: true }).decisions).toEqual([])
  })

  test("again that is folded", () => {
    const session = idle(begun().assistant([list(20_000)]), MANY)
    const first = plan(session, { isCold: true })
    expect(first.decisions.length).toBeGreaterThan(0)
    const folds: Folds = new Map(
      first.decisions.map(({ step: { entry } }) => [
        entry.id,
        { kind: "step", partID: entry.id, messageID: entry.id, tokens: entry.tokens, textTokens: 20 } as Fold,
      ]),
    )
    expect(plan(session, { isCold: true, folds }).decisions).toEqual([])
  })
})

describe("with a warm cache, a cut", () => {
  /** A settled output before much that stays. */
  const session = (steps: number) => {
    const built = begun().assistant([list(8_000)])
    for (let i = 0; i < 4; i++) built.assistant([tool("task", { prompt: `${i}` }, lines("answer", 8_000))])
    return idle(built, steps)
  }

  test("waits until carrying what is settled has cost more than the cut", () => {
    const cut = (steps: number) => plan(session(steps)).decisions.length > 0
    expect(cut(SETTLED_AGE)).toBe(false)
    const steps = Array.from({ length: 40 }, (_, i) => 10 * (i + 1))
    const first = steps.find(cut) ?? 0
    expect(first).toBeGreaterThan(20)
    // from then on it pays at any time
    expect(steps.filter((one) => one > first).every(cut)).toBe(true)
  })

  test("says what carrying has cost, and what the cut costs", () => {
    const { reason, because } = plan(session(400))
    expect(reason).toBe("pays")
    const [, paid = 0, cost = 0] =
      /^carrying what is settled has cost ([\d.]+)k tokens; resending what follows costs ([\d.]+)k once$/
        .exec(because)
        ?.map(Number) ?? []
    expect(paid).toBeGreaterThan(cost ?? 0)
    expect(cost).toBeGreaterThan(0)
  })

  test("is never made for money where requests are billed", () => {
    const pricing: Pricing = { ...PRICING, billing: "requests" }
    expect(plan(session(400)).decisions).not.toEqual([])
    expect(plan(session(400), { pricing }).decisions).toEqual([])
    expect(plan(session(400), { pricing, isCold: true }).reason).toBe("free")
  })
})

describe("free", () => {
  test("is everything settled while nothing is cached, oldest first", () => {
    const session = idle(
      begun()
        .assistant([list(2_000)])
        .assistant([list(2_000)]),
      12,
    )
    for (const cold of [{ isCold: true }, { pricing: NO_CACHE }]) {
      const cut = plan(session, cold)
      expect(cut.reason).toBe("free")
      expect(folded(cut).steps.slice(0, 2)).toEqual([1, 2])
      expect(cut.because).toBe("nothing after it was cached")
      for (const { because } of cut.decisions) expect(because).not.toBe("")
    }
    expect(plan(session).decisions).toEqual([])
  })

  test("is what nothing cached follows: with marks, what the provider cannot find any more", () => {
    const session = idle(begun().assistant([list(1_000)]), 30)
    const pricing = { ...PRICING, lookback: 20 }
    expect(plan(session, { pricing }).decisions).toEqual([])
    session.assistant(Array.from({ length: 24 }, () => bash(`true ${++unique}`)))
    expect(plan(session, { pricing }).reason).toBe("free")
    expect(folded(plan(session, { pricing })).steps[0]).toBe(1)
  })
})

describe("a model that binds its thinking to all before it", () => {
  const thinking = () => {
    const session = idle(begun().assistant([list(30_000)]), 20)
    idle(session.assistant([{ type: "reasoning", text: "hm" }, list(30_000)]), 1).assistant([list(30_000)])
    return idle(session, 20)
  }
  const cold = { isCold: true, bindsThinking: true }

  test("gets nothing changed before the running turn's thinking", () => {
    expect(folded(plan(thinking(), { isCold: true })).steps[0]).toBe(1)
    expect(folded(plan(thinking(), cold)).steps[0]).toBeGreaterThan(22)
    // a message without content, as other plugins add, begins no turn
    expect(folded(plan(thinking().user(""), cold)).steps[0]).toBeGreaterThan(22)
    // the thinking of an earlier turn is not sent
    expect(folded(plan(thinking().user("and now?"), cold)).steps[0]).toBe(1)
  })

  test("does when room is needed", () => {
    const cut = plan(thinking(), { ...cold, maxTokens: 40_000 })
    expect([cut.reason, folded(cut).steps[0]]).toEqual(["must", 1])
  })
})

describe("the maximum", () => {
  const session = () => {
    const built = begun()
    for (let i = 0; i < 20; i++) built.assistant([list(3_000)])
    return built
  }

  test("changes nothing while the request is far from it", () => {
    expect(plan(session(), { maxTokens: 1_000_000 })).toEqual(plan(session()))
  })

  test("is held: as much is folded as makes enough room, sooner than is settled else", () => {
    const cut = plan(session(), { maxTokens: 62_000 })
    expect(cut).toMatchObject({ reason: "must", because: "the request nears 62k tokens, its maximum" })
    expect(cut.shortened).toEqual([])
    const saved = cut.decisions.reduce(
      (sum, one) => sum + (one.kind === "step" ? one.step.entry.tokens : one.event.outputTokens),
      0,
    )
    expect(saved).toBeGreaterThan(62_000 * (1 - RELIEVED_SHARE) * 0.9)
    const whole = ({ decisions }: CutPlan) => decisions.filter(({ kind }) => kind === "step").length
    expect(whole(cut)).toBeGreaterThan(whole(plan(session(), { foldNow: "all" })))
  })

  test("that cannot be held is folded except the newest step", () => {
    const cut = plan(session(), { maxTokens: 62_000, contextTokens: 900_000 })
    const { steps, outputs } = folded(cut)
    expect([...steps, ...outputs]).not.toContain(20)
    expect(new Set([...steps, ...outputs]).size).toBe(19)
  })

  test("never takes answers, nor what was just recalled", () => {
    const kept = begun().assistant([tool("task", { prompt: "x" }, lines("answer", 30_000))])
    idle(kept.assistant([list(3_000)]), 3).assistant([tool("hud_recall", { ids: "r0000001" }, lines("code", 9_000))])
    const { decisions } = plan(idle(kept, 1), { maxTokens: 2_000 })
    const events = decisions.flatMap((one) => (one.kind === "step" ? one.step.entry.events : [one.event]))
    expect(new Set(events.map((event) => event.tool))).toEqual(new Set(["bash"]))
  })
})

describe("where what cannot be folded fills the request", () => {
  const full = (steps: number) => {
    const session = begun().assistant([tool("task", { prompt: "x" }, lines("answer", 85_000))])
    for (let i = 0; i < steps; i++) session.assistant([list(1_000)])
    return session
  }
  // a cut would send the answer again with each request
  const maximum = { maxTokens: 100_000, onlyMakesRoom: true }

  test("a cut waits until it makes room for more than the next request", () => {
    expect(plan(full(6), maximum).decisions).toEqual([])
    expect(plan(full(13), maximum).reason).toBe("must")
  })

  test("it does not wait where it brings the request below the maximum", () => {
    expect(plan(full(3), { ...maximum, contextTokens: 100_001 }).reason).toBe("must")
  })

  test("it waits where even so the request exceeds the maximum, as with one below OpenCode's own prompt and tools", () => {
    expect(plan(full(3), { ...maximum, contextTokens: 110_000 }).decisions).toEqual([])
    expect(plan(full(13), { ...maximum, contextTokens: 130_000 }).reason).toBe("must")
  })
})

test("a cut of short edits is not made, since they stand in the record as they are", () => {
  const edited = (chars: number) => {
    const session = begun()
    const said = { type: "text", text: "The module has the old interface still, so its calls are changed. ".repeat(2) }
    for (let i = 0; i < 60; i++)
      session.assistant([
        said,
        tool("edit", { filePath: `${ROOT}/${i}.ts`, oldString: "a", newString: "b".repeat(chars) }, "ok"),
      ])
    return session
  }
  expect(plan(edited(1_000), { isCold: true }).decisions).toEqual([])
  expect(plan(edited(1_500), { isCold: true }).decisions).toEqual([])
  expect(plan(edited(3_000), { isCold: true }).decisions).not.toEqual([])
})

describe("a large request", () => {
  const session = (tokens: number) => {
    const built = begun()
    for (let i = 0; i < 10; i++) built.assistant([read(`${i}.ts`, lines("code", tokens / 10))])
    return idle(built, OUTPUT_STEPS)
  }

  test("is folded harder than a small one", () => {
    const cut = plan(session(2 * LARGE_TOKENS), { tokensAfterCut: 0 })
    expect([cut.reason, cut.because]).toEqual(["must", "a request over 45k tokens is kept smaller"])
    expect(plan(session(LARGE_TOKENS / 3), { tokensAfterCut: 0 }).decisions).toEqual([])
  })

  test("is not when it has hardly grown since the last cut", () => {
    expect(plan(session(2 * LARGE_TOKENS), { tokensAfterCut: 1.9 * LARGE_TOKENS }).reason).not.toBe("must")
  })
})

test("a long session met late is folded at once: sent in parts, most of it would be paid for again with each", () => {
  const session = begun()
  for (let i = 0; i < 1000; i++) session.assistant([list(100)])
  const { steps } = folded(plan(session, { isCold: true }))
  expect([steps.length, steps[0], steps.at(-1)]).toEqual([994, 1, 994])
})

describe("what the user asked for", () => {
  const large = () => {
    const built = begun()
    for (let i = 0; i < 500; i++) built.assistant([list(150)])
    return built
  }
  const idOf = (session: SessionBuilder, step: number) => session.messages[step]?.info.id ?? ""

  test("is folded whatever it costs, and nothing else", () => {
    const session = large()
    const cut = plan(session, { foldNow: [idOf(session, 1), idOf(session, 450)] })
    expect([cut.reason, folded(cut).steps]).toEqual(["asked", [1, 450]])
  })

  test("goes before what makes a large request smaller, and after what keeps it below its maximum", () => {
    const session = large()
    const foldNow = [idOf(session, 450)]
    expect(plan(session, { tokensAfterCut: 0 }).reason).toBe("must")
    expect(plan(session, { tokensAfterCut: 0, foldNow }).reason).toBe("asked")
    expect(plan(session, { maxTokens: 10_000, foldNow }).reason).toBe("must")
  })
})

test("when folding is paused, only what makes room is decided", () => {
  const session = idle(begun().assistant([list(30_000)]), MANY)
  expect(plan(session, { isCold: true }).reason).toBe("free")
  expect(plan(session, { isCold: true, onlyMakesRoom: true }).decisions).toEqual([])
  expect(plan(session, { tokensAfterCut: 0, sentTokens: 3 * LARGE_TOKENS, onlyMakesRoom: true }).decisions).toEqual([])
  const full = plan(session, { isCold: true, onlyMakesRoom: true, maxTokens: 35_000 })
  expect([full.reason, folded(full).steps[0]]).toEqual(["must", 1])
})

describe("protected", () => {
  const session = () => idle(begun().assistant([list(9_000), read("a.ts", lines("code", 9_000))]), MANY)
  const isProtected: Situation["isProtected"] = ({ tool }) => tool === "read"

  test("outputs keep their step; the step's other outputs are folded", () => {
    const cut = plan(session(), { isCold: true, isProtected })
    const [first, ...others] = cut.decisions
    expect(first).toMatchObject({ kind: "output", step: { entry: { call: 1 } }, event: { tool: "bash" } })
    expect(others.map(({ step }) => step.entry.call)).not.toContain(1)
  })

  test("outputs stay whatever room is needed", () => {
    const { decisions } = plan(session(), { maxTokens: 2_000, isProtected })
    expect(decisions.filter(({ step }) => step.entry.call === 1).map((one) => one.kind)).toEqual(["output"])
  })
})

test("outputs that OpenCode cleared, or that are tiny, are not folded one by one", () => {
  const session = begun().assistant([list(9_000), bash("true", "ok"), tool("task", { prompt: "x" }, "answer")])
  const part = session.messages[1]?.parts.find(({ type }) => type === "tool")
  if (part) part.state = { ...part.state, time: { compacted: 1 } }
  const { decisions } = plan(idle(session, MANY).assistant([list(9_000)]), { isCold: true })
  // the answer keeps the step
  expect(decisions.map(({ step }) => step.entry.call)).not.toContain(1)
})
