import { describe, expect, test } from "bun:test"
import type { Fold } from "../../src/fold/fold.ts"
import { conversationOf } from "../../src/host/v1/conversation.ts"
import { addFoldCount, countFolds, noFolds } from "../../src/replay/fold-count.ts"
import { read, SessionBuilder } from "../support/session.ts"

const { messages } = new SessionBuilder()
  .user("go")
  .assistant([read("a.ts")])
  .assistant([{ type: "text", text: "that was it" }])
const conversation = conversationOf(messages)
const part = conversation[1]?.parts.find(({ type }) => type === "tool")

function fold(over: Partial<Fold>): Fold {
  return {
    ...{ id: "r0000001", messageID: "", partID: "", hash: "", side: "step", step: 1, text: "", what: "read a.ts" },
    ...{ reason: "pays", because: "an older call", cut: "it pays", call: 5, tokens: 100, textTokens: 10 },
    ...over,
  }
}

const output = fold({
  side: "output",
  partID: part?.type === "tool" ? part.id : "",
  messageID: conversation[1]?.id ?? "",
})
const step = fold({ messageID: output.messageID, partID: output.messageID, call: 9, tokens: 150 })
const said = fold({
  messageID: conversation[2]?.id ?? "",
  partID: conversation[2]?.id ?? "",
  step: 2,
  call: 9,
  tokens: 50,
})

describe("a count of folds", () => {
  test("keeps steps and outputs apart", () => {
    const count = countFolds([output, step, said], conversation)
    expect([count.outputs, count.steps]).toEqual([
      { count: 1, tokens: 100 },
      { count: 2, tokens: 200 },
    ])
    expect(count.byReason.pays).toEqual({ count: 3, tokens: 300 })
  })

  test("counts a saving once when an output's step is folded later", () => {
    expect(countFolds([output], conversation).savedTokens).toBe(90)
    expect(countFolds([output, step], conversation).savedTokens).toBe(140)
  })

  test("names the tool of an output, and of a step's first call", () => {
    const { byTool } = countFolds([output, step, said], conversation)
    expect(byTool).toMatchObject({ read: { count: 2, tokens: 250 }, "(text)": { count: 1, tokens: 50 } })
  })

  test("has the cut of each reason that saves most, with the reason in words", () => {
    const forced = {
      reason: "must",
      because: "an older call",
      cut: "the request nears 9000 tokens, its maximum",
    } as const
    const count = countFolds([output, step, said, fold({ ...forced, call: 12, partID: "x" })], conversation)
    expect(count.cuts).toBe(3)
    expect(count.largestCuts).toEqual({
      pays: { call: 9, reason: "pays", because: "it pays", steps: 2, outputs: 0, savedTokens: 180 },
      must: {
        ...{ call: 12, reason: "must", because: "the request nears 9000 tokens, its maximum" },
        ...{ steps: 1, outputs: 0, savedTokens: 90 },
      },
    })
  })

  test("is added to another", () => {
    const sum = noFolds()
    addFoldCount(sum, countFolds([output], conversation))
    addFoldCount(sum, countFolds([step, said], conversation))
    expect(sum).toMatchObject({ outputs: { count: 1 }, steps: { count: 2, tokens: 200 }, cuts: 2 })
    expect(sum.largestCuts.pays?.call).toBe(9)
    expect(sum.byTool).toMatchObject({ read: { count: 2, tokens: 250 } })
  })
})
