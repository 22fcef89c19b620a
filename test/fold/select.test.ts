// The files that a folded step or output names in the arguments of its calls.

import { expect, test } from "bun:test"
import { originalIn } from "../../src/fold/select.ts"
import { messageOf } from "../../src/host/v1/conversation.ts"
import type { HostPart } from "../../src/host/v1/message.ts"
import { bash, edit, failedTool, ROOT, read, SessionBuilder, tool } from "../support/session.ts"

function named(parts: HostPart[], at?: number, root: string = ROOT, cwd = root): string[] {
  const [message] = new SessionBuilder().assistant(parts, { path: { cwd, root } }).messages
  if (!message) return []
  const partID = message.parts[(at ?? 0) + 1]?.id ?? ""
  const original = originalIn(messageOf(message), { kind: at === undefined ? "step" : "output", partID })
  return [...(original?.files ?? [])]
}

const patch = "*** Begin Patch\n*** Update File: src/a.ts\n*** Move to: src/b.ts\n@@\n-import './c.ts'\n*** End Patch"

test.each<[string, HostPart, string[]]>([
  ["a read", read("src/a.ts"), [`${ROOT}/src/a.ts`]],
  ["an edit", edit("src/a.ts"), [`${ROOT}/src/a.ts`]],
  ["a write that failed", failedTool("write", { filePath: "./src/a.ts", content: "b.ts" }, "no"), [`${ROOT}/src/a.ts`]],
  ["a patch", tool("apply_patch", { patchText: patch }, ""), [`${ROOT}/src/a.ts`, `${ROOT}/src/b.ts`]],
  ["a tool of a server", tool("fs_move", { source: "/x/a b.ts", to: "y" }, ""), ["/x/a b.ts"]],
  [
    "a list of files",
    tool("many", { paths: ["a.ts", "b.ts"], edits: [{ file: "c.ts" }] }, ""),
    "abc".split("").map((name) => `${ROOT}/${name}.ts`),
  ],
  ["what is only mentioned", tool("write", { content: "src/a.ts", note: "see src/b.ts" }, ""), []],
])("%s", (_, part, files) => {
  expect(named([part])).toEqual(files)
})

test("the lines of a read are its file's, unless it read several", () => {
  const output = (part: HostPart) => {
    const [message] = new SessionBuilder().assistant([part]).messages
    const [, one] = message?.parts ?? []
    return message && originalIn(messageOf(message), { kind: "output", partID: one?.id ?? "" })
  }
  expect(output(tool("filesystem_read_text_file", { path: "a.ts" }, "x"))?.isFile).toBe(true)
  expect(output(tool("filesystem_read_multiple_files", { paths: ["a.ts", "b.ts"] }, "x"))?.isFile).toBe(false)
})

test("a command names what its words name", () => {
  const files = named([bash("sed -n '1,80p' src/a.ts | head; cat \"lib/b.ts\" > /tmp/out.txt; node c.ts:12:3")])
  for (const file of [`${ROOT}/src/a.ts`, `${ROOT}/lib/b.ts`, "/tmp/out.txt", `${ROOT}/c.ts`])
    expect(files).toContain(file)
})

test("a command's paths are relative to the folder that it was given", () => {
  const files = named([tool("bash", { command: "cat src/a.ts /tmp/b.ts", workdir: `${ROOT}/web` }, "")])
  expect(files).toContain(`${ROOT}/web/src/a.ts`)
  expect(files).toContain("/tmp/b.ts")
  expect(named([tool("bash", { command: "cat a.ts", workdir: "web" }, "")])).toContain(`${ROOT}/web/a.ts`)
})

test("paths are relative to the session's folder, which may lie below the project's", () => {
  expect(named([tool("read", { filePath: "src/a.ts" }, "")], undefined, ROOT, `${ROOT}/web`)).toEqual([
    `${ROOT}/web/src/a.ts`,
  ])
})

test("paths of Windows are the same in either form", () => {
  const root = "c:\\Users\\me\\shop"
  expect(named([tool("read", { filePath: "C:\\Users\\me\\shop\\src\\a.ts" }, "")], undefined, root)).toEqual([
    "C:/Users/me/shop/src/a.ts",
  ])
  expect(named([tool("read", { filePath: "src\\a.ts" }, "")], undefined, root)).toEqual(["C:/Users/me/shop/src/a.ts"])
})

test("of a step all calls count, of an output its own", () => {
  const parts = [read("a.ts"), read("b.ts")]
  expect(named(parts)).toEqual([`${ROOT}/a.ts`, `${ROOT}/b.ts`])
  expect(named(parts, 1)).toEqual([`${ROOT}/b.ts`])
})
