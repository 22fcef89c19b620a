import { expect, test } from "bun:test"
import { createEnv } from "../../src/digest/digests.ts"
import { conversationOf } from "../../src/host/v1/conversation.ts"
import type { HostPart } from "../../src/host/v1/message.ts"
import { findingsOf } from "../../src/session/findings.ts"
import { bash, edit, ROOT, read, SessionBuilder, tool } from "../support/session.ts"

const env = createEnv(ROOT)

test("the newest findings come first, and of repeated attempts only the last", () => {
  const session = new SessionBuilder()
    .user("go")
    .assistant([bash("npm test", "Tests: 1 failed, 3 passed, 4 total", 1), read("a.ts"), edit("a.ts")])
    .assistant([
      tool("grep", { pattern: "cookie", path: "src" }, "Found 0 matches"),
      bash("npm test 2>&1 | tail -3", "Tests: 4 passed, 4 total"),
      tool("hud_recall", { ids: "r1" }, "what was found out before"),
    ])
  const found = findingsOf(conversationOf(session.messages), env)
  expect(found.map(({ what }) => what)).toEqual(["npm test 2>&1 | tail -3", 'grep "cookie" in src'])
  expect(found[0]?.digest).toContain("4 passed")
})

test("a command in the folder of the session is named without it", () => {
  const [cwd, other] = [`${ROOT}/web`, ROOT].map((workdir) =>
    tool("bash", { command: `ls ${workdir}`, workdir }, "a.ts"),
  )
  const session = new SessionBuilder().user("go")
  session.assistant([cwd, other] as HostPart[], { path: { cwd: `${ROOT}/web`, root: ROOT } })
  const found = findingsOf(conversationOf(session.messages), env)
  expect(found.map(({ what }) => what)).toEqual([`cd ${ROOT} && ls ${ROOT}`, `ls ${ROOT}/web`])
})

test("a long session yields a dozen findings", () => {
  const session = new SessionBuilder().user("go")
  for (let i = 0; i < 40; i++) session.assistant([bash(`node step-${i}.js`, `step ${i} done\n`)])
  const found = findingsOf(conversationOf(session.messages), env)
  expect(found).toHaveLength(12)
  expect(found[0]?.what).toBe("node step-39.js")
})

test("a file that tells of an exit code is what a command printed", () => {
  const printed = tool("shell", { command: "cat last-run.json" }, '{"exit_code": 0, "branch": "release-7"}')
  const { messages } = new SessionBuilder().user("go").assistant([printed])
  expect(findingsOf(conversationOf(messages), env)[0]?.digest).toContain("release-7")
})
