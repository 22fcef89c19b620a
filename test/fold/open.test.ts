// Which steps stay in the request, and why, as people are told.

import { describe, expect, test } from "bun:test"
import { createEnv } from "../../src/digest/digests.ts"
import { newFolding } from "../../src/fold/folding.ts"
import { MAX_KEPT_STEPS, openness } from "../../src/fold/open.ts"
import { createLedger } from "../../src/session/ledger.ts"
import { take } from "../support/conversation.ts"
import { bash, edit, ROOT, read, SessionBuilder, tool } from "../support/session.ts"

function opennessOf(session: SessionBuilder, folding = newFolding()) {
  const ledger = createLedger(createEnv(ROOT))
  take(ledger, session.messages)
  return openness({
    ...ledger,
    facts: ledger.facts,
    entries: ledger.entries,
    folding,
    isProtected: () => false,
  })
}

const file = (name: string) => read(`src/${name}.ts`, `export const ${name} = 1\n`.repeat(200))

describe("the steps that stay", () => {
  const session = new SessionBuilder().user("go")
  for (let i = 0; i < 30; i++) session.assistant([i === 25 ? edit("src/a.ts") : file(`file${i}`)])
  session.assistant([file("file3")]).assistant([bash("npm test", "1 failed\n".repeat(100), 1)])
  const { open, settled, tokens, reasons, newest } = opennessOf(session)

  test("are open or wait until folding them pays", () => {
    expect(open + settled).toBe(32)
    expect(settled).toBeGreaterThan(10)
    expect(newest[0]).toMatchObject({ step: 32, what: "npm test", why: expect.any(String) })
    expect(newest).toHaveLength(Math.min(open + settled, MAX_KEPT_STEPS))
    expect(newest.filter(({ why }) => why === undefined)).toHaveLength(settled)
    expect(tokens).toBeGreaterThan(1000 * settled)
  })

  test("are counted by a reason without names or numbers, most first", () => {
    expect(reasons.reduce((sum, { steps }) => sum + steps, 0)).toBe(open)
    for (const { why } of reasons) expect(why).not.toMatch(/\d|\.ts/)
    expect(reasons.map(({ steps }) => steps)).toEqual(reasons.map(({ steps }) => steps).toSorted((a, b) => b - a))
    expect(reasons.map(({ why }) => why)).toContain("among the newest")
    expect(reasons.map(({ why }) => why)).toContain("its file was edited lately")
  })

  test("each with its own reason", () => {
    expect(newest.map(({ why }) => why)).toContain("its file was edited lately")
  })

  test("include what was recalled", () => {
    const id = session.messages[1]?.info.id ?? ""
    const recalled = { ...newFolding(), recalledUntil: new Map([[id, 1000]]) }
    expect(opennessOf(session, recalled).reasons).toContainEqual({ why: "it was recalled", steps: 1 })
  })

  test("include what has not finished, and the newest todo list", () => {
    const todo = { todos: [{ content: "go on", status: "pending" }] }
    const busy = new SessionBuilder().user("go").assistant([tool("todowrite", todo, "[]", todo)])
    for (let i = 0; i < 12; i++) busy.assistant([bash(`make ${i}`)])
    expect(opennessOf(busy).reasons).toContainEqual({ why: "it holds the newest todo list", steps: 1 })
  })
})
