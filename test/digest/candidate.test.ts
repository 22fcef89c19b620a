// Which outputs are offered to the digest queue.

import { describe, expect, test } from "bun:test"
import { digestCandidates } from "../../src/digest/candidate.ts"
import { createEnv } from "../../src/digest/digests.ts"
import { conversationOf } from "../../src/host/v1/conversation.ts"
import { createLedger } from "../../src/session/ledger.ts"
import { take } from "../support/conversation.ts"
import { ROOT, read, SessionBuilder, tool } from "../support/session.ts"

const LONG = "src/price.ts:12: export function price(cart: Cart): Money {\n".repeat(60)

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
    const { found } = candidates((session) =>
      session.assistant([read("src/price.ts", "short"), read("src/cart.ts", LONG)]),
    )
    expect(found.map((one) => one.subject)).toEqual(["read src/cart.ts"])
    expect(found[0]?.source()).toMatchObject({ tool: "read", kind: "read", failed: false })
    expect(found[0]?.worth).toBeGreaterThan(300)
  })

  test("once, when the ledger first reads it", () => {
    const { ledger, messages } = candidates((session) => session.assistant([read("src/cart.ts", LONG)]))
    expect(digestCandidates(conversationOf(messages), take(ledger, structuredClone(messages)).fresh)).toEqual([])
  })

  test("never when OpenCode has cleared it, when its kind is never folded or always a list, or when it was recalled", () => {
    const cleared = read("x", LONG)
    Object.assign(cleared.state as object, { time: { start: 1, end: 2, compacted: 3 } })
    const { found } = candidates((session) =>
      session.assistant([
        cleared,
        tool("task", { prompt: "x" }, LONG),
        tool("skill", {}, LONG),
        tool("grep", { pattern: "cart" }, LONG),
        tool("hud_recall", { ids: "r1" }, LONG),
      ]),
    )
    expect(found).toEqual([])
  })
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
