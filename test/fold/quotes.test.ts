// Which outputs were just quoted.

import { describe, expect, test } from "bun:test"
import { quotedParts } from "../../src/fold/need.ts"
import { conversationOf } from "../../src/host/v1/conversation.ts"
import type { HostPart } from "../../src/host/v1/message.ts"
import { bash, read, SessionBuilder } from "../support/session.ts"

const LINE = "the shop closes at a quarter past nine"
const other = (n: number) => bash(`echo ${n}`, `nothing of interest in run number ${n}\n`)

/** A session in which one output holds the line, and what is said of it last. */
function said(text: HostPart, role: "user" | "assistant" = "assistant"): SessionBuilder {
  const session = new SessionBuilder()
    .user("go")
    .assistant([read("a.ts", `${LINE}\nand more`), other(1)])
    .assistant([other(2)])
  return role === "user" ? session.user("x", [text]) : session.assistant([text])
}

function quoted({ messages }: SessionBuilder, isOpen: (partID: string) => boolean = () => true): string[] {
  const from = messages.length - 1
  const ids = new Set(quotedParts(conversationOf(messages), from, isOpen))
  return messages
    .flatMap(({ parts }) => parts)
    .flatMap(({ id, state }) => (ids.has(id ?? "") ? [state?.output ?? ""] : []))
}

const words = (text: string, more: Partial<HostPart> = {}): HostPart => ({ type: "text", text, ...more })

describe("an output is quoted", () => {
  test("when the agent or the user writes a line of it, however it is indented", () => {
    for (const role of ["user", "assistant"] as const) {
      expect(quoted(said(words(`It says:\r\n   ${LINE}  \r\nthere.`), role))).toEqual([expect.stringContaining(LINE)])
    }
  })

  test("by every line too long to match by chance, in every output that contains it", () => {
    const session = new SessionBuilder().user("go").assistant([read("a.ts", LINE), bash("cat a.ts", LINE)])
    expect(quoted(session.assistant([words(LINE)]))).toHaveLength(2)
    expect(quoted(said(words("1: export")))).toEqual([])
    expect(quoted(said(words("and more")))).toEqual([])
  })

  test("not by a reminder from the host or a tool's output", () => {
    expect(quoted(said(words(LINE, { synthetic: true }), "user"))).toEqual([])
    expect(quoted(said(bash("cat a.ts", LINE)))).toEqual([])
  })

  test("not when it comes after the quote, or is not to be searched", () => {
    const session = new SessionBuilder().user("go").assistant([words(LINE), read("a.ts", LINE)])
    expect(quoted(session)).toEqual([])
    expect(quoted(said(words(LINE)), () => false)).toEqual([])
  })
})

test("of a long answer after many outputs, the first lines are searched for in the newest outputs", () => {
  const session = new SessionBuilder().user("go")
  for (let i = 0; i < 500; i++) session.assistant([bash(`echo ${i}`, `${LINE} ${i}`)])
  const found = quoted(session.assistant([words(LINE)]))
  expect(found[found.length - 1]).toBe(`${LINE} 499`)
  expect(found.length).toBeLessThan(500)
  const late = `${Array.from({ length: 500 }, (_, i) => `a line of its own, number ${i}`).join("\n")}\n${LINE}`
  expect(quoted(said(words(late)))).toEqual([])
})

test("malformed messages and parts are ignored", () => {
  const { messages } = said(words(LINE))
  messages.splice(1, 0, { info: {}, parts: [null, 7, { type: "tool" }, { type: "tool", id: "x", state: 3 }] as never })
  expect(quotedParts(conversationOf(messages), messages.length - 1, () => true)).toHaveLength(1)
})
