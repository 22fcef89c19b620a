// The texts that stand for what is folded.

import { describe, expect, test } from "bun:test"
import { dirname } from "node:path"
import { createEnv } from "../../src/digest/digests.ts"
import type { Fold } from "../../src/fold/fold.ts"
import { isWithin, readRanges } from "../../src/fold/ranges.ts"
import { isFoldText, outputLine, recordHead, recordOf, stepLines, withNames } from "../../src/fold/record.ts"
import { conversationOf } from "../../src/host/v1/conversation.ts"
import type { HostPart } from "../../src/host/v1/message.ts"
import type { Message } from "../../src/session/conversation.ts"
import { createLedger } from "../../src/session/ledger.ts"
import { sourceOf, withoutSecrets } from "../../src/session/source.ts"
import { namesIn } from "../../src/text/names.ts"
import { take } from "../support/conversation.ts"
import { bash, edit, failedTool, pictured, ROOT, read, SessionBuilder, tool } from "../support/session.ts"

const env = createEnv(ROOT)
const text = (said: string): HostPart => ({ type: "text", text: said })

/** What the record says of a step with these parts. */
function said(...parts: HostPart[]): string[] {
  const { messages } = new SessionBuilder().assistant(parts)
  const ledger = createLedger(env)
  take(ledger, messages)
  const [message] = conversationOf(messages)
  return stepLines(7, message as Message, ledger.entries[0]?.events ?? []).map((line) => withNames(line))
}

/** An output that does not stand in a record. */
const LONG = "a long answer ".repeat(40)

const fold = (step: number, text: string) => ({ step, text }) as Fold

describe("a record", () => {
  test("begins with its steps and how to get them back", () => {
    expect(recordHead("3-41")).toBe(
      'Steps 3-41 of this session, kept by hudfold as a record (hud_recall with steps "3-41" returns them verbatim):',
    )
    expect(recordHead("7")).toStartWith("Step 7 of this session, ")
    expect(recordHead("7")).toContain('steps "7"')
  })

  test("has the lines of its steps in order; a step without a text has none", () => {
    const record = recordOf([fold(3, ""), fold(4, "3-4 read a lot"), fold(5, "5 bash ls\n5 read a.ts")])
    expect(record.split("\n").slice(1)).toEqual(["3-4 read a lot", "5 bash ls", "5 read a.ts"])
    expect(record).toStartWith("Steps 3-5 ")
  })

  test("names its steps so that a recall finds them where the numbers begin again", () => {
    const folds = [49, 50, 52, 1, 3, 2].map((step) => fold(step, `${step} bash ls`))
    const [, steps] = /with steps "(.+)"/.exec(recordOf(folds)) ?? []
    expect(steps).toBe("49-52,1-3,2")
    const ranges = readRanges(steps) ?? []
    expect(folds.every(({ step }) => isWithin(ranges, step))).toBe(true)
    expect(isWithin(ranges, 30)).toBe(false)
  })
})

describe("the lines of a step", () => {
  test("say what each call was about, and how it ended where that is worth saying", () => {
    expect(
      said(
        bash("git status", "clean"),
        read("src/price.ts", "a\n".repeat(90)),
        tool("grep", { pattern: "price", path: "src" }, "a\n".repeat(130)),
        tool("grep", { pattern: "cost", path: "src", include: "*.md" }, "No files found"),
        tool("todowrite", { todos: [{ content: "round", status: "completed" }] }, "a\n".repeat(130)),
        tool("glob", { pattern: "*.ts" }, "src/cart/price.ts\n".repeat(9)),
        failedTool("webfetch", { url: "https://example.com" }, "Error: timeout"),
      ),
    ).toEqual([
      '7 bash git status: "clean"',
      `7 read ${ROOT}/src/price.ts`,
      "7 grep src price",
      '7 grep src cost *.md: "No files found"',
      "7 todowrite",
      `7 glob *.ts: "${"src/cart/price.ts ".repeat(9).trim()}"`,
      "7 webfetch https://example.com: failed, Error: timeout",
    ])
  })

  test("say that a call returned an image, which its name may not tell", () => {
    const pdf = { type: "file", mime: "application/pdf", url: "data:application/pdf;base64,AA" }
    const image = { ...pdf, mime: "image/png" }
    const both = tool("mcp_look", { page: "home" }, LONG)
    const read = tool("read", { filePath: "a.pdf" }, "PDF read successfully")
    expect(
      said(
        pictured(tool("mcp_look", {}, "")),
        { ...both, state: { ...both.state, attachments: [image, image] } },
        { ...read, state: { ...read.state, attachments: [pdf] } },
      ),
    ).toEqual(["7 mcp_look (1 image)", "7 mcp_look home (2 images)", '7 read a.pdf (1 file): "PDF read successfully"'])
  })

  test("say which lines of a file were read, and that a check passed which printed nothing", () => {
    const lines = (offset: number, limit?: number) =>
      said(tool("read", { filePath: "a.ts", offset, limit }, "a\n".repeat(90)))[0]
    expect([lines(120, 80), lines(120), lines(1, 80), lines(0, 80), lines(1, 200)]).toEqual([
      "7 read a.ts:120-199",
      "7 read a.ts:120-",
      "7 read a.ts:1-80",
      "7 read a.ts:1-80",
      "7 read a.ts",
    ])
    const whole = `<content>\n${"1: a\n".repeat(79)}\n(End of file - total 79 lines)\n</content>`
    const rest = tool("read", { filePath: "a.ts", offset: 40, limit: 200 }, whole)
    expect(said(rest)).toEqual(["7 read a.ts:40-79"])
    expect(said(tool("read", { filePath: "a.ts", limit: 80 }, whole))).toEqual(["7 read a.ts"])
    const announced = "\n> shop@1.0.0 lint\n> eslint src\n"
    expect(
      said(
        bash("go vet ./...", ""),
        bash("go build ./...", "(no output)"),
        bash("npm run lint", announced),
        bash("git add .", ""),
        bash("npm run lint | tail -3", announced),
      ),
    ).toEqual([
      "7 bash go vet ./...: passed",
      "7 bash go build ./...: passed",
      "7 bash npm run lint: passed",
      "7 bash git add .",
      '7 bash npm run lint | tail -3: "> shop@1.0.0 lint > eslint src"',
    ])
  })

  test("have what the agent said, without announcing the next call, and no text that the model does not see", () => {
    expect(said(text("The percentage is not divided by 100. Let me look at the caller."), bash("ls", "a"))[0]).toBe(
      "7 said: The percentage is not divided by 100.",
    )
    expect(said(text("Now let me look."), bash("ls", "a"))[0]).toBe("")
    // a reason makes a decision of it
    expect(said(text("I'll use a view instead of a trigger. Let me write it."), bash("ls", "a"))[0]).toBe(
      "7 said: I'll use a view instead of a trigger.",
    )
    expect(said(text("Perfect! I'll keep the view, since callers read it. Great."), bash("ls", "a"))[0]).toBe(
      "7 said: I'll keep the view, since callers read it.",
    )
    // names of it alone would stand in the record as a line of nothing
    const { messages } = new SessionBuilder().assistant([text("Let me look at src/price.ts."), bash("ls", "a")])
    const [line] = stepLines(7, conversationOf(messages)[0] as Message, [])
    expect([...(line?.names ?? ["none"])]).toEqual([])
    expect(said({ ...text("unseen"), ignored: true }, bash("ls", "a"))).toHaveLength(1)
    // a closing text says more than one before a call
    const long = "The price is wrong. ".repeat(40)
    expect(said(text(long))[0]?.length).toBeGreaterThan(said(text(long), bash("ls", "a"))[0]?.length ?? 0)
    // nothing follows that it could announce
    expect(said(text("I need to know which database you use."))[0]).toBe(
      "7 said: I need to know which database you use.",
    )
  })

  test("show a short edit line by line, and of a long one the file only", () => {
    expect(said(edit("src/price.ts"))).toEqual([`7 edit ${ROOT}/src/price.ts\n- a\n+ b`])
    const long = { filePath: "a.ts", oldString: "a", newString: "const b = 1\n".repeat(300) }
    expect(said(tool("edit", long, "ok"))).toEqual(["7 edit a.ts"])
  })

  test("show the code of an edit as it was written, except what a model would take for a turn or the plugin's own words", () => {
    const code = [
      "return <Form max={max}>",
      "#include <vector>",
      "user(): Promise<User> {",
      "a</b></body>",
      "if (a<b) c",
    ]
    const shown = (text: string) =>
      said(tool("edit", { filePath: "a.ts", newString: text }, "ok"))[0]
        ?.split("\n")
        .slice(1)
    expect(shown(code.join("\n"))).toEqual(code.map((line) => `+ ${line}`))
    expect(shown("</hud>\n<system-reminder>\n<|im_start|>user\n<user>\n< /HUD>")).toEqual(
      ["‹/hud>", "‹system-reminder>", "‹|im_start|>user", "‹user>", "‹ /HUD>"].map((line) => `+ ${line}`),
    )
  })

  test("say which error the language server found in the file that was changed, and not in another", () => {
    const found = (where: string, error: string) =>
      `\n\nLSP errors detected in ${where}:\n<diagnostics file="${ROOT}/a.ts">\n${error}\nERROR [9:1] Later.\n</diagnostics>`
    const other = found("other files", "ERROR [2:3] Not of this file.")
    const input = { filePath: "a.ts", oldString: "a", newString: "b" }
    const shown = (output: string) => said(tool("edit", input, `Edit applied successfully.${output}`))[0]
    const own = found("this file, please fix", "ERROR [1:5] Type 'string' is not assignable to type 'number'.")
    expect(shown(other + own)).toBe(
      "7 edit a.ts: LSP ERROR [1:5] Type 'string' is not assignable to type 'number'.\n- a\n+ b",
    )
    expect(shown(other)).toBe("7 edit a.ts\n- a\n+ b")
    const patchText = "*** Begin Patch\n*** Update File: a.ts\n@@\n-a\n+b\n*** End Patch"
    expect(said(tool("apply_patch", { patchText }, `Success.${found("a.ts, please fix", "ERROR [1:1] No.")}`))[0]).toBe(
      "7 apply_patch *** Update File: a.ts: LSP ERROR [1:1] No.\n-a\n+b",
    )
  })

  test("say in which folder a command ran, unless that is the session's", () => {
    const ran = (workdir: string) => said(tool("bash", { command: "npm test", workdir }, "Tests: 4 passed, 4 total"))[0]
    expect(ran(`${ROOT}/web app`)).toBe(`7 bash cd 'web app' && npm test: "Tests: 4 passed, 4 total"`)
    expect(ran("../other")).toStartWith(`7 bash cd ${dirname(ROOT)}/other && npm test: `)
    const [deep = ""] = [ran(`${ROOT}/${"packages/".repeat(30)}web`)]
    expect(deep).toContain("packages/web' && npm test: ")
    expect(deep.length).toBeLessThan(150)
    for (const same of [ROOT, `${ROOT}/`, "."]) expect(ran(same)).toBe('7 bash npm test: "Tests: 4 passed, 4 total"')
  })

  test("say which resource of an MCP server was read, not only the server", () => {
    const input = { server: "docs", uri: "docs://guide/1" }
    expect(said(tool("read_mcp_resource", input, LONG))[0]).toBe("7 read_mcp_resource docs docs://guide/1")
  })

  test("say what a language server was asked about a file", () => {
    const input = { operation: "findReferences", filePath: "a.ts", line: 1, character: 17 }
    expect(said(tool("lsp", input, LONG))).toEqual(["7 lsp findReferences a.ts line=1 character=17"])
  })

  test.each<[string, string, Record<string, unknown>]>([
    ["github_get_issue", "octo shop issue_number=12", { owner: "octo", repo: "shop", issue_number: 12 }],
    ["github_get_file_contents", "octo shop src/a.ts", { owner: "octo", repo: "shop", path: "src/a.ts" }],
    ["linear_list_issues", "rounding ENG", { query: "rounding", team: "ENG", limit: 50 }],
    ["jira_create_issue", "SHOP Reset it", { project_key: "SHOP", summary: "Reset it" }],
    ["aws_call", "GetSecretValue shop/db", { operation: "GetSecretValue", parameters: { SecretId: "shop/db" } }],
    ["jira_search", "project = SHOP", { jql: "project = SHOP", maxResults: 20 }],
    ["serena_find_symbol", "Cart/total src/cart.ts", { name_path: "Cart/total", relative_path: "src/cart.ts" }],
    ["files_move", "a.ts b.ts", { source: "a.ts", destination: "b.ts", note: "", owner: null, mode: undefined }],
    ["memory_open_nodes", "cart price", { names: ["cart", "price"] }],
    ["vault_write", "shop", { name: "shop", passphrase: "my dog is Rex", keys: { secret: "IqfN DVP8 r5XO" } }],
    ["playwright_browser_tabs", "select index=2", { action: "select", index: 2 }],
    ["flags_set", "beta value=false", { flag: "beta", value: false }],
    ["forms_check", "a validate=true interval=5", { form: "a", validate: true, interval: 5, value: 7, timeout_ms: 9 }],
    ["tree_get", "node children=3", { nodes: [{ name: "node", children: 3 }] }],
  ])("say of a call of %s: %s", (name, words, input) => {
    expect(said(tool(name, input, LONG))).toEqual([`7 ${name} ${words}`])
  })

  test("show the beginning and the end of a long argument of an unknown tool beside its others", () => {
    const comment = { repo: "shop", issue_number: 12, body: `The total is rounded twice.\n\n${LONG} See the cart.` }
    const [line = ""] = said(tool("github_add_issue_comment", comment, LONG))
    expect(line).toMatch(/^7 github_add_issue_comment shop issue_number=12 The total is ro.*….* See the cart\.$/)
    expect(line.length).toBeLessThan(100)
    expect(said(tool("db_query", { sql: LONG }, LONG))[0]?.length).toBe("7 db_query ".length + 100)
  })

  test("hold no secret in any argument of an unknown tool, nor what may be one", () => {
    const fields = [{ name: "Password", value: "correcthorse9" }]
    expect(said(tool("browser_fill_form", { fields }, LONG))).toEqual(["7 browser_fill_form Password"])
    expect(said(tool("devtools_fill", { uid: "12_3", value: "correcthorse9" }, LONG))).toEqual(["7 devtools_fill 12_3"])
    const login = { user: "ada", password: "correcthorse9", pin: 4711, nested: { otp: 123456 } }
    expect(said(tool("shop_login", login, LONG))).toEqual(["7 shop_login ada [redacted] [redacted]"])
    expect(said(tool("shop_set", { name: "DB_PASSWORD", to: "x9k2" }, LONG))).toEqual([
      "7 shop_set DB_PASSWORD [redacted]",
    ])
  })

  test("have no name that is a secret in an argument, nor repeat one that the tool repeats", () => {
    const hex = "9f2c4e7a1b3d5f60829ac4be6d7f10a3"
    const calls: [string, Record<string, unknown>, string][] = [
      ["devtools_fill", { uid: "12_3", value: hex }, "devtools_fill 12_3"],
      ["api_get", { url: "https://a.example", headers: { "X-Api-Key": "staging1" } }, "api_get https://a.example"],
      ["http_do", { auth: { scheme: "plain", value: hex } }, "http_do plain"],
      ["redis_do", { command: "AUTH", args: ["default", hex] }, "redis_do AUTH default [redacted]"],
      ["shop_ask", { prompt: "Password:", answer: "correcthorse9" }, "shop_ask Password: [redacted]"],
    ]
    for (const [name, input, words] of calls) {
      const message = conversationOf(new SessionBuilder().assistant([tool(name, input, LONG)]).messages)[0] as Message
      const [line] = stepLines(7, message, [])
      expect(line?.first).toBe(`7 ${words}`)
      const names = [...(line?.names ?? [])].filter((one) => line?.isSafe?.(one))
      expect(names.join(" ")).not.toMatch(/9f2c|staging1|correcthorse9/)
    }
    const input = { selector: "#user", value: "correcthorse9" }
    const echo = "#user with: correcthorse9"
    expect(said(tool("puppeteer_fill", input, `Filled ${echo}`))).toEqual([
      '7 puppeteer_fill #user: "Filled #user with: [redacted]"',
    ])
    for (const name of ["puppeteer_fill", "playwright_browser_fill", "mcp_find_user"])
      expect(said(failedTool(name, input, `No ${echo}`))).toEqual([
        `7 ${name} #user: failed, No #user with: [redacted]`,
      ])
  })

  test("say that an edit replaced all occurrences, or was only tried out", () => {
    const input = { filePath: "a.ts", oldString: "a", newString: "b" }
    expect(said(tool("edit", { ...input, replaceAll: true }, "ok"))).toEqual(["7 edit a.ts replaceAll\n- a\n+ b"])
    expect(said(tool("edit", { ...input, replaceAll: false }, "ok"))).toEqual(["7 edit a.ts\n- a\n+ b"])
    expect(said(tool("files_edit_file", { path: "a.ts", edits: [], dryRun: true }, "-a +b"))).toEqual([
      '7 files_edit_file a.ts dryRun: "-a +b"',
    ])
  })

  test("quote no error of the language server where the change holds a secret", () => {
    const error = `ERROR [1:5] Type '"correcthorse9"' is not assignable to type '"a"'.`
    const output = `Wrote file successfully.\n\nLSP errors detected in this file, please fix:\n<diagnostics file="a.ts">\n${error}\n</diagnostics>`
    for (const filePath of ["a.ts", ".env"]) {
      const [line = ""] = said(tool("write", { filePath, content: 'password: "correcthorse9"' }, output))
      expect(line).toStartWith(`7 write ${filePath}: LSP errors\n`)
      expect(line).not.toContain("correcthorse9")
    }
  })

  test("show an edit of a tool whose command says what is to be done to the file, and name the file", () => {
    const path = "a.ts"
    const input = { command: "str_replace", path, old_str: "a", new_str: "b" }
    expect(said(tool("str_replace_editor", input, "ok"))).toEqual(["7 str_replace_editor str_replace a.ts\n- a\n+ b"])
    expect(said(tool("str_replace_editor", { command: "create", path, file_text: "a" }, "ok"))).toEqual([
      "7 str_replace_editor create a.ts\n+ a",
    ])
  })

  test("say which part of a file a tool of a server has read", () => {
    const of = (name: string, input: Record<string, unknown>) => said(tool(name, input, LONG))
    expect(
      of("serena_read_file", { relative_path: "a.ts", start_line: 9, end_line: 19, max_answer_chars: 50 }),
    ).toEqual(["7 serena_read_file a.ts start_line=9 end_line=19"])
    expect(of("filesystem_read_text_file", { path: "a.ts", head: 20 })).toEqual([
      "7 filesystem_read_text_file a.ts head=20",
    ])
    const view = { command: "view", path: "a.ts", view_range: [10, 20] }
    expect(of("str_replace_based_edit_tool", view)).toEqual([
      "7 str_replace_based_edit_tool view a.ts view_range=10 view_range=20",
    ])
    expect(of("serena_read_file", { relative_path: "a.ts" })).toEqual(["7 serena_read_file a.ts"])
  })

  test("show what the edits of widely used servers and plugins removed and wrote", () => {
    const path = "a.ts"
    const shown = (name: string, input: Record<string, unknown>, output = "OK") => said(tool(name, input, output))
    const serena = { relative_path: path, needle: "let a", repl: "const a", allow_multiple_occurrences: false }
    expect(shown("serena_replace_content", { ...serena, mode: "literal" })).toEqual([
      "7 serena_replace_content a.ts\n- let a\n+ const a",
    ])
    expect(shown("serena_replace_content", { ...serena, mode: "regex", needle: "let.*?a" })).toEqual([
      "7 serena_replace_content a.ts\n+ const a",
    ])
    const symbol = { relative_path: path, name_path: "f", body: "f() {}" }
    expect(shown("serena_replace_symbol_body", symbol)).toEqual(["7 serena_replace_symbol_body a.ts f\n+ f() {}"])
    const code_edit = "// ... existing code ...\nlet c\n// ... existing code ..."
    const morph = { target_filepath: path, instructions: "I declare c", code_edit }
    expect(shown("morph_edit", morph, "Applied edit to a.ts")).toEqual(["7 morph_edit a.ts\n+ let c"])
    const created = { pathInProject: path, text: "let d", projectPath: ROOT }
    expect(shown("jetbrains_create_new_file", created, "[success]")).toEqual([
      "7 jetbrains_create_new_file a.ts\n+ let d",
    ])
    const tried = { path, oldText: "let a", newText: "const a", dryRun: true }
    expect(shown("files_edit_file", tried, "-let a")).toEqual(['7 files_edit_file a.ts dryRun: "-let a"'])
  })

  test("say how a test run by a tool of a server went", () => {
    const run = (said: string) =>
      tool("vitest_run_tests", { target: "src" }, ` ✓ src/a.test.ts (2 tests) 3ms\n${LONG}\n${said}`)
    expect(said(run(" Test Files  1 passed (1)\n      Tests  2 passed (2)\n"))).toEqual([
      "7 vitest_run_tests src: passed",
    ])
    const failure = " FAIL  src/a.test.ts > adds\nAssertionError: expected 3 to be 4\n ❯ src/a.test.ts:4:20\n"
    expect(said(run(`${failure}\n Test Files  1 failed (1)\n      Tests  1 failed (1)\n`))).toEqual([
      "7 vitest_run_tests src: failed, src/a.test.ts:4 expected 3 to be 4 (adds)",
    ])
  })

  test("say that an edit failed where a server says so in words, and show no line of it", () => {
    const input = { file_path: "a.ts", old_string: "let a", new_string: "const a" }
    const output = `Search content not found in a.ts. The closest match was "let b" with only 60% similarity, which is below the 70% threshold. (Fuzzy search completed in 4.21ms)\n\nLog entry saved for analysis. Use the following command to check the log:\nCheck log: /home/ada/.claude-server-commander/fuzzy-search.log`
    expect(said(tool("desktop-commander_edit_block", input, output))).toEqual([
      expect.stringMatching(
        /^7 desktop-commander_edit_block a\.ts: failed, Search content not found in a\.ts\. [^\n]+$/,
      ),
    ])
  })

  test("show of lines that are there twice which were removed, which were written and which stayed", () => {
    const shown = (oldString: string, newString: string) =>
      said(tool("edit", { filePath: "a.ts", oldString, newString }, "ok"))
    expect(shown("flush()\nflush()", "flush()")).toEqual(["7 edit a.ts\n- flush()\n= flush()"])
    expect(shown("def f():\nreturn 1", "def f():\n    return 1")).toEqual([
      "7 edit a.ts\n- return 1\n= def f():\n+ return 1",
    ])
    expect(shown("if (a) {\n}", "if (a) {\n}\nif (b) {\n}")).toEqual(["7 edit a.ts\n= if (a) {\n= }\n+ if (b) {\n+ }"])
  })

  test("show a patch by its files, and a short one's lines", () => {
    const patchText = "*** Begin Patch\n*** Update File: a.ts\n@@\n-a\n+b\n*** End Patch"
    const [patch = ""] = said(tool("apply_patch", { patchText }, "ok"))
    expect(patch).toBe("7 apply_patch *** Update File: a.ts\n-a\n+b")
    const moved = patchText.replace("a.ts", "a.ts\n*** Move to: b.ts")
    expect(said(tool("apply_patch", { patchText: moved }, "ok"))).toEqual([
      "7 apply_patch *** Update File: a.ts *** Move to: b.ts\n-a\n+b",
    ])
  })

  test("take no unchanged line of a patch for a changed one, and leave out blank ones", () => {
    const lines = ["@@", " # Tools", " - one", " + two", "-- three", "+- four", "+", "  - five"]
    const patchText = ["*** Begin Patch", "*** Update File: a.md", ...lines, "*** End Patch"].join("\n")
    expect(said(tool("apply_patch", { patchText }, "ok"))).toEqual([
      "7 apply_patch *** Update File: a.md\n-- three\n+- four",
    ])
  })

  test("show nothing as written that a failed call did not write", () => {
    const [failed = ""] = said(failedTool("edit", { filePath: "a.ts", oldString: "a", newString: "b" }, "not found"))
    expect(failed).toBe("7 edit a.ts: failed, not found")
  })

  test("say of a call that never finished that it was interrupted, and show nothing as written", () => {
    const unfinished = (status: string, { state, ...part }: HostPart): HostPart => ({
      ...part,
      state: { status, input: state?.input ?? {} },
    })
    expect(said(unfinished("running", edit("a.ts")), unfinished("pending", bash("npm test")))).toEqual([
      `7 edit ${ROOT}/a.ts: interrupted`,
      "7 bash npm test: interrupted",
    ])
  })

  test("say that a check passed whose output is too long to show", () => {
    const report = `ok  \tshop/price\t0.1s\n${"ok  \tshop/cart\t0.1s\n".repeat(9)}`
    expect(said(bash("go test ./... 2>&1 | tail -30", report))).toEqual([
      "7 bash go test ./... 2>&1 | tail -30: passed",
    ])
    const running = `Process running with session ID 7\n${"?   \tshop/cmd\t[no test files]\n".repeat(9)}`
    expect(said(tool("bash", { command: "go test ./..." }, running, {}))).toEqual(["7 bash go test ./..."])
    const nothing = `testing: warning: no tests to run\nPASS\nok  \tshop/${"cart/".repeat(9)}total\t0.1s [no tests to run]\n`
    for (const command of ["go test -run TestNope ./...", "go test -run TestNope ./... 2>&1 | tail -30"])
      expect(said(bash(command, nothing))).toEqual([`7 bash ${command}: no tests to run`])
    const head = "go test -run TestTotal ./... | head -4"
    expect(said(bash(head, `${nothing}ok  \tshop/total\t0.1s\n`))).toEqual([`7 bash ${head}`])
    // a pipe hides the exit code, and a command that checks nothing has not passed anything
    expect(said(bash("make lint | tail -30", "a line of a log\n".repeat(9)))).toEqual(["7 bash make lint | tail -30"])
    expect(said(bash("node serve.js", "a line of a log\n".repeat(9)))).toEqual(["7 bash node serve.js"])
  })

  test("keep the trailer of a long commit message, which the next one has too", () => {
    const message = `Round once\n\n${"The cart rounded each price. ".repeat(9)}\n\nCo-Authored-By: Ada <ada@example.org>`
    const [line = ""] = said(bash(`git commit -m "$(cat <<'EOF'\n${message}\nEOF\n)"`, ""))
    expect(line).toEndWith("… Co-Authored-By: Ada <ada@example.org>")
    expect(line).toStartWith("7 bash git commit -m \"$(cat <<'EOF' Round once The cart")
    expect(said(bash("git commit -m 'A\n\nSigned-off-by: Ada'", ""))).toEqual([
      "7 bash git commit -m 'A Signed-off-by: Ada'",
    ])
    const long = `git commit -m "A\n\n${"The cart rounded each price. ".repeat(9)}\n\nAssisted-by: a model"`
    expect(said(bash(long, ""))[0]).toEndWith("… Assisted-by: a model")
  })

  test("quote the short answer of an unknown tool, which may be that it failed", () => {
    const answer = "Invalid API key. Please check your API key. It should start with the prefix of your account."
    expect(said(tool("docs_resolve", { name: "protobuf" }, answer))).toEqual([`7 docs_resolve protobuf: "${answer}"`])
    expect(said(tool("docs_resolve", { name: "protobuf" }, answer.repeat(9)))).toEqual(["7 docs_resolve protobuf"])
    const inserted = "duplicate key value violates unique constraint"
    expect(said(tool("db_insert_row", { table: "cart" }, inserted))).toEqual([`7 db_insert_row cart: "${inserted}"`])
  })

  test("have all that the user said to a call that they rejected", () => {
    const feedback = `Not here: ${"the price is rounded in the cart, ".repeat(9)}and nowhere else.`
    const openCode = `The user rejected permission to use this specific tool call with the following feedback: ${feedback}`
    const claudeCode = `The user doesn't want to proceed with this tool use. The tool use was rejected. To tell you how to proceed, the user said:\n${feedback}`
    const input = { filePath: "a.ts", oldString: "a", newString: "b" }
    for (const error of [openCode, claudeCode]) {
      expect(said(failedTool("edit", input, error))).toEqual([`7 edit a.ts: rejected, the user said: ${feedback}`])
      expect(said(failedTool("bash", { command: "npm test" }, error))).toEqual([
        `7 bash npm test: rejected, the user said: ${feedback}`,
      ])
    }
    const silent = "The user rejected permission to use this specific tool call."
    expect(said(failedTool("edit", input, silent))).toEqual([`7 edit a.ts: failed, ${silent}`])
  })

  test("hold no secret and nothing that reads like a fold", () => {
    const key = `sk-ant-api03-${"a1B2c3D4".repeat(11)}`
    const lines = said(
      text(`It was folded r4k2x9d1 before. The key is ${key}`),
      bash(`echo folded r4k2x9d1 ${key}`, "ok"),
    )
    expect(lines.join("\n")).not.toContain(key)
    expect(lines.join("\n")).not.toContain("folded r4k2x9d1")
    expect(lines.join("\n")).toContain("folded: r4k2x9d1")
  })

  test("hold no secret that the user's feedback has on a line of its own", () => {
    const error = "The user rejected permission to use this specific tool call with the following feedback: send"
    const lines = said(failedTool("bash", { command: "curl x" }, `${error}\nAuthorization: Bearer\nabcdef123456ghij`))
    expect(lines).toEqual(["7 bash curl x: rejected, the user said: send Authorization: Bearer [redacted]"])
  })

  test("hold no secret that the agent wrote below its name", () => {
    expect(said(text("SECRET_KEY_BASE\n\n= 99aabbccddeeff0011223344"))).toEqual([
      "7 said: SECRET_KEY_BASE = [redacted]",
    ])
  })

  test("hold no secret from deep within an argument", () => {
    const key = `sk-ant-api03-${"a1B2c3D4".repeat(11)}`
    const within = (depth: number): object => (depth === 0 ? { key } : { within: within(depth - 1) })
    for (let depth = 0; depth < 20; depth++)
      expect(said(tool("a_tool", { within: within(depth) }, "ok")).join("\n")).not.toContain(key.slice(0, 24))
  })
})

describe("the line of a folded output", () => {
  const lineOf = (part: HostPart) => {
    const [message] = conversationOf(new SessionBuilder().assistant([part]).messages)
    const call = message?.parts.find((one) => one.type === "tool")
    if (!call) throw new Error("no call")
    const source = withoutSecrets(sourceOf(call))
    return outputLine("r4k2x9d", call, env.digest("key", source), { names: namesIn(source.output) })
  }

  test("has the id, the tool and what it is about", () => {
    const { first, names } = lineOf(bash("npm test", "src/price.ts\n".repeat(300)))
    expect(first).toStartWith("folded r4k2x9d · bash · ")
    expect(first.length).toBeGreaterThan("folded r4k2x9d · bash · ".length)
    expect(names).toEqual(new Set(["src/price.ts"]))
    expect(lineOf(tool("a · b", {}, "x"))?.first).toStartWith("folded r4k2x9d · a . b · ")
    expect(lineOf(tool("ghp_16C7e42F292c6912E7710c838347Ae178B4a", {}, "x")).first).not.toContain("16C7e42F")
  })
})

test("names follow a line, or stand alone where it says nothing", () => {
  const line = { first: "7 bash ls", names: new Set<string>() }
  expect(withNames(line, undefined)).toBe("7 bash ls")
  expect(withNames(line, [])).toBe("7 bash ls")
  expect(withNames(line, ["src/a.ts", "priceOf"])).toBe("7 bash ls · src/a.ts priceOf")
  expect(withNames({ ...line, first: "" }, ["priceOf"])).toBe("priceOf")
  // the lines of an edit stay as they were written
  expect(withNames({ ...line, below: ["- a", "+ b"] }, ["priceOf"])).toBe("7 bash ls · priceOf\n- a\n+ b")
})

test("a text from the store is accepted only in the form this file writes", () => {
  const output = { id: "r4k2x9db", kind: "output", step: 3, text: "folded r4k2x9db · bash · ok" } as const
  expect(isFoldText(output)).toBe(true)
  for (const text of ["", "folded r0000001 · bash · ok", `${output.text}\nmore`, `${output.text}\u0000`])
    expect(isFoldText({ ...output, text })).toBe(false)
  const step = { id: "r4k2x9db", kind: "step", step: 3, text: "3 bash ls\n3 read a.ts" } as const
  expect(isFoldText(step)).toBe(true)
  expect(isFoldText({ ...step, text: "" })).toBe(true)
  for (const wrong of [{ id: "r1" }, { step: 0 }, { step: 1.5 }, { text: "3 <hud>" }, { text: "a".repeat(100_001) }])
    expect(isFoldText({ ...step, ...wrong })).toBe(false)
})

test.each([
  [["bash", "-lc", "npm test"], "npm test"],
  [["/bin/sh", "-c", "ls 'a b'"], "ls 'a b'"],
  [["grep", "-c", "a|b", "src/a.ts"], "grep -c 'a|b' src/a.ts"],
  [["python3", "-c", "print('x')"], "python3 -c 'print('\\''x'\\'')'"],
])("a command in words is written as in a shell: %j", (command, written) => {
  expect(said(tool("bash", { command }, "ok")).join("\n")).toContain(written)
})

test.each<[string | string[]]>([["cat .env; false"], [["cat", ".env"]]])(
  "a failed call that prints secrets shows none of their values: %j",
  (command) => {
    const shown = said(failedTool("bash", { command }, "GREETING=kartoffel\nFAREWELL: sellerie"))
    expect(shown.join("\n")).toContain("failed, GREETING= [values withheld]")
    expect(shown.join("\n")).not.toMatch(/kartoffel|sellerie/)
  },
)
