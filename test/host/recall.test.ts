// Where `hud_recall` finds an original, and that the real OpenCode offers the tool and calls it.

import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { createEnv } from "../../src/digest/digests.ts"
import { type Fold, outputKey, stepKey } from "../../src/fold/fold.ts"
import { addFolds } from "../../src/fold/folding.ts"
import { HOST_LIMITS, type PageLimits } from "../../src/fold/pages.ts"
import { createSessions } from "../../src/host/sessions.ts"
import { conversationOf } from "../../src/host/v1/conversation.ts"
import { standIn } from "../../src/host/v1/copies.ts"
import { createHooks } from "../../src/host/v1/hooks.ts"
import { storedMessages } from "../../src/host/v1/host.ts"
import type { HostMessage, HostPart } from "../../src/host/v1/message.ts"
import { recallTool } from "../../src/host/v1/recall.ts"
import plugin from "../../src/plugin.ts"
import { readEntry } from "../../src/session/entry.ts"
import { openStore } from "../../src/store/open.ts"
import { type ModelRequest, messagesOf } from "../opencode/request.ts"
import { take } from "../support/conversation.ts"
import { host } from "../support/hosted.ts"
import { recordedSteps, recordsIn } from "../support/records.ts"
import { bash, ROOT, read, SessionBuilder, tool, usage } from "../support/session.ts"
import { converse, PATIENCE_MS, read as reading, type ServedWorld, say, serveWorld, use } from "../support/world.ts"

const OUTPUT = "Tests: 1 failed, 3 passed\n"

const env = createEnv(ROOT)

/** The hash of what a fold stands for in a message. */
function hashIn(message: HostMessage | undefined, fold: Pick<Fold, "kind" | "partID">): string {
  const [read] = conversationOf(message ? [message] : [])
  const entry = read && readEntry(read, 0, 0, env)
  if (entry && fold.kind === "step") return env.hash(stepKey(entry))
  const event = entry?.events.find(({ partID }) => partID === fold.partID)
  return event ? env.hash(outputKey(event)) : ""
}

function folded(): { messages: HostMessage[]; part: HostPart; fold: Fold } {
  const { messages } = new SessionBuilder().user("go").assistant([bash("npm test", OUTPUT, 1)])
  const part = messages[1]?.parts.find(({ type }) => type === "tool") as HostPart
  const fold: Fold = {
    id: "r0000001",
    partID: part.id ?? "",
    messageID: messages[1]?.info.id ?? "",
    hash: hashIn(messages[1], { kind: "output", partID: part.id ?? "" }),
    kind: "output",
    step: 1,
    text: "folded r0000001 · bash · 1 failed",
    what: "bash npm test",
    reason: "pays",
    because: "",
    cutBecause: "",
    call: 2,
    tokens: 100,
    textTokens: 10,
  }
  return { messages, part, fold }
}

type Stored = (sessionID: string, ids: readonly string[]) => Promise<unknown>
const NONE: Stored = async () => []
type Asked = { args?: Record<string, unknown>; session?: string; messages?: unknown; limits?: PageLimits }

/** What is recalled in a session with these folds, and how often and what the session counts as recalled. */
async function recalled(folds: readonly Fold[], storedMessages: Stored, asked: Asked = {}) {
  const sessions = createSessions(env)
  const session = sessions.get("ses_test")
  session.folding = addFolds(session.folding, folds)
  const context = {
    sessions,
    env,
    models: { answerLimits: () => asked.limits ?? HOST_LIMITS },
    store: { opening: () => undefined },
    storedMessages,
  }
  const call = { sessionID: asked.session ?? "ses_test", messages: asked.messages ?? [] }
  const args = asked.args ?? { ids: "r0000001" }
  const answer = await recallTool(context as never).execute(args, call as never)
  const { output, attachments } = typeof answer === "string" ? { output: answer } : answer
  return { output, attachments, recalls: session.account.turn.recalls, kept: [...session.folding.recalledUntil.keys()] }
}

async function ask(fold: Fold, storedMessages: Stored, asked: Asked = {}): Promise<string> {
  return (await recalled([fold], storedMessages, asked)).output
}

test.each(["with", "without"])(
  "what an earlier process folded comes back before the next request, %s the array",
  async (how) => {
    const folder = mkdtempSync(join(tmpdir(), "recall-"))
    const session = new SessionBuilder().user("go")
    for (let n = 0; n < 20; n++) session.assistant([bash(`ls ${n}`, `${OUTPUT.repeat(200)}${n}`)], usage(100, 2000 * n))
    const { messages } = session
    const client = { app: { log: async () => {} }, session: { message: async () => ({ data: messages[1] }) }, tui: {} }
    const options = {
      store: { path: join(folder, "hud.db") },
      deadlineMs: 5000,
      fold: { price: { read: 1, write: 1 } },
    }
    const first = await host({ options, client })
    const sent = await first.request(messages)
    await first.dispose()
    expect(recordsIn(sent.messages).map(recordedSteps)[0]?.from).toBe(1)
    const next = await host({ options, client })
    expect(await next.recall({ steps: "1" }, how === "with" ? sent.messages : undefined)).toContain(`${OUTPUT}0`)
    // what else is restored with the next request is not left out
    expect((await next.request(messages)).folds).toEqual(sent.folds)
    await next.dispose()
    expect([...first.wrong, ...next.wrong]).toEqual([])
    rmSync(folder, { recursive: true, force: true })
  },
)

test("of a call that was interrupted, what it had printed is folded and comes back, as OpenCode sends it", async () => {
  const printed = OUTPUT.repeat(200)
  const state = {
    ...{ status: "error", input: { command: "npm start" }, error: "Tool execution aborted" },
    metadata: { output: printed, interrupted: true },
  }
  const session = new SessionBuilder()
    .user("go")
    .assistant([{ ...tool("bash", {}, ""), state }])
    .user("go on")
  for (let n = 0; n < 4; n++) session.assistant([bash(`ls ${n}`)], usage(100))
  const client = { app: {}, session: { message: async () => ({ data: session.messages[1] }) }, tui: {} }
  const options = { store: { enabled: false }, fold: { price: { read: 1, write: 1 } } }
  const plugin = await host({ options, client })
  const { messages } = await plugin.request(session.messages)
  const sent = String(messages[1]?.parts[1]?.state?.metadata?.output)
  expect(sent).toMatch(/^folded r\w{7} · bash · /)
  expect(await plugin.recall({ ids: sent.slice(7, 15) })).toBe(printed)
  await plugin.dispose()
})

test("files that tools attached come back with their step, at most twenty at once", async () => {
  const answerWith = async (count: number, args: Record<string, unknown>, limits?: PageLimits) => {
    const attachments = Array.from({ length: count }, (_, i) => ({
      id: `prt_file_${i}`,
      messageID: "msg_other",
      type: "file",
      mime: "image/png",
      url: `data:image/png;base64,${i}`,
      ...(i === 0 ? { filename: "shot.png" } : {}),
    }))
    const { messages, fold, part } = folded()
    Object.assign(part.state ?? {}, { attachments: [null, { mime: 1 }, ...attachments] })
    const place = { kind: "step" as const, partID: fold.messageID }
    const step: Fold = { ...fold, ...place, hash: hashIn(messages[1], place) }
    return recalled([step], NONE, { args, messages, ...(limits ? { limits } : {}) })
  }
  const one = await answerWith(1, { steps: "1" })
  expect(one.attachments as unknown[]).toEqual([
    { type: "file", mime: "image/png", url: "data:image/png;base64,0", filename: "shot.png" },
  ])
  expect(one.output).toEndWith(OUTPUT)
  const many = await answerWith(23, { steps: "1" })
  expect(many.attachments).toHaveLength(20)
  expect(many.output).toContain("[20 of 23 attached files are returned; to get the others, name fewer steps]")
  // the last page has the note, and the first one the files
  const pages = []
  for (let page = 1; page <= 20; page++)
    pages.push(await answerWith(23, { steps: "1", page }, { bytes: 300, lines: 4 }))
  expect(pages.filter(({ output }) => output.includes("[20 of 23 attached"))).toHaveLength(1)
  expect(pages.flatMap(({ attachments }, at) => (attachments ? at : []))).toEqual([0])
  for (const args of [{ steps: "1", page: 2 }, { steps: "1", lines: "1-2" }, { search: "failed" }])
    expect((await answerWith(3, args)).attachments).toBeUndefined()
})

describe("the original", () => {
  test("comes from the original of the copy in the array, without a request to the server", async () => {
    const { messages, part, fold } = folded()
    const [before, step] = messages as [HostMessage, HostMessage]
    const copy = { ...part, state: { ...part.state, output: fold.text } }
    const parts = step.parts.map((one) => (one === part ? copy : one))
    const sent = [before, standIn({ ...step, parts }, [step])]
    const unasked = () => Promise.reject(new Error("asked"))
    expect(await ask(fold, unasked, { messages: sent })).toBe(OUTPUT)
  })

  test("is that of the first of several messages with one id, as forks make them", async () => {
    const { messages, part, fold } = folded()
    const [before, step] = messages as [HostMessage, HostMessage]
    const other = { ...step, parts: [{ ...part, state: { ...part.state, output: "of another" } }] }
    expect(await ask(fold, NONE, { messages: [before, step, other] })).toBe(OUTPUT)
  })

  test("comes from the array if it is there unchanged", async () => {
    const { messages, fold } = folded()
    expect(await ask(fold, NONE, { messages })).toBe(OUTPUT)
  })

  test("comes from OpenCode's store when the array has lost its message, in one request", async () => {
    const { messages, fold } = folded()
    const asked: unknown[] = []
    const stored: Stored = async (...given) => {
      asked.push(given)
      return messages.slice(1)
    }
    const place = { kind: "step" as const, partID: fold.messageID }
    const step = { ...fold, ...place, id: "r0000002", hash: hashIn(messages[1], place) }
    const answer = await recalled([fold, step], stored, { args: { ids: ["r0000001", "r0000002", "r0000003"] } })
    expect(answer.output.split(OUTPUT.trim()).length - 1).toBe(2)
    expect(asked).toEqual([["ses_test", [fold.messageID]]])
    expect(answer.recalls).toBe(1)
    expect(answer.kept).toEqual([fold.partID, step.partID])
  })

  test("that has changed since is not returned", async () => {
    const { messages, part, fold } = folded()
    part.state = { ...part.state, output: "pruned" }
    const answer = await ask(fold, async () => messages.slice(1), { messages })
    expect(answer).toContain("its content has changed")
    expect(answer).not.toContain("pruned")
  })

  test.each([undefined, null, {}, { info: {}, parts: [null, 7, { type: "tool" }] }])(
    "is said to be gone when the store answers %j",
    async (stored) => {
      expect(await ask(folded().fold, async () => [stored])).toContain("no longer in the session")
    },
  )

  test("is said to be gone when a revert removed it, not the whole message", async () => {
    const { messages, part, fold } = folded()
    const [, message] = messages
    const left = { ...message, parts: message?.parts.filter((one) => one !== part) }
    const answer = await ask(fold, async () => [left])
    expect(answer).toContain("not available: it is no longer in the session")
  })

  test("is reported as unavailable when the store does not answer", async () => {
    const { fold } = folded()
    const silent = () => new Promise<never>(() => {})
    expect(await ask(fold, silent)).toContain("did not answer")
    expect(await ask(fold, () => Promise.reject(new Error("down")))).toContain("did not answer")
  })

  test("comes without those of messages that OpenCode fails to return, and a line on these", async () => {
    const { messages, fold } = folded()
    const lost: Fold = { ...fold, id: "r0000002", messageID: "msg_lost", partID: "prt_lost" }
    const session = {
      message: async ({ path: { messageID } }: { path: { messageID: string } }) => {
        if (messageID === fold.messageID) return { data: messages[1] }
        throw new Error("down")
      },
    }
    const stored: Stored = (id, ids) => storedMessages({ session } as never, id, ids)
    const { output, kept } = await recalled([fold, lost], stored, { args: { ids: "r0000001, r0000002" } })
    expect(output).toContain(OUTPUT.trim())
    expect(output).toMatch(/r0000002.*not available now: OpenCode did not answer/)
    expect(kept).toEqual([fold.partID])
  })

  test("of one session is not returned to another", async () => {
    const { messages, fold } = folded()
    const answer = await ask(fold, async () => messages.slice(1), { messages, session: "ses_other" })
    expect(answer).toStartWith("Nothing is folded in this session")
  })

  test("is not returned after an internal error: the agent gets a sentence, the log the cause", async () => {
    const reported: unknown[] = []
    const broken = () => {
      throw new Error("broken")
    }
    const log = { report: (...report: unknown[]) => void reported.push(...report) }
    const answer = await recallTool({ sessions: { get: broken }, log } as never).execute({ ids: "r0000001" }, {
      sessionID: "ses_test",
    } as never)
    expect(answer).toStartWith("hud_recall failed")
    expect(reported.map(String)).toEqual(["hud_recall", "failed", "Error: broken"])
  })
})

test("of a step that did more than read a file, only what names the file comes back, with the file's own lines", async () => {
  const rows = (name: string, from: number) =>
    Array.from({ length: 20 }, (_, at) => `${from + at}: ${name} ${from + at}`).join("\n")
  const numbered = (path: string, from: number) =>
    tool("read", { filePath: path }, `<path>${path}</path>\n<content>\n${rows(path, from)}\n</content>`)
  const { messages } = new SessionBuilder()
    .user("go")
    .assistant([
      { type: "text", text: "Both." },
      numbered("/p/a.ts", 100),
      numbered("/p/b.ts", 1),
      bash("cat c.ts", "x\ny"),
    ])
  const place = { kind: "step" as const, partID: messages[1]?.info.id ?? "" }
  const step: Fold = { ...folded().fold, ...place, what: "read a.ts and 2 more", hash: hashIn(messages[1], place) }
  const lines = (args: object) => ask(step, NONE, { args: { lines: "3", ...args }, messages })
  expect(await lines({ file: "b.ts" })).toBe(
    "[recalled r0000001 · step 1 · read /p/b.ts · line 3 of 1-20]\n3: /p/b.ts 3",
  )
  expect(await lines({ file: "a.ts", lines: "110-111", search: "a.ts 111" })).toBe(
    `[recalled r0000001 · step 1 · read /p/a.ts · 1 line with "a.ts 111" in lines 110-111 of 100-119]
109: /p/a.ts 109
110: /p/a.ts 110
111: /p/a.ts 111
112: /p/a.ts 112
113: /p/a.ts 113`,
  )
  expect(await lines({ file: "a.ts", steps: "1" })).toBe(
    "[r0000001 · step 1 · read /p/a.ts · line 3 asked for, lines 100-119 there]",
  )
  expect(await ask(step, NONE, { args: { file: "b.ts", search: "b.ts 3" }, messages })).toEndWith(
    "in lines 1-20]\n1: /p/b.ts 1\n2: /p/b.ts 2\n3: /p/b.ts 3\n4: /p/b.ts 4\n5: /p/b.ts 5",
  )
  // of the file alone, only the calls that name it
  expect(await ask(step, NONE, { args: { file: "c.ts" }, messages })).toBe(
    "[recalled r0000001 · step 1 · bash]\ncalled bash\ncommand: cat c.ts\ndescription: runs it\nreturned 2 lines:\nx\ny",
  )
  expect(await ask(step, NONE, { args: { file: "b.ts", search: "a.ts" }, messages })).toMatch(
    /^\[r0000001 .* no line with "a.ts" /,
  )
  expect(await lines({ file: "c.ts", lines: "5-6" })).toBe(
    "[recalled r0000001 · step 1 · bash · lines 5-6 of 1-6, counted in this text]\nx\ny",
  )
  expect(await lines({ steps: "1", lines: "1-2" })).toMatch(
    /^\[recalled r0000001 · step 1 · read a.ts and 2 more · lines 1-2 of 1-\d+, counted in this text\]\nsaid in 1 line:\nBoth.$/,
  )
})

describe("many originals", () => {
  /** Steps of one read each, all folded, and what OpenCode was asked for. */
  const session = () => {
    const builder = new SessionBuilder()
    const folds: Fold[] = []
    for (let at = 1; at <= 12; at++) {
      builder.assistant([tool("read", { filePath: `src/${at}.ts` }, `text of file ${at}\nneedle`)])
      const id = `r${String(at).padStart(7, "0")}`
      const message = builder.messages.at(-1)
      const messageID = message?.info.id ?? ""
      const place = { kind: "step" as const, partID: messageID }
      folds.push({ ...folded().fold, ...place, id, step: at, messageID, hash: hashIn(message, place) })
    }
    const asked: string[] = []
    const stored: Stored = async (_, ids) => {
      asked.push(...ids)
      return builder.messages
    }
    return { messages: builder.messages, folds, stored, asked }
  }

  test("that the array lacks are asked for", async () => {
    const { messages, folds, stored, asked } = session()
    const found = await recalled(folds, stored, { args: { search: "NEEDLE" }, messages: messages.slice(0, 3) })
    expect(found.output).toStartWith('[12 lines with "NEEDLE" in 12 of 12 folded steps and outputs, newest first]')
    expect(asked).toEqual(folds.slice(3).map(({ messageID }) => messageID))
    const steps = await recalled(folds, stored, { args: { steps: "9-11" }, messages: messages.slice(0, 9) })
    expect(steps.output).toContain("called read\nfilePath: src/10.ts\nreturned 2 lines:\ntext of file 10\nneedle")
    expect(asked.length).toBe(9 + 2)
  })

  test("that the array has come without a request", async () => {
    const { messages, folds, stored, asked } = session()
    const { output } = await recalled(folds, stored, { args: { file: "src/7.ts" }, messages })
    expect(output).toContain("text of file 7\n")
    expect(asked).toEqual([])
  })

  test("are not available when OpenCode does not answer", async () => {
    const { folds } = session()
    const stored = () => Promise.reject(new Error("down"))
    const searched = await recalled(folds, stored, { args: { search: "needle" } })
    expect(searched.output).toEndWith(
      "[Not searched: 12 folded steps and outputs that OpenCode did not return; ask again]",
    )
    const steps = await recalled(folds, stored, { args: { steps: "1-12" } })
    expect(steps.output).toContain("did not answer")
    expect(searched.recalls + steps.recalls).toBe(0)
  })
})

test("a recall is counted, and what it returned is not folded for a while", async () => {
  const sessions = createSessions(env)
  const session = sessions.get("ses_test")
  const { messages } = new SessionBuilder().user("go").assistant([read("a.ts"), bash("ls")])
  const reading = take(session.ledger, messages)
  const [step] = reading.entries.filter(({ kind }) => kind === "step")
  const fold: Fold = {
    ...folded().fold,
    kind: "step",
    partID: step?.id ?? "",
    messageID: step?.id ?? "",
    hash: env.hash(step ? stepKey(step) : ""),
  }
  session.folding = addFolds(session.folding, [fold])
  const context = {
    ...{ sessions, env, log: {}, options: { deadlineMs: 100, fold: { enabled: true } } },
    models: { answerLimits: () => HOST_LIMITS },
    store: { use() {} },
    storedMessages: async () => [],
  }
  const hooks = createHooks(context as never, async () => {})
  await hooks.tool?.hud_recall?.execute({ steps: "1" }, { sessionID: "ses_test", messages } as never)
  expect(session.account.turn.recalls).toBe(1)
  expect([...session.folding.recalledUntil]).toEqual([[fold.partID, 13]])
  await hooks.tool?.hud_recall?.execute({ steps: "2" }, { sessionID: "ses_test", messages } as never)
  expect(session.account.turn.recalls).toBe(1)
})

/** The plugin in a process of its own, with OpenCode's store behind it. */
async function load(path: string, stored: () => readonly HostMessage[]) {
  const session = {
    message: async (given: { path: { messageID: string } }) => {
      const data = stored().find(({ info }) => info.id === given.path.messageID)
      return data ? { data } : { error: { name: "NotFoundError" } }
    },
    messages: async () => ({ data: stored() }),
  }
  const input = { client: { session, app: {}, tui: {} }, directory: ROOT, worktree: ROOT }
  const options = { store: { path }, deadlineMs: 5000, hud: { enabled: false }, fold: { price: { read: 1, write: 1 } } }
  const hooks = await plugin.server(input as never, options as never)
  const transform = hooks["experimental.chat.messages.transform"]
  return {
    async request(messages: HostMessage[]): Promise<HostMessage[]> {
      await transform?.({}, { messages } as never)
      return messages
    },
    async recall(args: object, messages?: HostMessage[], sessionID = "ses_test"): Promise<string> {
      const answer = await hooks.tool?.hud_recall?.execute(args as never, { sessionID, messages } as never)
      return typeof answer === "object" ? answer.output : (answer ?? "")
    },
    dispose: () => hooks.dispose?.(),
  }
}

describe("a session whose steps are folded", () => {
  const folder = mkdtempSync(join(tmpdir(), "recall-steps-"))
  // a request waits a second for the store, which a busy machine may need to load its code
  beforeAll(async () => (await openStore({ path: join(folder, "first.db"), onWarning() {} })).close())
  afterAll(() => rmSync(folder, { recursive: true }))

  type Loaded = Awaited<ReturnType<typeof load>>
  const old = `a\n\tb${"\n  a line that goes".repeat(40)}`
  const edited = { filePath: `${ROOT}/src/3.ts`, oldString: old, newString: 'say("slow \\n") // unforgettable' }
  const step = `said in 1 line:
Now part 5.

called edit
filePath: ${ROOT}/src/3.ts
oldString, 42 lines:
${old}
newString: say("slow \\n") // unforgettable
returned 1 line:
Edit applied successfully.`

  /** A session of 40 steps, of which the fifth is an edit, and the process that made their requests. */
  const worked = async (name: string) => {
    const session = new SessionBuilder().user("find the slow part")
    const path = join(folder, name)
    const first = await load(path, () => session.messages)
    for (let at = 1; at <= 40; at++) {
      await first.request(session.fresh())
      const content = `const part${at} = [\n${`  "row ${at}",\n`.repeat(80)}]\n`
      const part = at === 5 ? tool("edit", edited, "Edit applied successfully.") : read(`src/${at}.ts`, content)
      session.assistant([{ type: "text", text: `Now part ${at}.` }, part], usage(3000 + 300 * at))
    }
    return { session, path, first, sent: await first.request(session.fresh()) }
  }

  /** Finds the edit in every way. */
  const expectFound = async (process: Loaded, messages: HostMessage[]) => {
    expect(await process.recall({ steps: "5" }, messages)).toBe(step)
    const found = await process.recall({ search: "UNFORGETTABLE" }, messages)
    expect(found).toMatch(/^\[1 line with "UNFORGETTABLE" in 1 of \d+ folded/)
    expect(found).toContain(" · step 5 · edit src/3.ts · 1 line with ")
    const named = await process.recall({ file: "src\\3.ts" }, messages)
    expect(named.match(/(?<=^\[recalled \w{8} · )step \d+/gm)).toEqual(["step 5", "step 3"])
  }

  test(
    "gives them back by number, file and search, also after a compaction, and not in a fork",
    async () => {
      const { session, first, sent } = await worked("one.db")
      expect(JSON.stringify(sent)).toContain('hud_recall with steps \\"')
      await expectFound(first, sent)
      expect(await first.recall({ steps: "40" }, sent)).toBe(
        "[Not folded: step 40; what is not folded, compacted or cleared stands in the conversation in full]",
      )
      expect(await first.recall({ steps: "41-42" }, sent)).toBe("[No steps 41-42: the newest is 40]")
      session.assistant([{ type: "text", text: "Half of an" }], { error: { name: "APIError" } }).user("go on")
      expect(await first.recall({ steps: "41" }, await first.request(session.fresh()))).toBe(
        "[Not folded: step 41; the call failed or was empty, and OpenCode sends nothing of it]",
      )
      session.compaction().assistant([read("src/41.ts")], usage(2000))
      const compacted = await first.request(session.fresh().slice(-3))
      await expectFound(first, compacted)
      expect(await first.recall({ steps: "40" }, compacted)).toContain("from before a compaction")
      expect(await first.recall({ steps: "5" }, compacted, "ses_fork")).toStartWith("Nothing is folded in this session")
      await first.dispose()
    },
    PATIENCE_MS,
  )

  test(
    "gives them back in a new process, which never saw them unfolded",
    async () => {
      const { session, path, first } = await worked("two.db")
      await first.dispose()
      session.compaction().assistant([read("src/41.ts")], usage(2000))
      const second = await load(path, () => session.messages)
      await expectFound(second, await second.request(session.fresh().slice(-3)))
      await second.dispose()
    },
    PATIENCE_MS,
  )
})

const SOURCES = fileURLToPath(new URL("../../src", import.meta.url))

/** A plugin that folds every output, and in a session's second turn removes the first turn's messages. */
const PLUGIN = `
import { addFolds } from "${SOURCES}/fold/folding.ts"
import { HOST_LIMITS } from "${SOURCES}/fold/pages.ts"
import { createSessions } from "${SOURCES}/host/sessions.ts"
import { standIn } from "${SOURCES}/host/v1/copies.ts"
import { storedMessages } from "${SOURCES}/host/v1/host.ts"
import { recallTool } from "${SOURCES}/host/v1/recall.ts"

const env = { hash: () => "same" }
const sessions = createSessions(env)
const foldOf = (session, part) => {
  const folds = session.folding.recallable
  const known = [...folds.values()].find(({ partID }) => partID === part.id)
  if (known) return known
  const id = "r" + String(folds.size + 1).padStart(7, "0")
  const what = part.tool + " " + Object.values(part.state.input)[0]
  const fold = { id, partID: part.id, messageID: part.messageID, kind: "output", step: folds.size + 1, what, hash: "same" }
  session.folding = addFolds(session.folding, [fold])
  return fold
}
const server = async ({ client }) => ({
  "experimental.chat.messages.transform": async (_, { messages }) => {
    messages.forEach((message, at) => {
      const parts = message.parts.map((part) => {
        if (part.type !== "tool" || part.tool === "hud_recall" || part.state.status !== "completed") return part
        const { id } = foldOf(sessions.get(message.info.sessionID), part)
        return { ...part, state: { ...part.state, output: "folded " + id } }
      })
      messages[at] = standIn({ ...message, parts }, [message])
    })
    const second = messages.findIndex(({ info, parts }) => info.role === "user" && parts.some(({ text }) => text?.includes("later")))
    if (second > 0) messages.splice(0, second)
  },
  tool: {
    hud_recall: recallTool({
      sessions,
      env,
      models: { answerLimits: () => HOST_LIMITS },
      storedMessages: (id, ids) => storedMessages(client, id, ids),
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
        use(reading("alpha.txt")),
        use(recall({ ids: ["[r0000001]"] })),
        use(recall({ ids: "0000001", lines: 2, page: "1" })),
        say("done"),
      ])
      const tools = requests[0]?.body.tools as { function: { name: string; parameters: unknown } }[]
      expect(tools.find((tool) => tool.function.name === "hud_recall")?.function.parameters).toMatchObject({
        type: "object",
        properties: {
          ids: { type: "string", description: expect.stringContaining("r4k2x9db") },
          lines: { type: "string", description: expect.stringContaining("120-180") },
          search: { type: "string", description: expect.any(String) },
          page: { type: "number", description: expect.any(String) },
        },
      })
      expect(resultIn(requests[1])).toBe("folded r0000001")
      const [original = ""] = await outputsOf(session)
      expect(original).toContain("1: first\n2: second\n")
      expect(resultIn(requests[2])).toBe(original)
      expect(resultIn(requests[3])).toBe("[recalled r0000001 · step 1 · read alpha.txt · line 2 of 1-2]\n2: second")

      // the message is no longer in the array: OpenCode's server has it
      const later = await converse(world, "later", [use(recall({ ids: "r0000001" })), say("done")], { session })
      expect(JSON.stringify(later.requests[0]?.body.messages)).not.toContain("alpha.txt")
      expect(resultIn(later.requests[1])).toBe(original)
    },
    PATIENCE_MS,
  )

  test(
    "what is longer than OpenCode passes on comes in pages that it leaves whole",
    async () => {
      const { session, requests } = await converse(world, "go", [
        use(reading("long.txt")),
        use(recall({ ids: "r0000001" })),
        use(recall({ ids: "r0000001", page: 2 })),
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
