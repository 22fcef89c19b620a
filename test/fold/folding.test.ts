// A session's folds from call to call: which stay, which are dropped, and what a request leaves behind.

import { describe, expect, test } from "bun:test"
import { createEnv } from "../../src/digest/digests.ts"
import { keptTexts } from "../../src/fold/cut.ts"
import { type Fold, isRecallID } from "../../src/fold/fold.ts"
import { addFolds, newFolding } from "../../src/fold/folding.ts"
import { conversationOf } from "../../src/host/v1/conversation.ts"
import type { HostMessage, HostPart } from "../../src/host/v1/message.ts"
import {
  type Circumstances,
  newSessionState,
  type RequestOptions,
  type SessionState,
} from "../../src/request/request.ts"
import { FOLDING, prepare, type Request, take } from "../support/conversation.ts"
import { PRICING } from "../support/pricing.ts"
import { bash, edit, failedTool, ROOT, read, SessionBuilder, tool, usage } from "../support/session.ts"

const MODEL = { providerID: "p", modelID: "m" }
const env = createEnv(ROOT)

/** One call of the session at a time of the clock; the array goes out changed. */
function call(
  conversation: SessionState,
  messages: HostMessage[],
  around: Partial<Circumstances> = {},
  options: RequestOptions = FOLDING,
): Request {
  const circumstances = { nowMs: 1_000_000, model: MODEL, pricing: PRICING, ...around }
  const prepared = prepare(messages, conversation, circumstances, options, env)
  prepared.commit()
  return prepared
}

const lines = (text: string, count = 400) => Array.from({ length: count }, (_, i) => `${text} ${i}`).join("\n")
/** An old command's output, followed by much that would have to be sent again if it were folded. */
const session = () => {
  const built = new SessionBuilder()
    .user("make the login test of the shop pass on node 22, please")
    // the answer keeps the step
    .assistant([bash("npm test", lines("ok")), tool("task", { prompt: "look" }, "All is well.")])
  for (let i = 0; i < 8; i++) built.assistant([edit(`f${i}.ts`)])
  return built.assistant([read("big.ts", lines("const big", 6_000))])
}
const toolPart = (messages: readonly HostMessage[], at: number) =>
  messages[at]?.parts.find(({ type }) => type === "tool") as HostPart

describe("a warm cache is left as it is", () => {
  test.each<[string, Partial<Circumstances>]>([
    ["when the next call comes after it has expired", { nowMs: 1_000_000 + PRICING.lifetimeMs }],
    ["when the next call goes to another model", { model: { ...MODEL, modelID: "other" } }],
  ])("and what is done with is folded %s", (_, changed) => {
    const conversation = newSessionState(env)
    // the user goes on with what was paused while all of it was sent
    expect(call(conversation, session().fresh(), { foldingPaused: true }).newFolds).toEqual([])
    expect(call(conversation, session().fresh()).newFolds).toEqual([])
    const { newFolds: folded } = call(conversation, session().fresh(), changed)
    expect(folded.map(({ what, reason }) => [what, reason])).toEqual([["npm test", "free"]])
  })
})

describe("a fold", () => {
  const folded = () => {
    const conversation = newSessionState(env)
    const built = session()
    const messages = built.fresh()
    const { newFolds: folded } = call(conversation, messages)
    return { conversation, built, messages, fold: folded[0] as Fold }
  }

  test("holds what a reader needs to find the original and to know why", () => {
    const { fold, messages } = folded()
    expect(fold).toMatchObject({
      partID: "prt_000001_1",
      messageID: "msg_000001",
      kind: "output",
      step: 1,
      what: "npm test",
      reason: "free",
      call: 11,
    })
    expect(isRecallID(fold.id)).toBe(true)
    expect(fold.text).toStartWith(`folded ${fold.id} · bash · `)
    expect(fold.tokens).toBeGreaterThan(fold.textTokens)
    expect(toolPart(messages, 1).state?.output).toBe(fold.text)
  })

  test("is not made of one of several messages with one id: it could be sent in place of the wrong one", () => {
    const built = session()
    const [, first, second] = built.messages
    Object.assign(second?.info ?? {}, { id: first?.info.id })
    const messages = built.fresh()
    expect(call(newSessionState(env), messages).newFolds).toEqual([])
    expect(messages).toEqual(built.messages)
  })

  test.each([
    ["that another part of the message has too", (id: string) => [id, id]],
    ["that is empty", () => ["", "prt_other"]],
  ])("is not made of an output with an id %s", (_, ids) => {
    const built = session()
    const calls = built.messages[1]?.parts.filter(({ type }) => type === "tool") ?? []
    const named = ids(calls[0]?.id ?? "")
    for (const [at, part] of calls.entries()) part.id = named[at] as string
    const messages = built.fresh()
    expect(call(newSessionState(env), messages).newFolds).toEqual([])
    expect(messages).toEqual(built.messages)
  })

  test("stays unchanged, whatever is learned later about prices, cache and digests", () => {
    const { conversation, built, fold } = folded()
    for (const around of [
      {},
      { nowMs: 9e9 },
      { pricing: { ...PRICING, read: 1, write: 1 } },
      { foldingPaused: true },
    ]) {
      const messages = built.assistant([edit("g.ts")]).fresh()
      call(conversation, messages, around)
      expect(toolPart(messages, 1).state?.output).toBe(fold.text)
    }
  })

  test("is dropped when its part's content changes, and its id still means the old content", () => {
    const { conversation, built, fold } = folded()
    const part = toolPart(built.messages, 1)
    part.state = { ...part.state, output: lines("src/b") }
    const messages = built.fresh()
    const again = call(conversation, messages, { nowMs: 9e9 }).newFolds
    const now = again.find(({ partID }) => partID === fold.partID)
    expect(now?.id).not.toBe(fold.id)
    expect(toolPart(messages, 1).state?.output).toStartWith(`folded ${now?.id} · `)
    // recalling the old one says that the content has changed
    expect(conversation.folding.recallable.get(fold.id)).toEqual(fold)
  })

  test("of a part that OpenCode has cleared is not applied, and not dropped as changed", () => {
    const { conversation, built } = folded()
    const part = toolPart(built.messages, 1)
    part.state = { ...part.state, time: { ...part.state?.time, compacted: 5 } }
    const messages = built.fresh()
    expect(call(conversation, messages).outputs).toBe(0)
    expect(messages).toEqual(built.messages)
    expect(conversation.folding.folds.size).toBe(1)
  })

  test("of a reverted message is kept for recall, and applies again with the message", () => {
    const { conversation, built, fold } = folded()
    expect(call(conversation, built.fresh().slice(0, 1)).outputs).toBe(0)
    expect(conversation.folding.recallable.get(fold.id)).toEqual(fold)
    const messages = built.fresh()
    call(conversation, messages)
    expect(toolPart(messages, 1).state?.output).toBe(fold.text)
  })

  test("is not applied in a call with folding disabled, and applies again in the next", () => {
    const { conversation, built, fold } = folded()
    const off = built.fresh()
    call(conversation, off, {}, { ...FOLDING, fold: { enabled: false } })
    expect(off).toEqual(built.messages)
    const on = built.fresh()
    call(conversation, on)
    expect(toolPart(on, 1).state?.output).toBe(fold.text)
  })

  test("of a failed call's output is its error, and the arguments stay", () => {
    const failed = failedTool("mcp_query", { q: "all", rows: 9 }, lines("no such table"))
    const built = new SessionBuilder().user("go").assistant([failed, tool("task", { prompt: "look" }, "All is well.")])
    for (let i = 0; i < 30; i++) built.assistant([edit(`f${i}.ts`)])
    const messages = built.fresh()
    const fold = call(newSessionState(env), messages).newFolds.find(({ kind }) => kind === "output")
    const { state } = toolPart(messages, 1)
    expect(state).toMatchObject({ status: "error", error: fold?.text as string, input: { q: "all", rows: 9 } })
    expect(state?.output).toBeUndefined()
  })
})

describe("a folded step", () => {
  const folded = () => {
    const conversation = newSessionState(env)
    const built = new SessionBuilder().user("make the login test pass").assistant([bash("npm test", lines("ok"))])
    for (let i = 0; i < 8; i++) built.assistant([edit(`f${i}.ts`)])
    const messages = built.fresh()
    const { newFolds: folded, steps } = call(conversation, messages)
    return { conversation, built, messages, steps, fold: folded[0] as Fold }
  }
  const textOf = (messages: readonly HostMessage[]) => JSON.stringify(messages)

  test("is sent as its lines of the record, and says where to find the original", () => {
    const { fold, messages, built, steps } = folded()
    expect(steps).toBe(1)
    expect(fold).toMatchObject({
      ...{
        partID: built.id(1),
        messageID: built.id(1),
        kind: "step",
        step: 1,
        what: "npm test",
        reason: "free",
        call: 10,
      },
    })
    expect(fold.text).toStartWith("1 bash npm test")
    expect(messages.some(({ info }) => info.id === built.id(1))).toBe(false)
    expect(textOf(messages)).toContain('hud_recall with steps \\"1\\"')
  })

  test("has the same bytes on every call, and the same after a restart", () => {
    const { conversation, built, fold, messages } = folded()
    const restored = { ...newSessionState(env), folding: addFolds(newFolding(), [fold]) }
    for (const state of [conversation, restored]) {
      const again = built.fresh()
      call(state, again)
      expect(again.slice(0, 2)).toEqual(messages.slice(0, 2))
    }
  })

  test("saves no more than its message would take, also when OpenCode has cleared outputs of it since", () => {
    const { conversation, built } = folded()
    const before = call(conversation, built.fresh())
    expect(before.savedTokens).toBeGreaterThan(500)
    const part = toolPart(built.messages, 1)
    part.state = { ...part.state, time: { ...part.state?.time, compacted: 5 } }
    const { steps, savedTokens, reading } = call(conversation, built.fresh())
    expect(steps).toBe(1)
    expect(savedTokens).toBeLessThan(reading.entries[1]?.tokens ?? 0)
  })

  test("is dropped when its message changes", () => {
    const { conversation, built } = folded()
    const part = toolPart(built.messages, 1)
    part.state = { ...part.state, output: "another output" }
    const { dropped } = call(conversation, built.fresh())
    expect(dropped).toEqual([built.id(1)])
  })

  test("is not applied in a call with folding disabled", () => {
    const { conversation, built } = folded()
    const off = built.fresh()
    call(conversation, off, {}, { ...FOLDING, fold: { enabled: false } })
    expect(off).toEqual(built.messages)
  })
})

test("while folding is paused, room is made all the same", () => {
  const rows = Array.from({ length: 4_000 }, (_, i) => `row ${i}`)
  const built = new SessionBuilder().user("go").assistant([failedTool("mcp_put", { rows }, "Error: no")])
  for (let i = 0; i < 10; i++) built.assistant([bash(`npm test ${i}`, lines("ok"))])
  for (let i = 0; i < 5; i++) built.assistant([edit(`f${i}.ts`)])
  const conversation = newSessionState(env)
  const full = { foldingPaused: true, fullAt: 5_000 }
  call(conversation, built.fresh(), full)
  const { outputs, steps, savedTokens } = call(conversation, built.fresh(), full)
  expect(outputs + steps).toBeGreaterThan(0)
  expect(savedTokens).toBeGreaterThan(1_000)
  const idle = newSessionState(env)
  expect(call(idle, built.fresh(), { foldingPaused: true }).newFolds).toEqual([])
})

test("a call that is prepared but not sent has no effect", () => {
  const conversation = newSessionState(env)
  const messages = session().fresh()
  const before = structuredClone(messages)
  take(conversation.ledger, messages)
  const around = { nowMs: 1_000_000, model: MODEL, pricing: PRICING }
  const [one, other] = [1, 2].map(() => prepare(messages, conversation, around, FOLDING, env))
  expect(one?.newFolds).toHaveLength(1)
  expect(other?.newFolds).toEqual(one?.newFolds as never)
  expect(messages).toEqual(before)
  expect(conversation.folding).toEqual(newFolding())
})

test("the same content has the same id in every process, and other content another", () => {
  const built = session()
  const [one, other] = [1, 2].map(() => call(newSessionState(env), built.fresh()).newFolds.map(({ id }) => id))
  expect(one?.length).toBeGreaterThan(0)
  expect(one).toEqual(other as string[])
  const [fresh] = call(newSessionState(env), session().fresh()).newFolds
  expect(one).not.toContain(fresh?.id as string)
})

test("an id keeps its meaning: when other content gets the same, that is sent in full", () => {
  const fold = (id: string, partID: string) => ({ id, partID, hash: partID }) as Fold
  const folding = addFolds(newFolding(), [fold("r7", "here"), fold("r7", "there"), fold("r8", "there")])
  expect([...folding.folds.values()].map(({ id, partID }) => [id, partID])).toEqual([
    ["r7", "here"],
    ["r8", "there"],
  ])
  expect(folding.recallable.get("r7")?.partID).toBe("here")
  // a shorter text for the same content takes its place
  const shorter = { ...fold("r7", "here"), text: "" }
  expect(addFolds(folding, [shorter]).folds.get("here")).toEqual(shorter)
})

test("a fold applies to its own message, not to another with the same part id", () => {
  const conversation = newSessionState(env)
  const built = session()
  call(conversation, built.fresh())
  const { id } = toolPart(built.messages, 1)
  built.assistant([bash("npm run build", "built")])
  const copied = toolPart(built.messages, built.messages.length - 1)
  copied.id = id as string
  const messages = built.fresh()
  call(conversation, messages)
  expect(toolPart(messages, 1).state?.output).toStartWith("folded r")
  expect(toolPart(messages, messages.length - 1).state?.output).toBe("built")
})

test("a switch to another model forgets what was learned about the provider's cache", () => {
  const conversation = newSessionState(env)
  const built = session()
  call(conversation, built.fresh())
  const calibration = { shortCalls: 2, hasRead: true, unreadCalls: 0, stopped: "it read less" }
  conversation.folding = { ...conversation.folding, calibration }
  call(conversation, built.fresh())
  expect(conversation.folding.calibration.stopped).toBe("it read less")
  // what the former model read says nothing about the other's cache
  built.assistant([], usage(1_000, 9_000))
  call(conversation, built.fresh(), { model: { ...MODEL, modelID: "other" } })
  expect(conversation.folding.calibration).toMatchObject({ shortCalls: 0, hasRead: false })
  expect(conversation.folding.calibration.stopped).toBeUndefined()
})

test.each([
  ["must have expired", PRICING.lifetimeMs],
  ["may have expired", 24 * 3_600_000],
])("pauses in which the whole cache %s do not stop folding", (_, lifetimeMs) => {
  const conversation = newSessionState(env)
  const built = session()
  const pricing = { ...PRICING, lifetimeMs }
  call(conversation, built.fresh(), { pricing })
  built.assistant([edit("g.ts")], usage(2_000, 30_000))
  for (let turn = 1; turn <= 5; turn++) {
    built.user(`And what of ${turn}?`)
    const nowMs = 1_000_000 + turn * PRICING.lifetimeMs
    expect(call(conversation, built.fresh(), { nowMs, pricing }).outputs).toBeGreaterThan(0)
    // the system prompt, which is not cached either, is far more than the messages
    built.assistant([{ type: "text", text: "That is so." }], usage(60_000))
  }
  expect(conversation.folding.calibration).toMatchObject({ shortCalls: 0, hasRead: true })
  expect(conversation.folding.calibration.stopped).toBeUndefined()
})

test("an output that comes back whole is not expected in the cache, nor what follows it", () => {
  const conversation = newSessionState(env)
  const built = session()
  call(conversation, built.fresh())
  const lookedAt = (wholeUntil: Circumstances["wholeUntil"]) => {
    call(conversation, built.assistant([edit("g.ts")]).fresh(), { wholeUntil })
    return conversation.folding.calibration.expected
  }
  expect(lookedAt({})?.freshTokens).toBeLessThan(100)
  const whole = lookedAt({ [built.id(1)]: 100 })
  expect(whole?.freshTokens).toBeGreaterThan((whole?.sentTokens ?? 0) - 100)
})

test("a name counts as shown only where a text of the request has it", () => {
  const pruned = read("a.ts", "cleared by OpenCode")
  Object.assign(pruned.state?.time ?? {}, { compacted: 1 })
  const built = new SessionBuilder()
    .user("the user's words")
    .assistant([{ type: "text", text: "half of an answer" }], { error: { name: "APIError", data: {} } })
    .assistant([{ type: "text", text: "what the agent said" }, pruned, bash("ls", "what ls printed")])
  const kept = keptTexts(conversationOf(built.messages), new Map(), [])
  expect(kept).toContain("what ls printed")
  expect(kept).toContain(`${ROOT}/a.ts`)
  expect(kept.join(" ")).not.toMatch(/half of an answer|cleared by OpenCode/)
})

test("a step of words alone that the user wants whole is sent as it is", () => {
  const built = new SessionBuilder().user("go").assistant([{ type: "text", text: "The price is divided by 100." }])
  built.user("go on")
  const conversation = newSessionState(env)
  // nothing is cached, so all that is settled is folded
  const stepAt = (nowMs: number, wholeUntil: Circumstances["wholeUntil"] = {}) => {
    for (let i = 0; i < 20; i++) built.assistant([bash(`cat big${nowMs + i}`, lines("const big"))])
    return call(conversation, built.fresh(), { nowMs, wholeUntil }).change.folds.get(built.id(1))
  }
  expect(stepAt(1e9)?.kind).toBe("step")
  expect(stepAt(2e9, { [built.id(1)]: 100 })).toBeUndefined()
})
