// Sources found ahead are those that a cut would find, so that its texts are the same either way.

import { expect, test } from "bun:test"
import { createEnv } from "../../src/digest/digests.ts"
import { sourcesAhead } from "../../src/fold/ahead.ts"
import { type FoldSource, foldSource, forgetSources } from "../../src/fold/sources.ts"
import { conversationOf } from "../../src/host/v1/conversation.ts"
import type { HostMessage, HostPart } from "../../src/host/v1/message.ts"
import type { ToolPart } from "../../src/session/conversation.ts"
import type { Entry } from "../../src/session/entry.ts"
import { createLedger } from "../../src/session/ledger.ts"
import { bash, ROOT, read, SessionBuilder } from "../support/session.ts"

const SECRET = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"

const partsOf = (messages: HostMessage[]) =>
  conversationOf(messages).flatMap(({ parts }) => parts.filter((part): part is ToolPart => part.type === "tool"))

function session() {
  const built = new SessionBuilder()
    .user("make the login test pass")
    .assistant([bash("npm test", `src/login.ts:3 fails\ntoken ${SECRET}`), read("src/login.ts", "const loginURL = 1")])
    .assistant([bash("ls src", "src/login.ts")])
  const env = createEnv(ROOT)
  const ledger = createLedger(env)
  const host = built.fresh()
  const messages = conversationOf(host)
  // as a request reads them: the older messages only when something asks for their parts
  ledger.accept(ledger.read(conversationOf(built.fresh())))
  const events = ledger.entries.flatMap((entry) => entry.events)
  return { env, ledger, messages, host, events, parts: partsOf(built.fresh()) }
}

const contentOf = ({ call, whole, names }: FoldSource) => ({ call: call(), whole: whole(), names: [...names] })

test("one output a step, without secrets, and the same as found later", () => {
  const { env, ledger, messages, parts, events } = session()
  const work = sourcesAhead({ entries: ledger.entries, messages, folds: new Map() }, env)
  expect([...work]).toHaveLength(3)
  for (const [index, part] of parts.entries()) {
    const ahead = foldSource(part, events[index])
    expect(foldSource(part, events[index])).toBe(ahead)
    expect(contentOf(foldSource(part, undefined))).toEqual(contentOf(ahead))
  }
  const [first] = parts
  if (!first) throw new Error("no part")
  const { whole, names, isSafe } = foldSource(first, events[0])
  expect(whole().output).not.toContain(SECRET)
  expect([...names]).toContain("src/login.ts")
  expect([isSafe("src/login.ts"), isSafe(SECRET)]).toEqual([true, false])
})

test("a name that only begins like one that is left is no name", () => {
  const isSafe = (tool: HostPart, name: string) => {
    const [part] = partsOf(new SessionBuilder().user("go").assistant([tool]).fresh())
    if (!part) throw new Error("no part")
    const source = foldSource(part, undefined)
    return [[...source.names].includes(name), source.isSafe(name)]
  }
  expect(isSafe(bash("cat .env", "FOO=Tulip_42\nTulip_42_URL=x"), "Tulip_42")).toEqual([true, false])
  expect(isSafe(bash("cat a.ts", 'password: "hunter2Of"\nconst hunter2OfRabbit = 1'), "hunter2Of")).toEqual([
    true,
    false,
  ])
  expect(isSafe(bash("cat a.ts", "const hunter2OfRabbit = 1"), "hunter2OfRabbit")).toEqual([true, true])
})

test("names are those at the ends of a long output", () => {
  const [part] = partsOf(
    new SessionBuilder()
      .user("go")
      .assistant([
        bash("cat a.log", `firstName_1 ${"x ".repeat(200_000)} middleName_1 ${"x ".repeat(200_000)} lastName_1`),
      ])
      .fresh(),
  )
  if (!part) throw new Error("no part")
  expect([...foldSource(part, undefined).names]).toEqual(["firstName_1", "lastName_1"])
})

test("a message that changed since it was read is left out", () => {
  const { env, ledger, messages, host } = session()
  const part = host[1]?.parts.find(({ type }) => type === "tool")
  if (!part?.state) throw new Error("no part")
  part.state.output = "[Output removed to save context]"
  expect([...sourcesAhead({ entries: ledger.entries, messages, folds: new Map() }, env)]).toHaveLength(1)
})

test("only sources of the newest entries are kept", () => {
  const { env, ledger, messages, parts, events } = session()
  for (const _ of sourcesAhead({ entries: ledger.entries, messages, folds: new Map() }, env));
  const [part] = parts
  if (!part) throw new Error("no part")
  const kept = foldSource(part, events[0])
  const later = Array.from({ length: 200 }, () => ({ ...(ledger.entries[0] as Entry), events: [] }))
  for (const _ of sourcesAhead({ entries: [...ledger.entries, ...later], messages: [], folds: new Map() }, env));
  expect(foldSource(part, events[0])).not.toBe(kept)
})

test("what was folded is forgotten", () => {
  const { parts, events } = session()
  const [part] = parts
  if (!part) throw new Error("no part")
  const before = foldSource(part, events[0])
  forgetSources(events)
  const after = foldSource(part, events[0])
  expect(after).not.toBe(before)
  expect(contentOf(after)).toEqual(contentOf(before))
})
