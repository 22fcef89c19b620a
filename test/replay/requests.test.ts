import { describe, expect, test } from "bun:test"
import type { Fold } from "../../src/fold/fold.ts"
import { conversationOf } from "../../src/host/v1/conversation.ts"
import type { HostMessage, HostPart } from "../../src/host/v1/message.ts"
import { NO_HUD } from "../../src/hud/slots.ts"
import { piece, piecesByMessage, sumTokens } from "../../src/replay/pieces.ts"
import type { Price } from "../../src/replay/prices.ts"
import { newTally } from "../../src/replay/tally.ts"
import type { Message } from "../../src/session/conversation.ts"
import { failedTool, pictured, SessionBuilder, tool } from "../support/session.ts"
import { MARKED } from "./session.ts"

const FAILED = { error: { name: "APIError", data: {} } }

const bodies = ({ messages }: SessionBuilder) =>
  piecesByMessage(conversationOf(messages))
    .flat()
    .map(({ body }) => body)

describe("what a provider sees of a message", () => {
  test("a file counts for what it costs, not for its name, and with a cleared result not at all", () => {
    const tokensOf = (parts: HostPart[], shot: HostPart) =>
      sumTokens(
        piecesByMessage(conversationOf(new SessionBuilder().user("go", parts).assistant([shot]).messages)).flat(),
      )
    const shot = tool("shot", {}, "")
    const time = { start: 0, end: 0, compacted: 1 }
    const cleared = (part: HostPart) => ({ ...part, state: { ...part.state, time } })
    expect(tokensOf([], pictured(shot)) - tokensOf([], shot)).toBe(1_500)
    expect(tokensOf([], cleared(pictured(shot)))).toBe(tokensOf([], cleared(shot)))
    const file = (mime: string) => ({ type: "file", mime, filename: "a", url: "data:," })
    expect(tokensOf([file("image/png")], shot) - tokensOf([file("text/plain")], shot)).toBe(1_500)
  })

  test("texts, reasoning, calls and results in order, without what OpenCode does not send", () => {
    const session = new SessionBuilder()
      .user("do it", [
        { type: "text", text: "unseen", ignored: true },
        { type: "text", text: "" },
      ])
      .assistant([
        { type: "reasoning", text: "hm" },
        { type: "text", text: "I look" },
        tool("read", { filePath: "a" }, "content"),
        failedTool("bash", { command: "x" }, "no such command"),
        { type: "patch", files: ["a"] },
      ])
    expect(bodies(session)).toEqual([
      "do it",
      "hm",
      "I look",
      '{"filePath":"a"}',
      '{"command":"x"}',
      "content",
      "no such command",
    ])
  })

  test("a pruned output and one that never came are OpenCode's placeholders", () => {
    const pruned = tool("read", {}, "long gone")
    const running = tool("bash", {}, "")
    const session = new SessionBuilder().assistant([
      { ...pruned, state: { ...pruned.state, time: { compacted: 1 } } },
      { ...running, state: { status: "running", input: {} } },
    ])
    expect(bodies(session)).toEqual([
      "{}",
      "{}",
      "[Old tool result content cleared]",
      "[Tool execution was interrupted]",
    ])
  })

  test("nothing of a step that failed, except a HUD text that stays behind it", () => {
    const session = new SessionBuilder()
      .user("do it")
      .assistant([{ type: "text", text: "half an ans" }, tool("read", { filePath: "a" }, "content")], FAILED)
      .assistant([{ type: "text", text: "done" }])
    expect(bodies(session)).toEqual(["do it", "done"])
    const hud = { slot: "sticky" as const, anchors: [{ after: session.id(1), text: "hud" }] }
    const change = { folds: new Map(), hud }
    const sent = piecesByMessage(conversationOf(session.messages), change)
    expect(sent.flat().map(({ body }) => body)).toEqual(["do it", "hud", "done"])
  })
})

describe("folded steps", () => {
  const session = new SessionBuilder()
    .user("go")
    .assistant([tool("read", { filePath: "a" }, "one")])
    .assistant([tool("read", { filePath: "b" }, "two")])
    .user("and on")
    .assistant([tool("read", { filePath: "c" }, "three")])
    .assistant([tool("read", { filePath: "d" }, "four")])
  const messages = conversationOf(session.messages)
  const foldOf = (at: number, step: number): [string, Fold] => {
    const id = messages[at]?.id ?? ""
    const texts = { text: `${step} read`, what: "read", because: "old", cutBecause: "it pays" }
    const sizes = { call: 9, tokens: 100, textTokens: 5 }
    return [
      id,
      { id: "r0000001", partID: id, messageID: id, hash: "", kind: "step", step, reason: "pays", ...texts, ...sizes },
    ]
  }
  const sent = (...folds: [string, Fold][]) => piecesByMessage(messages, { folds: new Map(folds), hud: NO_HUD })

  test("are a record in the user's role, in their place, one for each run", () => {
    const pieces = sent(foldOf(1, 1), foldOf(2, 2), foldOf(4, 3)).flat()
    expect(pieces.map(({ label, body }) => [label.split(" ")[0], body.split("\n").slice(-2).join("|")])).toEqual([
      ["user", "go"],
      ["user", "1 read|2 read"],
      ["user", "and on"],
      ["user", expect.stringMatching(/^Step 3 of this session, .*\|3 read$/)],
      ["call", '{"filePath":"d"}'],
      ["result", "four"],
    ])
    expect(pieces[1]?.body).toStartWith("Steps 1-2 of this session, kept by hudfold as a record")
  })

  test("are one record where only a failed step is between them", () => {
    const failed = { ...session.messages[1], info: { ...session.messages[1]?.info, id: "msg_failed", ...FAILED } }
    const [user, one, two] = messages
    const between = [user, one, ...conversationOf([failed as HostMessage]), two] as Message[]
    const change = { folds: new Map([foldOf(1, 1), foldOf(2, 3)]), hud: NO_HUD }
    const [, record, ...more] = piecesByMessage(between, change).flat()
    expect(record?.body).toStartWith("Steps 1-3 of this session, kept by hudfold as a record")
    expect(more).toEqual([])
  })

  test("of another run stay as they are", () => {
    expect(sent(foldOf(4, 3)).slice(0, 6)).toEqual(piecesByMessage(messages).slice(0, 6))
  })
})

describe("what a row of requests costs", () => {
  const price = (over: Partial<typeof MARKED> = {}, name = "a/b"): Price => ({
    model: undefined,
    name,
    pricing: { ...MARKED, ...over },
    usdPerToken: undefined,
  })
  // 100 tokens each
  const [one, two, three] = ["1", "2", "3"].map((name) => piece(name, name.repeat(399)))
  /** Each a message of its own. */
  const row = (...pieces: (typeof one)[]) => pieces.flatMap((each) => (each ? [[each]] : []))
  const minutes = (count: number) => count * 60_000

  test("an entry out of a mark's reach is not found", () => {
    const results = Array.from({ length: 30 }, (_, i) => [piece(`result ${i}`, "x".repeat(400 - `result ${i}`.length))])
    const tools = [piece("tool", "x".repeat(396))]
    const changed = (at: number) =>
      results.map((each, i) => (i === at ? [piece(`result ${i}`, "y".repeat(300))] : each))
    const cachedAfter = (at: number, lookback?: number) => {
      const tally = newTally()
      const marked = price(lookback === undefined ? {} : { lookback })
      // a request after each result, so that there are entries everywhere
      results.forEach((_, i) => void tally.add([tools, ...results.slice(0, i + 1)], marked, 0))
      return tally.add([tools, ...changed(at)], marked, minutes(1)).cachedTokens
    }
    expect(cachedAfter(25, 20)).toBe(2600)
    expect(cachedAfter(5, 20)).toBe(100)
    expect(cachedAfter(5)).toBe(600)
  })

  test("with marks, a second change soon after the first finds no entry", () => {
    const tally = newTally()
    const marked = price({ lookback: 20 })
    const results = Array.from({ length: 12 }, (_, i) => [piece(`result ${i}`, "x".repeat(400 - `result ${i}`.length))])
    const folded = (...at: number[]) => results.map((each, i) => (at.includes(i) ? [piece(`result ${i}`, "y")] : each))
    results.forEach((_, i) => void tally.add(results.slice(0, i + 1), marked, 0))
    expect(tally.add(folded(6), marked, 0).cachedTokens).toBe(600)
    // the entries behind the first change are gone, except the one of the request that made it
    expect(tally.add(folded(6, 9), marked, 0).cachedTokens).toBe(600)
  })

  test("what two requests have in common is read from the cache, the rest is written", () => {
    const tally = newTally()
    tally.add(row(one, two), price(), 0)
    tally.add(row(one, two, three), price(), minutes(1))
    expect(tally.spent).toMatchObject({ tokens: 500, cachedTokens: 200, peakTokens: 300 })
    expect(tally.spent.cost).toBeCloseTo(250 + 20 + 125)
  })

  test("a changed piece ends the common prefix, even if the rest is equal", () => {
    const tally = newTally()
    tally.add(row(one, two, three), price(), 0)
    tally.add(row(one, piece("2", "other"), three), price(), 0)
    expect(tally.spent.cachedTokens).toBe(100)
  })

  test("with a provider that compares token by token, the beginning of that piece is cached too", () => {
    const tally = newTally()
    const unmarked = price({ write: 1 })
    tally.add(row(one, piece("2", "ab".repeat(100))), unmarked, 0)
    tally.add(row(one, piece("2", "ab".repeat(50))), unmarked, 0)
    expect(tally.spent.cachedTokens).toBe(100 + 25)
  })

  test.each([
    ["the cache's lifetime has passed", price(), minutes(5)],
    ["the call goes to another model", price({}, "a/c"), minutes(1)],
  ])("nothing is read from the cache when %s", (_, second, nowMs) => {
    const tally = newTally()
    tally.add(row(one, two), price(), 0)
    tally.add(row(one, two, three), second, nowMs)
    expect(tally.spent.cachedTokens).toBe(0)
    expect(tally.spent.cost).toBeCloseTo(250 + 375)
  })

  test("the work for a request grows with its size, and not with the number of requests before it", () => {
    let reads = 0
    /** How often a piece was looked at, over so many requests, each of one more message. */
    const readsOf = (count: number) => {
      reads = 0
      const counted = Array.from({ length: count }, (_, at) => ({
        ...piece("user", `${at}`),
        get label() {
          reads++
          return "user"
        },
      }))
      const tally = newTally()
      for (let at = 1; at <= count; at++) tally.add(row(...counted.slice(0, at)), price(), 0)
      return reads
    }
    expect(readsOf(200)).toBeLessThan(5 * readsOf(100))
  })

  test("the cost in money is known only when every call has a price", () => {
    const tally = newTally()
    tally.add(row(one), { ...price(), usdPerToken: 0.01 }, 0)
    expect(tally.spent.usd).toBeCloseTo(1.25)
    tally.add(row(one), price(), 0)
    tally.add(row(one), { ...price(), usdPerToken: 0.01 }, 0)
    expect(tally.spent.usd).toBeUndefined()
  })
})
