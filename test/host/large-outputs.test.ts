// Outputs of 10 MB: OpenCode cuts its own tools' outputs, but not those of every MCP server and plugin. Nothing the plugin sends,
// keeps or writes grows with them, and folded ones come back verbatim in pages.

import { afterAll, describe, expect, test } from "bun:test"
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promptFor } from "../../src/digest/prompt.ts"
import { stepText } from "../../src/fold/original.ts"
import { conversationOf } from "../../src/host/v1/conversation.ts"
import type { HostMessage, HostPart } from "../../src/host/v1/message.ts"
import { statusFolder } from "../../src/status/files.ts"
import { dataFolder } from "../../src/system/data-folder.ts"
import { cli, writeExport } from "../cli/support.ts"
import { openDirectory } from "../support/driver.ts"
import { heapBelow, heapBytes } from "../support/heap.ts"
import { LARGE, withoutRare } from "../support/large.ts"
import { recordsIn, stepsGone } from "../support/records.ts"
import { bash, failedTool, read, SessionBuilder, tool, usage } from "../support/session.ts"
import { numbered, SHAPES } from "../support/shapes.ts"
import { sized } from "../support/size.ts"

const SIZE = sized(1_000_000, 10_000_000)
const PATIENCE_MS = 120_000
/** The largest tool result that OpenCode passes on whole, in bytes. */
const PAGE = 51_200

const folder = mkdtempSync(join(tmpdir(), "hud-load-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** By a command that failed, a read, a server's tool and a call that could not be made. */
const PARTS: Readonly<Record<string, (output: string) => HostPart>> = {
  "a failed command": (output) => bash("npm test", output, 1),
  "a read": (output) => read("src/large.ts", output),
  "a server's tool": (output) => tool("docs_search", { query: "large" }, output),
  "a call that failed": (output) => failedTool("docs_get", { query: "large", text: output }, output),
}

/** The output in a session that has gone on from it, so that it is folded. */
function sessionWith(id: string, part: HostPart): SessionBuilder {
  const session = new SessionBuilder(id).user("look at the large output and say what is in it").assistant([part])
  for (let call = 0; call < 12; call++) session.assistant([bash(`ls part-${call}`, `part-${call}`)], usage(300, 90_000))
  return session
}

/** Everything in the request except the outputs, in characters. */
function surroundings(messages: readonly HostMessage[]): number {
  return JSON.stringify(messages, (_, value) => (typeof value === "string" && value.length >= SIZE ? "" : value)).length
}

describe.each(Object.entries(SHAPES))("of %s", (name, shapeOf) => {
  // of each shape, one by turns
  const daily = Object.keys(PARTS)[Object.keys(SHAPES).indexOf(name) % 4]
  const rare = Object.keys(PARTS).filter((by) => by !== daily)

  test.each(withoutRare(Object.entries(PARTS), rare))(
    "by %s, a megabyte output is folded into a record, and each page comes back verbatim",
    async (by, partOf) => {
      const id = `ses_${`${name}_${by}`.replaceAll(/\W/g, "_")}`
      const path = join(folder, `${id}.db`)
      const directory = await openDirectory({
        digest: { backend: "extract" },
        store: { path },
        fold: { price: { read: 1, write: 1 } },
      })
      try {
        const output = shapeOf(SIZE)
        const { messages } = sessionWith(id, partOf(output))
        const before = surroundings(messages)
        const original = messages[1] as HostMessage
        const sent = messages.map((message) => ({ ...message, parts: [...message.parts] }))
        await directory.event("session.status", { sessionID: id, status: { type: "busy" } })
        await directory.transform({}, { messages: sent })
        expect(directory.logged.filter((line) => /failed;|not done/.test(line))).toEqual([])
        // the HUD, and a record in place of the step
        expect(surroundings(sent) - before).toBeLessThan(6_000)
        expect(stepsGone(messages, sent)).toContain(original.info.id ?? "")
        const [record = ""] = recordsIn(sent)
        expect(record.length).toBeLessThan(4_000)
        const whole = conversationOf([original]).map(stepText)[0] ?? ""
        for (const page of [1, 2, 7]) {
          const answer = await directory.recall(id, sent, { steps: "1", page })
          expect(Buffer.byteLength(answer)).toBeLessThanOrEqual(PAGE)
          const [, text = ""] =
            /^\[recalled r[0-9a-z]{7} · step 1 [^\n]*\]\n([\s\S]*)\n\n\[page \d+ of \d+;[^\n]*\]$/.exec(answer) ?? []
          expect(text.length).toBeGreaterThan(0)
          expect(whole.toWellFormed()).toContain(text.toWellFormed())
        }
        const source = { tool: "x", kind: "other", input: { text: output }, output, failed: false } as const
        expect(promptFor(source, { budgetTokens: 400 }).text.length).toBeLessThan(8_000)
      } finally {
        await directory.dispose()
      }
      expect(statSync(path).size).toBeLessThan(300_000)
    },
    PATIENCE_MS,
  )
})

test("no status file grows with an output", () => {
  const sessions = statusFolder(dataFolder())
  for (const name of readdirSync(sessions)) expect(statSync(join(sessions, name)).size).toBeLessThan(100_000)
})

/** Characters of each output. */
const SEEN = LARGE ? 1_000_000 : 250_000
const SEEN_SESSIONS = LARGE ? 12 : 6

test(
  "facts about outputs keep none of them in memory",
  async () => {
    const directory = await openDirectory({
      digest: { backend: "extract" },
      store: { enabled: false },
      fold: { price: { read: 1, write: 1 } },
    })
    try {
      // what the first one needs once
      await seeLarge(directory, 0)
      const start = heapBytes()
      for (let n = 1; n <= SEEN_SESSIONS; n++) await seeLarge(directory, n)
      // one retained output per session would be half as much again
      await heapBelow(start + (SEEN_SESSIONS * 2 * SEEN) / 3)
    } finally {
      await directory.dispose()
    }
  },
  PATIENCE_MS,
)

/** A session of its own, of outputs of its own: a failure, a request, a repeat with a digest, arguments and a path; folded. */
async function seeLarge({ transform }: Awaited<ReturnType<typeof openDirectory>>, n: number): Promise<void> {
  const text = numbered(SEEN, (line) => `src/s${n}/file${line}.ts:${line}:4 error TS2345: expected ${n}, got ${line}`)
  const large = () => JSON.parse(JSON.stringify(text)) as string
  const session = new SessionBuilder(`ses_large_${n}`).user(large())
  session.assistant([bash("npm test", large(), 1), tool("docs_search", { query: "a" }, large())])
  session.assistant([tool("docs_search", { query: "a" }, large()), failedTool("edit", { filePath: large() }, large())])
  session.assistant([tool("apply_patch", { patchText: `*** Update File: x${n}.ts\n${large()}` }, "ok")])
  for (let call = 0; call < 12; call++) session.assistant([bash(`ls ${call}`, "ok")], usage(300, 90_000))
  await transform({}, { messages: session.messages })
}

test(
  "replay and report handle a session of such outputs, and their own output stays small",
  async () => {
    const session = new SessionBuilder("ses_cli").user("look at the large outputs")
    const shapes = Object.values(SHAPES).slice(0, LARGE ? undefined : 3)
    for (const shapeOf of shapes) session.assistant([tool("docs_search", { query: "x" }, shapeOf(SIZE))])
    for (let call = 0; call < 12; call++) session.assistant([bash(`ls ${call}`, "ok")], usage(300, 90_000))
    const file = writeExport(folder, "large", session)
    const replayed = await cli(["replay", file])
    expect({ code: replayed.code, stderr: replayed.stderr }).toEqual({ code: 0, stderr: "" })
    expect(replayed.stdout.length).toBeLessThan(5_000)
    const page = join(folder, "large.html")
    const reported = await cli(["report", file, "--out", page])
    expect({ code: reported.code, stderr: reported.stderr }).toEqual({ code: 0, stderr: "" })
    expect(statSync(page).size).toBeLessThan(1_000_000)
  },
  PATIENCE_MS,
)
