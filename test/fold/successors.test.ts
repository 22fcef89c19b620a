// Which newer event makes an older output needless.

import { describe, expect, test } from "bun:test"
import { createEnv } from "../../src/digest/digests.ts"
import { newSuccessors } from "../../src/fold/need.ts"
import type { FileUse } from "../../src/output/tools.ts"
import type { ToolEvent } from "../../src/session/event.ts"
import { normalize } from "../../src/session/normalize.ts"
import { toolPart } from "../support/conversation.ts"
import { bash, failedTool, ROOT, read, tool } from "../support/session.ts"

const env = createEnv(ROOT)
const event = (part: ReturnType<typeof tool>) =>
  normalize(toolPart(part), { messageID: "m", call: 1, root: ROOT, wantsGist: () => false }, env) as ToolEvent
const part = (offset: number, limit: number) =>
  tool("read", { filePath: `${ROOT}/a.ts`, offset, limit }, `lines ${offset} and ${limit} more`)

/** What is said of an event after newer ones, the newest last. */
function successor(older: ToolEvent, ...newer: ToolEvent[]) {
  const successors = newSuccessors()
  for (const one of newer.toReversed()) successors.add(one, false)
  return successors.of(older)
}

describe("a read", () => {
  const old = event(read("a.ts", "one\n"))

  test("is superseded by a newer read of the whole file, a write and a deletion, and says by which", () => {
    const use = (how: FileUse["use"]): ToolEvent => ({
      ...event(tool("apply_patch", {}, "ok")),
      files: [{ path: "a.ts", use: how }],
    })
    for (const newer of [event(read("a.ts", "two\n")), use("write"), use("delete")])
      expect(successor(old, newer)).toEqual({ needKind: "superseded", by: newer })
  })

  test("is not superseded by an edit, by a search in the file, by a failed write or by another file's read", () => {
    const others = [
      event(tool("edit", { filePath: `${ROOT}/a.ts`, oldString: "a", newString: "b" }, "ok")),
      event(tool("grep", { pattern: "x", path: `${ROOT}/a.ts` }, "a.ts:1: x")),
      event(failedTool("write", { filePath: `${ROOT}/a.ts`, content: "x" }, "no")),
      event(read("b.ts", "one\n")),
    ]
    expect(successor(old, ...others)).toBeUndefined()
  })

  test("is superseded by a read that shows all its lines, not by one that shows fewer", () => {
    expect(successor(event(part(10, 10)), event(part(5, 20)))?.needKind).toBe("superseded")
    expect(successor(event(part(10, 10)), event(read("a.ts", "two\n")))?.needKind).toBe("superseded")
    expect(successor(event(part(5, 20)), event(part(10, 10)))).toBeUndefined()
    expect(successor(event(part(5, 20)), event(part(24, 20)))).toBeUndefined()
    expect(successor(old, event(part(1, 10)))).toBeUndefined()
  })

  test("is superseded by the part that covers it, whatever other parts were read", () => {
    const parts = Array.from({ length: 10 }, (_, i) => event(part(100 + 10 * i, 10)))
    expect(successor(event(part(10, 10)), event(part(5, 20)), ...parts)?.needKind).toBe("superseded")
  })

  test("is not superseded by one that is itself folded", () => {
    const successors = newSuccessors()
    successors.add(event(read("a.ts", "two\n")), true)
    expect(successors.of(old)).toBeUndefined()
  })
})

describe("an output", () => {
  const passed = () => event(bash("npm test", "Tests: 1 passed"))

  test("is repeated by the same output of the same call, the oldest newer one", () => {
    const [one, other] = [passed(), passed()]
    expect(successor(passed(), one, other)).toEqual({ needKind: "repeated", by: one })
  })

  test("is not repeated by another output, by another call's equal output, or by one that is folded", () => {
    expect(successor(passed(), event(bash("npm test", "Tests: 1 failed", 1)))).toBeUndefined()
    expect(successor(passed(), event(bash("npm test -w shop", "Tests: 1 passed")))).toBeUndefined()
    const successors = newSuccessors()
    successors.add(passed(), true)
    expect(successors.of(passed())).toBeUndefined()
  })
})
