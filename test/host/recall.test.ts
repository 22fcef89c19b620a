// Where `hud_recall` finds an original, and that the real OpenCode offers the tool and calls it.

import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import type { Fold } from "../../src/fold/fold.ts"
import { replacePart } from "../../src/host/v1/copies.ts"
import { type HostMessage, type HostPart, stateOf } from "../../src/host/v1/message.ts"
import { type RecallSources, recallTool } from "../../src/host/v1/recall.ts"
import { type ModelRequest, messagesOf } from "../opencode/request.ts"
import { bash, SessionBuilder } from "../support/session.ts"
import { converse, PATIENCE_MS, read, type ServedWorld, say, serveWorld, use } from "../support/world.ts"

const OUTPUT = "Tests: 1 failed, 3 passed\n"

function folded(): { messages: HostMessage[]; part: HostPart; fold: Fold } {
  const { messages } = new SessionBuilder().user("go").assistant([bash("npm test", OUTPUT, 1)])
  const part = messages[1]?.parts.find(({ type }) => type === "tool") as HostPart
  const fold: Fold = {
    id: "r1",
    partID: part.id ?? "",
    messageID: messages[1]?.info.id ?? "",
    hash: OUTPUT,
    side: "output",
    text: "folded r1 · bash · 1 failed",
    what: "bash npm test",
    reason: "pays",
    because: "",
    call: 2,
    tokens: 100,
    textTokens: 10,
  }
  return { messages, part, fold }
}

type Asked = { args?: Record<string, unknown>; session?: string; messages?: unknown; patienceMs?: number }

async function ask(fold: Fold, sources: Partial<RecallSources>, asked: Asked = {}): Promise<string> {
  const tool = recallTool(
    {
      foldsOf: (sessionID) => new Map(sessionID === "ses_test" ? [[fold.id, fold]] : []),
      isSame: (part, { hash }) => stateOf(part)?.output === hash,
      storedMessage: async () => undefined,
      report: () => {},
      ...sources,
    },
    asked.patienceMs,
  )
  const context = { sessionID: asked.session ?? "ses_test", messages: asked.messages ?? [] }
  const answer = await tool.execute(asked.args ?? { ids: "r1" }, context as never)
  return typeof answer === "string" ? answer : answer.output
}

describe("the original", () => {
  test("comes from the original of the copy in the array, without a request to the server", async () => {
    const { messages, part, fold } = folded()
    const parts = messages[1]?.parts ?? []
    replacePart(parts, parts.indexOf(part), { ...part, state: { ...part.state, output: fold.text } })
    const storedMessage = () => Promise.reject(new Error("asked"))
    expect(await ask(fold, { storedMessage }, { messages })).toBe(OUTPUT)
  })

  test("comes from the array if it is there unchanged", async () => {
    const { messages, fold } = folded()
    expect(await ask(fold, {}, { messages })).toBe(OUTPUT)
  })

  test("comes from OpenCode's store when the array has lost its message, with one request per message", async () => {
    const { messages, fold } = folded()
    const asked: string[][] = []
    const storedMessage = async (...ids: string[]) => {
      asked.push(ids)
      return messages[1]
    }
    const second = { ...fold, id: "r2" }
    const foldsOf = () => new Map([fold, second].map((one) => [one.id, one]))
    const counted: string[] = []
    const recalled = (_: string, folds: readonly Fold[]) => void counted.push(...folds.map(({ id }) => id))
    const answer = await ask(fold, { storedMessage, foldsOf, recalled }, { args: { ids: ["r1", "r2", "r3"] } })
    expect(answer.split(OUTPUT).length - 1).toBe(2)
    expect(asked).toEqual([["ses_test", fold.messageID]])
    expect(counted).toEqual(["r1", "r2"])
  })

  test("that has changed since is not returned", async () => {
    const { messages, part, fold } = folded()
    part.state = { ...part.state, output: "pruned" }
    const answer = await ask(fold, { storedMessage: async () => messages[1] }, { messages })
    expect(answer).toContain("another content")
    expect(answer).not.toContain("pruned")
  })

  test.each([undefined, null, {}, { info: {}, parts: [null, 7, { type: "tool" }] }])(
    "is said to be gone when the store answers %j",
    async (stored) => {
      expect(await ask(folded().fold, { storedMessage: async () => stored })).toContain("no longer in the session")
    },
  )

  test("is reported as unavailable when the store does not answer", async () => {
    const { fold } = folded()
    const silent = () => new Promise<never>(() => {})
    expect(await ask(fold, { storedMessage: silent }, { patienceMs: 1 })).toContain("did not answer")
    expect(await ask(fold, { storedMessage: () => Promise.reject(new Error("down")) })).toContain("did not answer")
  })

  test("of one session is not returned to another", async () => {
    const { messages, fold } = folded()
    const answer = await ask(fold, { storedMessage: async () => messages[1] }, { messages, session: "ses_other" })
    expect(answer).toStartWith("Nothing is folded in this session")
  })

  test("is not returned after an internal error: the agent gets a sentence, the log the cause", async () => {
    const causes: unknown[] = []
    const isSame = () => {
      throw new Error("broken")
    }
    const foldsOf = () => {
      throw new Error("broken")
    }
    const report = (cause: unknown) => void causes.push(cause)
    const { messages, fold } = folded()
    expect(await ask(fold, { isSame, report }, { messages })).toStartWith("hud_recall failed")
    expect(await ask(fold, { foldsOf, report }, { messages })).toStartWith("hud_recall failed")
    expect(causes.map(String)).toEqual(["Error: broken", "Error: broken"])
  })
})

/** A plugin that folds every output, and in a session's second turn removes the first turn's messages. */
const PLUGIN = `
import { replacePart } from ${JSON.stringify(fileURLToPath(new URL("../../src/host/v1/copies.ts", import.meta.url)))}
import { recallTool } from ${JSON.stringify(fileURLToPath(new URL("../../src/host/v1/recall.ts", import.meta.url)))}

const sessions = new Map()
const foldsOf = (id) => sessions.get(id) ?? sessions.set(id, new Map()).get(id)
const foldOf = (folds, part) => {
  const known = [...folds.values()].find(({ partID }) => partID === part.id)
  if (known) return known
  const id = "r" + (folds.size + 1)
  const what = part.tool + " " + Object.values(part.state.input)[0]
  const fold = { id, partID: part.id, messageID: part.messageID, side: "output", what, hash: part.state.output }
  folds.set(id, fold)
  return fold
}
const server = async ({ client }) => ({
  "experimental.chat.messages.transform": async (_, { messages }) => {
    for (const { info, parts } of messages)
      parts.forEach((part, at) => {
        if (part.type !== "tool" || part.tool === "hud_recall" || part.state.status !== "completed") return
        const { id } = foldOf(foldsOf(info.sessionID), part)
        replacePart(parts, at, { ...part, state: { ...part.state, output: "folded " + id } })
      })
    const second = messages.findIndex(({ info, parts }) => info.role === "user" && parts.some(({ text }) => text?.includes("later")))
    if (second > 0) messages.splice(0, second)
  },
  tool: {
    hud_recall: recallTool({
      foldsOf,
      isSame: (part, fold) => part.output === fold.hash,
      storedMessage: async (id, messageID) => (await client.session.message({ path: { id, messageID } })).data,
      report: () => {},
    }),
  },
})
export default { id: "folding", server }
`

/** The read tool shows 2,000 lines of the long file, with some lines of its own around them. */
const FILES = { "alpha.txt": "first\nsecond\n", "long.txt": "a row of a long table\n".repeat(2_500) }

describe("in the real OpenCode", () => {
  const folder = mkdtempSync(join(tmpdir(), "recall-plugin-"))
  let world: ServedWorld
  beforeAll(async () => {
    writeFileSync(join(folder, "plugin.ts"), PLUGIN)
    world = await serveWorld({ plugin: join(folder, "plugin.ts"), files: FILES })
  }, PATIENCE_MS)
  afterAll(async () => {
    await world?.close()
    rmSync(folder, { recursive: true })
  })

  const recall = (args: object) => ({ name: "hud_recall", arguments: { ...args } })
  const resultIn = (request: ModelRequest | undefined): string =>
    (messagesOf(request ?? { body: {} }).findLast(({ role }) => role === "tool")?.content as string | undefined) ?? ""
  const outputsOf = async (session: string) =>
    (await world.host.stored(session)).flatMap(({ parts }) =>
      parts.filter(({ type }) => type === "tool").map((part) => (part as HostPart).state?.output ?? ""),
    )

  test(
    "the tool is shown with its arguments, and gives back what was read, loose arguments and all",
    async () => {
      const { session, requests } = await converse(world, "go", [
        use(read("alpha.txt")),
        use(recall({ ids: ["[r1]"] })),
        use(recall({ ids: 1, lines: 2, page: "1" })),
        say("done"),
      ])
      const tools = requests[0]?.body.tools as { function: { name: string; parameters: unknown } }[]
      expect(tools.find((tool) => tool.function.name === "hud_recall")?.function.parameters).toMatchObject({
        type: "object",
        properties: {
          ids: { type: "string", description: expect.stringContaining("r12, r15") },
          lines: { type: "string", description: expect.stringContaining("120-180") },
          search: { type: "string", description: expect.any(String) },
          page: { type: "number", description: expect.any(String) },
        },
        required: ["ids"],
      })
      expect(resultIn(requests[1])).toBe("folded r1")
      const [original = ""] = await outputsOf(session)
      expect(original).toContain("1: first\n2: second\n")
      expect(resultIn(requests[2])).toBe(original)
      expect(resultIn(requests[3])).toBe("[recalled r1 · read alpha.txt · line 2 of 1-2]\n2: second")

      // the message is no longer in the array: OpenCode's server has it
      const later = await converse(world, "later", [use(recall({ ids: "r1" })), say("done")], { session })
      expect(JSON.stringify(later.requests[0]?.body.messages)).not.toContain("alpha.txt")
      expect(resultIn(later.requests[1])).toBe(original)
    },
    PATIENCE_MS,
  )

  test(
    "what is longer than OpenCode passes on comes in pages that it leaves whole",
    async () => {
      const { session, requests } = await converse(world, "go", [
        use(read("long.txt")),
        use(recall({ ids: "r1" })),
        use(recall({ ids: "r1", page: 2 })),
        say("done"),
      ])
      const [original = ""] = await outputsOf(session)
      const pages = requests.slice(2).map(resultIn)
      expect(pages[1]).toEndWith("\n\n[page 2 of 2, the last]")
      const texts = pages.map((page) => page.slice(page.indexOf("\n") + 1, page.lastIndexOf("\n\n[page ")))
      expect(texts.join("")).toBe(original)
    },
    PATIENCE_MS,
  )
})
