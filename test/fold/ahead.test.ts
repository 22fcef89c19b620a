// What a cut needs is found between requests. The cut has the same bytes whether there was time for that or not.

import { expect, test } from "bun:test"
import { createEnv } from "../../src/digest/digests.ts"
import { forgetFound, sourcesAhead } from "../../src/fold/ahead.ts"
import { stepLines } from "../../src/fold/record.ts"
import { conversationOf } from "../../src/host/v1/conversation.ts"
import type { HostMessage } from "../../src/host/v1/message.ts"
import { newSessionState } from "../../src/request/request.ts"
import { createLedger } from "../../src/session/ledger.ts"
import { FOLDING, findAhead, prepare, type Request } from "../support/conversation.ts"
import { PRICING } from "../support/pricing.ts"
import { bash, ROOT, read, SessionBuilder } from "../support/session.ts"

const env = createEnv(ROOT)
const AROUND = { nowMs: 1_000_000, model: { providerID: "p", modelID: "m" }, pricing: PRICING }

/** Plays a session in which cuts come to pay; `between` is what happens between two requests. */
function play(
  between: (request: Request, messages: readonly HostMessage[], session: SessionBuilder) => void = () => {},
) {
  const state = newSessionState(env)
  const session = new SessionBuilder().user("go through all of the shop and look at what is in it")
  const cuts: { request: number; ids: string[]; texts: string[] }[] = []
  for (let number = 1; number <= 90; number++) {
    const messages = session.fresh()
    const request = prepare(messages, state, AROUND, FOLDING, env)
    if (request.newFolds.length > 0)
      cuts.push({
        request: number,
        ids: request.newFolds.map(({ partID }) => partID),
        // the builder gives every session other call ids, from which recall ids are made
        texts: request.newFolds.map(({ text }) => text.replace(/^folded r\w{7}/, "folded")),
      })
    request.commit()
    between(request, messages, session)
    const listed = Array.from({ length: 60 }, (_, at) => `const part${number}Of${at} = openShop(${at})`).join("\n")
    session.assistant([read(`src/part-${number}.ts`, listed), bash(`make part-${number}`, `part ${number} made`)])
  }
  return cuts
}

const plain = play()

test("the session has large cuts", () => {
  expect(plain.length).toBeGreaterThan(1)
  expect(plain[0]?.ids.length).toBeGreaterThan(5)
})

test("with time between requests, each cut has the same bytes at the same request", () => {
  expect(play((request, messages) => findAhead(request, messages, env))).toEqual(plain)
})

test("the same when the work is stopped in the middle", () => {
  const half = play(({ reading, change }, messages) => {
    const { entries } = reading
    const source = { entries, messages: conversationOf(messages), folds: change.folds }
    const work = sourcesAhead(source, env)
    for (let left = 3; left > 0; left--) work.next()
  })
  expect(half).toEqual(plain)
})

test("what was found for content that changed since is not used", () => {
  const [first] = plain
  if (!first) throw new Error("no cut")
  const changed = "another output than before"
  const cuts = play((request, messages, session) => {
    findAhead(request, messages, env)
    // after the last request before the cut
    if (session.messages.length !== first.request - 1) return
    const part = session.messages[1]?.parts.findLast(({ type }) => type === "tool")
    if (part?.state) part.state.output = changed
  })
  expect(cuts[0]?.request).toBe(first.request)
  expect(cuts[0]?.texts.join("\n")).toContain(changed)
})

test("lines of a step are found ahead, and given up once it is folded", () => {
  const session = new SessionBuilder().user("go").assistant([read("src/a.ts"), bash("make", "made")])
  const messages = conversationOf(session.fresh())
  const ledger = createLedger(env)
  ledger.accept(ledger.read(messages))
  const [, entry] = ledger.entries
  const [, message] = messages
  if (!entry || !message) throw new Error("no step")
  for (const _ of sourcesAhead({ entries: ledger.entries, messages, folds: new Map() }, env));
  const lines = stepLines(1, message, entry.events)
  expect(stepLines(1, message, entry.events)).toBe(lines)
  expect(stepLines(2, message, entry.events)[0]?.first).toStartWith("2 read")
  forgetFound(entry)
  const again = stepLines(1, message, entry.events)
  expect(again).not.toBe(lines)
  expect(again.map(({ first }) => first)).toEqual(lines.map(({ first }) => first))
})

test("what was found is not looked for again, until it is given up", () => {
  const session = new SessionBuilder().user("go").assistant([read("src/a.ts"), bash("make", "made")])
  const messages = conversationOf(session.fresh())
  const ledger = createLedger(env)
  ledger.accept(ledger.read(messages))
  const { entries } = ledger
  let asked = 0
  const digest: typeof env.digest = (key, source) => {
    asked++
    return env.digest(key, source)
  }
  const find = () => {
    for (const _ of sourcesAhead({ entries, messages, folds: new Map() }, { ...env, digest }));
  }
  find()
  find()
  expect(asked).toBe(2)
  for (const entry of entries) forgetFound(entry)
  find()
  expect(asked).toBe(4)
})
