// A session that is resumed after a compaction of which the store has no facts: what its first request waits for.

import { describe, expect, test } from "bun:test"
import { setTimeout } from "node:timers/promises"
import { createEnv } from "../../src/digest/digests.ts"
import { restoreSession } from "../../src/host/context.ts"
import { createSessions } from "../../src/host/sessions.ts"
import { conversationOf } from "../../src/host/v1/conversation.ts"
import { bash, SessionBuilder } from "../support/session.ts"

const env = createEnv("/home/dev/shop")
const store = {
  turns: async () => [],
  loadCarried: async () => undefined,
  loadAnchors: async () => [],
}

/** A session restored: how long it took, how often OpenCode was asked, and the session. */
async function restored(
  messages: SessionBuilder["messages"],
  openingMs: number,
  stored: () => Promise<unknown[]>,
  folds: object[] = [],
  isNew = false,
) {
  let asked = 0
  const storedMessages = () => {
    asked++
    return stored()
  }
  const session = createSessions(env).get("ses_1")
  session.restored = isNew
  const opened = { ...store, loadFolds: async () => folds }
  const context = { env, storedMessages, store: { opening: () => setTimeout(openingMs, opened) } }
  const started = performance.now()
  for (let n = 0; n < 2; n++) await restoreSession(context as never, session, conversationOf(messages))
  return { ms: performance.now() - started, asked, session }
}

const worked = () => new SessionBuilder().user("go").assistant([bash("npm test", "FAIL", 1)])
const never = () => new Promise<unknown[]>(() => {})

test.each([0, 300, 800])(
  "with a store that opens after %d ms OpenCode's answer is not waited for beyond half a second",
  async (openingMs) => {
    const { messages } = worked().compaction().user("on")
    const { ms, asked } = await restored(messages.slice(2), openingMs, never)
    expect(asked).toBe(openingMs < 500 ? 1 : 0)
    expect(ms).toBeLessThan(Math.max(openingMs, 500) + 150)
  },
)

test("OpenCode is asked once, and only of a session that was compacted", async () => {
  const { messages } = worked().compaction().user("on")
  const { asked, session } = await restored(messages.slice(2), 0, async () => messages)
  expect(asked).toBe(1)
  const reading = session.ledger.read(conversationOf(messages.slice(2)))
  expect([reading.facts.calls, reading.facts.compactions, [...reading.facts.failures.keys()]]).toEqual([
    1,
    1,
    ["npm test"],
  ])
  expect((await restored(worked().messages, 0, never)).asked).toBe(0)
})

test("a fork of a compacted session, which OpenCode announces as new, knows what was before, however short it is", async () => {
  const { messages } = worked().compaction().user("on")
  const { asked, session } = await restored(messages.slice(2), 0, async () => messages, [], true)
  expect([asked, session.ledger.read(conversationOf(messages.slice(2))).facts.calls]).toEqual([1, 1])
  expect((await restored(worked().messages, 0, never, [], true)).asked).toBe(0)
})

test("an OpenCode that refuses to answer is not waited for", async () => {
  const { messages } = worked().compaction().user("on")
  expect((await restored(messages.slice(2), 0, () => Promise.reject(new Error("no")))).ms).toBeLessThan(100)
})

describe("the steps before a compaction are counted", () => {
  const { messages } = worked()
    .compaction()
    .user("on")
    .assistant([bash("ls", "a.ts")])
  const [kept = ""] = messages.slice(-1).map(({ info }) => info.id)
  const fold = (messageID: string, step: number) => ({
    id: `r000000${step}`,
    messageID,
    partID: messageID,
    step,
    text: "",
  })
  const stepsBefore = async (stored: () => Promise<unknown[]>, folds: object[]) => {
    const { session } = await restored(messages.slice(2), 0, stored, folds)
    return session.ledger.read(conversationOf(messages.slice(2))).facts.calls - 1
  }
  const silent = () => Promise.reject(new Error("no"))

  test("as OpenCode has them, whatever was folded in steps that the user reverted", async () => {
    expect(await stepsBefore(async () => messages, [fold("msg_reverted", 9)])).toBe(1)
  })
  test("by the folds where it does not answer: by those in the request before any other", async () => {
    expect(await stepsBefore(silent, [fold("msg_gone", 9)])).toBe(9)
    expect(await stepsBefore(silent, [fold(kept, 5), fold("msg_reverted", 9)])).toBe(4)
  })
  test("so that a folded step keeps its number", async () => {
    expect(await stepsBefore(async () => messages, [fold(kept, 5), fold("msg_reverted", 9)])).toBe(4)
    expect(await stepsBefore(async () => messages, [fold(kept, 1)])).toBe(0)
  })
})
