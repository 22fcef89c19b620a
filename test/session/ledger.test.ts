import { describe, expect, test } from "bun:test"
import type { Part } from "@opencode-ai/sdk"
import fc from "fast-check"
import { createEnv } from "../../src/digest/digests.ts"
import { conversationOf } from "../../src/host/v1/conversation.ts"
import type { HostMessage, HostPart } from "../../src/host/v1/message.ts"
import { openFailures } from "../../src/hud/sections.ts"
import { summarize } from "../../src/session/arguments.ts"
import { type Failure, namesDeleted, noSignals, onDisk, stateOf } from "../../src/session/facts.ts"
import { createLedger } from "../../src/session/ledger.ts"
import { take } from "../support/conversation.ts"
import { bash, edit, failedTool, pictured, ROOT, read, SessionBuilder, tool, usage } from "../support/session.ts"

const env = createEnv(ROOT)
const newLedger = () => createLedger(env)

function factsOf(messages: HostMessage[]) {
  const ledger = newLedger()
  take(ledger, messages)
  return ledger.facts
}

/** What the failures of a session are in which a command exits 1. */
function failureKinds(command: string, output: string) {
  const { messages } = new SessionBuilder().user("go").assistant([bash(command, output, 1)])
  return [...factsOf(messages).failures.values()].map(({ kind }) => kind)
}

/** Facts as plain data, to compare two of them completely. */
const plain = (messages: HostMessage[]) => structuredClone(factsOf(messages))

const FAILING = "Tests: 1 failed, 3 passed, 4 total"
/** What another plugin may put before all other messages. */
const FRONT: HostMessage = { info: { role: "user" }, parts: [{ type: "text", text: "A note of another plugin." }] }

test("what a recall returned counts as long as it is sent", () => {
  const recall = tool("hud_recall", { id: "r4k2x9db" }, "x".repeat(4000))
  const session = new SessionBuilder()
    .user("go")
    .assistant([recall])
    .assistant([read("a.ts")])
  expect(factsOf(session.messages).recalledTokens).toBeGreaterThan(900)
  const shown = new SessionBuilder().user("go").assistant([pictured(recall)])
  expect(factsOf(shown.messages).recalledTokens - factsOf(session.messages).recalledTokens).toBe(1_500)
  const state = session.messages[1]?.parts.find(({ type }) => type === "tool")?.state
  if (state) state.time = { ...state.time, compacted: 1 }
  expect(factsOf(session.messages).recalledTokens).toBe(0)
  const failed = new SessionBuilder().user("go").assistant([recall], { error: { name: "APIError", data: {} } })
  expect(factsOf(failed.messages).recalledTokens).toBe(0)
})

describe("task", () => {
  test("is the user's last real request", () => {
    const session = new SessionBuilder().user("make the login test pass on node 22, please").assistant([read("a.ts")])
    session.user("now do the same for the logout test, in the same way")
    expect(factsOf(session.messages).requests.map((request) => request.text)).toEqual([
      "now do the same for the logout test, in the same way",
    ])
  })

  test("a terse request keeps the one that said more", () => {
    const session = new SessionBuilder().user("make the login test pass on node 22, please").assistant([]).user("go on")
    expect(factsOf(session.messages).requests.map((request) => request.text)).toEqual([
      "make the login test pass on node 22, please",
      "go on",
    ])
    const terse = new SessionBuilder().user("修复登录测试").assistant([]).user("继续")
    expect(factsOf(terse.messages).requests.map((request) => request.text)).toEqual(["修复登录测试", "继续"])
  })

  test.each([
    "现在给购物车添加优惠券功能，并补充测试",
    "次はカートにクーポン機能を追加してください",
    "이제 장바구니에 쿠폰 기능을 추가해 주세요",
  ])("a request in few letters of East Asia is one: %s", (text) => {
    const session = new SessionBuilder().user("make the login test pass on node 22, please").assistant([]).user(text)
    expect(factsOf(session.messages).requests.map((request) => request.text)).toEqual([text])
  })

  test("synthetic and ignored text is not the user's", () => {
    const session = new SessionBuilder().user("fix the login")
    session.user("", [
      { type: "text", text: "reminder", synthetic: true },
      { type: "text", text: "status", ignored: true },
    ])
    expect(factsOf(session.messages).requests.map((request) => request.text)).toEqual(["fix the login"])
  })

  test("a notice in tags is not the user's, a prompt in tags is", () => {
    const texts = (text: string) => factsOf(new SessionBuilder().user(text).messages).requests.map((one) => one.text)
    expect(texts("<system-reminder>\nTask <b>3</b> is done.\n</system-reminder>\n")).toEqual([])
    expect(texts("<task-notification>done</task-notification> mend it")).toHaveLength(1)
    expect(texts("<task>mend the login</task>")).toHaveLength(1)
  })

  test("secrets in a request are not kept", () => {
    const facts = factsOf(
      new SessionBuilder().user(`use ${["sk", "ant", "q7Zx9Lm2Kp4Rt8Wv1Yb6"].join("-")} as the key`).messages,
    )
    expect(JSON.stringify(facts.requests)).toContain("use [redacted] as the key")
  })

  test("no half of a secret is kept when a long command is cut in the middle of it", () => {
    const secret = "q7Zx9Lm2".repeat(9)
    for (const given of [`-H "x-api-key: ${secret}"`, `https://bob:${secret}@git.example.com/a/b.git`]) {
      const command = `curl -s https://api.example.com/v1/models ${given} -o /tmp/out.json --fail`
      const ledger = newLedger()
      take(ledger, new SessionBuilder().user("go").assistant([bash(command)]).messages)
      const [event] = ledger.entries.flatMap(({ events }) => events)
      expect(event?.summary).toContain("curl -s")
      expect(JSON.stringify(event)).not.toContain(secret.slice(0, 8))
    }
  })
})

describe("files", () => {
  test("a file edited after its last read is stale until it is read again", () => {
    const session = new SessionBuilder()
      .user("go")
      .assistant([read("a.ts")])
      .assistant([edit("a.ts")])
    const file = () => factsOf(session.messages).files.get("a.ts")
    expect(file()).toMatchObject({ readAt: 1, editedAt: 2 })
    session.assistant([read("a.ts")])
    expect(file()).toMatchObject({ readAt: 3, editedAt: 2 })
  })

  test("an agent that writes a whole file knows its content", () => {
    const facts = factsOf(
      new SessionBuilder()
        .user("go")
        .assistant([tool("write", { filePath: `${ROOT}/n.ts`, content: "x" }, "Wrote file successfully.")]).messages,
    )
    expect(facts.files.get("n.ts")).toMatchObject({ readAt: 1, editedAt: 1 })
  })

  test("absolute, relative and dotted spellings are one file", () => {
    const spelled = (filePath: string) => tool("read", { filePath }, "1: a")
    const facts = factsOf(
      new SessionBuilder()
        .user("go")
        .assistant([spelled(`${ROOT}/src/a.ts`), spelled("src/a.ts"), spelled("./src/../src/a.ts")]).messages,
    )
    expect([...facts.files.keys()]).toEqual(["src/a.ts"])
  })

  test("a relative path is relative to the folder that the session runs in", () => {
    const info = { path: { cwd: `${ROOT}/web`, root: ROOT } }
    const session = new SessionBuilder().user("go")
    session.assistant([tool("read", { filePath: "src/a.ts" }, "1: a")], info)
    session.assistant([edit("web/src/a.ts"), tool("read", { filePath: "../b.ts" }, "1: b")], info)
    expect([...factsOf(session.messages).files.values()]).toMatchObject([
      { path: "web/src/a.ts", readAt: 1, editedAt: 2 },
      { path: "b.ts", readAt: 2 },
    ])
  })

  test("a folder that was read is not a file, as old and new versions of OpenCode say it", () => {
    const listed = `<path>${ROOT}/src</path>\n<type>directory</type>\n<entries>\na.ts\n</entries>`
    const session = new SessionBuilder()
      .user("go")
      .assistant([
        tool("read", { filePath: `${ROOT}/src` }, listed),
        tool("read", { filePath: `${ROOT}/lib` }, "a.ts", { display: { type: "directory" } }),
        read("a.ts", "<path>x</path>\n<type>directory</type>"),
      ])
    expect([...factsOf(session.messages).files.keys()]).toEqual(["a.ts"])
  })

  test("a search in the project's folder reads no file, though its name looks like one", () => {
    const search = tool("grep", { pattern: "a", path: "/home/dev/shop.dev" }, "Found 1 match")
    const session = new SessionBuilder().user("go")
    session.assistant([search], { path: { cwd: "/home/dev/shop.dev", root: "/home/dev/shop.dev" } })
    expect([...factsOf(session.messages).files.keys()]).toEqual([])
  })

  test("a search in a file reads it, one in a folder does not", () => {
    const inside = (path: string) => tool("grep", { pattern: "a", path: `${ROOT}/${path}` }, "Found 1 match")
    const { messages } = new SessionBuilder().user("go").assistant([inside(".github"), inside("src/a.ts")])
    expect([...factsOf(messages).files.keys()]).toEqual(["src/a.ts"])
  })

  test("tools of MCP servers and plugins read and edit files too", () => {
    const session = new SessionBuilder()
      .user("go")
      .assistant([tool("filesystem_read_text_file", { path: `${ROOT}/a.ts` }, "text")])
      .assistant([tool("serena_replace_symbol_body", { relative_path: "b.ts", name_path: "f", body: "x" }, "OK")])
      .assistant([tool("morph_edit", { target_filepath: `${ROOT}/c.ts`, code_edit: "x" }, "done")])
    const files = [...factsOf(session.messages).files.values()]
    expect(files.map(({ path, readAt, editedAt }) => [path, readAt > 0, editedAt > 0])).toEqual([
      ["a.ts", true, false],
      ["b.ts", false, true],
      ["c.ts", false, true],
    ])
  })

  test.each<[string, Record<string, unknown>, string, string[]]>([
    ["serena_create_text_file", { relative_path: "a.ts", content: "x" }, "File created: a.ts.", ["write a.ts"]],
    ["jetbrains_get_file_text_by_path", { pathInProject: "a.ts", projectPath: ROOT }, "x", ["read a.ts"]],
    ["jetbrains_create_new_file", { pathInProject: "a.ts", text: "x" }, "[success]", ["write a.ts"]],
    ["jetbrains_replace_text_in_file", { pathInProject: "a.ts", oldText: "x", newText: "y" }, "ok", ["edit a.ts"]],
    [
      "filesystem_read_multiple_files",
      { paths: [`${ROOT}/a.ts`, `${ROOT}/none.ts`, "b.ts"] },
      `${ROOT}/a.ts:\nx\n\n---\n${ROOT}/none.ts: Error - ENOENT: no such file or directory\n---\nb.ts:\ny\n`,
      ["read a.ts", "read b.ts"],
    ],
    ["str_replace_based_edit_tool", { command: "view", path: "a.ts" }, "1\tx", ["read a.ts"]],
    [
      "str_replace_based_edit_tool",
      { command: "insert", path: "a.ts", insert_line: 1, new_str: "x" },
      "ok",
      ["edit a.ts"],
    ],
    ["serena_find_symbol", { name_path: "f", relative_path: "a.ts", include_body: true }, "[]", ["read a.ts"]],
    ["serena_find_symbol", { name_path: "f", relative_path: "a.ts", depth: 1 }, "[]", []],
    ["serena_find_referencing_symbols", { name_path: "f", relative_path: "a.ts" }, "{}", []],
    ["lsp_find_references", { filePath: "a.ts", line: 3, character: 2 }, "b.ts:3:4", []],
    // of a repository elsewhere
    ["bitbucket_read_file", { workspace: "w", repo_slug: "shop", path: "a.ts" }, "x", []],
    ["gitlab_edit_file", { project_id: "7", file_path: "a.ts", content: "x" }, "{}", []],
    ["github_create_or_update_file", { owner: "ada", repo: "shop", path: "a.ts", content: "x" }, "{}", []],
  ])("%s %j uses the files that it names in the project", (name, input, output, files) => {
    const ledger = newLedger()
    take(ledger, new SessionBuilder().user("go").assistant([tool(name, input, output)]).messages)
    const [event] = ledger.entries.flatMap(({ events }) => events)
    expect(event?.files.map(({ use, path }) => `${use} ${path}`)).toEqual(files)
  })

  test("an error that a server returns as a result used no file", () => {
    const edited = (output: string) => {
      const part = tool("serena_replace_symbol_body", { relative_path: "b.ts", name_path: "f", body: "x" }, output)
      return factsOf(new SessionBuilder().user("go").assistant([part]).messages).files.size
    }
    expect(edited("Error executing tool: ValueError - No symbol with name f found in b.ts")).toBe(0)
    expect(edited("Error: TimeoutError - ")).toBe(0)
    expect(edited("OK")).toBe(1)
  })

  test("an edit that failed in words changed no file, and is a failure; a file may begin with the same words", () => {
    const input = { file_path: `${ROOT}/a.ts`, old_string: "a", new_string: "b", expected_replacements: 1 }
    const factsAfter = (name: string, output: string) =>
      factsOf(new SessionBuilder().user("go").assistant([tool(name, input, output)]).messages)
    for (const output of [
      `Search content not found in ${ROOT}/a.ts. The closest match was "c" with only 30% similarity`,
      "Exact match not found, but found a similar text with 93% similarity (found in 0.52ms):",
      `Expected 1 occurrences but found 3 in ${ROOT}/a.ts. Double check`,
    ]) {
      const facts = factsAfter("desktop-commander_edit_block", output)
      expect([facts.files.size, facts.editedAt]).toEqual([0, 0])
      expect([...facts.failures.values()].map(({ kind }) => kind)).toEqual(["tool"])
    }
    expect(factsAfter("desktop-commander_read_file", "Error: the first line of a log").failures.size).toBe(0)
    expect(factsAfter("task", "Error: the first words of an answer").failures.size).toBe(0)
    expect(factsAfter("hud_recall", "Error: the first words of what was recalled").failures.size).toBe(0)
    expect(factsAfter("bash", "Error: printed by a command that exits 0").failures.size).toBe(0)
  })

  test("an edit that was only tried out changed no file", () => {
    const input = { path: `${ROOT}/a.ts`, edits: [{ oldText: "a", newText: "b" }] }
    const tried = (dryRun: boolean) =>
      factsOf(
        new SessionBuilder().user("go").assistant([tool("files_edit_file", { ...input, dryRun }, "-a +b")]).messages,
      )
    expect([tried(true).files.size, tried(true).editedAt]).toEqual([0, 0])
    expect([tried(false).files.size, tried(false).editedAt]).toEqual([1, 1])
  })

  test("a file that a patch moved is gone from its old place, whether or not the result lists it", () => {
    const patchText = "*** Begin Patch\n*** Update File: a.ts\n*** Move to: src/b.ts\n@@\n-a\n+b\n*** End Patch"
    const listed = { filePath: `${ROOT}/a.ts`, relativePath: "src/b.ts", type: "move", movePath: `${ROOT}/src/b.ts` }
    for (const metadata of [{}, { files: [listed] }]) {
      const session = new SessionBuilder().user("go").assistant([read("a.ts")])
      session.assistant([tool("apply_patch", { patchText }, "Success.", metadata)])
      const { files } = factsOf(session.messages)
      expect(files.get("a.ts")).toMatchObject({ readAt: 1, deleted: true })
      expect(files.get("src/b.ts")).toMatchObject({ editedAt: 2, deleted: false })
    }
  })

  test("a patch names its files whether or not the result lists them", () => {
    const patchText =
      "*** Begin Patch\n*** Add File: new.ts\n+a\n*** Update File: old.ts\n@@\n*** Delete File: gone.ts\n*** End Patch"
    const facts = factsOf(
      new SessionBuilder().user("go").assistant([tool("apply_patch", { patchText }, "Success.")]).messages,
    )
    expect([...facts.files.values()].map((file) => [file.path, file.deleted])).toEqual([
      ["new.ts", false],
      ["old.ts", false],
      ["gone.ts", true],
    ])
  })

  test("a check of a file that was moved or deleted is not failing any more", () => {
    const session = new SessionBuilder().user("go").assistant([bash("npm test -- src/a.test.ts", FAILING, 1)])
    session.assistant([bash("npm test -- src/b.test.ts", FAILING, 1)])
    const patchText =
      "*** Begin Patch\n*** Update File: src/a.test.ts\n*** Move to: src/a.test.tsx\n@@\n-a\n+b\n*** End Patch"
    session.assistant([tool("apply_patch", { patchText }, "Success.")])
    const facts = factsOf(session.messages)
    const open = (signals = noSignals()) => openFailures(facts, signals).map(({ key }) => key)
    expect(open()).toEqual(["npm test -- src/b.test.ts"])
    const back = noSignals()
    back.versions.set("src/a.test.ts", [{ modifiedMs: Date.parse("2026-12-01"), hash: "x" }])
    expect(open(back)).toContain("npm test -- src/a.test.ts")
  })

  test("a check of a file that a command removed is not failing any more", () => {
    const session = new SessionBuilder()
      .user("go")
      .assistant([read("a.test.ts"), bash("bun test a.test.ts", FAILING, 1)])
    const facts = factsOf(session.messages)
    const signals = noSignals()
    expect(openFailures(facts, signals)).toHaveLength(1)
    signals.versions.set("a.test.ts", [
      { modifiedMs: 1, hash: "x" },
      { modifiedMs: Date.parse("2026-12-01"), hash: "" },
    ])
    expect(openFailures(facts, signals)).toEqual([])
  })

  test("a command that fails because the file it names is gone is failing", () => {
    const session = new SessionBuilder().user("go").assistant([read("dist/a.js")])
    session.assistant([bash("node dist/a.js", "Error: Cannot find module", 1)])
    const facts = factsOf(session.messages)
    const failure = [...facts.failures.values()][0] as Failure
    const goneMs = Date.parse("2026-12-01")
    const signals = noSignals()
    signals.versions.set("dist/a.js", [
      { modifiedMs: 1, hash: "x" },
      { modifiedMs: goneMs, hash: "" },
    ])
    expect(namesDeleted({ ...failure, endedMs: goneMs - 1 }, facts, signals)).toBe(true)
    expect(namesDeleted({ ...failure, endedMs: goneMs + 1 }, facts, signals)).toBe(false)
  })

  test("a file that a command changed, according to OpenCode's snapshot, is changed on disk until it is read again", () => {
    const session = new SessionBuilder().user("go").assistant([read("a.ts")])
    session.assistant([bash("npm run format"), { type: "patch", hash: "x", files: [`${ROOT}/a.ts`] }])
    const state = () => stateOf(factsOf(session.messages).files.get("a.ts")!, noSignals())
    expect(state()).toBe("changed on disk since read")
    session.assistant([read("a.ts")])
    expect(state()).toBe("read")
  })

  test("a file that a command brought back is not deleted any more", () => {
    const patchText = "*** Begin Patch\n*** Delete File: a.ts\n*** End Patch"
    const changes = { type: "patch", hash: "x", files: [`${ROOT}/a.ts`] }
    const session = new SessionBuilder().user("go").assistant([tool("apply_patch", { patchText }, "Success."), changes])
    const file = () => factsOf(session.messages).files.get("a.ts")!
    expect(stateOf(file(), noSignals())).toBe("deleted")
    session.assistant([bash("git checkout -- a.ts"), changes])
    expect(stateOf(file(), noSignals())).toBe("changed on disk since read")
  })

  test("the agent's own edit is not an outside change, neither by snapshot nor by modification time", () => {
    const facts = factsOf(
      new SessionBuilder().user("go").assistant([edit("a.ts"), { type: "patch", hash: "x", files: [`${ROOT}/a.ts`] }])
        .messages,
    )
    const file = facts.files.get("a.ts")!
    expect(stateOf(file, seen(file.usedMs, [500, "x"]))).toBe("edited")
    expect(stateOf(file, seen(file.usedMs, [60_000, "x"]))).toBe("changed on disk since read")
  })

  const seen = (usedMs: number, ...versions: [number, string][]) => {
    const signals = noSignals()
    signals.versions.set(
      "a.ts",
      versions.map(([ms, hash]) => ({ modifiedMs: usedMs + ms, hash })),
    )
    return signals
  }

  test("a file that was written again with what the agent last saw is not changed, whatever the snapshots say", () => {
    const changes = { type: "patch", hash: "x", files: [`${ROOT}/a.ts`] }
    const session = new SessionBuilder().user("go").assistant([edit("a.ts"), changes])
    session.assistant([bash("git stash"), changes]).assistant([bash("git stash pop"), changes])
    const file = factsOf(session.messages).files.get("a.ts")!
    const state = (...versions: [number, string][]) => stateOf(file, seen(file.usedMs, [-100, "mine"], ...versions))
    expect(state([60_000, "theirs"], [70_000, "mine"])).toBe("edited")
    expect(state([60_000, "mine"])).toBe("edited")
    expect(state([60_000, "theirs"])).toBe("changed on disk since read")
    // a command ran right after the edit
    expect(state([900, "theirs"], [60_000, "mine"])).toBe("edited")
    // an earlier content that the agent has changed since is not what it last saw
    const older = seen(file.usedMs, [-60_000, "older"], [-100, "mine"], [60_000, "older"])
    expect(stateOf(file, older)).toBe("changed on disk since read")
  })

  test("what a command removes is deleted, and what it brings back is not, without snapshots too", () => {
    const patchText = "*** Begin Patch\n*** Delete File: a.ts\n*** End Patch"
    const fileOf = (part: HostPart) =>
      factsOf(new SessionBuilder().user("go").assistant([part]).messages).files.get("a.ts")!
    const known = fileOf(read("a.ts"))
    expect(stateOf(known, seen(known.usedMs, [-9000, "x"], [60_000, ""]))).toBe("deleted")
    const gone = fileOf(tool("apply_patch", { patchText }, "Success."))
    expect(stateOf(gone, seen(gone.usedMs, [-9000, "x"], [100, ""]))).toBe("deleted")
    const back = seen(gone.usedMs, [-9000, "x"], [100, ""], [60_000, "x"])
    expect([stateOf(gone, back), onDisk(gone, back)]).toEqual(["changed on disk since read", "changed"])
  })
})

describe("open failures", () => {
  const lintError = "src/a.ts\n  3:7  error  'a' is never used  no-unused-vars\n\n✖ 1 problem (1 error, 0 warnings)"
  test.each([
    ["an exit code other than 0", bash("npm test", FAILING, 1)],
    ["a failing run whose exit code a pipe has eaten", bash("npm test 2>&1 | tail -5", FAILING, 0)],
    ["a command in words", tool("shell_exec", { command: ["bash", "-lc", "npm test"] }, FAILING)],
    ["the same run in another folder spelling", bash(`cd ${ROOT} && CI=1 npm test`, FAILING, 1)],
  ])("%s is an open failure, and a passing run closes it", (_, part) => {
    const session = new SessionBuilder().user("go").assistant([part])
    expect([...factsOf(session.messages).failures.keys()]).toEqual(["npm test"])
    session.assistant([bash("npm test", "Tests: 4 passed, 4 total")])
    expect(factsOf(session.messages).failures.size).toBe(0)
  })

  test("a check that a tool reports as an error is a failing check", () => {
    const failed = failedTool("terminal_execute_command", { command: "npm test" }, `Exit code 1\n${FAILING}`)
    const { messages } = new SessionBuilder().user("go").assistant([failed])
    expect([...factsOf(messages).failures.values()]).toMatchObject([{ key: "npm test", kind: "check" }])
  })

  test.each([
    JSON.stringify({ stdout: FAILING, return_code: 1, cwd: ROOT, stderr: "" }),
    `Done\n${JSON.stringify({ exit_code: 1, output: FAILING })}`,
  ])("a check of which a tool returns the exit code as JSON has failed, and not passed: %s", (output) => {
    const run = (result: string) => tool("serena_execute_shell_command", { command: "npm test" }, result)
    const session = new SessionBuilder().user("go").assistant([run(output)])
    const [failure] = factsOf(session.messages).failures.values()
    expect(failure).toMatchObject({ key: "npm test", kind: "check" })
    expect(failure?.detail).not.toContain("{")
    session.assistant([run('{"stdout": "", "return_code": 0, "stderr": ""}')])
    expect(factsOf(session.messages).failures.size).toBe(0)
  })

  test("commands that a tool takes under another name are different attempts", () => {
    const keys = (tmux_command: string) => ({ tmux_command })
    const session = new SessionBuilder().user("go")
    session.assistant([failedTool("interactive_bash", keys("kill-session -t a"), "can't find session: a")])
    session.assistant([tool("interactive_bash", keys("new-session -d -s b"), "")])
    expect([...factsOf(session.messages).failures.keys()]).toEqual(["interactive_bash kill-session -t a"])
  })

  test("a call without arguments is named by its tool alone", () => {
    const session = new SessionBuilder().user("go").assistant([failedTool("db_list", {}, "no connection")])
    expect([...factsOf(session.messages).failures.keys()]).toEqual(["db_list"])
  })

  test.each([
    ["/app", "src/app/page.tsx:3:1 - error TS1: a"],
    ["/app", "\u001b[36m/app/src/app/page.tsx\u001b[0m:3:1 - error TS1: a"],
    ["C:\\shop", "C:\\shop\\src/app/page.tsx:3:1 - error TS1: a"],
  ])("in %s only whole paths are shortened", (root, output) => {
    const info = { path: { cwd: root, root } }
    const { messages } = new SessionBuilder().user("go").assistant([bash("npm run build", output, 2)], info)
    expect([...factsOf(messages).failures.values()]).toMatchObject([{ detail: "src/app/page.tsx:3 TS1: a" }])
  })

  test("a passing run of everything closes the failure of a part, not the other way round", () => {
    const session = new SessionBuilder()
      .user("go")
      .assistant([bash("npm test login.test.ts", FAILING, 1), bash("npm test", FAILING, 1)])
    session.assistant([bash("npm test login.test.ts", "Tests: 1 passed, 1 total")])
    expect([...factsOf(session.messages).failures.keys()]).toEqual(["npm test"])
    session.assistant([bash("npm test login.test.ts", FAILING, 1), bash("npm test", "Tests: 4 passed, 4 total")])
    expect(factsOf(session.messages).failures.size).toBe(0)
  })

  test.each([
    [
      "npm test",
      "\n> @acme/shop@1.0.0 test\n> vitest run\n\n Tests  4 passed (4)\n",
      "npx vitest run src/cart.test.ts",
    ],
    ["npm test", "\n> shop@1.0.0 test\n> eslint . && vitest run\n\n Tests  4 passed (4)\n", "npx eslint src/cart.ts"],
    ["cd ui && pnpm test", "> ui@1.0.0 test /app/ui\n> jest\n\nTests: 4 passed, 4 total\n", "cd ui && npx jest cart"],
    [
      "export CI=1; npm test",
      "\n> shop@1.0.0 test\n> vitest run\n\n Tests  4 passed (4)\n",
      "npx vitest run src/cart.test.ts",
    ],
    ["yarn lint", "yarn run v1.22.22\n$ eslint .\nDone in 1.02s.\n", "npx eslint src/cart.ts"],
    [
      "mise run test 2>&1 | tail -30",
      "[test] $ go test -race ./...\nok  \tshop/cart\t0.1s\n",
      "go test ./cart -run TestAdd",
    ],
    ["task lint", "task: [lint] golangci-lint run ./...\n0 issues.\n", "golangci-lint run ./cart/cart.go"],
  ])("`%s` passes, and closes the failure of what it announces: %j", (command, output, failed) => {
    const session = new SessionBuilder().user("go").assistant([bash(failed, "error: cart.ts", 1)])
    expect(factsOf(session.messages).failures.size).toBe(1)
    session.assistant([bash(command, output, 0)])
    expect(factsOf(session.messages).failures.size).toBe(0)
  })

  test.each([
    [
      "npm test",
      "> shop@1.0.0 test\n> npm test --workspaces\n\n> cart@1.0.0 test\n> vitest run\n Tests  4 passed (4)\n",
    ],
    ["npm test -w ui", "> ui@1.0.0 test\n> vitest run\n\n Tests  4 passed (4)\n"],
    ["npm test", "> shop@1.0.0 test\n> vitest run | tee test.log\n\ndone\n"],
    ["npm run lint", "> shop@1.0.0 lint\n> eslint .\n\nclean\n"],
    ["cat README.md", "Run the tests with\n$ vitest run\n Tests  4 passed (4)\n"],
    ["npm test", "> shop@1.0.0 test\n> vitest run --project node-and-brow…\n\ndone\n"],
    ["npm run unit:test; npm run build", "> shop@1.0.0 unit:test\n> vitest run\n\n> shop@1.0.0 build\n> tsc\n\n"],
    ["npm run build", "> shop@1.0.0 build\n> npm run unit || true; tsc\n\n> shop@1.0.0 unit\n> vitest run\n\noops\n"],
    ["npm test", "> shop@1.0.0 test\n> cd ui && npm test\n\n> ui@1.0.0 test\n> vitest run\n\n Tests  4 passed (4)\n"],
    ["npm run build", "> shop@1.0.0 build\n> sh -c 'vitest run; true'\n\noops\n"],
    ["yarn workspace ui test", "$ vitest run\n Tests  4 passed (4)\nDone in 1.02s.\n"],
  ])("`%s` passes, but does not show that vitest passes in this folder: %j", (command, output) => {
    const session = new SessionBuilder().user("go").assistant([bash("npx vitest run", FAILING, 1)])
    session.assistant([bash(command, output, 0)])
    expect([...factsOf(session.messages).failures.keys()]).toEqual(["vitest run"])
  })

  test("a pipeline that hides the exit code and shows no result closes nothing", () => {
    const session = new SessionBuilder().user("go").assistant([bash("npm run build", "src/a.ts:3 error", 1)])
    session.assistant([bash("npm run build 2>&1 | tail -1", "> shop@1.0.0 build", 0)])
    expect([...factsOf(session.messages).failures.keys()]).toEqual(["npm run build"])
  })

  test("a run of Go without a test closes nothing", () => {
    const session = new SessionBuilder()
      .user("go")
      .assistant([bash("go test -run TestCartAdds ./cart", "FAIL\tshop/cart\t0.1s", 1)])
    session.assistant([bash("go test -run TestCart ./cart", "ok  \tshop/cart\t0.1s [no tests to run]", 0)])
    expect([...factsOf(session.messages).failures.keys()]).toEqual(["go test -run TestCartAdds ./cart"])
    // what Git printed is not of the tests, whose only package is shown
    const output = "Saved working directory\nHEAD is now at 97ce79e\nPASS\nok  \tshop/cart\t0.1s [no tests to run]"
    session.assistant([bash("git stash && go test -run TestCart ./cart 2>&1 | tail -4", output, 0)])
    expect([...factsOf(session.messages).failures.keys()]).toEqual(["go test -run TestCartAdds ./cart"])
  })

  test.each([
    ["npx jest -t sums", "Test Suites: 2 skipped, 0 of 2 total\nTests:       3 skipped, 3 total\n"],
    ["npx vitest run -t sums", " Test Files  2 skipped (2)\n      Tests  4 skipped (4)\n"],
    ["npx mocha -g sums", "\n\n  0 passing (0ms)\n\n"],
    ["node --test --test-name-pattern=sums", "1..2\n# tests 2\n# pass 0\n# fail 0\n# cancelled 0\n# skipped 2\n"],
    [
      "cargo test sums",
      "running 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 1 filtered out; finished in 0.00s\n",
    ],
    ["python -m unittest -k sums", "\n------\nRan 0 tests in 0.000s\n\nOK\n"],
  ])("a test run in which no test ran closes nothing: `%s` that prints %j", (command, output) => {
    const session = new SessionBuilder().user("go").assistant([bash(command, "1 failed in 0.1s", 1)])
    const [key] = factsOf(session.messages).failures.keys()
    session.assistant([bash(command, output, 0)])
    expect([...factsOf(session.messages).failures.keys()]).toEqual([key as string])
    // but what passed beside it has
    session.assistant([bash("npm run lint", lintError, 1), bash(`npm run lint && ${command}`, output, 0)])
    expect([...factsOf(session.messages).failures.keys()]).toEqual([key as string])
  })

  test("a crate without a test has passed all the same, and one that was left out may have run", () => {
    const total = (filtered: number) =>
      `test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; ${filtered} filtered out; finished in 0.00s\n`
    for (const [command, output] of [
      ["cargo test", total(0)],
      ["cargo test sums 2>&1 | tail -1", total(1)],
    ] as const) {
      const session = new SessionBuilder().user("go").assistant([bash(command, "error: could not compile `shop`", 1)])
      session.assistant([bash(`cd . && ${command}`, output, 0)])
      expect(factsOf(session.messages).failures.size).toBe(0)
    }
  })
  test("the same pipeline without the failure it showed closes it, another view does not", () => {
    const build = (command: string, output: string) => bash(`npm run build 2>&1 | ${command}`, output, 0)
    const session = new SessionBuilder().user("go").assistant([build("tail -3", "npm error code 2")])
    session.assistant([build("head -1", "> shop@1.0.0 build")]).assistant([build("grep warning", "")])
    expect([...factsOf(session.messages).failures.keys()]).toEqual(["npm run build"])
    session.assistant([build("tail -3", "> shop@1.0.0 build\n\ndone in 3 s")])
    expect(factsOf(session.messages).failures.size).toBe(0)
  })

  test.each([
    ["npm run lint && npm run build && npm test", "done", 0],
    ["npm run lint | head; npm test | tail -5", "Test Suites: 1 passed, 1 total\nTests: 4 passed, 4 total", 0],
    ["npm run lint && npm test || echo failed", "Test Suites: 1 passed, 1 total\nTests: 4 passed, 4 total", 0],
  ])("`%s` passes, and closes the failure of each check in it", (command, output, exit) => {
    const session = new SessionBuilder().user("go").assistant([bash("npm run lint", lintError, 1)])
    expect([...factsOf(session.messages).failures.keys()]).toEqual(["npm run lint"])
    expect(factsOf(session.assistant([bash(command, output, exit)]).messages).failures.size).toBe(0)
  })

  const typeError = "src/a.ts(4,2): error TS2304: Cannot find name 'x'."
  const passing = "Test Suites: 1 passed, 1 total\nTests: 4 passed, 4 total"
  test.each([
    // the tests failed, and lint, which comes last or before them, passed
    ["npm test; npm run lint", FAILING, 0, ["npm test"]],
    ["npm run lint && npm test", FAILING, 1, ["npm test"]],
    ["npm test | tail; npm run lint | tail", FAILING, 0, ["npm run lint", "npm test"]],
    ["npx tsc --noEmit && npm run lint && npm test", FAILING, 1, ["npm test"]],
    ["set -e\nnpm run lint\nnpm test", FAILING, 1, ["npm test"]],
    // lint failed, and the tests passed
    ["npm run lint | tail; npm test | tail", `${lintError}\n${passing}`, 0, ["npm run lint"]],
    ["npm test && npm run lint", `${passing}\n${lintError}`, 1, ["npm run lint"]],
    ["npm run lint; npm test", `${lintError}\n${passing}`, 0, ["npm run lint"]],
    [
      "set -o pipefail; npm run lint && npm run build | tail -5",
      typeError,
      1,
      ["npm run lint", "npm run lint && npm run build"],
    ],
    ["npm run lint | tail && npm test | tail && npm run build", `${lintError}\n${passing}`, 0, ["npm run lint"]],
    // the tests passed, and failed in what they report last
    [
      "npm run lint && npm test",
      `Jest: "global" coverage threshold for lines (80%) not met: 50%\n${passing}`,
      1,
      ["npm test"],
    ],
    // the tests did not begin
    ["npm run lint; npm test", typeError, 1, ["npm run lint", "npm test"]],
    ["npm test && npm run build", typeError, 1, ["npm run lint", "npm test && npm run build"]],
    // what is no check failed
    ["npm test && git push", `${passing}\n! [rejected] main -> main (fetch first)`, 1, ["npm run lint", "git push"]],
    [
      "npm ci && npm test",
      "npm error code ERESOLVE\nnpm error unable to resolve",
      1,
      ["npm run lint", "npm ci && npm test"],
    ],
    ["npm test; ./deploy.sh", "deploy.sh: cannot reach host", 1, ["npm run lint", "deploy.sh"]],
    ["npm run build; ls dist", "ls: cannot access 'dist': No such file or directory", 2, ["npm run lint", "ls dist"]],
    ["npm run build && node dist/cli.js", "Error: no port", 1, ["npm run lint", "npm run build && node dist/cli.js"]],
    // nothing tells which: the tests may not build
    ["npm run lint && npm test", lintError, 1, ["npm run lint", "npm run lint && npm test"]],
    ["npm run lint && npm run build | tail -5 && npm test", lintError, 1, ["npm run lint", "npm run lint && npm test"]],
    ["cat a.txt && npm test", "cat: a.txt: No such file or directory", 1, ["npm run lint", "cat a.txt && npm test"]],
    ["npm run lint && npm run typecheck", typeError, 1, ["npm run lint", "npm run lint && npm run typecheck"]],
    [
      "npm run lint && npm test",
      "<shell_metadata>\nshell tool terminated command after exceeding timeout 120000 ms.\n</shell_metadata>",
      undefined,
      ["npm run lint", "npm run lint && npm test"],
    ],
  ])("`%s` that prints %j and exits %p leaves open what has failed", (command, output, exit, open) => {
    const session = new SessionBuilder().user("go").assistant([bash("npm run lint", lintError, 1)])
    session.assistant([bash(command, output, exit)])
    expect([...factsOf(session.messages).failures.keys()]).toEqual(open)
  })

  test("of a check and what follows it, only the check closes the failure", () => {
    const session = new SessionBuilder().user("go").assistant([bash("npm run build && ls dist", "no such folder", 1)])
    session.assistant([bash("ls dist", "cli.js")])
    expect([...factsOf(session.messages).failures.keys()]).toEqual(["npm run build && ls dist"])
    session.assistant([bash("npm run build", "done")])
    expect(factsOf(session.messages).failures.size).toBe(0)
  })

  test("tests and another check that both failed are two failures, each until it passes", () => {
    const both = bash("npm test | tail; npm run lint | tail", `${FAILING}\n${lintError}`, 0)
    const session = new SessionBuilder().user("go").assistant([both])
    expect([...factsOf(session.messages).failures.values()]).toMatchObject([
      { key: "npm run lint", kind: "check", detail: expect.stringContaining("'a' is never used") },
      { key: "npm test", kind: "check", detail: FAILING },
    ])
    session.assistant([bash("npm run lint", "done", 0)])
    expect([...factsOf(session.messages).failures.keys()]).toEqual(["npm test"])
    session.assistant([bash("npm test", passing, 0)])
    expect(factsOf(session.messages).failures.size).toBe(0)
  })

  test.each([
    // lint has passed: the tests ran
    ["npm run lint && npm test", `${FAILING}\n${lintError}`, 1, ["npm test"]],
    // it exits 0
    ["npm test; npm run lint", `${FAILING}\n${lintError}`, 0, ["npm test"]],
    // the tests' script ran a linter too; the build did not run
    ["npm test && npm run build", `${FAILING}\n${lintError}`, 1, ["npm test"]],
    // what follows the total is of the tests
    ["rspec | tail; rubocop | tail", "3 examples, 1 failure\n\nrspec ./spec/cart_spec.rb:3 # Cart sums", 0, ["rspec"]],
  ])("of `%s` that prints %j and exits %p only the tests failed", (command, output, exit, open) => {
    const { messages } = new SessionBuilder().user("go").assistant([bash(command, output, exit)])
    expect([...factsOf(messages).failures.keys()]).toEqual(open)
  })

  test.each([
    ["npm run lint; npm test", 1, ["npm test"]],
    ["npm run lint | tail && npm test | tail", 0, ["npm test"]],
    // it fails, or the tests had not run
    ["npm run lint || npm test", 1, ["npm run lint", "npm test"]],
  ])("where `%s` is run again and shows only failing tests, these are open: %p %j", (command, exit, open) => {
    const session = new SessionBuilder().user("go").assistant([bash(command, `${lintError}\n${FAILING}`, exit)])
    expect([...factsOf(session.messages).failures.keys()]).toEqual(["npm run lint", "npm test"])
    session.assistant([bash(command, FAILING, exit)])
    expect([...factsOf(session.messages).failures.keys()]).toEqual(open)
  })

  test("a check is not closed where the same command fails in a way that may be of it", () => {
    const command = "npm run lint; npm test"
    const session = new SessionBuilder().user("go").assistant([bash(command, `${lintError}\n${FAILING}`, 1)])
    session.assistant([bash(command, lintError, 1)])
    expect([...factsOf(session.messages).failures.keys()]).toContain("npm run lint")
  })

  test("tests that have not run again are not closed", () => {
    const command = "npm run lint && npm test"
    const session = new SessionBuilder().user("go").assistant([bash(command, FAILING, 1)])
    session.assistant([bash(command, lintError, 1)])
    expect([...factsOf(session.messages).failures.keys()]).toContain("npm test")
  })

  test.each(["npm run lint; npm run typecheck", "npm run lint || npm run typecheck"])(
    "of `%s` that failed last, the reason is not what the check before it printed",
    (command) => {
      const { messages } = new SessionBuilder().user("go").assistant([bash(command, `${lintError}\n${typeError}`, 2)])
      const [failure] = factsOf(messages).failures.values()
      expect(failure).toMatchObject({ key: "npm run typecheck", detail: "src/a.ts:4 TS2304: Cannot find name 'x'." })
    },
  )

  test("tests that passed beside a check that failed are closed", () => {
    const session = new SessionBuilder().user("go").assistant([bash("npm test", FAILING, 1)])
    session.assistant([bash("npm run lint | tail; npm test | tail", `${lintError}\n${passing}`, 0)])
    expect([...factsOf(session.messages).failures.keys()]).toEqual(["npm run lint"])
  })

  test.each([
    ["npm run lint | head; npm run build", "done", 0],
    ["npm run lint || npm test", "Tests: 4 passed, 4 total", 0],
    // lint has passed, or the tests have
    ["npm test || npm run lint", "done", 0],
    ["npm test || npm run lint | tail -5", "Tests: 4 passed, 4 total", 0],
  ])("`%s` does not show that lint passes", (command, output, exit) => {
    const session = new SessionBuilder().user("go").assistant([bash("npm run lint", lintError, 1)])
    session.assistant([bash(command, output, exit)])
    expect([...factsOf(session.messages).failures.keys()]).toContain("npm run lint")
  })

  test("a failure of checks of which nothing tells which failed is of them all, until one of them passes", () => {
    const session = new SessionBuilder().user("go").assistant([bash("npm run lint && npm run typecheck", typeError, 1)])
    expect([...factsOf(session.messages).failures.keys()]).toEqual(["npm run lint && npm run typecheck"])
    session.assistant([bash("npm run build", "done")])
    expect(factsOf(session.messages).failures.size).toBe(1)
    session.assistant([bash("npm run typecheck", "done")])
    expect(factsOf(session.messages).failures.size).toBe(0)
  })

  test.each(["npm run build; echo done", "npm run build || true", "npm run build &", "cd app && npm run build"])(
    "`%s` does not close the failure of `npm run build`",
    (command) => {
      const session = new SessionBuilder().user("go").assistant([bash("npm run build", "src/a.ts:3 error", 1)])
      session.assistant([bash(command, "> shop@1.0.0 build", 0)])
      expect([...factsOf(session.messages).failures.keys()]).toEqual(["npm run build"])
    },
  )

  test("a command that goes on after its call closes nothing", () => {
    const session = new SessionBuilder().user("go").assistant([tool("shell_exec", { command: "npm test" }, FAILING)])
    session.assistant([tool("shell_exec", { command: "npm test" }, "Process running with session ID 51949\n")])
    expect([...factsOf(session.messages).failures.keys()]).toEqual(["npm test"])
  })

  test("a check whose output is withheld has failed all the same", () => {
    const output = "--- FAIL: TestLogin (0.1s)\nFAIL\nFAIL\tshop/login\t0.1s"
    const { messages } = new SessionBuilder()
      .user("go")
      .assistant([bash("go test ./login 2>&1 | grep -E 'credentials.json|FAIL'", output, 0)])
    expect([...factsOf(messages).failures.values()]).toMatchObject([{ key: "go test ./login", kind: "check" }])
  })

  test("a command that only asks for a linter is no check", () => {
    const { messages } = new SessionBuilder()
      .user("go")
      .assistant([bash("command -v golangci-lint && golangci-lint run | tail -5", "1 issues:\n* errcheck: 1", 0)])
    expect([...factsOf(messages).failures.keys()]).toEqual(["golangci-lint run"])
  })

  test("a command runs in the folder it was given, else in that of its message", () => {
    const command = { command: "npm test", description: "tests" }
    const info = { path: { cwd: `${ROOT}/app`, root: ROOT } }
    const session = new SessionBuilder().user("go").assistant([tool("bash", command, FAILING, { exit: 1 })], info)
    const passing = (workdir: string) =>
      session.assistant([tool("bash", { ...command, workdir }, "Tests: 4 passed, 4 total", { exit: 0 })], info)
    passing("../web")
    const { entries, facts } = take(newLedger(), session.messages)
    expect([...facts.failures.keys()]).toEqual(["npm test"])
    expect(entries.flatMap(({ events }) => events.map(({ summary }) => summary)).at(-1)).toBe(
      `cd ${ROOT}/web && npm test`,
    )
    passing(`${ROOT}/app`)
    expect(factsOf(session.messages).failures.size).toBe(0)
  })

  test("a resource of an MCP server that was read does not close the failure of another", () => {
    const input = (uri: string) => ({ server: "docs", uri })
    const session = new SessionBuilder().user("go")
    session.assistant([failedTool("read_mcp_resource", input("docs://guide/9"), "not found")])
    session.assistant([tool("read_mcp_resource", input("docs://guide/1"), "The guide.")])
    expect([...factsOf(session.messages).failures.keys()]).toEqual(["read_mcp_resource docs docs://guide/9"])
    session.assistant([tool("read_mcp_resource", input("docs://guide/9"), "The guide.")])
    expect(factsOf(session.messages).failures.size).toBe(0)
  })

  test.each<[string, Record<string, unknown>, Record<string, unknown>]>([
    ["github_get_issue", { owner: "octo", issue_number: 12 }, { issue_number: 7 }],
    ["jira_search", { jql: "project = SHOP" }, { jql: "project = CART" }],
    ["lsp", { operation: "hover", filePath: "a.ts", line: 1 }, { line: 2 }],
    ["playwright_browser_wait_for", { time: 3 }, { time: 9 }],
    ["memory_open_nodes", { names: ["cart", "price"] }, { names: ["cart", "tax"] }],
  ])("a call of %s does not close the failure of another, nor repeat it", (name, input, change) => {
    const other = { ...input, ...change }
    const session = new SessionBuilder().user("go").assistant([failedTool(name, input, "not found")])
    session.assistant([tool(name, other, "found")])
    expect([...factsOf(session.messages).failures.values()]).toMatchObject([{ times: 1 }])
    session.assistant([failedTool(name, other, "not found")])
    expect([...factsOf(session.messages).failures.values()]).toMatchObject([{ times: 1 }, { times: 1 }])
    session.assistant([tool(name, input, "found")]).assistant([tool(name, other, "found")])
    expect(factsOf(session.messages).failures.size).toBe(0)
  })

  test("a command is named without the folder that it would run in anyway", () => {
    const unused = () => ({})
    for (const cwd of [undefined, "/", ROOT])
      expect(summarize("command", { command: "ls", workdir: cwd ?? "." }, { cwd }, unused)).toBe("ls")
    expect(summarize("command", { command: "ls", workdir: "/srv" }, { cwd: "/" }, unused)).toBe("cd /srv && ls")
  })

  const references = (file: string) => ({ operation: "findReferences", filePath: `${ROOT}/${file}`, line: 1 })

  test("a file that a language server was only asked about was not read", () => {
    const session = new SessionBuilder().user("go").assistant([tool("lsp", references("a.ts"), "[]")])
    expect(factsOf(session.messages).files.size).toBe(0)
  })

  const refused = failedTool("bash", { command: "npm test" }, "The user rejected permission to use this tool call.")
  test.each([
    ["rejected", refused, []],
    [
      "aborted",
      bash("npm test", "<shell_metadata>\nUser aborted the command\n</shell_metadata>"),
      [{ kind: "command" }],
    ],
  ])("a check that was %s is not a failing check, and one that fails stays as it is", (_, part, failures) => {
    const session = new SessionBuilder().user("go").assistant([part])
    expect([...factsOf(session.messages).failures.values()]).toMatchObject(failures)
    session.assistant([bash("npm test", FAILING, 1)])
    const failing = [...factsOf(session.messages).failures.values()]
    expect(failing).toMatchObject([{ kind: "check" }])
    session.assistant([part])
    expect([...factsOf(session.messages).failures.values()]).toEqual(failing)
  })

  test.each([
    [
      "npm --prefix ui test -- run",
      'npm error Missing script: "test"\nnpm error\nnpm error To see a list of scripts, run:\nnpm error   npm run\n',
    ],
    ["npm run lint", "npm ERR! missing script: lint\n"],
    ["cd ui && pnpm run check", "\u2009ERR_PNPM_NO_SCRIPT\u2009 Missing script: check\n"],
    ["pnpm check", 'undefined\n ERR_PNPM_RECURSIVE_EXEC_FIRST_FAIL  Command "check" not found\n'],
    ["yarn check", 'yarn run v1.22.22\nerror Command "check" not found.\n'],
    ["yarn test:all", 'Usage Error: Couldn\'t find a script named "test:all".\n'],
    ["bun run check", 'error: Script not found "check"\n'],
    ["make chekc", "make: *** No rule to make target 'chekc'.  Stop.\n"],
    ["npx vitset run test", "npm error could not determine executable to run\n"],
    ["vitest run", "/bin/bash: line 1: vitest: command not found\n"],
    ["go vet ./... && go test ./...", "zsh:1: command not found: go\n"],
    ["timeout 60 go test ./...", "(eval):1: command not found: timeout\n"],
    ["pytest -q", "/bin/sh: 1: pytest: not found\n"],
    ["./gradlew test", "bash: line 1: ./gradlew: No such file or directory\n"],
    ["mise run lint:full", "mise ERROR no task lint:full found\nmise ERROR Run with --verbose for more information\n"],
    ["just test-all", "error: Justfile does not contain recipe `test-all`\n"],
    ["task test:all", 'task: Task "test:all" does not exist\n'],
    ["deno task check:all", "Task not found: check:all\nAvailable tasks:\n- check\n    deno check\n"],
    [
      "gradle check-all",
      "FAILURE: Build failed with an exception.\n\n* What went wrong:\nTask 'check-all' not found in root project 'shop'.\n\n* Try:\n> Run gradle tasks to get a list of available tasks.\n",
    ],
    [
      "cargo nextest run",
      "error: no such command: `nextest`\n\nhelp: view all installed commands with `cargo --list`\n",
    ],
    [
      "golangci-lint run --disable-all ./... 2>&1",
      "Error: unknown flag: --disable-all\nThe command is terminated due to an error: unknown flag: --disable-all\n",
    ],
    [
      "pytest --timeout=5 tests",
      "ERROR: usage: pytest [options] [file_or_dir] [file_or_dir] [...]\npytest: error: unrecognized arguments: --timeout=5\n  inifile: None\n  rootdir: /app\n",
    ],
    [
      "cargo test --workpsace",
      "error: unexpected argument '--workpsace' found\n\n  tip: a similar argument exists: '--workspace'\n\nUsage: cargo test [OPTIONS] [TESTNAME] [-- [ARGS]...]\n\nFor more information, try '--help'.\n",
    ],
    ["npx tsc --noEmitt", "error TS5025: Unknown compiler option '--noEmitt'. Did you mean 'noEmit'?\n"],
    [
      "go vet -shadow ./...",
      "flag provided but not defined: -shadow\nusage: go vet [build flags] [-vettool prog] [packages]\n",
    ],
    ["npx eslint --fxi src", "Invalid option '--fxi' - perhaps you meant '--fix'?\n"],
    [
      "npx vitest run --reporterr=dot",
      "CACError: Unknown option `--reporterr`\n    at Command.checkUnknownOptions (cac.js:1)\n",
    ],
    ["pytest -k nothing", "collected 4 items / 4 deselected / 0 selected\n\n=== 4 deselected in 0.03s ===\n"],
    ["pytest test_a.py::nope", "=== no tests ran in 0.02s ===\nERROR: not found: /app/test_a.py::nope\n"],
    ["pytest nope.py", "=== no tests ran in 0.02s ===\nERROR: file or directory not found: nope.py\n"],
    ["npx vitest run nope", "No test files found, exiting with code 1\n\nfilter: nope\n"],
    ["npx jest nope", "No tests found, exiting with code 1\nPattern: nope - 0 matches\n"],
    ["npx mocha nope", 'Error: No test files found: "nope"\n'],
    ["node --test nope.mjs", "Could not find '/app/nope.mjs'\n"],
    [
      "bun test ./b -t nothing",
      'bun test v1.4.5\n\nb/a.test.ts:\n\nerror: regex "nothing" matched 0 tests. Searched 1 file (skipping 2 tests) [8.00ms]\n',
    ],
    ["bun test ./nope", 'bun test v1.4.5\nTest filter "./nope" had no matches\n'],
  ])("`%s` was mistyped, and is no failing check", (command, output) => {
    expect(failureKinds(command, output)).toEqual(["command"])
  })

  test.each([
    ["npm run vitest", "> shop@1.0.0 vitest\n> vitest run\n\nsh: 1: vitest: not found\n"],
    ["npm run check", '> shop@1.0.0 check\n> npm run lint\n\nnpm error Missing script: "lint"\n'],
    ["npm run lint", "> shop@1.0.0 lint\n> npx eslnit\n\nnpm error could not determine executable to run\n"],
    ["make all", "make: *** No rule to make target 'all', needed by 'check'.  Stop.\n"],
    ["./test.sh", "./test.sh: line 3: vitest: command not found\n"],
    ["npm test", "> shop@1.0.0 test\n> vitest --reporterr=dot\n\nCACError: Unknown option `--reporterr`\n"],
    [
      "pytest --color=no",
      "___ test_cli ___\nE   AssertionError: unknown option --color\n\ntest_cli.py:3: AssertionError\n=== 1 failed in 0.01s ===\n",
    ],
    ["gradle check", "* What went wrong:\nExecution failed for task ':check'.\n> Unknown option --fast\n"],
  ])("`%s` failed in what it ran, and is a failing check", (command, output) => {
    expect(failureKinds(command, output)).toEqual(["check"])
  })

  test.each(["Exit code 1", "Command exited with code 1", "(no output)\n\nCommand exited with code 1"])(
    "nor is it one in a host that reports an error: %j",
    (error) => {
      const session = new SessionBuilder()
        .user("go")
        .assistant([failedTool("bash", { command: "cd src && rg -n nothing" }, error)])
      expect(factsOf(session.messages).failures.size).toBe(0)
      // nor an interrupted call
      const [event] = newLedger()
        .read(conversationOf(session.messages))
        .entries.flatMap(({ events }) => events)
      expect(event).toMatchObject({ ok: true, outputHash: env.hash(error) })
    },
  )

  test("a search that finds nothing is no failure", () => {
    expect(
      factsOf(new SessionBuilder().user("go").assistant([bash("grep -rn nothing src", "", 1)]).messages).failures.size,
    ).toBe(0)
  })

  test.each([
    "The user rejected permission to use this specific tool call with the following feedback: not here",
    "The user has specified a rule which prevents you from using this specific tool call. Here are some of the relevant rules []",
    "The user dismissed this question",
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, …)",
  ])("a call that the user rejected is no failure: %s", (error) => {
    const session = new SessionBuilder().user("go").assistant([failedTool("edit", { filePath: `${ROOT}/a.ts` }, error)])
    expect(factsOf(session.messages).failures.size).toBe(0)
  })

  test("a tool's error is open until a retry succeeds, and dropped when the agent gives up on it", () => {
    const session = new SessionBuilder()
      .user("go")
      .assistant([failedTool("edit", { filePath: `${ROOT}/a.ts` }, "oldString not found")])
    expect([...factsOf(session.messages).failures.values()]).toMatchObject([
      { key: "edit a.ts", detail: "oldString not found", kind: "tool" },
    ])
    const mended = new SessionBuilder()
      .user("go")
      .assistant([failedTool("edit", { filePath: `${ROOT}/a.ts` }, "no")])
      .assistant([edit("a.ts")])
    expect(factsOf(mended.messages).failures.size).toBe(0)
    for (let i = 0; i < 7; i++) session.assistant([read("b.ts")])
    expect(factsOf(session.messages).failures.size).toBe(0)
  })

  test("what a command had printed when it was interrupted is no reason, unless it is a report", () => {
    const interrupted = (command: string, output?: string) => {
      const state = { status: "error", input: { command }, error: "Tool execution aborted" }
      const part = { ...bash(command), state: { ...state, metadata: { output, interrupted: true } } }
      return [...factsOf(new SessionBuilder().user("go").assistant([part]).messages).failures.values()]
    }
    expect(interrupted("npm start", "ready on port 3000\n")).toMatchObject([{ detail: "interrupted", kind: "command" }])
    expect(interrupted("npm test", "Tests: 3 passed, 4 total\n")).toMatchObject([
      { detail: "interrupted", kind: "command" },
    ])
    expect(interrupted("npm test", FAILING)).toMatchObject([{ detail: FAILING, kind: "check" }])
    // OpenCode sends the error then
    expect(interrupted("npm test")).toMatchObject([{ detail: "Tool execution aborted", kind: "command" }])
  })

  test("counts from the first failure on", () => {
    const session = new SessionBuilder()
      .user("go")
      .assistant([bash("npm test", FAILING, 1)])
      .assistant([edit("a.ts")])
      .assistant([bash("npm test", FAILING, 1)])
    expect(factsOf(session.messages).failures.get("npm test")).toMatchObject({ since: 1, last: 3, times: 2 })
  })
})

const repeatsOf = (messages: HostMessage[]) => [...factsOf(messages).results.values()].filter(({ times }) => times > 1)

describe("runs by tools of servers and plugins", () => {
  const failing = ` ❯ src/cart.test.ts (2 tests | 1 failed) 5ms
 FAIL  src/cart.test.ts > adds
AssertionError: expected 3 to be 4
 ❯ src/cart.test.ts:4:20

 Test Files  1 failed (1)
      Tests  1 failed | 1 passed (2)
`
  const passing = ` ✓ src/cart.test.ts (2 tests) 3ms

 Test Files  1 passed (1)
      Tests  2 passed (2)
`
  const started = (output: string) => `Process started with PID 4711 (shell: /bin/bash)\nInitial output:\n${output}`
  const finished = "\n✅ Process 4711 has finished execution"
  const failuresAfter = (...parts: HostPart[]) => {
    const session = new SessionBuilder().user("go")
    for (const part of parts) session.assistant([part])
    return [...factsOf(session.messages).failures.values()].map(({ key, kind, detail }) => [kind, key, detail])
  }
  const eventOf = (part: HostPart) => {
    const ledger = newLedger()
    take(ledger, new SessionBuilder().user("go").assistant([part]).messages)
    return ledger.entries.flatMap(({ events }) => events)[0]
  }
  const detail = "src/cart.test.ts:4 expected 3 to be 4 (adds)"

  test.each<[string, Record<string, unknown>, (run: string, exit: number) => string]>([
    ["vitest_run_tests", { target: "src" }, (run) => run],
    ["run-checks", {}, (run) => run],
    ["desktop-commander_start_process", { command: "npm test", timeout_ms: 30000 }, (run) => started(run + finished)],
    [
      "desktop-commander_read_process_output",
      { pid: 4711 },
      (run, exit) =>
        `[Reading 9 new lines (total: 9 lines)]\n\n${run}\n✅ Process completed with exit code ${exit} (runtime: 2.10s)`,
    ],
    [
      "jetbrains_execute_run_configuration",
      { configurationName: "all tests" },
      (output, exitCode) => JSON.stringify({ exitCode, timedOut: false, output }),
    ],
    [
      "jetbrains_execute_terminal_command",
      { command: "npm test" },
      (command_output, command_exit_code) => JSON.stringify({ command_exit_code, command_output }),
    ],
    [
      "pty_read",
      { id: "pty_1" },
      (run) =>
        `<pty_output id="pty_1" status="exited">\n${run
          .split("\n")
          .map((text, at) => `${String(at + 1).padStart(5, "0")}| ${text}`)
          .join("\n")}\n</pty_output>`,
    ],
  ])("a failing run by %s is open until it passes", (name, input, output) => {
    const key = [name, ...Object.values(input)].join(" ").replace(" 4711", " pid=4711").replace(" 30000", "")
    const failed = tool(name, input, output(failing, 1))
    expect(failuresAfter(failed)).toEqual([["tool", key, detail]])
    expect(failuresAfter(failed, tool(name, input, output(passing, 0)))).toEqual([])
    expect(eventOf(tool(name, input, output(passing, 0)))).toMatchObject({ ok: true, isCheck: true })
  })

  test("a run by Serena in another folder is another one", () => {
    const run = (cwd: string | undefined, return_code: number) =>
      tool(
        "serena_execute_shell_command",
        { command: "npm run lint", ...(cwd && { cwd }) },
        JSON.stringify({ stdout: "", stderr: "", return_code }),
      )
    const failed = run("web", 1)
    expect(failuresAfter(failed).map(([, key]) => key)).toEqual([expect.stringContaining("web && npm run lint")])
    expect(failuresAfter(failed, run(undefined, 0))).toHaveLength(1)
    expect(failuresAfter(failed, run("web", 0))).toEqual([])
  })

  test("a run in another terminal closes the failure", () => {
    const read = (pid: number, output: string) => tool("desktop-commander_read_process_output", { pid }, output)
    expect(failuresAfter(read(1, failing), read(2, passing))).toEqual([])
    expect(failuresAfter(read(1, failing), read(2, "Server listens on port 3000"))).toHaveLength(1)
  })

  test("what a running process has printed so far is no verdict, except a failure", () => {
    const begun = (output: string) => tool("desktop-commander_start_process", { command: "npm test" }, started(output))
    expect(eventOf(begun(passing))).toMatchObject({ ok: false, isCheck: false })
    expect(failuresAfter(begun(failing))).toHaveLength(1)
  })

  test("a run that an answer only quotes has neither failed nor passed", () => {
    for (const [name, input] of [
      ["context7_query-docs", { libraryId: "/vitest-dev/vitest", query: "reporters" }],
      ["github_get_job_logs", { owner: "ada", repo: "shop", job_id: 7 }],
      ["hud_recall", { steps: "3" }],
      ["github_get_latest_release", { owner: "ada", repo: "shop" }],
      ["iterm-mcp_read_terminal_output", { linesOfOutput: 50 }],
      ["execute", { code: "return await tools.context7.query_docs({ query: 'reporters' })" }],
    ] as const) {
      expect(failuresAfter(tool(name, input, failing))).toEqual([])
      expect(eventOf(tool(name, input, passing))).toMatchObject({ ok: true, isCheck: false })
    }
  })

  test("a terminal that still runs may show older runs too", () => {
    const shown = (status: string) =>
      failuresAfter(
        tool("pty_read", { id: "pty_1" }, `<pty_output id="pty_1" status="${status}">\n${failing}${passing}`),
      )
    expect(shown("running")).toEqual([])
    expect(shown("exited")).toHaveLength(1)
  })

  test("a run in which no test ran is none that passed", () => {
    const none = tool("vitest_run_tests", { target: "src" }, " Test Files  1 skipped (1)\n      Tests  3 skipped (3)\n")
    expect(eventOf(none)).toMatchObject({ ok: false, isCheck: false, ranNothing: true })
  })

  test("a failure says no secret that the run was given", () => {
    const printed = failing.replace("expected 3 to be 4", "no user with correcthorse9")
    const input = { target: "src", user: "ada", password: "correcthorse9" }
    const [[, key, said] = []] = failuresAfter(tool("vitest_run_tests", input, printed))
    expect(said).toBe("src/cart.test.ts:4 no user with [redacted] (adds)")
    expect(key).not.toContain("correcthorse9")
  })

  test("of an exit code alone it is not known what it answers", () => {
    const ran = tool("jetbrains_execute_run_configuration", {}, JSON.stringify({ exitCode: 1, output: "a line" }))
    expect(failuresAfter(ran)).toEqual([])
    expect(eventOf(ran)).toMatchObject({ ok: false, isCheck: false })
  })

  test("a command that fails is a failure where the tool says its exit code", () => {
    const output = JSON.stringify({ command_exit_code: 2, command_output: "ls: nope: No such file or directory\n" })
    const listed = tool("jetbrains_execute_terminal_command", { command: "ls nope" }, output)
    expect(failuresAfter(listed)).toEqual([
      ["tool", "jetbrains_execute_terminal_command ls nope", "ls: nope: No such file or directory"],
    ])
  })
})

describe("repeats", () => {
  test("the same question with the same answer is a repeat, whatever the order of the arguments", () => {
    const session = new SessionBuilder().user("go")
    session
      .assistant([tool("grep", { pattern: "x", path: "src" }, "none")])
      .assistant([tool("grep", { path: "src", pattern: "x" }, "none")])
    expect(repeatsOf(session.messages)).toMatchObject([{ times: 2, last: 2 }])
  })

  test("a different answer is not a repeat", () => {
    const session = new SessionBuilder()
      .user("go")
      .assistant([read("a.ts", "one")])
      .assistant([read("a.ts", "two")])
    expect(repeatsOf(session.messages)).toEqual([])
  })

  test("a repeat beside an image is one", () => {
    const both = () => [pictured(read("shot.png", "Image read successfully")), read("a.ts", "one")]
    const session = new SessionBuilder().user("go").assistant(both()).assistant(both())
    expect(repeatsOf(session.messages)).toMatchObject([{ what: "read a.ts" }])
  })

  test("an image read again is not a repeat, since another one has the same text", () => {
    const look = (url: string) => {
      const part = read("shot.png", "Image read successfully")
      return { ...part, state: { ...part.state, attachments: [{ type: "file", mime: "image/png", url }] } }
    }
    const session = new SessionBuilder()
      .user("go")
      .assistant([look("data:,one")])
      .assistant([look("data:,two")])
    expect(repeatsOf(session.messages)).toEqual([])
  })

  test("a check run again after a command changed a file is not a repeat", () => {
    const failing = () => bash("npm test", FAILING, 1)
    const changes = { type: "patch", hash: "x", files: [`${ROOT}/a.ts`] }
    const session = new SessionBuilder().user("go").assistant([failing()])
    session.assistant([bash("sed -i s/a/b/ a.ts"), changes]).assistant([failing(), changes])
    expect(repeatsOf(session.messages)).toEqual([])
    expect(repeatsOf(session.assistant([failing()]).messages)).toMatchObject([{ what: "npm test", times: 2 }])
  })

  test("a check run again after an edit is not a repeat", () => {
    const session = new SessionBuilder()
      .user("go")
      .assistant([bash("npm test", "ok")])
      .assistant([edit("a.ts")])
      .assistant([bash("npm test", "ok")])
    expect(repeatsOf(session.messages)).toEqual([])
  })

  test("a command run again after a message of the user's is not a repeat, a file read again is", () => {
    const look = () => [bash("git status", "nothing to commit"), read("a.ts")]
    const session = new SessionBuilder().user("go").assistant(look()).user("now make a pull request").assistant(look())
    expect(repeatsOf(session.messages)).toMatchObject([{ what: "read a.ts", times: 2 }])
    expect(repeatsOf(session.assistant(look()).messages)).toMatchObject([{ times: 2 }, { times: 3 }])
  })

  test("what a compaction removed is not a repeat when it is asked for again", () => {
    const session = new SessionBuilder().user("go").assistant([read("a.ts")])
    const ledger = newLedger()
    take(ledger, session.fresh())
    session.compaction().assistant([read("a.ts")])
    take(ledger, session.fresh().slice(2))
    const times = () => [...ledger.facts.results.values()].map((result) => result.times)
    expect(times()).toEqual([1])
    take(
      ledger,
      session
        .assistant([read("a.ts")])
        .fresh()
        .slice(2),
    )
    expect(times()).toEqual([2])
  })
})

describe("context use", () => {
  test("is the last report plus an estimate of what came after it", () => {
    const session = new SessionBuilder()
      .user("go")
      .assistant([read("a.ts", "x".repeat(4000))], usage(1000, 20_000, 500))
    const facts = factsOf(session.messages)
    expect(facts.usage).toEqual({ input: 1000, cacheRead: 20_000, cacheWrite: 500, output: 100 })
    expect(facts.unreported).toBeGreaterThan(1000)
  })

  test("a call without a report keeps the one before it", () => {
    const session = new SessionBuilder()
      .user("go")
      .assistant([], usage(1000))
      .assistant([read("a.ts")], { error: { name: "MessageAbortedError" } })
    expect(factsOf(session.messages).usage?.input).toBe(1000)
  })

  test("learns by how much its estimates are off", () => {
    const session = new SessionBuilder().user("go").assistant([read("a.ts", "x".repeat(8000))], usage(10_000))
    session.assistant([read("b.ts", "x".repeat(8000))], usage(13_000)).assistant([], usage(16_000))
    expect(factsOf(session.messages).ratio).toBeGreaterThan(1.1)
    // one growth that is not of text, such as an image, says little
    session.assistant([], usage(60_000))
    expect(factsOf(session.messages).ratio).toBeLessThan(1.7)
  })

  test("counts an image with a tool's result as a long text", () => {
    const shot = tool("browser_screenshot", {}, "Took it.")
    const tokens = (part: HostPart) => {
      const ledger = createLedger(createEnv(ROOT))
      return take(ledger, new SessionBuilder().assistant([part]).messages).entries[0]?.tokens ?? 0
    }
    expect(tokens(pictured(shot)) - tokens(shot)).toBe(1_500)
  })

  test("counts nothing of a step that failed, which is not sent", () => {
    const failed = { error: { name: "UnknownError", data: {} } }
    const session = new SessionBuilder().user("go").assistant([read("a.ts", "x".repeat(8000))], failed)
    const ledger = createLedger(createEnv(ROOT))
    expect(take(ledger, session.messages).entries.map(({ tokens }) => tokens > 0)).toEqual([true, false])
  })
})

describe("odd input", () => {
  test("parts of unknown type or broken shape are skipped", () => {
    const broken = [
      null,
      3,
      {},
      { type: "hologram" },
      { type: "tool" },
      { type: "tool", tool: "read", state: { status: "??" } },
      { type: "tool", tool: 5, state: {} },
    ]
    const session = new SessionBuilder().user("go").assistant([read("a.ts")])
    session.messages[1]!.parts.push(...(broken as never[]))
    const facts = factsOf(session.messages)
    expect(facts.events).toBe(1)
    expect([...facts.files.keys()]).toEqual(["a.ts"])
  })

  test("a getter that throws costs one part", () => {
    const trap = Object.defineProperty(
      { type: "tool", tool: "read", state: { status: "completed", output: "" } },
      "callID",
      {
        enumerable: true,
        get: () => {
          throw new Error("trap")
        },
      },
    )
    const session = new SessionBuilder().user("go").assistant([read("a.ts")])
    session.messages[1]!.parts.unshift(trap as never)
    expect([...factsOf(session.messages).files.keys()]).toEqual(["a.ts"])
  })

  test("NULs and lone surrogates are removed", () => {
    const facts = factsOf(
      new SessionBuilder().user("a\u0000b \ud800 c").assistant([bash("false \u0000", "boom \u0000\udfff", 1)]).messages,
    )
    const text = JSON.stringify([...facts.requests, ...facts.failures.values()])
    expect(text).not.toMatch(/\\u0000|\\ud800|\\udfff/)
  })
})

describe("a changed array", () => {
  const build = () =>
    new SessionBuilder()
      .user("make the login test pass on node 22, please")
      .assistant([read("a.ts"), bash("npm test", FAILING, 1)], usage(1000))
      .assistant([edit("a.ts")], usage(1500))
      .user("and now the logout test, in the same way as before")
      .assistant([read("b.ts")], usage(2000))

  test("incremental updates give the same facts as reading everything at once", () => {
    const { messages } = build()
    const ledger = newLedger()
    for (let n = 0; n <= messages.length; n++) take(ledger, structuredClone(messages.slice(0, n)))
    expect(structuredClone(ledger.facts)).toEqual(plain(messages))
  })

  test("an update reads only what is new", () => {
    const { messages } = build()
    const ledger = newLedger()
    take(ledger, structuredClone(messages.slice(0, 4)))
    expect(take(ledger, structuredClone(messages))).toMatchObject({
      fresh: [{ id: messages.at(-1)?.info.id }],
      gone: [],
      rebuilt: false,
    })
    expect(take(ledger, structuredClone(messages))).toMatchObject({ fresh: [], gone: [], rebuilt: false })
  })

  test("a revert removes the facts of the removed messages", () => {
    const { messages } = build()
    const ledger = newLedger()
    take(ledger, structuredClone(messages))
    expect(take(ledger, structuredClone(messages.slice(0, 3)))).toMatchObject({
      fresh: [],
      gone: messages.slice(3).map(({ info }) => info.id),
      rebuilt: true,
    })
    expect(structuredClone(ledger.facts)).toEqual(plain(messages.slice(0, 3)))
  })

  test("a step keeps its number where another plugin has removed those before it", () => {
    const session = new SessionBuilder().user("go")
    for (let n = 0; n < 20; n++) session.assistant([read(`${n}.ts`)])
    session.assistant([bash("sh deploy.sh", "error: no such host", 1)])
    const ledger = newLedger()
    take(ledger, session.fresh())
    const compressed = () => [session.messages[0]!, ...session.fresh().slice(15)]
    take(ledger, compressed())
    expect(ledger.facts.calls).toBe(21)
    expect(ledger.entries.map(({ call }) => call)).toEqual([0, 15, 16, 17, 18, 19, 20, 21])
    expect([...ledger.facts.failures.values()]).toMatchObject([{ last: 21 }])
    for (let n = 0; n < 7; n++) session.assistant([read("a.ts")])
    take(ledger, compressed())
    expect(ledger.facts.calls).toBe(28)
    expect(ledger.facts.failures.size).toBe(0)
  })

  test("a changed message is noticed although its id stays the same", () => {
    const { messages } = build()
    const ledger = newLedger()
    take(ledger, structuredClone(messages))
    const edited = structuredClone(messages)
    edited[4]!.parts = edited[4]!.parts.filter((part) => part.type !== "tool")
    take(ledger, edited)
    expect([...ledger.facts.files.keys()]).toEqual(["a.ts"])
  })

  test("a fork with new ids gives the same facts", () => {
    const { messages } = build()
    const fork = structuredClone(messages)
    for (const message of fork) message.info.id = `fork_${message.info.id}`
    expect(plain(fork).files).toEqual(plain(messages).files)
    expect(plain(fork).failures).toEqual(plain(messages).failures)
  })

  test("a tool that finishes between two calls is no longer running", () => {
    const session = new SessionBuilder()
      .user("go")
      .assistant([
        { type: "tool", tool: "bash", callID: "c1", state: { status: "running", input: { command: "sleep 9" } } },
      ])
    const ledger = newLedger()
    take(ledger, session.fresh())
    expect(ledger.facts.running).toHaveLength(1)
    session.messages[1]!.parts[1] = { ...bash("sleep 9"), callID: "c1" }
    take(ledger, session.fresh())
    expect(ledger.facts.running).toHaveLength(0)
  })

  test("a tool left running by an abort is no longer running once there is a next message", () => {
    const running = { type: "tool", tool: "bash", callID: "c1", state: { status: "running", input: { command: "x" } } }
    expect(factsOf(new SessionBuilder().user("go").assistant([running]).user("and now?").messages).running).toEqual([])
  })

  test("pruning at the end of a turn is noticed, also in old messages", () => {
    const session = new SessionBuilder()
    for (let i = 0; i < 150; i++) session.user("go").assistant([read(`f${i}.ts`)])
    const ledger = newLedger()
    take(ledger, session.fresh())
    session.messages[1]!.parts[1]!.state!.time!.compacted = 1
    session.user("next")
    take(ledger, session.fresh())
    expect(ledger.entries[1]?.events[0]?.cleared).toBe(true)
  })
})

describe("compaction", () => {
  const before = () =>
    new SessionBuilder()
      .user("make the login test pass on node 22, please")
      .assistant([read("a.ts"), bash("npm test", FAILING, 1)], usage(90_000))
      .assistant([edit("b.ts")], usage(91_000))

  test("removed messages are still known, kept ones are not counted twice", () => {
    const session = before()
    const ledger = newLedger()
    take(ledger, session.fresh())
    session.compaction(session.id(2))
    const [user, first, second, request, summary] = session.fresh() as [
      HostMessage,
      HostMessage,
      HostMessage,
      HostMessage,
      HostMessage,
    ]
    void user
    void first
    const update = take(ledger, [request, summary, second])
    expect(update.carried?.compactionID).toBe(request.info.id!)
    expect(ledger.facts).toMatchObject({ calls: 2, events: 1, compactions: 1, callsSinceCompaction: 0 })
    expect(ledger.facts.files.get("a.ts")).toMatchObject({ readAt: 1 })
    expect(ledger.facts.files.get("b.ts")).toMatchObject({ editedAt: 2 })
    expect([...ledger.facts.failures.keys()]).toEqual(["npm test"])
    expect(ledger.facts.requests[0]?.text).toContain("login test")
  })

  test("removed messages are still known where another plugin puts a message in front of what is left", () => {
    const session = before()
    const ledger = newLedger()
    take(ledger, [FRONT, ...session.fresh()])
    take(ledger, [FRONT, ...session.compaction().fresh().slice(-2)])
    expect([...ledger.facts.failures.keys()]).toEqual(["npm test"])
    session.assistant([edit("c.ts")])
    expect(take(ledger, [FRONT, ...session.fresh().slice(-3)]).entries.at(-1)?.call).toBe(3)
    take(ledger, [FRONT, ...session.compaction().fresh().slice(-2)])
    expect(ledger.facts).toMatchObject({ calls: 3, compactions: 2 })
    expect([...ledger.facts.files.keys()]).toEqual(["a.ts", "b.ts", "c.ts"])
  })

  test.each([[[]], [[FRONT]]])(
    "what is reverted after one that an earlier process has seen is not of it (%#)",
    (front) => {
      const session = before().compaction()
      session.assistant([read("c.ts")]).assistant([bash("npm test", FAILING, 1)])
      const ledger = newLedger()
      take(ledger, [...front, ...session.fresh().slice(3)])
      expect(take(ledger, [...front, ...session.fresh().slice(3, -1)]).carried).toBeUndefined()
      expect(ledger.facts).toMatchObject({ calls: 1, failures: new Map() })
    },
  )

  test("usage reported in the kept tail is not the size of the context after it", () => {
    const session = before()
    const ledger = newLedger()
    take(ledger, session.fresh())
    session.compaction(session.id(2))
    const all = session.fresh()
    take(ledger, [all[3]!, all[4]!, all[2]!])
    expect(ledger.facts.usage).toBeUndefined()
    expect(ledger.facts.unreported).toBeLessThan(1000)
  })

  test("a second one carries the facts of the first", () => {
    const session = before()
    const ledger = newLedger()
    take(ledger, session.fresh())
    session.compaction()
    take(ledger, session.fresh().slice(3))
    session.assistant([read("c.ts")], usage(9000))
    take(ledger, session.fresh().slice(3))
    session.compaction()
    take(ledger, session.fresh().slice(6))
    expect(ledger.facts).toMatchObject({ calls: 3, compactions: 2 })
    expect([...ledger.facts.files.keys()].sort()).toEqual(["a.ts", "b.ts", "c.ts"])
  })

  test("one whose tail has the compaction before it carries the facts of that one", () => {
    const session = before()
      .assistant([read("c.ts")])
      .assistant([read("d.ts")])
    const ledger = newLedger()
    take(ledger, session.fresh())
    session.compaction(session.id(3))
    const [, , , third, fourth, request, summary] = session.fresh() as HostMessage[]
    take(ledger, [request!, summary!, third!, fourth!])
    expect(ledger.facts.calls).toBe(4)
    // it is newer than the first message of the tail, so OpenCode keeps it too
    session.compaction(session.id(4))
    const [again, newest] = session.fresh().slice(-2) as [HostMessage, HostMessage]
    take(ledger, [again, newest, fourth!, request!, summary!])
    session.assistant([read("e.ts")])
    take(ledger, [again, newest, fourth!, request!, summary!, session.fresh().at(-1)!])
    expect(ledger.facts).toMatchObject({ calls: 5, compactions: 2 })
    expect([...ledger.facts.files.keys()].sort()).toEqual(["a.ts", "b.ts", "c.ts", "d.ts", "e.ts"])
    expect([...ledger.facts.failures.keys()]).toEqual(["npm test"])
  })

  test("a revert to before it restores the earlier facts", () => {
    const session = before()
    const ledger = newLedger()
    take(ledger, session.fresh())
    const facts = structuredClone(ledger.facts)
    session.compaction()
    take(ledger, session.fresh().slice(3))
    take(ledger, session.fresh().slice(0, 3))
    expect(structuredClone(ledger.facts)).toEqual(facts)
  })

  test("a revert to one that only an earlier process has seen leaves nothing of what came after it", () => {
    const session = before()
    const first = newLedger()
    take(first, session.fresh())
    session.compaction().assistant([read("c.ts")])
    session.user("now do something quite different from that, please")
    session.assistant([bash("npm run lint", "3 problems (3 errors, 0 warnings)", 1)])
    take(first, session.fresh().slice(3))
    session.compaction()
    const { carried } = take(first, session.fresh().slice(8))
    const ledger = newLedger()
    if (carried) ledger.restore(carried)
    take(ledger, session.fresh().slice(8))
    expect(ledger.facts).toMatchObject({ calls: 4, compactions: 2 })
    take(ledger, session.fresh().slice(3, 6))
    expect([...ledger.facts.files.keys()]).toEqual(["c.ts"])
    expect(ledger.facts).toMatchObject({ compactions: 1, requests: [], failures: new Map() })
    // no step gets the number of an earlier one, and reading it again changes nothing
    expect(ledger.facts.calls).toBe(5)
    session.messages.length = 6
    session.user("go on")
    take(ledger, session.fresh().slice(3))
    take(ledger, session.fresh().slice(3, 6))
    expect(ledger.facts.calls).toBe(5)
  })

  test("one that failed changes nothing", () => {
    const session = before()
    const facts = factsOf(session.messages)
    session.compaction()
    session.messages.at(-1)!.info.error = { name: "APIError" }
    expect(factsOf(session.messages)).toMatchObject({ compactions: 0, usage: facts.usage! })
  })
})

describe("any history", () => {
  const step = fc.constantFrom(
    () => read("a.ts"),
    () => read("b.ts", "other"),
    () => edit("a.ts"),
    () => tool("write", { filePath: `${ROOT}/c.ts`, content: "x" }, "Wrote file successfully."),
    () => bash("npm test", FAILING, 1),
    () => bash("npm test", "Tests: 4 passed, 4 total"),
    () => tool("grep", { pattern: "x" }, "Found 0 matches"),
    () => failedTool("edit", { filePath: `${ROOT}/a.ts` }, "oldString not found"),
    () => ({ type: "patch", hash: "h", files: [`${ROOT}/b.ts`] }),
  )
  const calls = fc.array(
    fc.record({ parts: fc.array(step, { maxLength: 3 }), input: fc.nat(90_000), asks: fc.boolean() }),
    { maxLength: 12 },
  )

  test("an array that grows, is cut back and grows again gives the facts of its final state", () => {
    fc.assert(
      fc.property(calls, fc.array(fc.nat(30), { maxLength: 8 }), (history, cuts) => {
        const session = new SessionBuilder().user("make the login test pass on node 22, please")
        for (const { parts, input, asks } of history) {
          session.assistant(
            parts.map((make) => make()),
            usage(input),
          )
          if (asks) session.user("go on")
        }
        const ledger = newLedger()
        for (const cut of cuts) take(ledger, session.fresh().slice(0, cut))
        take(ledger, session.fresh())
        expect(structuredClone(ledger.facts)).toEqual(plain(session.messages))
      }),
    )
  })

  test("a compaction loses no file and no open failure, whatever tail it keeps", () => {
    fc.assert(
      fc.property(calls, fc.nat(20), (history, kept) => {
        const session = new SessionBuilder().user("make the login test pass on node 22, please")
        for (const { parts, input } of history)
          session.assistant(
            parts.map((make) => make()),
            usage(input),
          )
        const ledger = newLedger()
        take(ledger, session.fresh())
        const before = structuredClone(ledger.facts)
        const size = session.messages.length
        session.compaction()
        const all = session.fresh()
        // the first message is never part of a tail: when everything fits, OpenCode keeps none
        const tail = all.slice(Math.max(1, size - kept), size)
        take(ledger, [...all.slice(size), ...tail])
        expect([...ledger.facts.files.keys()].sort()).toEqual([...before.files.keys()].sort())
        expect([...ledger.facts.failures.keys()].sort()).toEqual([...before.failures.keys()].sort())
        expect(ledger.facts).toMatchObject({ calls: before.calls, compactions: 1, requests: before.requests })
      }),
    )
  })
})

test("the ledger knows every part type of OpenCode's SDK", () => {
  const types = {
    text: 1,
    reasoning: 1,
    tool: 1,
    file: 1,
    agent: 1,
    subtask: 1,
    "step-start": 1,
    "step-finish": 1,
    snapshot: 1,
    patch: 1,
    retry: 1,
    compaction: 1,
  } satisfies Record<Part["type"], 1>
  const session = new SessionBuilder().user("go")
  session.messages[0]!.parts.push(
    ...Object.keys(types)
      .filter((type) => type !== "tool")
      .map((type) => ({ type })),
  )
  const parts = conversationOf(session.messages).flatMap(({ parts }) => parts)
  expect(parts.filter((part) => part.type === "other" && !part.understood)).toEqual([])
})

test("a conversation that is read again before its reading is accepted is not read twice", () => {
  const ledger = newLedger()
  const session = new SessionBuilder().user("go").assistant([read("a.ts"), bash("npm test", FAILING, 1)])
  const conversation = () => conversationOf(session.fresh())
  const first = ledger.read(conversation())
  expect(ledger.read(conversation())).toBe(first)
  expect(first.fresh).toHaveLength(2)
  ledger.accept(first)
  expect(ledger.read(conversation())).toEqual({ ...first, fresh: [], rebuilt: false })
  session.assistant([edit("a.ts")])
  const longer = ledger.read(conversation())
  expect(longer.fresh).toHaveLength(1)
  // another conversation is another reading
  session.messages.pop()
  session.assistant([edit("b.ts")])
  expect([...ledger.read(conversation()).facts.files.keys()].sort()).toEqual(["a.ts", "b.ts"])
})
