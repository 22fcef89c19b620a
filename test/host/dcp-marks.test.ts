// DCP's marks in an array that it changed first: they belong neither to an output nor to the user's text, and a fold keeps them.

import { expect, test } from "bun:test"
import type { Fold } from "../../src/fold/fold.ts"
import { originalIn } from "../../src/fold/select.ts"
import { applyChange, NO_CHANGE } from "../../src/host/v1/apply.ts"
import { conversationOf } from "../../src/host/v1/conversation.ts"
import { type HostMessage, markOf, withoutMark } from "../../src/host/v1/message.ts"
import { newSessionState } from "../../src/request/request.ts"
import type { Facts } from "../../src/session/facts.ts"
import type { Env } from "../../src/session/tool-event.ts"
import { take } from "../support/conversation.ts"
import { bash, SessionBuilder, usage } from "../support/session.ts"

const env: Env = {
  hash: (text) => String(Bun.hash(text)),
  digest: () => "a log",
}
const LONG = "one line of a long log\n".repeat(400)
const REMOVED = "[Output removed: it is of no use any more]"
const mark = (number: number) => `\n<dcp-message-id>m${String(number).padStart(4, "0")}</dcp-message-id>`

/** The same command twice, as DCP hands them on: the same output, under another mark. */
function marked(output = LONG): HostMessage[] {
  const session = new SessionBuilder().user(`look at the log\n${mark(1)}`)
  session.assistant([bash("cat a.log", output + mark(2))], usage(4000))
  session.assistant([bash("cat a.log", output + mark(3))], usage(400, 4000))
  return session.fresh()
}

function readIn(messages: HostMessage[]) {
  const state = newSessionState(env)
  take(state.ledger, messages)
  return state
}

const repeatsOf = ({ results }: Facts) => [...results.values()].filter(({ times }) => times > 1)

test("the same output under two marks is the same output", () => {
  expect(repeatsOf(readIn(marked()).ledger.facts)).toHaveLength(1)
})

test("two removed outputs are not the same output, and neither is folded", () => {
  const { ledger } = readIn(marked(REMOVED))
  expect(repeatsOf(ledger.facts)).toEqual([])
  for (const { events } of ledger.entries) for (const event of events) expect(event).toMatchObject({ cleared: true })
})

test("the user's text has no mark and no summary by DCP", () => {
  const messages = marked()
  const [first] = messages
  messages.unshift({
    info: { ...first?.info, id: "msg_dcp_summary_1" },
    parts: [{ id: "prt_dcp_summary_1", type: "text", text: "[Compressed conversation section]\nIt was looked at." }],
  })
  const requests = readIn(messages).ledger.entries.flatMap(({ request }) => request ?? [])
  expect(requests).toEqual(["look at the log"])
})

test("a fold keeps the mark of its output, and the original is without it, verbatim", () => {
  const messages = marked()
  for (const message of conversationOf(messages.slice(1))) {
    const partID = message.parts.flatMap((part) => (part.type === "tool" ? [part.id] : []))[0] ?? ""
    expect(originalIn(message, { kind: "output", partID })?.text).toBe(LONG)
  }
  const part = messages[1]?.parts[1]
  const fold = { partID: part?.id, messageID: part?.messageID, kind: "output", text: "folded r4k2x9db · bash · a log" }
  applyChange(messages, { ...NO_CHANGE, folds: new Map([[part?.id ?? "", fold as Fold]]) })
  expect(messages[1]?.parts[1]?.state?.output).toBe(`folded r4k2x9db · bash · a log${mark(2)}`)
})

test("a removed output stays removed, even if it was folded", () => {
  const messages = marked(REMOVED)
  const part = messages[1]?.parts[1]
  const fold = { partID: part?.id, messageID: part?.messageID, kind: "output", text: "folded r4k2x9db · bash · a log" }
  const before = structuredClone(messages)
  applyChange(messages, { ...NO_CHANGE, folds: new Map([[part?.id ?? "", fold as Fold]]) })
  expect(messages).toEqual(before)
})

test("only a mark at the very end counts", () => {
  for (const text of ["", "plain\n", `${mark(1)} `, "<dcp-message-id>m1</dcp-message-id", `a${mark(1)}b`])
    expect(withoutMark(text)).toBe(text)
  expect(markOf(`a\n\n${mark(7)}`)).toBe(mark(7))
  expect(withoutMark(`a\n${mark(7)}`)).toBe("a\n")
})
