// Which outputs are offered to the digest queue.

import { describe, expect, test } from "bun:test"
import { digestCandidates } from "../../src/digest/candidate.ts"
import { createEnv } from "../../src/digest/digests.ts"
import { conversationOf } from "../../src/host/v1/conversation.ts"
import { createLedger } from "../../src/session/ledger.ts"
import { take } from "../support/conversation.ts"
import { bash, ROOT, read, SessionBuilder, tool } from "../support/session.ts"

const LONG = "src/price.ts:12: export function price(cart: Cart): Money {\n".repeat(60)

const grep = (pattern: string, output: string) => tool("grep", { pattern }, output)

function candidates(build: (session: SessionBuilder) => void) {
  const session = new SessionBuilder().user("Look around")
  build(session)
  const ledger = createLedger(createEnv(ROOT))
  const messages = session.fresh()
  const { fresh } = take(ledger, messages)
  return { messages, ledger, found: digestCandidates(conversationOf(messages), fresh) }
}

describe("an output is a candidate", () => {
  test("when it is long enough to be worth a digest", () => {
    const { found } = candidates((session) => session.assistant([grep("price", "short"), grep("cart", LONG)]))
    expect(found.map((one) => one.source().input)).toEqual([{ pattern: "cart" }])
    expect(found[0]?.source()).toMatchObject({ tool: "grep", kind: "search", output: LONG, failed: false })
    expect(found[0]?.tokens).toBeGreaterThan(300)
  })

  test("once, when the ledger first reads it", () => {
    const { ledger, messages } = candidates((session) => session.assistant([grep("cart", LONG)]))
    expect(digestCandidates(conversationOf(messages), take(ledger, structuredClone(messages)).fresh)).toEqual([])
  })

  test("never when OpenCode has cleared it, when its kind is never folded, or when it was recalled", () => {
    const cleared = grep("x", LONG)
    Object.assign(cleared.state as object, { time: { start: 1, end: 2, compacted: 3 } })
    const { found } = candidates((session) =>
      session.assistant([
        cleared,
        tool("task", { prompt: "x" }, LONG),
        tool("skill", {}, LONG),
        tool("hud_recall", { ids: "r1" }, LONG),
      ]),
    )
    expect(found).toEqual([])
  })
})

test("a command's output is worth more than a file, and a failure less than a success", () => {
  const { found } = candidates((session) =>
    session.assistant([read("src/price.ts", LONG), bash("make", LONG, 0), bash("make all", LONG, 2)]),
  )
  const worth = Object.fromEntries(found.map((one) => [one.subject, one.worth]))
  expect(worth.make).toBeGreaterThan(worth["read src/price.ts"] ?? 0)
  expect(worth.make).toBeGreaterThan(worth["make all"] ?? 0)
})

test("outputs about the same subject share it, and equal ones share the key", () => {
  const { found } = candidates((session) =>
    session
      .assistant([read("src/price.ts", LONG)])
      .assistant([read("src/price.ts", LONG)])
      .assistant([read("src/price.ts", `${LONG}\nmore`)]),
  )
  expect(new Set(found.map((one) => one.subject)).size).toBe(1)
  expect(found[0]?.key).toBe(found[1]?.key as string)
  expect(found[2]?.key).not.toBe(found[0]?.key as string)
})
