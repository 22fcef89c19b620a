// What OpenCode 2 passes beside the ordinary: messages that nobody said, parts that take no mark, results beside their calls,
// messages whose fields are accessors, and contexts and events with pieces missing.

import { describe, expect, test } from "bun:test"
import * as module from "../../../src/plugin.ts"
import { fakeHostV2, heard, loadedModule, MODEL_V2, textsOf, toolV2, type WireMessage } from "../../support/host-v2.ts"

type Json = Record<string, unknown>
const OPTIONS = { store: { enabled: false }, deadlineMs: 5000, fold: { maxContextTokens: 8000 } }
/** With folding off the HUD is complete from the start. */
const ALONE = { fold: { enabled: false } }
const listing = (n: number) => Array.from({ length: 300 }, (_, i) => `export const value${n}_${i} = ${i}`).join("\n")
const RECORD = /^Steps? [\d-]+ of this session/

async function load(
  host: ReturnType<typeof fakeHostV2>,
  options: object = {},
  change: (context: Json) => void = () => {},
) {
  const context = host.context({ ...OPTIONS, ...options }) as Json
  change(context)
  host.user("make the login test pass on node 22, please")
  return (await loadedModule(module).setup(context)) as () => Promise<void>
}

/** Steps that are soon too many; answers the texts of the last request. */
async function work(host: ReturnType<typeof fakeHostV2>, change?: (event: Json) => void) {
  let texts: string[] = []
  for (let n = 0; n < 15; n++) {
    texts = textsOf((await host.request(change)).messages)
    host.answer([toolV2(`call_${n}`, "read", { path: `src/file-${n}.ts` }, listing(n))])
    await heard()
  }
  return texts
}

/** At an agent's last step OpenCode puts a message of the agent's at the end. */
const nudge = (event: Json) => {
  const said = { role: "assistant", content: [{ type: "text", text: "No steps are left: answer in text." }] }
  event.messages = [...(event.messages as object[]), said]
}

test("the message that OpenCode puts last at the last step is no call", async () => {
  const host = fakeHostV2()
  const cleanup = await load(host, ALONE)
  host.answer([toolV2("call_1", "shell", { command: "npm test" }, "1 failed\nCommand exited with code 1.")])
  await heard()
  expect(textsOf((await host.request()).messages).at(-1)).toContain("call 2")
  expect(textsOf((await host.request(nudge)).messages).at(-1)).toContain("call 2")
  await cleanup()
})

test.each(["file: price.ts", "directory: src"])(
  "what OpenCode adds to a request for an attached %s is not the user's",
  async (what) => {
    const host = fakeHostV2()
    const cleanup = await load(host, ALONE)
    for (let n = 0; n < 8; n++) host.answer([toolV2(`call_${n}`, "read", { path: `src/file-${n}.ts` }, listing(n))])
    await heard()
    const attach = (event: Json) => {
      const [asked, ...others] = event.messages as { content: object[] }[]
      const added = { type: "text", text: `\n\nAttached ${what}\n\nindex.ts` }
      event.messages = [{ ...asked, content: [...(asked?.content ?? []), added] }, ...others]
    }
    const hud = textsOf((await host.request(attach)).messages).at(-1)
    expect(hud).toContain('task "make the login test pass on node 22, please"')
    await cleanup()
  },
)

test.each([
  ["the text of a skill", { skills: [{ name: "review", text: "Read every file before you say anything." }] }],
  ["the path of an image", { images: ["/home/dev/shop/login.png"] }],
])("%s is not the user's words", async (_, added) => {
  const host = fakeHostV2()
  const cleanup = await load(host, ALONE)
  Object.assign(host.messages[0] as object, added)
  for (let n = 0; n < 8; n++) {
    await host.request()
    host.answer([toolV2(`call_${n}`, "read", { path: `src/file-${n}.ts` }, listing(n))])
    await heard()
  }
  const hud = textsOf((await host.request()).messages).at(-1)
  expect(hud).toContain('task "make the login test pass on node 22, please"')
  host.store({ id: "msg_only", type: "user", text: "", time: { created: Date.now() }, ...added })
  expect(textsOf((await host.request()).messages).at(-1)).toContain(
    'task "make the login test pass on node 22, please"',
  )
  await cleanup()
})

test("a HUD that is given back is taken out", async () => {
  const host = fakeHostV2()
  const cleanup = await load(host, ALONE)
  host.answer([toolV2("call_1", "shell", { command: "npm test" }, "1 failed\nCommand exited with code 1.")])
  await heard()
  const sent = (await host.request()).messages
  const again = await host.request((event) => {
    event.messages = [...(event.messages as object[]), sent.at(-1)]
  })
  expect(textsOf(sent).at(-1)).toStartWith("<hud>")
  expect(textsOf(again.messages)).toEqual(textsOf(sent))
  await cleanup()
})

test.each(["mistral/devstral-medium", "ollama/gemma3", "github-copilot/gpt-5"])(
  "after a compaction the first record is no second user's message in a row for %s",
  async (name) => {
    const [providerID, id] = name.split("/")
    const host = fakeHostV2({ model: { ...MODEL_V2, providerID, id } })
    const cleanup = await load(host)
    const text = "<conversation-checkpoint>\nthe login test fails\n</conversation-checkpoint>"
    const summary = { id: "msg_summary", role: "user", content: [{ type: "text", text }] }
    const compact = (event: Json) => {
      event.messages = [summary, ...(event.messages as Json[]).slice(1)]
    }
    await work(host, compact)
    const { messages } = await host.request(compact)
    const roles = messages.map(({ role }) => role)
    const first = messages[0]?.content.map((part) => part.text ?? "") ?? []
    expect(first[0]).toBe(text)
    expect(first[1]).toMatch(RECORD)
    const isTwice = (role: string, at: number, all: readonly string[]) => role === "user" && all[at - 1] === "user"
    expect(roles.filter(isTwice)).toEqual([])
    host.answer([{ type: "text", text: "Done." }])
    host.user("and the logout test?")
    await work(host, compact)
    expect((await host.request(compact)).messages.map(({ role }) => role).filter(isTwice)).toEqual([])
    await cleanup()
  },
)

test.each([
  ["the last step", nudge],
  [
    "a change of instructions",
    (event: Json) => {
      const told = { role: "system", content: [{ type: "text", text: "Other instructions." }] }
      event.messages = [...(event.messages as object[]), told]
    },
  ],
])("Copilot's request does not end with a message of ours at %s", async (_, change) => {
  const host = fakeHostV2({ model: { ...MODEL_V2, providerID: "github-copilot" } })
  const cleanup = await load(host, ALONE)
  host.answer([toolV2("call_1", "shell", { command: "npm test" }, "1 failed\nCommand exited with code 1.")])
  await heard()
  const { messages } = await host.request()
  expect(messages.at(-1)?.role).toBe("tool")
  expect(textsOf(messages).at(-1)).toEndWith("</hud>")
  expect((await host.request(change)).messages.at(-1)?.role).not.toBe("user")
  await cleanup()
})

describe("the mark before the HUD", () => {
  const failing = toolV2("call_1", "shell", { command: "npm test" }, "1 failed\nCommand exited with code 1.")
  const marked = (messages: readonly WireMessage[]) => messages.map(({ content }) => content.some(({ cache }) => cache))

  test("is on the last part that takes one", async () => {
    const host = fakeHostV2()
    const cleanup = await load(host, ALONE)
    host.answer([failing])
    host.store({ id: "msg_effort", type: "model-switched" })
    await heard()
    const { messages, breakpoints } = await host.request()
    expect(breakpoints).toBe(1)
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "system", "user"])
    expect(marked(messages).slice(0, -1)).toEqual([false, false, true, false])
    await cleanup()
  })

  test.each([
    ["marks by its own package", { package: "@opencode/ai/providers/anthropic-compatible" }, 1],
    ["marks by the package of its SDK", { package: "aisdk:@ai-sdk/anthropic@3.0.111" }, 1],
    ["marks by the model's name there", { modelID: "claude-sonnet-4-5" }, 1],
    ["does not mark", { package: "@opencode/ai/providers/openai-compatible" }, 0],
  ])("is made for a provider of one's own, where OpenCode %s", async (_, more, expected) => {
    const host = fakeHostV2({ model: { ...MODEL_V2, providerID: "proxy", id: "chat", ...more } })
    const cleanup = await load(host, ALONE)
    host.answer([failing])
    await heard()
    expect((await host.request()).breakpoints).toBe(expected)
    await cleanup()
  })

  test("is not made where others have used up the provider's marks", async () => {
    const host = fakeHostV2()
    const cleanup = await load(host, ALONE)
    for (let n = 0; n < 3; n++) host.user(`and the test ${n}`)
    host.answer([failing])
    await heard()
    const { messages, breakpoints } = await host.request((event) => {
      event.messages = (event.messages as WireMessage[]).map((message) =>
        message.role === "user"
          ? { ...message, content: message.content.map((part) => ({ ...part, cache: { type: "ephemeral" } })) }
          : message,
      )
    })
    expect(textsOf(messages).at(-1)).toStartWith("<hud>")
    expect(breakpoints).toBe(4)
    await cleanup()
  })
})

test("messages whose fields are accessors are copied with all of them", async () => {
  const host = fakeHostV2()
  const cleanup = await load(host)
  const texts = await work(host, (event) => {
    event.messages = (event.messages as WireMessage[]).map((message) =>
      Object.create({
        get id() {
          return message.id
        },
        get role() {
          return message.role
        },
        get content() {
          return message.content
        },
      }),
    )
  })
  expect(texts.some((text) => RECORD.test(text))).toBe(true)
  await cleanup()
})

test("a step that holds what a recall could not return is sent whole, and those around it are folded", async () => {
  const host = fakeHostV2()
  const cleanup = await load(host)
  host.answer([toolV2("call_a", "read", { path: "src/first.ts" }, listing(99))])
  await heard()
  // a call that the provider ran, with the result beside it
  const result = { type: "json", value: [{ title: "a page" }] }
  const search = {
    type: "tool",
    id: "srv_1",
    name: "web_search",
    executed: true,
    state: { input: {} },
    result,
    time: {},
  }
  host.answer([search, toolV2("call_b", "read", { path: "src/second.ts" }, listing(98))])
  await heard()
  const file = { type: "file", uri: "data:image/png;base64,AAAA", mime: "image/png" }
  const state = { status: "completed", input: { path: "shot.png" }, content: [{ type: "text", text: "read" }, file] }
  host.answer([{ ...toolV2("call_c", "read", {}, ""), state }])
  await heard()
  const records = (await work(host)).filter((text) => RECORD.test(text))
  expect(records[0]?.split("\n").slice(1)).toEqual([expect.stringContaining("1 read src/first.ts")])
  expect(records[1]).toStartWith("Steps 4-")
  const { messages } = await host.request()
  const sent = JSON.stringify(messages)
  expect(sent).toContain("a page")
  expect(sent).toContain(file.uri)
  await cleanup()
})

test("what a call had returned when it failed comes back with its step", async () => {
  const host = fakeHostV2()
  const cleanup = await load(host)
  const error = { type: "ToolError", message: "Tool execution interrupted" }
  const state = { status: "error", input: { command: "npm start" }, error }
  const content = [{ type: "text", text: "ready on port 3000" }]
  host.answer([{ ...toolV2("call_a", "shell", {}, ""), state: { ...state, content } }])
  await heard()
  const sent = await work(host)
  expect(sent.find((text) => RECORD.test(text))).toContain("1 shell npm start: failed, Tool execution interrupted")
  const recalled = await host.tools.get("hud_recall")?.execute({ steps: "1" }, { sessionID: "ses_v2" })
  expect(recalled?.content).toEndWith("failed with 2 lines:\nTool execution interrupted\nready on port 3000")
  await cleanup()
})

test("a call that the provider ran is never folded, also where its result is a message of its own", async () => {
  const host = fakeHostV2()
  const cleanup = await load(host)
  const run = (event: Json) => {
    event.messages = (event.messages as WireMessage[]).map((message) => ({
      ...message,
      content: message.content.map((part) =>
        part.type === "tool-call" && part.id === "call_3" ? { ...part, providerExecuted: true } : part,
      ),
    }))
  }
  const texts = await work(host, run)
  const records = texts.filter((text) => RECORD.test(text)).join("\n")
  expect(records).toContain("read src/file-2.ts")
  expect(records).not.toContain("read src/file-3.ts")
  expect(texts).toContain(listing(3))
  await cleanup()
})

describe("with pieces missing", () => {
  const isFolded = (texts: readonly string[]) => texts.some((text) => RECORD.test(text))

  test("nothing is folded where the tool cannot be registered, or could not get the originals", async () => {
    const changes: ((context: Json) => void)[] = [
      undefined,
      {},
      { transform: () => Promise.reject(new Error("no")) },
    ].map((tool) => (context) => {
      context.tool = tool
    })
    changes.push((context) => {
      const { hook } = context.session as Json
      context.session = { hook }
    })
    for (const change of changes) {
      const host = fakeHostV2()
      const cleanup = await load(host, {}, change)
      const texts = await work(host)
      expect(isFolded(texts)).toBe(false)
      expect(texts.at(-1)).toStartWith("<hud>")
      await cleanup()
    }
  })

  test("a request that does not name its tools folds nothing", async () => {
    const host = fakeHostV2()
    const cleanup = await load(host)
    const texts = await work(host, (event) => {
      delete event.tools
    })
    expect(isFolded(texts)).toBe(false)
    await cleanup()
  })

  test("a hook that cannot be registered does not keep the others from it", async () => {
    const host = fakeHostV2()
    const cleanup = await load(host, {}, (context) => {
      const { hook } = context.session as { hook(name: string, callback: never): Promise<unknown> }
      context.session = {
        ...(context.session as object),
        hook(name: string, callback: never) {
          if (name === "compaction") throw new Error("no such hook")
          return hook(name, callback)
        },
      }
    })
    expect(host.tools.size).toBe(1)
    expect(isFolded(await work(host))).toBe(true)
    await cleanup()
  })

  test("OpenCode is asked for a step's usage once, and not again while it does not answer", async () => {
    const host = fakeHostV2()
    let asked = 0
    const cleanup = await load(host, {}, (context) => {
      context.event = undefined
      Object.assign(context.session as object, {
        context: () => {
          asked++
          return new Promise(() => {})
        },
      })
    })
    const started = performance.now()
    await work(host)
    expect(asked).toBe(1)
    expect(performance.now() - started).toBeLessThan(5000)
    await cleanup()
  })
})
