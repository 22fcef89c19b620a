// How much of a request is cached, with and without marks.

import { describe, expect, test } from "bun:test"
import { createEnv } from "../../src/digest/digests.ts"
import type { Fold } from "../../src/fold/fold.ts"
import type { Pricing } from "../../src/fold/pricing.ts"
import {
  cachedPrefix,
  type HudMark,
  isInReach,
  type SentRequest,
  sentRequest,
  type WireMessage,
  wireOf,
} from "../../src/fold/prompt-cache.ts"
import { SECTIONS } from "../../src/hud/sections.ts"
import { newSessionState } from "../../src/request/request.ts"
import { createLedger } from "../../src/session/ledger.ts"
import { prepare, take } from "../support/conversation.ts"
import { PRICING } from "../support/pricing.ts"
import { bash, failedTool, pictured, ROOT, SessionBuilder, tool } from "../support/session.ts"

const MARKED: Pricing = { ...PRICING, lookback: 20 }
const NEVER = Number.POSITIVE_INFINITY

function wireIn(
  session: SessionBuilder,
  folds: ReadonlyMap<string, Fold> = new Map(),
  anchors: Parameters<typeof wireOf>[2] = [],
) {
  const ledger = createLedger(createEnv(ROOT))
  take(ledger, session.messages)
  return { ledger, wire: wireOf(ledger.entries, folds, anchors) }
}

const STEP_TOKENS = 30

function foldOf(kind: Fold["kind"], partID: string, messageID: string): Fold {
  const why = { reason: "pays", because: "", cutBecause: "", call: 1 } as const
  return {
    id: "r0000001",
    hash: "",
    step: 1,
    text: "",
    what: "",
    ...why,
    kind,
    partID,
    messageID,
    tokens: 1000,
    textTokens: STEP_TOKENS,
  }
}

describe("the messages of a request", () => {
  test("separate the agent's calls from their results, each with its blocks", () => {
    const session = new SessionBuilder()
      .user("do it", [{ type: "text", text: "unseen", ignored: true }])
      .assistant([
        { type: "reasoning", text: "hm" },
        { type: "text", text: "I look" },
        bash("a", "1"),
        failedTool("x", {}, "no"),
      ])
      .assistant([{ type: "text", text: "Done." }])
    const { wire } = wireIn(session)
    expect(wire.map(({ holds, blocks }) => [holds, blocks])).toEqual([
      ["message", 1],
      ["message", 4],
      ["results", 2],
      ["message", 1],
    ])
  })

  test("have an image of a result among the results", () => {
    const shot = tool("shot", {}, "x".repeat(400))
    const wire = (part: typeof shot) => wireIn(new SessionBuilder().assistant([part])).wire.map(({ tokens }) => tokens)
    const [calls = 0, results = 0] = wire(shot)
    expect(wire(pictured(shot))).toEqual([calls, results + 1_500])
  })

  test("omit a step that failed, as OpenCode does, but not one that the user stopped", () => {
    const failed = new SessionBuilder()
      .user("do it")
      .assistant([{ type: "text", text: "I" }], { error: { name: "APIError" } })
    expect(wireIn(failed).wire).toHaveLength(1)
    const error = { name: "MessageAbortedError" }
    const stopped = new SessionBuilder().user("do it").assistant([{ type: "text", text: "I" }], { error })
    expect(wireIn(stopped).wire).toHaveLength(2)
  })

  test("contain folds as they are sent, and an anchored HUD text after its message", () => {
    const session = new SessionBuilder()
      .user("do it")
      .assistant([bash("a", "x".repeat(4000))])
      .assistant([bash("b", "y")])
    const part = session.messages[1]?.parts[1]?.id ?? ""
    const fold = { ...foldOf("output", part, session.id(1)), tokens: 1000, textTokens: 40 }
    const anchor = { after: session.id(1), text: "z".repeat(40) }
    const before = wireIn(session).wire
    const { wire } = wireIn(session, new Map([[part, fold]]), [anchor])
    expect(wire.map(({ holds }) => holds)).toEqual(["message", "message", "results", "hud", "message", "results"])
    expect((before[2]?.tokens ?? 0) - (wire[2]?.tokens ?? 0)).toBe(960)
    expect(wire[3]).toMatchObject({ source: anchor, blocks: 1, tokens: 10 })
  })
})

describe("adjacent folded steps", () => {
  const session = new SessionBuilder()
    .user("do it")
    .assistant([bash("a", "x".repeat(4000))])
    .assistant([bash("b", "y")])
    .assistant([{ type: "text", text: "Done." }])
  const folded = (...at: number[]) =>
    new Map(at.map((n) => [session.id(n), foldOf("step", session.id(n), session.id(n))] as const))

  test("are one message of one block, whose source is the last of them", () => {
    const folds = folded(1, 2)
    const { wire } = wireIn(session, folds)
    expect(wire.map(({ holds, blocks }) => [holds, blocks])).toEqual([
      ["message", 1],
      ["record", 1],
      ["message", 1],
    ])
    expect(wire[1]?.source).toBe(folds.get(session.id(2)) as Fold)
    // the head of the record is there once
    const alone = wireIn(session, folded(1)).wire[1]?.tokens ?? 0
    expect(alone).toBeGreaterThan(STEP_TOKENS)
    expect(wire[1]?.tokens).toBe(alone + STEP_TOKENS)
  })

  test("are two when a step between them stays", () => {
    const { wire } = wireIn(session, folded(1, 3))
    expect(wire.map(({ holds }) => holds)).toEqual(["message", "record", "message", "results", "record"])
  })

  test("that grow by a step are another message, and what is before them is still cached", () => {
    const sent: SentRequest = {
      ...{ wire: wireIn(session, folded(1)).wire, messages: 4, ends: [], atMs: 0, model: "p/m" },
    }
    const { wire } = wireIn(session, folded(1, 2))
    const cached = cachedPrefix({ wire, hud: "none", pricing: PRICING, model: "p/m", nowMs: 0 }, sent)
    expect(cached.messages).toBeLessThan(2)
  })
})

/** Messages of ten tokens and so many blocks. */
function wireWith(...blocks: number[]): WireMessage[] {
  return blocks.map((count) => ({ source: {} as WireMessage["source"], holds: "message", blocks: count, tokens: 10 }))
}

describe("an entry is found", () => {
  test("by a mark on its last block and within 20 blocks of it, including the mark's own", () => {
    expect(isInReach(5, [5], 20)).toBe(true)
    expect(isInReach(5, [24], 20)).toBe(true)
    expect(isInReach(5, [25], 20)).toBe(false)
    expect(isInReach(5, [4], 20)).toBe(false)
    expect(isInReach(5, [60, 24], 20)).toBe(true)
  })
})

describe("of the next request is cached", () => {
  const wire = wireWith(1, 4, 4, 4, 4, 4, 4)
  const last = (over: Partial<SentRequest> = {}): SentRequest => ({
    ...{ wire: wire.slice(0, 5), messages: 5, ends: [3, 5], atMs: 1_000_000, model: "p/m" },
    ...over,
  })
  const cached = (
    {
      pricing = PRICING,
      model = "p/m",
      nowMs = 1_010_000,
      now = wire,
      hud = "tail" as HudMark,
      agent = undefined as string | undefined,
    } = {},
    sent: SentRequest | undefined = last(),
  ) => cachedPrefix({ wire: now, hud, pricing, model, agent, nowMs }, sent)

  test("what it shares with the last one, up to the first different message", () => {
    expect(cached()).toMatchObject({ messages: 5, tokens: 50 })
    expect(cached({ now: wire.slice(0, 2) })).toMatchObject({ messages: 2 })
    expect(cached({ now: [...wire.slice(0, 2), ...wireWith(1, 1)] })).toMatchObject({ messages: 2 })
    expect(cached({ now: wireWith(1, 4) })).toMatchObject({ messages: 0, tokens: 0 })
  })

  test("nothing from a message on that has lost its reminder of the agent, which OpenCode moves to the next prompt", () => {
    const reminder = { type: "text", text: "You plan only.", synthetic: true }
    const session = new SessionBuilder().user("plan it", [reminder]).assistant([bash("ls")])
    const { ledger, wire } = wireIn(session)
    const { facts } = ledger
    session.messages[0]?.parts.pop()
    session.user("go on", [reminder])
    take(ledger, session.messages)
    const now = wireOf(ledger.entries, new Map(), [])
    expect(cached({ now }, last({ wire }))).toMatchObject({ messages: 0 })
    expect({ ...ledger.facts, unreported: 0 }).toEqual({ ...facts, requests: ledger.facts.requests, unreported: 0 })
  })

  test("nothing before the first request, with another model or agent, or when the cache has expired", () => {
    expect(cachedPrefix({ wire, hud: "tail", pricing: PRICING, model: "p/m", nowMs: 0 }, undefined)).toMatchObject({
      messages: 0,
    })
    expect(cached({ model: "p/other" })).toMatchObject({ messages: 0 })
    const by = (agent?: string) => cached({ agent }, last({ agent: "build" })).messages
    expect([by("build"), by("plan"), by()]).toEqual([5, 0, 5])
    expect(cached({ nowMs: 1_299_999 })).toMatchObject({ messages: 5 })
    expect(cached({ nowMs: 1_300_000 })).toMatchObject({ messages: 0 })
    expect(cached({ nowMs: 1_000_000, pricing: { ...PRICING, lifetimeMs: 0 } })).toMatchObject({ messages: 0 })
  })

  test("a change loses everything after it, and with marks everything back to the entry before it", () => {
    const free = cached()
    expect([free.lostBy(1), free.lostBy(4), free.lostBy(5), free.lostBy(NEVER)]).toEqual([40, 10, 0, 0])
    const marked = cached({ pricing: MARKED })
    expect(marked).toMatchObject({ messages: 5, tokens: 50 })
    expect([marked.lostBy(1), marked.lostBy(3), marked.lostBy(4), marked.lostBy(5)]).toEqual([50, 20, 20, 0])
  })

  test("with marks, nothing when the newest messages have more blocks than the lookback", () => {
    const now = [...wire.slice(0, 5), ...wireWith(12, 12)]
    expect(cached({ now })).toMatchObject({ messages: 5 })
    expect(cached({ now, pricing: MARKED })).toMatchObject({ messages: 0 })
    // without a HUD at the tail there is a mark before the results too
    expect(cached({ now, pricing: MARKED, hud: "none" })).toMatchObject({ messages: 5 })
  })
})

describe("entries", () => {
  const wire = wireWith(1, 4, 4, 4, 4)
  const sent = (hud: HudMark, before?: SentRequest, pricing = MARKED, now = wire) =>
    sentRequest({ wire: now, hud, pricing, model: "p/m", nowMs: 0 }, before)

  test("are written at the end of the last two messages; a HUD at the tail has one, and one inside spoils the last", () => {
    expect(sent("none").ends).toEqual([4, 5])
    expect(sent("tail").ends).toEqual([5])
    expect(sent("inside").ends).toEqual([4])
    expect(sent("tail", undefined, PRICING).ends).toEqual([])
  })

  test("stay if nothing before them changes", () => {
    const before: SentRequest = { wire: wire.slice(0, 3), ends: [1, 2, 3], atMs: 0, model: "p/m" }
    expect(sent("tail", before).ends).toEqual([1, 2, 3, 5])
    // the message at 2 is folded: what ends behind it is another content
    const folded = wire.map((message, at) => (at === 2 ? { ...message, tokens: 1 } : message))
    expect(sent("tail", before, MARKED, folded).ends).toEqual([1, 2, 5])
    expect(sent("tail", { ...before, model: "p/other" }).ends).toEqual([5])
    expect(sent("tail", { ...before, wire: wireWith(1, 4, 4) }).ends).toEqual([5])
  })
})

describe("a HUD at the tail", () => {
  const env = createEnv(ROOT)
  const options = {
    hud: { enabled: true, slot: "tail" as const, budgetTokens: 250, sections: SECTIONS },
    fold: { enabled: true },
    isProtected: () => false,
  }
  const model = { providerID: "anthropic", modelID: "claude-sonnet-4-5" }
  const small = (at: number) => tool("glob", { pattern: `${at}` }, `a${at}.ts`)

  /** The HUD of the last of a session's calls, each of them made. */
  function lastHud(session: SessionBuilder, pricing: Pricing) {
    const conversation = newSessionState(env)
    let call: ReturnType<typeof prepare> | undefined
    session.messages.forEach((_, at) => {
      const messages = session.fresh().slice(0, at + 1)
      if (at < 6 || messages.at(-1)?.info.role !== "assistant") return
      take(conversation.ledger, messages)
      call = prepare(messages, conversation, { nowMs: session.timeOf(at), model, pricing }, options, env)
      call.commit()
    })
    return call
  }

  test("gives up its mark when the cache would not be found with it", () => {
    const session = new SessionBuilder().user("look at all of the files there are in this project")
    for (let at = 0; at < 10; at++) session.assistant([bash(`node ${at}`, "x".repeat(2000))])
    const wide = () => session.assistant(Array.from({ length: 14 }, (_, at) => small(at)))
    expect(lastHud(session, MARKED)?.hud).toBeDefined()
    wide()
    expect(lastHud(session, MARKED)).toMatchObject({
      hud: undefined,
      reason: "with it the provider would not find the last request in its cache",
    })
    expect(lastHud(session, PRICING)?.hud).toBeDefined()
    // the next call has it again
    expect(lastHud(session.assistant([small(99)]), MARKED)?.hud).toBeDefined()
  })
})
