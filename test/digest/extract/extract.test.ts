import { expect, test } from "bun:test"
import { extract } from "../../../src/digest/extract/extract.ts"
import type { DigestSource } from "../../../src/output/digest.ts"
import type { ToolKind } from "../../../src/output/tools.ts"
import * as js from "./fixtures/javascript.ts"
import * as tools from "./fixtures/tools.ts"

const digest = (
  kind: ToolKind,
  output: string,
  input: Record<string, unknown> = {},
  more: Partial<DigestSource> = {},
) => extract({ tool: kind, kind, input, output, failed: false, ...more })
const shell = (command: string, output: string, exit = 0) => digest("command", output, { command }, { exit })

test.each([
  ["a file", digest("read", tools.readCode), /^22 lines: import { hash } from ".\/hash.ts" \/ export type Session = /],
  ["a document", digest("read", tools.readMarkdown), /^11 lines: # Guide \/ ## Install \/ /],
  ["a file of data", digest("read", tools.readJson), /^\d+ lines: "name": "\S+", \/ "version"/],
  ["a web page", digest("web", tools.page), /^\d+ lines: /],
  ["a skill", digest("skill", tools.skill), /^\d+ lines: /],
  ["JSON of an unknown tool", digest("other", `{\n "a": 1,\n "b": 2,\n "c": 3\n}`), /^"a": 1, \/ "b": 2, \/ "c": 3$/],
] as const)("%s is text, of which a model may be asked", (_, { digest, isText }, expected) => {
  expect(digest).toMatch(expected)
  expect(isText).toBe(digest.includes(" lines: "))
})

const SHOWN: [name: string, digest: ReturnType<typeof extract>, digest: string | RegExp][] = [
  ["paths, without their folder", digest("list", tools.glob), /^\d+ lines: \w[^/]*\/[^/]+ \/ /],
  ["matches", digest("search", tools.grep), /^\d+ lines: Found 4 matches \/ src\/session.ts/],
  [
    "paths of Windows, without their folder",
    digest(
      "list",
      "C:\\Users\\dev\\shop\\src\\a.ts\nC:\\Users\\dev\\shop\\src\\ui\\b.ts\nC:\\Users\\dev\\shop\\x.md\nC:\\Users\\dev\\shop\\y.md\n",
    ),
    /^4 lines: src\\a\.ts \/ src\\ui\\b\.ts \/ x\.md \/ y\.md$/,
  ],
  [
    "commands that begin with a backslash, which are no paths",
    digest("list", "\\item\\a{Price}\n\\item\\b{Sum}\n"),
    /^\\item\\a\{Price\} \/ \\item\\b\{Sum\}$/,
  ],
  ["a folder", digest("read", tools.readFolder), /^\d+ lines: core\/ \/ hooks\//],
  ["git status", shell("git status -s", tools.gitStatus), /^M src\/session.ts \/ /],
  [
    "git log",
    shell("git log --oneline", tools.gitLog),
    /^66d61c6 \(HEAD -> main\) fix: keep the cookie's name \/ ac2a28e/,
  ],
  [
    "what was printed, below what a shell tool says of the run",
    shell(
      "ls a b",
      "Chunk ID: 0f3c7a\nWall time: 0.1 seconds\nProcess exited with code 0\nOriginal token count: 9\nOutput:\na.ts\nb.ts\n",
    ),
    "a.ts / b.ts",
  ],
  [
    "what a server printed of a run so far",
    digest("other", "Process started with PID 4711 (shell: /bin/bash)\nInitial output:\na.ts\nb.ts\n"),
    "a.ts / b.ts",
  ],
  [
    "a file below what a server says of it",
    digest("read", "[Reading 2 lines from start (total: 2 lines, 0 remaining)]\n\nlet a = 1\nlet b = 2"),
    "let a = 1 / let b = 2",
  ],
  [
    "a file of a repository elsewhere",
    digest("other", "successfully downloaded text file (SHA: 9f2c4e7a)\n\nlet a = 1"),
    "let a = 1",
  ],
  [
    "JSON in one line, without its signs",
    digest(
      "search",
      `[{"name_path":"Cart/add","kind":"Method","relative_path":"src/cart.ts","body":"add(a) {\\n  b()\\n}"}]`,
    ),
    "name_path: Cart/add, kind: Method, relative_path: src/cart.ts, body: add(a) b()",
  ],
  ["an install", shell("npm install", js.npmInstall), /added 12 packages/],
  ["an error of an unknown tool", digest("other", tools.jsonError), /Invalid API key/],
  ["a terminal", digest("other", tools.terminal), "error: Cannot find package 'elysia'"],
  ["no output", shell("mkdir -p a", ""), "no output"],
  ["a check without output", shell("tsc --noEmit", ""), "passed, no output"],
]

test.each(SHOWN)("%s, of which no model is asked", (_, shown, digest) => {
  expect(shown.isText).toBe(false)
  if (typeof digest === "string") expect(shown.digest).toBe(digest)
  else expect(shown.digest).toMatch(digest)
})

test("a test run: totals first, then the failure with its place and what was expected", () => {
  expect(shell("npm test 2>&1 | tail -50", js.jestFail)).toEqual({
    isText: false,
    digest: "1 failed, 12 passed: src/login.test.ts:42 expected 200, got 401 (login › rejects a bad password)",
  })
})

test("a run of several packages of Go is not summarized by the last one", () => {
  const packages = "ok  \tshop/cart\t0.5s\nok  \tshop/user\t(cached)\n"
  expect(shell("go test ./...", packages).digest).toBe("2 packages passed")
  expect(shell("go test ./cart", "ok  \tshop/cart\t0.5s\n").digest).toMatch(/^ok shop\/cart/)
  // packages that had no test of the name have not passed
  const others = "ok  \tshop/order\t0.1s [no tests to run]\nok  \tshop/till\t0.1s [no tests to run]\n"
  expect(shell("go test -run Vat ./...", packages + others).digest).toBe("2 packages passed")
  expect(shell("go test -run Vat ./...", `ok  \tshop/cart\t0.5s\n${others}`).digest).toBe("ok shop/cart 0.5s")
})

test("a failed tool call is summarized by its error", () => {
  const said = "Error: File not found: /repo/nope.ts"
  expect(digest("read", said, {}, { failed: true })).toEqual({ isText: false, digest: said })
})

test("overwritten progress is left out", () => {
  expect(shell("./get", "1%\r50%\r100% done\n").digest).toBe("100% done")
  const long = Array.from({ length: 99 }, (_, percent) => `${percent}%${" ".repeat(70)}`).join("\r")
  expect(shell("curl -O https://x/y", `${long}\r100% done\r\n`).digest).toBe("100% done")
})

test("the host's truncation note is no part of the output", () => {
  const output = `${tools.glob.split("\n\n")[0]}\n\n...900 lines truncated...\n\nThe tool call succeeded but the output was truncated. Full output saved to: /home/me/tool-output/tool_1\nUse Grep to search the full content or Read with offset/limit to view specific sections.`
  expect(digest("list", output).digest).toStartWith("7+ lines: ")
})

test.each([
  ["times", "10:15:30 worker 0 started\n10:15:31 worker 1 started\n10:16:02 done\n10:16:03 bye", "10:15:30 worker"],
  ["counts", "12\t3\tsrc/a.ts\n4\t1\tsrc/b.ts\n90\t0\tsrc/c.ts\n7\t7\tsrc/d.ts", "12 3 src/a.ts"],
])("%s at the beginning of lines are no line numbers", (_, output, beginning) => {
  expect(digest("command", output).digest).toContain(beginning)
})

test("the count is of all lines of a file, as its numbers are", () => {
  const code = ["const a = 1", "", "function f() {", "}"]
  const numbered = Array.from({ length: 40 }, (_, at) => `${at + 1}: ${code[at % 4]}`).join("\n")
  const file = `<path>/r/a.ts</path>\n<type>file</type>\n<content>\n${numbered}\n\n(End of file - total 40 lines)\n</content>`
  expect(digest("read", file).digest).toStartWith("40 lines: const a = 1 / function f() {")
})

test("a few lines are shown without a count", () => {
  expect(digest("read", "const a = 1\nconst b = 2\nconst c = 3").digest).toBe("const a = 1 / const b = 2 / const c = 3")
})

test("line numbers and the host's reminders are no part of a file", () => {
  const output = "   1\tone\n   2\ttwo\n   3\tthree\n   4\tfour\n<system-reminder>\nbe kind\n</system-reminder>"
  expect(digest("read", output).digest).toBe("4 lines: one / two / three / four")
})
