// Which steps are settled, by what evidence, and which are open again.

import { describe, expect, test } from "bun:test"
import { createEnv } from "../../src/digest/digests.ts"
import type { HostPart } from "../../src/host/v1/message.ts"
import { createLedger } from "../../src/session/ledger.ts"
import {
  CHECKED_STEPS,
  EDITED_STEPS,
  MIN_SETTLED_AGE,
  OUTPUT_STEPS,
  SETTLED_AGE,
  type Step,
  stepsOf,
} from "../../src/session/steps.ts"
import { take } from "../support/conversation.ts"
import { bash, edit, failedTool, ROOT, read, SessionBuilder, tool } from "../support/session.ts"

function closed(session: SessionBuilder, options: Partial<Parameters<typeof stepsOf>[2]> = {}, root = ROOT): Step[] {
  const ledger = createLedger(createEnv(root))
  take(ledger, session.messages)
  const all = { scale: 1, first: 0, isFolded: () => false, ...options }
  return stepsOf(ledger.entries, ledger.facts, all)
}

const step = (steps: readonly Step[], number: number) => steps.find((one) => one.entry.call === number) as Step
const settledOutputsOf = ({ settledOutputs }: Step) => settledOutputs.map(({ event, because }) => [event.tool, because])

const lines = (text: string, tokens = 1_000) =>
  Array.from({ length: Math.ceil((tokens * 4) / (text.length + 6)) }, (_, i) => `${text} ${i}`).join("\n")
const begun = () => new SessionBuilder().user("make the login test pass")
let unique = 0
const idle = (session: SessionBuilder, steps: number) => {
  for (let i = 0; i < steps; i++) session.assistant([bash(`true ${++unique}`)])
  return session
}
/** A session of one step that has become so old. */
const aged = (age: number, ...parts: HostPart[]) => idle(begun().assistant(parts), age)

describe("a step is settled", () => {
  test("when it is old and its outputs are no longer wanted", () => {
    const fresh = aged(SETTLED_AGE - 1, bash("ls -l", lines("row")))
    expect(step(closed(fresh), 1).open).toBe("among the newest")
    const old = step(closed(aged(SETTLED_AGE, bash("ls -l", lines("row")))), 1)
    expect(old.open).toBeUndefined()
    expect(old).toMatchObject({ because: "an older listing", settledFor: 0, entry: { call: 1 } })
    expect(step(closed(aged(SETTLED_AGE + 7, bash("ls -l", lines("row")))), 1).settledFor).toBe(7)
  })

  test("of texts alone, when it is old", () => {
    const text = { type: "text", text: "The percentage is not divided." }
    const old = step(closed(aged(SETTLED_AGE, text)), 1)
    expect([old.open, old.because]).toEqual([undefined, "an earlier text"])
  })

  test("never among the newest, however much room is needed", () => {
    const steps = closed(aged(20, bash("ls", lines("row"))), { scale: 0 })
    expect(steps.filter(({ open }) => open === undefined).map(({ entry }) => entry.call)).toEqual(
      Array.from({ length: 21 - MIN_SETTLED_AGE }, (_, i) => 21 - MIN_SETTLED_AGE - i),
    )
  })

  test("sooner at a smaller scale", () => {
    const session = aged(SETTLED_AGE - 1, bash("ls", lines("row")))
    expect(step(closed(session), 1).open).toBeDefined()
    expect(step(closed(session, { scale: 0.7 }), 1).open).toBeUndefined()
  })
})

describe("evidence that content is no longer wanted", () => {
  test.each<[string, HostPart, string]>([
    ["a file", read("a.ts", lines("code")), "a file that was read"],
    ["matches", tool("grep", { pattern: "x" }, lines("a.ts: x")), "an older search"],
    ["a command's output", bash("make", lines("ok")), "an older command"],
  ])("%s is some steps old", (_, part, because) => {
    const of = (age: number) => settledOutputsOf(step(closed(aged(age, part)), 1))
    expect(of(OUTPUT_STEPS - 1)).toEqual([])
    expect(of(OUTPUT_STEPS)).toEqual([[part.tool ?? "", because]])
  })

  test("a check passed after an edit, or the edit is old", () => {
    const checked = begun()
      .assistant([edit("a.ts")])
      .assistant([bash("npm test", "ok")])
    const failed = begun()
      .assistant([edit("a.ts")])
      .assistant([bash("npm test", "1 failed", 1)])
    const later = Math.max(SETTLED_AGE, EDITED_STEPS, CHECKED_STEPS)
    expect(step(closed(idle(checked, later)), 1)).toMatchObject({ because: "an edit that a check passed since" })
    expect(step(closed(checked), 1).open).toBeUndefined()
    expect(step(closed(idle(failed, later)), 1)).toMatchObject({ because: "an older edit" })
  })

  test("a failed call is called that, whatever it would have shown and what passed since", () => {
    for (const name of ["edit", "read", "grep"]) {
      const session = begun()
        .assistant([failedTool(name, { filePath: "a.ts", pattern: "x" }, lines("not found"))])
        .assistant([bash("npm test", "ok")])
      const old = step(closed(idle(session, EDITED_STEPS)), 1)
      expect(old).toMatchObject({ open: undefined, because: "a failed call" })
      expect(settledOutputsOf(old)).toEqual(name === "edit" ? [] : [[name, "a failed call"]])
    }
  })
})

describe("a step is open", () => {
  const OLD = 60

  test("again when its file is edited, until that is a while ago", () => {
    const edited = idle(begun().assistant([edit("src/price.ts")]), EDITED_STEPS + 5)
    expect(step(closed(edited), 1).open).toBeUndefined()
    const again = idle(edited.assistant([edit("src/price.ts")]), 4)
    expect(step(closed(again), 1).open).toBe("its file was edited lately")
    expect(step(closed(idle(again, OLD)), 1).open).toBeUndefined()
  })

  test("while it holds an answer or the newest todo list, at any age and scale", () => {
    const todo = () => tool("todowrite", { todos: [] }, "[]", { todos: [] })
    const session = idle(
      begun()
        .assistant([tool("task", { prompt: "x" }, lines("answer"))])
        .assistant([todo()]),
      OLD,
    )
    for (const scale of [1, 0.3, 0]) {
      expect(step(closed(session, { scale }), 1).open).toBe("it holds an answer")
      expect(step(closed(session, { scale }), 1).settledOutputs).toEqual([])
      expect(step(closed(session, { scale }), 2).open).toBe("it holds the newest todo list")
    }
    const superseded = step(closed(idle(session.assistant([todo()]), 1)), 2)
    expect(superseded.open).toBeUndefined()
    expect(superseded.because).toBe("an older todo list")
  })

  test("while it holds the newest plan, which another agent carries out, at any age and scale", () => {
    const plan = (session: SessionBuilder, text: string) =>
      session.assistant([bash("ls")], { agent: "plan" }).assistant([{ type: "text", text }], { agent: "plan" })
    const session = idle(plan(begun(), "First the parser, then the tests."), OLD)
    for (const scale of [1, 0.3, 0]) {
      expect(step(closed(session, { scale }), 1).open).toBeUndefined()
      expect(step(closed(session, { scale }), 2).open).toBe("it holds the newest plan")
    }
    const superseded = closed(idle(plan(session, "The parser is done. Now the docs."), OLD))
    expect(step(superseded, 2)).toMatchObject({ open: undefined, because: "an earlier text" })
    expect(step(superseded, OLD + 4).open).toBe("it holds the newest plan")
    const said = idle(begun().assistant([{ type: "text", text: "It is done." }]), OLD)
    expect(step(closed(said), 1).open).toBeUndefined()
  })

  test.each<[string, HostPart]>([
    ["a call that the provider ran", { type: "subtask" }],
    ["a part of an unknown kind", { type: "image" }],
  ])("while it holds what a recall could not return, at any age and scale: %s", (_, part) => {
    for (const scale of [1, 0.3, 0]) {
      const first = step(closed(aged(OLD, read("a.ts", lines("code")), part), { scale }), 1)
      expect(first.open).toBe("it holds what hud_recall cannot return")
      expect(settledOutputsOf(first)).toEqual([["read", "a file that was read"]])
    }
    expect(step(closed(aged(OLD, read("a.ts", lines("code")), { type: "step-start" })), 1).open).toBeUndefined()
  })

  test("for some steps when it was recalled, even when room is needed", () => {
    const recalled = (age: number) => aged(age, tool("hud_recall", { ids: "r0000001" }, lines("code")))
    expect(step(closed(recalled(MIN_SETTLED_AGE - 1), { scale: 0 }), 1)).toMatchObject({ settledOutputs: [] })
    expect(step(closed(recalled(MIN_SETTLED_AGE - 1)), 1).open).toBe("it holds a recall")
    expect(step(closed(recalled(OLD)), 1).open).toBeUndefined()
  })

  test("while a call has not finished, unless it was interrupted", () => {
    const running = { ...bash("sleep 100"), state: { status: "running", input: { command: "sleep 100" } } }
    expect(step(closed(aged(0, running)), 1).open).toBe("a call has not finished")
    expect(step(closed(aged(OLD, running)), 1)).toMatchObject({ because: "an interrupted call", settledOutputs: [] })
    expect(step(closed(aged(OLD, running)), 1).open).toBeUndefined()
  })
})

test("of an open step, the outputs that are no longer wanted are settled, oldest first", () => {
  const task = tool("task", { prompt: "x" }, lines("answer"))
  const session = aged(40, bash("ls -l", lines("row")), task, failedTool("grep", { pattern: "x" }, lines("no")))
  const { open, settledOutputs } = step(closed(session), 1)
  expect(open).toBe("it holds an answer")
  expect(settledOutputs.map(({ event }) => event.tool)).toEqual(["bash", "grep"])
  for (const { settledFor } of settledOutputs) expect(settledFor).toBeGreaterThan(0)
})

test("steps that are folded or not sent are left out, and the numbers go on", () => {
  const session = begun()
    .assistant([bash("a", "1")])
    .assistant([{ type: "text", text: "I" }], { error: { name: "APIError" } })
  idle(session, 2)
  const steps = closed(session, { isFolded: ({ id }) => id === session.id(1) })
  expect(steps.map(({ entry }) => entry.call)).toEqual([4, 3])
})
