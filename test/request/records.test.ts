// Records put into OpenCode's array: where they go beside steps that OpenCode does not send, and beside HUD texts that stay.

import { describe, expect, test } from "bun:test"
import { createEnv } from "../../src/digest/digests.ts"
import { type Fold, type Folds, stepFolds } from "../../src/fold/fold.ts"
import { applyChange, NO_CHANGE } from "../../src/host/v1/apply.ts"
import { conversationOf } from "../../src/host/v1/conversation.ts"
import { unfolded } from "../../src/host/v1/copies.ts"
import type { HostMessage, HostPart } from "../../src/host/v1/message.ts"
import type { Placement } from "../../src/hud/slots.ts"
import type { Change, RecordPlace } from "../../src/request/request.ts"
import { createLedger } from "../../src/session/ledger.ts"
import { bash, ROOT, SessionBuilder } from "../support/session.ts"

const FAILED = { error: { name: "APIError", data: {} } }
const NO_HUD: Placement = { slot: "tail", text: undefined }

/** The steps at these indexes, folded. */
function foldsOf({ messages }: SessionBuilder, ...indexes: number[]): Map<string, Fold> {
  return new Map(
    indexes.map((at): [string, Fold] => {
      const id = messages[at]?.info.id ?? ""
      const fold = { id: `r000000${at}`, partID: id, messageID: id, hash: "", kind: "step" as const, step: at }
      const texts = {
        text: `${at} bash ls`,
        what: "bash ls",
        reason: "free" as const,
        because: "",
        cutBecause: "",
        call: 1,
      }
      return [id, { ...fold, ...texts, tokens: 100, textTokens: 5 }]
    }),
  )
}

function changeOf(messages: HostMessage[], folds: Folds, hud: Placement, records: RecordPlace): Change {
  const { entries } = createLedger(createEnv(ROOT)).read(conversationOf(messages))
  return { folds, steps: stepFolds(entries, folds), hud, records }
}

function applied(
  session: SessionBuilder,
  folds: ReadonlyMap<string, Fold>,
  { hud = NO_HUD, records = "message" as RecordPlace } = {},
): HostMessage[] {
  const messages = session.fresh()
  applyChange(messages, changeOf(messages, folds, hud, records))
  return messages
}

/** Role and texts of each message, of a record its head and the number of its lines. */
function outline(messages: readonly HostMessage[]): string[] {
  const shown = ({ type, text = "", state }: HostPart) => {
    const said = type === "tool" ? (state?.output ?? "") : text
    return said.replace(/Steps? ([\d-]+) of this session.*:\n([\s\S]*)$/, (_, range, lines) => {
      return `record ${range}, ${lines.split("\n").length}`
    })
  }
  return messages.map(({ info, parts }) => {
    const texts = parts.filter(({ type }) => type === "text" || type === "tool").map(shown)
    return `${info.role}: ${texts.join(" | ")}`
  })
}

const step = (session: SessionBuilder) => session.assistant([bash("ls", "a.ts")])

describe("a failed step", () => {
  test("between folded ones does not split their record, and comes back", () => {
    const session = step(step(new SessionBuilder().user("go")).assistant([], FAILED))
    step(session)
    const messages = applied(session, foldsOf(session, 1, 3))
    expect(outline(messages)).toEqual(["user: go | record 1-3, 2", "assistant: a.ts"])
    expect(unfolded(messages)).toEqual(session.messages)
  })

  test("before the first folded one does not keep the record out of the user's message", () => {
    const session = step(step(new SessionBuilder().user("go").assistant([], FAILED)))
    expect(outline(applied(session, foldsOf(session, 2)))).toEqual(["user: go | record 2, 1", "assistant: a.ts"])
  })

  test("after an answer that stays does not take its place", () => {
    const session = step(step(new SessionBuilder().user("go")))
    session
      .assistant([{ type: "text", text: "done" }])
      .assistant([], FAILED)
      .user("and?")
    const messages = applied(session, foldsOf(session, 2, 3), { records: "result" })
    expect(outline(messages)).toEqual([
      "user: go",
      "assistant: a.ts\n\nrecord 2, 1",
      "assistant: done",
      "assistant: ",
      "user: and?",
    ])
  })

  test("is not taken for one when it has a part of an unknown type", () => {
    const session = step(new SessionBuilder().user("go"))
    session.user("", [{ type: "of a later version" }])
    step(session)
    const messages = applied(session, foldsOf(session, 1, 3))
    expect(messages.flatMap(({ parts }) => parts.map(({ type }) => type))).toContain("of a later version")
  })
})

test("a HUD in the user's message is removed when the same array comes again with more messages", () => {
  const session = new SessionBuilder().user("go")
  const messages = session.fresh()
  const hud = (text: string): Placement => ({ slot: "tool", text })
  applyChange(messages, { ...NO_CHANGE, hud: hud("<hud>1</hud>") })
  messages.push(...step(session).fresh().slice(1))
  applyChange(messages, { ...NO_CHANGE, hud: hud("<hud>2</hud>") })
  expect(outline(messages)).toEqual(["user: go", "assistant: a.ts\n\n<hud>2</hud>"])
})

test("a HUD inside the last message goes into the last one that is sent", () => {
  const hud: Placement = { slot: "tool", text: "<hud>1</hud>" }
  const session = step(new SessionBuilder().user("go"))
  session.assistant([bash("ls", "b.ts")], FAILED)
  const messages = applied(session, new Map(), { hud })
  expect(outline(messages)[1]).toEndWith("a.ts\n\n<hud>1</hud>")
  expect(messages.slice(2)).toEqual(session.messages.slice(2))
  session.user("and?").assistant([])
  expect(outline(applied(session, new Map(), { hud }))).toContain("user: and? | <hud>1</hud>")
})

test("for models that take no user's message after a result, both stand in a result even where OpenCode cleared it", () => {
  const session = step(step(step(new SessionBuilder().user("go"))))
  for (const at of [1, 3]) {
    const state = session.messages[at]?.parts.find(({ type }) => type === "tool")?.state
    if (state) state.time = { ...state.time, compacted: 1 }
  }
  const hud: Placement = { slot: "tool", text: "<hud>\nfiles\n</hud>" }
  const messages = applied(session, foldsOf(session, 2), { hud, records: "result" })
  const cleared = "assistant: [Old tool result content cleared]\n\n"
  expect(outline(messages)).toEqual(["user: go", `${cleared}record 2, 1`, `${cleared}${hud.text}`])
  for (const { parts } of messages) for (const { state } of parts) expect(state?.time?.compacted).toBeUndefined()
  applyChange(messages, NO_CHANGE)
  expect(messages).toEqual(session.messages)
})

test("a HUD text that stays is not lost when a record makes one of two user messages", () => {
  const session = step(new SessionBuilder().user("go")).user("and?")
  const hud: Placement = { slot: "sticky", anchors: [{ after: session.id(0), text: "<hud>\nfiles\n</hud>" }] }
  expect(outline(applied(session, foldsOf(session, 1), { hud }))).toEqual([
    "user: go",
    "user: <hud>\nfiles\n</hud>",
    "user: record 1, 1 | and?",
  ])
})

test("of messages with one id, as forks and other plugins make them, only the first is folded", () => {
  const session = step(step(new SessionBuilder().user("go")))
  Object.assign(session.messages[2]?.info ?? {}, { id: session.id(1) })
  expect(outline(applied(session, foldsOf(session, 1)))).toEqual(["user: go | record 1, 1", "assistant: a.ts"])
})

test("of parts with one id, only that of the fold's message is folded", () => {
  const session = step(step(new SessionBuilder().user("go")))
  const [one, other] = [1, 2].map((at) => session.messages[at]?.parts.find(({ type }) => type === "tool"))
  if (one && other) other.id = one.id as string
  const [[, fold] = []] = foldsOf(session, 2)
  const partID = other?.id ?? ""
  const output: Fold = { ...(fold as Fold), partID, kind: "output", text: "folded r0000002 · bash · 1 line" }
  expect(outline(applied(session, new Map([[partID, output]])))).toEqual([
    "user: go",
    "assistant: a.ts",
    `assistant: ${output.text}`,
  ])
})

test("HUD texts that stay after one message keep the order in which they were sent", () => {
  const session = step(new SessionBuilder().user("go"))
  const anchors = ["first", "second", "third"].map((text) => ({ after: session.id(0), text }))
  expect(outline(applied(session, new Map(), { hud: { slot: "sticky", anchors } }))).toEqual([
    ...["user: go", "user: first", "user: second", "user: third"],
    "assistant: a.ts",
  ])
})

test("folds that were sent are looked for again in messages that have changed", () => {
  const session = step(step(step(new SessionBuilder().user("go"))))
  const folds = foldsOf(session, 1, 2)
  const [first, ...rest] = applied(session, folds)
  expect(outline([first as HostMessage, ...rest])[0]).toBe("user: go | record 1-2, 2")
  const failed = session.messages[2]
  if (failed) Object.assign(failed.info, FAILED)
  expect(outline(applied(session, folds))[0]).toBe("user: go | record 1, 1")
  session.messages.splice(1, 1)
  expect(outline(applied(session, folds))[0]).toBe("user: go")
})

test("a record that cannot be written changes nothing", () => {
  const session = step(step(new SessionBuilder().user("go")))
  const folds = foldsOf(session, 1)
  const [fold] = folds.values()
  Object.defineProperty(fold, "text", {
    get() {
      throw new Error("broken")
    },
  })
  const messages = session.fresh()
  const hud: Placement = { slot: "tool", text: "<hud>\nold\n</hud>" }
  applyChange(messages, { ...NO_CHANGE, hud })
  const before = JSON.stringify(messages)
  expect(before).toContain("old")
  expect(() => applyChange(messages, changeOf(messages, folds, NO_HUD, "message"))).toThrow("broken")
  expect(JSON.stringify(messages)).toBe(before)
})
