// A step as text: readable, verbatim, and nothing of it is lost.

import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { stepText } from "../../src/fold/original.ts"
import { messageOf } from "../../src/host/v1/conversation.ts"
import type { HostPart } from "../../src/host/v1/message.ts"
import { bash, failedTool, pictured, SessionBuilder, tool } from "../support/session.ts"

const textOf = (parts: HostPart[]): string => {
  const [message] = new SessionBuilder().assistant(parts).messages
  return message ? stepText(messageOf(message)) : ""
}

type Call = { tool: string; input: Record<string, unknown>; output: string; failed: boolean }
type Piece = { said: string } | Call

/** Reads a step's text back. */
function parse(text: string): Piece[] {
  const lines = text.split("\n")
  let at = 0
  const next = () => lines[at++] ?? ""
  const take = (count: number) => {
    at += count
    return lines.slice(at - count, at).join("\n")
  }
  const body = (head: RegExpExecArray) => (head[2] === undefined ? "" : take(Number(head[2])))
  const pieces: Piece[] = []
  while (at < lines.length) {
    if (pieces.length > 0) expect(next()).toBe("")
    const head = next()
    const said = /^(said in) (\d+) lines?:$/.exec(head)
    if (said) {
      pieces.push({ said: body(said) })
      continue
    }
    const named = head.slice("called ".length)
    const call: Call = { tool: named.startsWith('"') ? JSON.parse(named) : named, input: {}, output: "", failed: false }
    for (;;) {
      const one = next()
      const result = /^(returned|failed with) (?:nothing|(\d+) lines?:)$/.exec(one)
      if (result) {
        call.output = body(result)
        call.failed = result[1] === "failed with"
        break
      }
      const way = /^(?:[A-Za-z_$][\w$-]*|\.[A-Za-z_$][\w$-]*|\[\d+\]|\["(?:[^"\\]|\\.)*"\])+/.exec(one)?.[0] ?? ""
      const rest = one.slice(way.length)
      const long = /^, (\d+) lines?:$/.exec(rest)
      put(call.input, stepsOf(way), long ? take(Number(long[1])) : readValue(rest.slice(": ".length)))
    }
    pieces.push(call)
  }
  return pieces
}

function stepsOf(way: string): (string | number)[] {
  return [...way.matchAll(/\["((?:[^"\\]|\\.)*)"\]|\[(\d+)\]|\.?([A-Za-z_$][\w$-]*)/g)].map(
    ([, quoted, index, name]) =>
      quoted !== undefined ? (JSON.parse(`"${quoted}"`) as string) : index !== undefined ? Number(index) : (name ?? ""),
  )
}

function readValue(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function put(into: object, [step = "", ...rest]: (string | number)[], value: unknown): void {
  const target = into as Record<string | number, unknown>
  if (rest.length === 0) {
    Object.defineProperty(target, step, { value, enumerable: true, configurable: true, writable: true })
    return
  }
  if (!Object.hasOwn(target, step)) put(target, [step], typeof rest[0] === "number" ? [] : {})
  put(target[step] as object, rest, value)
}

describe("a step", () => {
  test("is what the agent said, and each call with its arguments and its result, in order", () => {
    const parts = [
      { type: "text", text: "The percentage is not divided by 100." },
      { type: "reasoning", text: "secret thoughts" },
      tool(
        "edit",
        {
          filePath: "src/price.ts",
          oldString: "  return price\n    * percent",
          newString: '  return "\\n"',
          replaceAll: false,
        },
        "Edit applied successfully.",
      ),
      { type: "text", text: "Shown to people.", ignored: true },
      bash("npm test", "ok 1\nok 2\n"),
      failedTool("read", { filePath: "a.ts" }, "no such file"),
    ]
    expect(textOf(parts)).toBe(`said in 1 line:
The percentage is not divided by 100.

called edit
filePath: src/price.ts
oldString, 2 lines:
  return price
    * percent
newString:   return "\\n"
replaceAll: false
returned 1 line:
Edit applied successfully.

called bash
command: npm test
description: runs it
returned 3 lines:
ok 1
ok 2


called read
filePath: a.ts
failed with 1 line:
no such file`)
  })

  test("says which files were returned with a text or alone", () => {
    const shot = tool("shot", {}, "Took it.")
    const image = { type: "file", mime: "image/png", url: "data:image/png;base64,AA" }
    const attachments = [image, { ...image, filename: "page\n2.png" }]
    const both = { ...shot, state: { ...shot.state, attachments } }
    expect(textOf([both, pictured(tool("shot", {}, ""))])).toBe(`called shot
returned a file: image/png
returned a file: image/png page 2.png
returned 1 line:
Took it.

called shot
returned a file: image/png`)
  })

  test("names values inside objects and lists by their way, and strings that read like other values as strings", () => {
    const input = { edits: [{ oldString: "a\nb", newString: "" }], flag: "true", "a b": { 0: 1 }, none: [], far: null }
    expect(textOf([tool("multiedit", input, "")])).toBe(`called multiedit
edits[0].oldString, 2 lines:
a
b
edits[0].newString: ""
flag, 1 line:
true
["a b"]["0"]: 1
none: []
far: null
returned nothing`)
  })

  test("that has not finished shows what there is", () => {
    const part = {
      type: "tool",
      tool: "bash",
      callID: "c",
      state: { status: "running", input: { command: "sleep 1" } },
    }
    expect(textOf([part])).toBe("called bash\ncommand: sleep 1\nhas not finished, so far nothing")
  })

  test("loses nothing", () => {
    const string = fc.oneof(
      fc.string({ unit: "binary", maxLength: 20 }),
      fc.constantFrom(
        "",
        "\n",
        "12",
        "null",
        '"x"',
        "a\n\nb\n",
        "returned 1 line:\nx",
        "said in 1 line:",
        "x, 2 lines:",
      ),
    )
    const deep = JSON.parse(`${'{"list":['.repeat(9)}"a\\nb"${"]}".repeat(9)}`) as object
    const value = fc.jsonValue({ maxDepth: 4, stringUnit: "binary" }).map((one) => JSON.parse(JSON.stringify(one)))
    const input = fc.dictionary(
      fc.oneof(fc.constantFrom("filePath", "old-string", "returned", "0", "__proto__", "a b", "x.y", "[0]"), string),
      fc.oneof(
        string,
        value,
        fc.constant(deep),
        fc.array(fc.record({ oldString: string, list: fc.array(string, { maxLength: 2 }) })),
      ),
      { maxKeys: 5 },
    )
    const call = fc.record({
      tool: fc.oneof(fc.constantFrom("edit", "mcp_x", "called edit"), fc.string({ minLength: 1 })),
      input,
      output: string,
      failed: fc.boolean(),
    })
    const said = fc.record({ said: string.filter((text) => text !== "") })
    fc.assert(
      fc.property(fc.array(fc.oneof(said, call), { maxLength: 4 }), (pieces) => {
        const parts = pieces.map((piece): HostPart => {
          if ("said" in piece) return { type: "text", text: piece.said }
          return (piece.failed ? failedTool : tool)(piece.tool, piece.input, piece.output)
        })
        const text = textOf(parts)
        expect(text === "" ? [] : parse(text)).toEqual(pieces)
      }),
    )
  })

  test("nested without end does not throw", () => {
    let deep: Record<string, unknown> = {}
    for (let depth = 0; depth < 20_000; depth++) deep = { deep }
    expect(textOf([tool("edit", { deep }, "done")]).endsWith("returned 1 line:\ndone")).toBe(true)
    const circle: Record<string, unknown> = {}
    circle.again = [circle]
    expect(textOf([tool("edit", { circle }, "done")])).toContain("not readable")
  })
})
