// OpenCode 2's sessions beside OpenCode 1's in one file: its rows first, nothing twice, and the same figures from a replay.
import { Database } from "bun:sqlite"
import { afterAll, expect, test } from "bun:test"
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { readDatabases } from "../../src/doctor/store.ts"
import { conversationOf } from "../../src/host/v1/conversation.ts"
import type { HostMessage } from "../../src/host/v1/message.ts"
import { openOpencode } from "../../src/store/opencode.ts"
import { visibleMessages } from "../../src/store/recording.ts"
import { type Stored, storedOf, toolV2 } from "../support/host-v2.ts"
import { opencodeDatabase, V1_TABLES, V2_TABLES } from "../support/opencode-database.ts"
import { bash, failedTool, read, SessionBuilder, usage } from "../support/session.ts"
import { temporaryFolder } from "./support.ts"

const folder = temporaryFolder()
afterAll(() => folder[Symbol.dispose]())

let files = 0
const database = (...tables: string[]) => opencodeDatabase(join(folder.path, `opencode-${++files}.db`), ...tables)

const worked = () => {
  const session = new SessionBuilder().user("make the login test pass on node 22, please")
  session.assistant([{ type: "text", text: "Looking." }, read("src/login.ts")], usage(4000))
  session.assistant([bash("npm test", "1 failed\nError: expected 200, got 401", 1)], usage(400, 4000))
  return session.assistant(
    [failedTool("read", { filePath: "/home/dev/shop/none.ts" }, "no such file")],
    usage(300, 4400),
  )
}

test("a session of OpenCode 2 reads as the same conversation", async () => {
  const { path, v2, close } = database(V2_TABLES)
  const session = worked()
  v2("ses_two", 5, session.messages.map(storedOf))
  close()
  using opened = await openOpencode({ path })
  const recording = opened.readSession("latest")
  expect(recording.info).toMatchObject({ id: "ses_two", title: "two ses_two" })
  expect(recording.skipped).toBe(0)
  const shown = (messages: readonly HostMessage[]) =>
    conversationOf(messages).map(({ kind, agent, model, usage, cwd, parts }) => ({
      ...(kind === "user" ? { kind } : { kind, agent, model, usage, cwd }),
      parts: parts.flatMap((part): object[] => {
        if (part.type === "tool") return [{ ...part, id: "" }]
        return part.type === "text" || part.type === "reasoning" ? [part] : []
      }),
    }))
  expect(shown(visibleMessages(recording) as HostMessage[])).toEqual(shown(session.messages))
})

test("both hosts' sessions in one file: OpenCode 2's rows first, none twice, subagents left out", async () => {
  const { path, v1, v2, close } = database(V1_TABLES, V2_TABLES)
  const session = worked()
  v1("ses_both", 90, session.messages)
  v1(
    "ses_old",
    50,
    worked().messages.map(({ info, parts }) => ({
      info: { ...info, id: `old${info.id}` },
      parts: parts.map((part) => ({ ...part, id: `old${part.id}` })),
    })),
  )
  v1("ses_child", 95, [], "ses_old")
  v2("ses_both", 80, session.messages.map(storedOf))
  v2("ses_new", 70, [{ id: "m1", type: "user", text: "say hello" }, answer("m2", "Hello.")])
  v2("ses_sub", 99, [], "ses_new")
  // its import failed: the messages are OpenCode 1's
  v2("ses_old", 60)
  close()
  using opened = await openOpencode({ path })
  expect(opened.listSessions({ limit: 9 }).map(({ id, title }) => `${id} ${title}`)).toEqual([
    "ses_both two ses_both",
    "ses_new two ses_new",
    "ses_old two ses_old",
  ])
  expect(opened.listSessions({ limit: 1 })).toHaveLength(1)
  expect(opened.readSession("latest").info).toMatchObject({ id: "ses_both", title: "two ses_both" })
  expect(opened.readSession("ses_both").messages).toHaveLength(session.messages.length)
  expect(opened.readSession("ses_old").messages).toHaveLength(session.messages.length)
  expect(opened.readSession("ses_n").info.id).toBe("ses_new")
})

const answer = (id: string, text: string): Stored => ({
  ...{
    id,
    type: "assistant",
    agent: "build",
    finish: "stop",
    model: { providerID: "anthropic", id: "claude-sonnet-4-5" },
  },
  ...{ content: [{ type: "text", text }], tokens: { input: 10, output: 5, cache: { read: 0, write: 0 } }, cost: 0 },
  time: { created: 3, completed: 4 },
})

test("what no model gets is left out, a compaction stands as one, and broken rows are counted", async () => {
  const { path, v2, close } = database(V2_TABLES)
  v2("ses_odd", 5, [
    { id: "m0", type: "user", text: "look at src/a.ts and mend it, please" },
    { id: "m1", type: "agent-switched", agent: "plan" },
    { id: "m2", type: "idle", outcome: "completed" },
    { id: "m3", type: "synthetic", text: "a reminder" },
    { id: "m3b", type: "shell", command: "npm run dev", output: { output: "ready" }, metadata: { background: true } },
    { id: "m4", type: "compaction", status: "completed", reason: "auto", summary: "The summary.", recent: "The tail." },
    { id: "m5", type: "compaction", status: "failed", reason: "auto" },
    {
      ...answer("m6", "Done."),
      content: [
        { type: "text", text: "Done." },
        { type: "tool", id: "c1", name: "shell", state: { status: "running", input: { command: "ls" } }, time: {} },
        { type: "tool", id: "c2", name: "web", executed: true, state: { status: "completed", input: {}, content: [] } },
        toolV2("c3", "shell", { command: "npm test" }, "1 failed\nCommand exited with code 1."),
        null,
      ],
    },
  ])
  const file = new Database(path)
  file.exec("INSERT INTO session_message VALUES ('x', 'ses_odd', 'user', 99, 1, 1, '{broken')")
  file.close()
  close()
  using opened = await openOpencode({ path })
  const { messages, skipped } = opened.readSession("ses_odd")
  expect(skipped).toBe(1)
  const conversation = conversationOf(messages as HostMessage[])
  expect(conversation.map(({ kind }) => kind)).toEqual(["user", "user", "user", "summary", "step"])
  expect(conversation[1]?.parts).toMatchObject([{ type: "text", by: "host" }])
  expect(conversation[2]?.parts).toMatchObject([{ type: "compaction" }])
  expect(conversation[3]?.parts).toMatchObject([{ text: "The summary.\nThe tail." }])
  expect(conversation[4]?.parts).toMatchObject([
    { text: "Done." },
    { status: "running" },
    { type: "other", understood: true },
    { status: "completed", metadata: { exit: 1 } },
    { type: "other", understood: false },
  ])
})

test("the doctor finds the newest calls of both hosts", async () => {
  const data = join(folder.path, "data")
  mkdirSync(join(data, "opencode"), { recursive: true })
  const { path, v1, v2, close } = database(V1_TABLES, V2_TABLES)
  v1("ses_one", 50, [
    { info: { id: "a", role: "assistant", finish: "stop", agent: "plan", time: { created: 50 } }, parts: [] },
  ])
  v2("ses_one", 40, [answer("m1", "Hello.")])
  v2("ses_two", 60, [answer("m2", "Hello.")])
  close()
  const { sessions } = await readDatabases(join(folder.path, "none.db"), { OPENCODE_DB: path, XDG_DATA_HOME: data })
  expect(sessions?.map(({ id, agent }) => `${id} ${agent}`)).toEqual(["ses_two build", "ses_one build"])
})
