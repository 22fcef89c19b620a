import { describe, expect, test } from "bun:test"
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

describe("a file that was read", () => {
  test("is summarized by its declarations", () => {
    expect(digest("read", tools.readCode)).toEqual({
      kind: "code",
      gist: "TypeScript, 22 lines: Session, Sessions, close, start",
    })
  })

  test("may be in the format of older versions", () => {
    expect(digest("read", tools.readOld, { filePath: "store.py" }).gist).toBe("Python, 6 lines: Store, load, get")
  })

  test("is summarized by its headings if it is a document, without those in code blocks", () => {
    expect(digest("read", tools.readMarkdown).gist).toBe('"Guide", lines 1-11 of 80: Install; Use; Options')
  })

  test("is summarized by its outermost keys if it is data", () => {
    expect(digest("read", tools.readJson).gist).toBe("JSON, 9 lines: name, version, scripts (2), private")
  })

  test("is summarized by its entries if it is a folder", () => {
    expect(digest("read", tools.readFolder).gist).toBe("4 paths: core/, hooks/, index.ts, options.ts")
  })

  test("may begin on the line of its tag, without line numbers", () => {
    const output = "<path>/a.md</path>\n<type>file</type>\n<content># Install\n\n## Build\n</content>"
    expect(digest("read", output).gist).toContain("Install")
  })

  test("may be empty", () => {
    const output = "<path>/a.txt</path>\n<type>file</type>\n<content>\n\n(End of file - total 0 lines)\n</content>"
    expect(digest("read", output).gist).toBe("an empty file")
  })
})

const DECLARATIONS: [path: string, line: string, name: string][] = [
  ["a.go", "func (s *Server) Start(ctx context.Context) error {", "Start"],
  ["a.go", "type Server struct {", "Server"],
  ["a.rs", "pub async fn start(&self) -> Result<()> {", "start"],
  ["a.rs", "impl Display for Server {", "Display for Server"],
  ["a.java", "public final class Server extends Base {", "Server"],
  ["a.java", "    public static int start(String host, int port) {", "start"],
  ["a.kt", "data class Server(val host: String)", "Server"],
  ["a.kt", "    override suspend fun start(host: String): Int {", "start"],
  ["a.cs", "    protected override async Task<int> StartAsync(CancellationToken token)", "StartAsync"],
  ["a.swift", "    public func start(on port: Int) throws {", "start"],
  ["a.c", "static int server_start(struct server *s, int port)", "server_start"],
  ["a.cpp", "void Server::start(const std::string& host) {", "Server::start"],
  ["a.h", "int server_start(struct server *s);", "server_start"],
  ["a.rb", "  def start!(host)", "start!"],
  ["a.php", "    public static function start(string $host): int", "start"],
  ["a.sh", "start_server() {", "start_server"],
  ["a.sql", "CREATE TABLE IF NOT EXISTS servers (", "servers"],
  ["a.tsx", "export default function App() {", "App"],
  ["a.js", "const start = async (host) => {", "start"],
  ["a.py", "    async def start(self, host):", "start"],
  ["Makefile", "build: src/main.c", "build"],
]

test.each(DECLARATIONS)("%s: `%s` declares %s", (path, line, name) => {
  expect(digest("read", `x\n${line}\n`, { filePath: path }).gist).toEndWith(`: ${name}`)
})

const SHOWN: [name: string, digest: ReturnType<typeof extract>, kind: string, gist: string | RegExp][] = [
  [
    "grep tool",
    digest("search", tools.grep),
    "matches",
    "4 matches in 3 files: src/session.ts 2, src/login.ts 1, test/session.test.ts 1",
  ],
  ["rg", shell("rg -n session src", tools.rg), "matches", "3 matches in 2 files: session.ts 2, login.ts 1"],
  ["glob", digest("list", tools.glob), "listing", "7+ paths under /repo: src/ 4, test/ 2, files here 1"],
  ["ls -l", shell("ls -la src", tools.lsLong), "listing", "3 paths: core/, index.ts, options.ts"],
  [
    "edit",
    digest("edit", tools.edited, { filePath: "src/session.ts", oldString: "a\nb", newString: "c" }),
    "change",
    "edited src/session.ts, 2 → 1 line; 2 diagnostics: 12 Property 'strat' does not exist on type 'Sessions'.",
  ],
  ["patch", digest("patch", tools.patched), "change", "3 files: A docs/new.md, M src/session.ts, D src/old.ts"],
  ["page", digest("web", tools.page), "page", '"Guide | Example Docs": Install; Use'],
  [
    "web search",
    digest("web", tools.results, {}, { tool: "websearch" }),
    "results",
    "2 results: Sessions in practice; Cookies explained",
  ],
  ["task", digest("task", tools.task), "task", "I moved the session code into its own module."],
  ["todo", digest("todo", tools.todo), "todo", "1 of 3 done, now: Move it into a module"],
  ["question", digest("question", tools.question), "answer", 'answered "Yes, to main" to Push now?'],
  ["skill", digest("skill", tools.skill), "skill", "skill release: Steps; Checks"],
  [
    "git status",
    shell("git status -s", tools.gitStatus),
    "git",
    "2 modified, 1 untracked: src/session.ts, src/login.ts, src/new.ts",
  ],
  [
    "git log",
    shell("git log --oneline", tools.gitLog),
    "git",
    /^3 commits: 66d61c6 fix: keep the cookie's name; ac2a28e/,
  ],
  ["git diff", shell("git -C /repo diff", tools.gitDiff), "git", "1 file: src/session.ts +2 -1"],
  ["npm install", shell("npm install", js.npmInstall), "install", /^added 12 packages, removed 1 package/],
  ["cat of a file", shell("cd /repo && cat store.py", "class Store:\n    pass\n"), "code", "Python, 2 lines: Store"],
  [
    "sed of a range",
    shell("sed -n '40,60p' src/store.py", "def put(key):\n    pass\n"),
    "code",
    "Python, lines 40-41: put",
  ],
  ["JSON of an unknown tool", digest("other", tools.json), "json", "object: items [2], total 2"],
  ["JSON that is an error", digest("other", tools.jsonError), "json", "error: Invalid API key"],
  [
    "a log",
    shell("./worker", tools.log),
    "log",
    /^7 lines, 2 with errors, 1 with warnings: .*ERROR connection refused: 127\.0\.0\.1:6379/,
  ],
  ["a terminal", digest("other", tools.terminal), "build", "error: Cannot find package 'elysia'"],
  ["no matches", digest("search", "No files found"), "matches", "no matches"],
  ["no output", shell("mkdir -p a", ""), "empty", "no output"],
  ["a clean tree", shell("git status --short", ""), "git", "clean"],
]

test.each(SHOWN)("%s", (_, shown, kind, gist) => {
  expect(shown.kind).toBe(kind)
  if (typeof gist === "string") expect(shown.gist).toBe(gist)
  else expect(shown.gist).toMatch(gist)
})

test("a test run: totals first, then the failure with its place and what was expected", () => {
  expect(shell("npm test 2>&1 | tail -50", js.jestFail)).toEqual({
    kind: "test-run",
    verdict: "fail",
    gist: "jest: 1 failed, 12 passed: src/login.test.ts:42 expected 200, got 401 (login › rejects a bad password)",
  })
})

test("a failed tool call is summarized by its error", () => {
  const said = "Error: File not found: /repo/nope.ts"
  expect(digest("read", said, {}, { failed: true })).toEqual({ kind: "failure", gist: said })
})

test("overwritten progress is left out", () => {
  expect(shell("./get", "1%\r50%\r100% done\n").gist).toBe("100% done")
})

test("a commit is summarized as a commit even if its hooks printed a passing check", () => {
  const output =
    "Checked 3 files in 7ms. No fixes applied.\n[main 0843cd1] feat: sessions\n 3 files changed, 40 insertions(+)\n"
  const { kind, gist, verdict } = shell("git add -A && git commit -m x", output)
  expect({ kind, verdict }).toEqual({ kind: "git", verdict: "pass" })
  expect(gist).toBe("[main 0843cd1] feat: sessions; 3 files changed, 40 insertions(+)")
})

test("the host's truncation note is no part of the output", () => {
  const output = `${tools.glob.split("\n\n")[0]}\n\n...900 lines truncated...\n\nThe tool call succeeded but the output was truncated. Full output saved to: /home/me/tool-output/tool_1\nUse Grep to search the full content or Read with offset/limit to view specific sections.`
  expect(digest("list", output).gist).toStartWith("7+ paths under /repo: ")
})

test("a search that shows only its first matches states the number of all", () => {
  const output = `Found 139 matches (showing first 100)\n/repo/a.ts:\n  Line 1: x\n\n(Results truncated: showing 100 of 139 matches (39 hidden).)`
  expect(digest("search", output).gist).toBe("139 matches in /repo/a.ts: x")
})

test("numbers in a gist come from the output or count its parts", () => {
  for (const { gist, output } of [
    { gist: shell("npx vitest run", js.vitestFail, 1).gist, output: js.vitestFail },
    { gist: shell("git log", tools.gitLog).gist, output: `${tools.gitLog} 3` },
    { gist: digest("search", tools.grep).gist, output: `${tools.grep} 3 2 1` },
  ]) {
    for (const [number] of gist.matchAll(/\d+/g)) expect(output).toContain(number)
  }
})
