// Sources found ahead are those that a cut would find, so that its texts are the same either way.

import { expect, test } from "bun:test"
import { createEnv } from "../../src/digest/digests.ts"
import { foldSource, forgetSources, sourcesAhead } from "../../src/fold/sources.ts"
import { conversationOf } from "../../src/host/v1/conversation.ts"
import type { ToolPart } from "../../src/session/conversation.ts"
import { createLedger } from "../../src/session/ledger.ts"
import { bash, ROOT, read, SessionBuilder } from "../support/session.ts"

const SECRET = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"

function session() {
  const built = new SessionBuilder()
    .user("make the login test pass")
    .assistant([bash("npm test", `src/login.ts:3 fails\ntoken ${SECRET}`), read("src/login.ts", "const loginURL = 1")])
    .assistant([bash("ls src", "src/login.ts")])
  const env = createEnv(ROOT)
  const ledger = createLedger(env)
  const messages = conversationOf(built.messages)
  ledger.accept(ledger.read(messages))
  const parts = messages.flatMap(({ parts }) => parts.filter((part): part is ToolPart => part.type === "tool"))
  const events = ledger.entries.flatMap((entry) => entry.events)
  return { env, ledger, messages, parts, events }
}

test("one output a step, without secrets, and the same as found later", () => {
  const { env, ledger, messages, parts, events } = session()
  const work = sourcesAhead(ledger.entries, messages, new Map(), env)
  expect([...work]).toHaveLength(3)
  for (const [index, part] of parts.entries()) {
    const ahead = foldSource(part, events[index])
    expect(foldSource(part, events[index])).toBe(ahead)
    expect(foldSource(part, undefined)).toEqual(ahead)
  }
  const [first] = parts
  if (!first) throw new Error("no part")
  const { source, outputNames } = foldSource(first, events[0])
  expect(source.output).not.toContain(SECRET)
  expect([...outputNames.keys()]).toEqual(["src/login.ts"])
  // found already
  expect([...sourcesAhead(ledger.entries, messages, new Map(), env)]).toEqual([])
})

test("what was folded is forgotten", () => {
  const { parts, events } = session()
  const [part] = parts
  if (!part) throw new Error("no part")
  const before = foldSource(part, events[0])
  forgetSources(events)
  const after = foldSource(part, events[0])
  expect(after).not.toBe(before)
  expect(after).toEqual(before)
})
