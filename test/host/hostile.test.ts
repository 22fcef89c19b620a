// OpenCode's events, the plugin's log lines and toasts, and the commands' output for a session full of hostile text: nothing
// controls a screen, starts a new line or escapes from the page's data.

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createLog } from "../../src/host/log.ts"
import type { HostMessage } from "../../src/host/v1/message.ts"
import { isHud } from "../../src/hud/render.ts"
import plugin from "../../src/plugin.ts"
import { cli, writeExport } from "../cli/support.ts"
import { CORPUS } from "../support/hostile/corpus.ts"
import { faultOfHud } from "../support/hostile/grammar.ts"
import { bash, failedTool, read, SessionBuilder, tool, usage } from "../support/session.ts"
import { sized } from "../support/size.ts"

setDefaultTimeout(120_000)

/** Characters that move the cursor, ring the bell or change the writing direction; only the printer may write a line feed. */
const ACTS = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/
const LONG = "export const a = 1\n".repeat(1000)
const folder = mkdtempSync(join(tmpdir(), "hud-hostile-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe("OpenCode's events:", () => {
  type Call = (input: object, output?: object) => Promise<void>
  let hooks: Record<"event" | "experimental.chat.messages.transform" | "dispose", Call>
  beforeAll(async () => {
    hooks = (await plugin.server({ directory: "/home/dev/shop", worktree: "/home/dev/shop" } as never, {
      // all messages stay, so that the HUD has room for every line
      ...{ store: { enabled: false }, digest: { backend: "extract" }, fold: { enabled: false } },
    })) as never
  })
  afterAll(() => hooks.dispose({}))

  for (const [at, { id, tries, text }] of CORPUS.entries())
    test(`${id}: a permission and a todo list are quoted when they try to ${tries}`, async () => {
      const sessionID = `ses_${at}`
      const short = text.slice(0, 20_000)
      const announce = (type: string, properties: object) =>
        hooks.event({ event: { type, properties: { sessionID, ...properties } } })
      await announce("session.status", { status: { type: "busy" } })
      await announce("session.updated", { info: { id: sessionID, title: short } })
      await announce("permission.asked", { id: "per_1", permission: short, patterns: [short, short] })
      await announce("todo.updated", { todos: [{ content: short, status: "in_progress" }] })
      await announce("session.error", { error: { name: short, data: { message: short } } })
      const session = new SessionBuilder(sessionID).user("see to it")
      for (let call = 0; call < 6; call++) session.assistant([read("a.ts", LONG)], usage(400, 90_000))
      const messages: HostMessage[] = session.fresh()
      await hooks["experimental.chat.messages.transform"]({}, { messages })
      const huds = messages.flatMap(({ parts }) => parts.map((part) => part.text ?? "")).filter(isHud)
      expect(huds.length).toBe(1)
      // a long one may not have fitted
      if (text.length < 1_000) expect(huds[0]).toContain("\nwaiting permission for ")
      expect(faultOfHud(huds[0] ?? "")).toBeUndefined()
    })
})

for (const { id, tries, text } of CORPUS)
  test(`${id}: a log line and a toast control no screen when they try to ${tries}`, () => {
    const logged: string[] = []
    const shown: string[] = []
    const log = createLog({
      app: { log: async ({ body }: { body: { message: string } }) => logged.push(body.message) },
      tui: { showToast: async ({ body }: { body: { message: string } }) => shown.push(body.message) },
    } as never)
    log.say("warn", `it failed: ${text}`)
    log.showToasts()
    log.warnUser(`it failed again: ${text}`)
    expect([logged.length, shown.length]).toEqual([2, 1])
    for (const one of logged) {
      expect(one).toStartWith("hudfold: it failed")
      expect(one).not.toMatch(ACTS)
      expect(one).not.toContain("\n")
      expect(one.length).toBeLessThan(1_100)
    }
    expect(shown[0]).not.toMatch(ACTS)
    expect(shown[0]?.length).toBeLessThanOrEqual(600)
  })

describe("for a session with the corpus:", () => {
  const session = new SessionBuilder().user("begin")
  const inputs = CORPUS.filter((_, at) => at % sized(8, 1, 4) === 0)
  const title = inputs.map(({ text }) => text.slice(0, 60)).join(" ")
  const file = () => writeExport(folder, "hostile", session, title)
  const env = { HUDFOLD_DATA: join(folder, "own"), XDG_DATA_HOME: join(folder, "data"), HOME: folder }
  beforeAll(() => {
    for (const { text } of inputs) {
      const short = text.slice(0, 400)
      session.assistant(
        [
          bash(short, short, 1),
          read(`src/${short}`),
          failedTool(short || "x", { [short]: short }, short),
          tool("question", { questions: [{ question: short, options: [{ label: short }] }] }, short),
        ],
        { ...usage(400, 4000), modelID: short },
      )
      session.user(short)
    }
  })

  test.each([
    ["inspect", () => [file(), "--call", String(inputs.length)]],
    ["replay", () => [file()]],
    ["status", () => ["ses_test"]],
    ["doctor", () => ["--dir", folder]],
  ] as const)("hudfold %s prints no control sequences", async (command, args) => {
    const { stdout, stderr } = await cli([command, ...args()], env)
    expect(stdout + stderr).not.toBe("")
    expect((stdout + stderr).replace(/\r?\n/g, "")).not.toMatch(ACTS)
  })

  test("the report has no other elements than that of a harmless session", async () => {
    const harmless = new SessionBuilder().user("begin").assistant([bash("ls", "a.ts")], usage(400, 4000))
    const tagsOf = async (path: string, out: string) => {
      const { stdout, stderr } = await cli(["report", path, "--out", out], env)
      expect((stdout + stderr).replace(/\r?\n/g, "")).not.toMatch(ACTS)
      const tags = new Set<string>()
      const found: string[] = []
      const rewriter = new HTMLRewriter().on("*", {
        element({ tagName, attributes }) {
          tags.add(tagName)
          for (const [name, value] of attributes)
            if (name.startsWith("on") || /^\s*(?:javascript|data):/i.test(value) || /evil/.test(value)) found.push(name)
          if (tagName === "script" || tagName === "style") found.push(tagName)
        },
      })
      rewriter.transform(readFileSync(out, "utf8"))
      return { tags: [...tags].sort(), found }
    }
    const plain = await tagsOf(writeExport(folder, "harmless", harmless), join(folder, "harmless.html"))
    const hostile = await tagsOf(file(), join(folder, "hostile.html"))
    expect(hostile.found).toEqual(plain.found)
    expect(plain.tags).toEqual(expect.arrayContaining(["script", "html"]))
    for (const tag of ["img", "iframe", "base", "object", "embed"]) expect(hostile.tags).not.toContain(tag)
  })
})
