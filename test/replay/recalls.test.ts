import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import type { Fold } from "../../src/fold/fold.ts"
import { conversationOf } from "../../src/host/v1/conversation.ts"
import { newRecalls, newSources, recallCost } from "../../src/replay/recalls.ts"
import type { Message, Part } from "../../src/session/conversation.ts"
import { KEPT_WHOLE_STEPS } from "../../src/session/steps.ts"
import { SessionBuilder, tool } from "../support/session.ts"
import { MARKED } from "./session.ts"

const LINE = 'export const answer = compute("the question")'
const FILE = `first line of the file, long enough\n  ${LINE}\nlast line of the file, long enough`

const ID = "r4k2x9d1"
const FOLD: Omit<Fold, "partID" | "messageID" | "kind"> = {
  ...{ id: ID, hash: "", step: 1, text: `folded ${ID}`, what: "read a.ts", because: "", cutBecause: "", call: 1 },
  ...{ reason: "free", tokens: 30, textTokens: 3 },
}

/** The fold of the output of a message's call. */
function fold({ id: messageID }: Message, part: Part | undefined, over: Partial<Fold> = {}): [string, Fold] {
  const partID = part?.type === "tool" ? part.id : ""
  return [partID, { ...FOLD, partID, messageID, kind: "output", ...over }]
}

/** The fold of a whole step. */
function stepOf({ id }: Message, text = "1 read a.ts"): [string, Fold] {
  return [id, { ...FOLD, partID: id, messageID: id, kind: "step", text }]
}

/** A file is read, and a later call edits a line of it. */
function session() {
  const stored = new SessionBuilder()
    .user("go")
    .assistant([tool("read", { filePath: "a.ts" }, FILE)])
    .assistant([tool("edit", { filePath: "a.ts", oldString: LINE, newString: "const other = somethingNew()" }, "ok")])
  const messages = conversationOf(stored.messages)
  const [, read, edit] = messages as [Message, Message, Message]
  const context = messages.slice(0, 2)
  const part = read.parts.find(({ type }) => type === "tool")
  return {
    context,
    part,
    read,
    edit,
    call: { number: 2, nowMs: 0, answer: edit, context, folds: new Map<string, Fold>(), hud: "" },
  }
}

describe("a line the agent copies", () => {
  test("is shown while its output is, and lines that the agent invents are not counted", () => {
    expect(newRecalls().missedBy(session().call)).toMatchObject({ copied: 1, lost: 0, recalledTokens: 0 })
  })

  test("is missed when its output is folded, which is then recalled in full", () => {
    const { call, part, read } = session()
    const missed = newRecalls().missedBy({ ...call, folds: new Map([fold(read, part)]) })
    expect(missed).toMatchObject({ copied: 1, lost: 1, recalledTokens: Math.ceil(FILE.length / 4) })
  })

  test.each([
    ["the digest has it", { text: `folded ${ID} · ${LINE}` }, ""],
    ["the HUD has it", {}, `<hud>${LINE}</hud>`],
    ["another message's part of the same id is folded", { messageID: "msg_other" }, ""],
  ])("is not missed when %s", (_, over, hud) => {
    const { call, part, read } = session()
    expect(newRecalls().missedBy({ ...call, folds: new Map([fold(read, part, over)]), hud }).lost).toBe(0)
  })

  test("is missed when the step is folded that holds it, unless the record has it", () => {
    const { call, read } = session()
    const missed = (text?: string) => newRecalls().missedBy({ ...call, folds: new Map([stepOf(read, text)]) })
    expect(missed()).toMatchObject({ copied: 1, lost: 1, recalledTokens: Math.ceil(FILE.length / 4) })
    expect(missed(`1 read a.ts: ${LINE}`)).toMatchObject({ copied: 1, lost: 0, recalledTokens: 0 })
  })

  test("is missed when only the arguments of a folded step hold it", () => {
    const { call, edit, context } = session()
    const again = { ...call, number: 3, context: [...context.slice(0, 1), edit] }
    expect(newRecalls().missedBy(again).lost).toBe(0)
    expect(newRecalls().missedBy({ ...again, folds: new Map([stepOf(edit)]) }).lost).toBeGreaterThan(0)
  })

  test("is not missed when another text in the context contains it", () => {
    const { call, part, read, context } = session()
    const other = new SessionBuilder("ses_other").assistant([{ type: "text", text: `I will change ${LINE}.` }])
    const said = conversationOf(other.messages)
    const missed = newRecalls().missedBy({
      ...call,
      context: [...context, ...said],
      folds: new Map([fold(read, part)]),
    })
    expect(missed).toMatchObject({ copied: 1, lost: 0 })
  })

  test("is not counted when its source is no longer in the context, or was pruned by OpenCode", () => {
    const recalls = newRecalls()
    const { call, part } = session()
    recalls.missedBy(call)
    expect(recalls.missedBy({ ...call, context: call.context.slice(0, 1) }).copied).toBe(0)
    Object.assign(part ?? {}, { clearedMs: 1 })
    expect(recalls.missedBy({ ...call, nowMs: 2 }).copied).toBe(0)
    expect(recalls.missedBy({ ...call, nowMs: 0 }).copied).toBe(1)
  })

  test("is not missed again while the recalled output is in the context", () => {
    const { call, part, read } = session()
    const folds = new Map([fold(read, part)])
    const recalls = newRecalls()
    const lost = (number: number) => recalls.missedBy({ ...call, number, folds }).lost
    expect([lost(2), lost(3), lost(1 + KEPT_WHOLE_STEPS), lost(2 + KEPT_WHOLE_STEPS)]).toEqual([1, 0, 0, 1])
  })
})

describe("a name or line that the agent used", () => {
  const needsWith = (over?: Partial<Fold>, hud = "") => {
    const { call, part, read } = session()
    const folds = new Map(over ? [fold(read, part, over)] : [])
    return newRecalls()
      .missedBy({ ...call, folds, hud })
      .needs.map(({ text, isLine, held }) => ({ text, isLine, held }))
  }
  const line = { text: LINE, isLine: true }

  test("is no need while a text of the request contains it, nor when the agent invented it", () => {
    expect(needsWith()).toEqual([])
    expect(needsWith({}).map(({ text }) => text)).not.toContain("somethingNew")
  })

  test("is a need once all that contains it is folded, held if the digest line or the HUD says it", () => {
    expect(needsWith({})).toEqual([{ ...line, held: false }])
    expect(needsWith({ text: `folded ${ID} · ${LINE}` })).toEqual([{ ...line, held: true }])
    expect(needsWith({}, `<hud>${LINE}</hud>`)).toEqual([{ ...line, held: true }])
  })

  test("is a name as a whole word, not as a part of another", () => {
    const stored = new SessionBuilder()
      .user("go")
      .assistant([tool("read", { filePath: "a.ts" }, "function totalOf() {}")])
      .assistant([tool("read", { filePath: "b.ts" }, "function totalOfAll() {}")])
      .assistant([tool("grep", { pattern: "totalOf" }, "")])
    const messages = conversationOf(stored.messages)
    const [, a, b, answer] = messages as [Message, Message, Message, Message]
    const partOf = ({ parts }: Message) => parts.find(({ type }) => type === "tool")
    const missed = (folded: Message[]) =>
      newRecalls().missedBy({
        ...{ number: 3, nowMs: 0, answer, context: messages.slice(0, 3), hud: "" },
        folds: new Map(folded.map((one) => fold(one, partOf(one)))),
      }).needs
    expect(missed([b])).toEqual([])
    expect(missed([a])).toMatchObject([{ text: "totalOf", isLine: false, held: false, source: { messageID: a.id } }])
  })
})

test("a recall costs a call over a warm prefix, its output, and the originals written once", () => {
  expect(recallCost(1500, 20_000, MARKED)).toBeCloseTo(0.1 * 20_000 + 5 * 80 + 1.25 * 1500)
  expect(recallCost(0, 20_000, MARKED)).toBe(0)
})

test("the index finds a line in exactly the texts a plain search finds it in, newest first", () => {
  // few and short words, so that lines do occur, also in the middle of words
  const words = fc.array(fc.constantFrom("foo", "foobar", "bar", "x", " ", "-", "é", "(", "\n"), { maxLength: 12 })
  const text = words.map((parts) => parts.join(""))
  fc.assert(
    fc.property(fc.array(text, { maxLength: 8 }), text, (texts, line) => {
      fc.pre(line !== "" && !line.includes("\n"))
      const sources = newSources()
      sources.read(conversationOf([{ info: {}, parts: texts.map((one) => ({ type: "text", text: one })) }]))
      const found = [...sources.holding(line)].map(({ body }) => body)
      expect(found).toEqual(texts.filter((one) => one.includes(line)).toReversed())
    }),
  )
})
