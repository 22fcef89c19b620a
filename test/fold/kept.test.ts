// Which steps stay in the request, and why, as people are told.

import { describe, expect, test } from "bun:test"
import { createEnv } from "../../src/digest/digests.ts"
import { newFolding } from "../../src/fold/folding.ts"
import { keptSteps, MAX_LISTED_STEPS } from "../../src/fold/kept.ts"
import { createLedger } from "../../src/session/ledger.ts"
import { take } from "../support/conversation.ts"
import { bash, edit, ROOT, read, SessionBuilder, tool } from "../support/session.ts"

function keptOf(session: SessionBuilder, folding = newFolding()) {
  const ledger = createLedger(createEnv(ROOT))
  take(ledger, session.messages)
  return keptSteps({
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
  const { open, settled, tokens, reasons, newest } = keptOf(session)

  test("are open or wait until folding them pays", () => {
    expect([open, settled]).toEqual([8, 24])
    expect(newest[0]).toMatchObject({ step: 32, what: "npm test", why: "among the newest" })
    expect(newest.map(({ step }) => step)).toEqual(Array.from({ length: 32 }, (_, at) => 32 - at))
    expect(newest.filter(({ why }) => why === undefined)).toHaveLength(24)
    expect(tokens).toBeGreaterThan(24_000)
  })

  test("are counted by a reason without names or numbers, most first", () => {
    expect(reasons).toEqual([
      { why: "among the newest", steps: 7 },
      { why: "its file was edited lately", steps: 1 },
    ])
  })

  test("each with its own reason", () => {
    expect(newest.find(({ step }) => step === 26)).toMatchObject({ why: "its file was edited lately" })
  })

  test("are listed up to a number, the newest first", () => {
    const long = new SessionBuilder().user("go")
    for (let i = 0; i < MAX_LISTED_STEPS + 5; i++) long.assistant([file(`other${i}`)])
    expect(keptOf(long).newest.map(({ step }) => step)).toEqual(
      Array.from({ length: MAX_LISTED_STEPS }, (_, at) => MAX_LISTED_STEPS + 5 - at),
    )
  })

  test("include what was recalled", () => {
    const id = session.messages[1]?.info.id ?? ""
    const recalled = { ...newFolding(), recalledUntil: new Map([[id, 1000]]) }
    expect(keptOf(session, recalled).reasons).toContainEqual({ why: "it was recalled", steps: 1 })
  })

  test("include what has not finished, and the newest todo list", () => {
    const todo = { todos: [{ content: "go on", status: "pending" }] }
    const busy = new SessionBuilder().user("go").assistant([tool("todowrite", todo, "[]", todo)])
    for (let i = 0; i < 12; i++) busy.assistant([bash(`make ${i}`)])
    expect(keptOf(busy).reasons).toContainEqual({ why: "it holds the newest todo list", steps: 1 })
  })
})
