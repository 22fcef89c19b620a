// A session in which every kind of secret comes in by every way a text can, played through the real hooks. Collects what they
// sent, stored, logged, asked a model and gave the compactor.

import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { stepText } from "../../src/fold/original.ts"
import { conversationOf } from "../../src/host/v1/conversation.ts"
import { type HostMessage, type HostPart, resultOf } from "../../src/host/v1/message.ts"
import plugin from "../../src/plugin.ts"
import { completion, modelList, type Served, serve } from "../digest/servers.ts"
import { type Plant, plantsOf } from "./planted.ts"
import { idIn, recordsIn, stepNumbers, stepsGone } from "./records.ts"
import { bash, failedTool, read, SessionBuilder, tool, usage } from "./session.ts"
import { sized } from "./size.ts"

const filler = (label: string, lines: number) =>
  Array.from(
    { length: lines },
    (_, at) => `${label} step ${at + 1} took ${(at * 7919) % 97} ms of the time it was given`,
  )

const around = (label: string, text: string, lines = 30) =>
  [...filler(label, lines), text, ...filler(label, lines)].join("\n")

/** What a way can do besides adding messages. */
type Stage = { titles: string[]; fire(type: string, properties: object): Promise<void> }

type Way = (session: SessionBuilder, text: string, at: number, stage: Stage) => unknown

/** The ways by which a text comes in. */
export const WAYS: Readonly<Record<string, Way>> = {
  "a command's output": (session, text, at) =>
    session.assistant([bash(`sh steps-${at}.sh`, around("build", text))], usage(2_000, 20_000)),
  "the end of a failed command": (session, text, at) =>
    session.assistant([bash(`npm test -- part-${at}`, [...filler("test", 30), text].join("\n"), 1)]),
  "a file": (session, text, at) => {
    const lines = around("set", text).split("\n")
    session.assistant([
      read(
        `config/part-${at}.txt`,
        lines
          .map((line, n) => `${n + 1}: ${line}`)
          .join("\n")
          .slice(3),
      ),
    ])
  },
  "a page": (session, text, at) =>
    session.assistant([
      tool("webfetch", { url: `https://docs.example/part-${at}` }, around("# The guide says how a", text, 60)),
    ]),
  "a search": (session, text, at) => {
    const found = text.split("\n").map((line, n) => `  Line ${n + 3}: ${line}`)
    const more = filler("found", 30).map((line) => `  Line 90: ${line}`)
    session.assistant([
      tool(
        "grep",
        { pattern: `part${at}`, path: "src" },
        ["Found 40 matches", `src/part-${at}.conf:`, ...found, ...more].join("\n"),
      ),
    ])
  },
  "a command": (session, text, at) => session.assistant([bash(`: part ${at}; ${text}`, filler("ran", 20).join("\n"))]),
  "an argument": (session, text, at) =>
    session.assistant([
      tool("mcp_store_put", { name: `part-${at}`, value: text, note: around("kept", "as above", 20) }, "stored"),
    ]),
  "an argument of a failed call": (session, text, at) =>
    session.assistant([
      failedTool(
        "edit",
        { filePath: `/home/dev/shop/part-${at}.conf`, oldString: around("old", text, 20), newString: "" },
        "oldString not found",
      ),
    ]),
  "an error": (session, text) =>
    session.assistant([failedTool("mcp_fetch", { query: "orders" }, `Error: request failed\n${text}`)]),
  "the user's words": (session, text, at) =>
    session.user(`Part ${at}: have a look at what follows and mend it, please. ${text}`),
  "a subagent": (session, text, at) =>
    session.assistant([
      tool(
        "task",
        {
          description: `look at part ${at}`,
          prompt: `Find out how part ${at} is set up. ${text}`,
          subagent_type: "general",
        },
        `task_id: ses_child${at}\n\n<task_result>\n${around("It", text, 12)}\n</task_result>`,
      ),
    ]),
  "a patch": (session, text, at) => {
    const added = text.split("\n").map((line) => `+${line}`)
    const patchText = [`*** Begin Patch`, `*** Update File: part-${at}.txt`, "@@", ...added, "*** End Patch"].join("\n")
    session.assistant([tool("apply_patch", { patchText }, `Success. Updated part-${at}.txt`)])
  },
  "a small edit": (session, text, at) =>
    session.assistant([
      tool("edit", { filePath: `/home/dev/shop/part-${at}.txt`, oldString: "none", newString: text }, "Edit applied."),
    ]),
  "a short output": (session, text, at) => session.assistant([bash(`sh show-${at}.sh`, text)]),
  "a server's answer": (session, text, at) =>
    session.assistant([tool("mcp_store_get", { name: `part-${at}` }, around("entry", text, 20))]),
  "the agent's words": (session, text, at) =>
    session.assistant([
      { type: "text", text: `Part ${at} is set up like this:\n${text}\nThat is why it failed.` },
      bash(`sh check-${at}.sh`, filler("check", 12).join("\n")),
    ]),
  "the user's many words": (session, text, at) => session.user(around(`Part ${at}`, text, 5)),
  "a permission": async (session, text, at, { fire }) => {
    const asked = { id: `per_${at}`, sessionID: "ses_test", permission: "bash", patterns: [text] }
    await fire("permission.asked", asked)
    session.assistant([bash(`sh allowed-${at}.sh`, filler("allowed", 12).join("\n"))])
  },
  "a session's title": (session, text, at, { titles }) => {
    titles.push(text)
    session.assistant([bash(`sh titled-${at}.sh`, "done")])
  },
  "a todo list": (session, text) => {
    const todos = [
      { content: "begin", status: "completed" },
      { content: text, status: "in_progress" },
    ]
    session.assistant([tool("todowrite", { todos }, JSON.stringify(todos), { todos })])
  },
  "what an interrupted command had printed": (session, text, at) => {
    const failed = failedTool("bash", { command: `sh serve-${at}.sh` }, "Tool execution aborted")
    const metadata = { output: around("serve", text), interrupted: true }
    session.assistant([{ ...failed, state: { ...failed.state, metadata } }])
  },
}

/** Kinds that a file's name says of by itself. */
const NAMED = ["an exported variable", "a GitHub token", "a payment key", "a model's key", "a JWT"]

export type Planted = Plant & { way: string; name: string }

/** What each place held at the end; texts for what is in memory, bytes as latin1 for what is a file. */
export type Played = {
  planted: readonly Planted[]
  session: SessionBuilder
  /** the session's, in OpenCode */
  title: string
  places: ReadonlyMap<string, string>
  /** folds that were sent, and recalled texts with their originals */
  folds: number
  recalled: { answer: string; original: string }[]
  /** requests to the model that writes digests */
  asked: number
  folder: string
  data: string
  remove(): void
}

type Call = (input: object, output?: object) => Promise<void>
type Recall = { execute(args: object, context: object): Promise<{ output: string }> }

/** The plants of each way, by the way's name. */
export type Plan = readonly (readonly [way: string, plants: readonly Plant[]])[]

/** Every kind by every way; `npm test` takes every fifth kind for each, alternating, and the large run every third. */
function wholePlan(): Plan {
  const every = sized(5, 1, 3)
  return Object.keys(WAYS).map((way, at) => [way, plantsOf(at + 1).filter((_, n) => n % every === at % every)])
}

/** Plays it and waits until all that is written behind is written. The environment's data folder is put back. */
export async function play(plan = wholePlan()): Promise<Played> {
  const folder = mkdtempSync(join(tmpdir(), "hud-secrets-"))
  const data = join(folder, "data", "opencode-hudfold")
  mkdirSync(data, { recursive: true })
  const before = process.env.HUDFOLD_DATA
  process.env.HUDFOLD_DATA = data
  try {
    await using server = await echoing()
    return await playIn(folder, data, server, plan)
  } finally {
    if (before === undefined) delete process.env.HUDFOLD_DATA
    else process.env.HUDFOLD_DATA = before
  }
}

async function playIn(folder: string, data: string, server: Served, plan: Plan): Promise<Played> {
  const texts = new Map<string, string[]>()
  const put = (place: string, text: string) => texts.set(place, [...(texts.get(place) ?? []), text])
  const client = {
    app: {
      log: async ({ body }: { body: { message: string } }) => put("the log", body.message),
      agents: async () => ({ data: [] }),
    },
    session: { messages: async () => ({ data: session.fresh() }) },
    tui: { showToast: async ({ body }: { body: { message: string } }) => put("the toasts", body.message) },
  }
  const session = new SessionBuilder()
  const hooks = await plugin.server({ client, directory: "/home/dev/shop", worktree: "/home/dev/shop" } as never, {
    deadlineMs: 5000,
    hud: { slot: "sticky" },
    fold: { price: { read: 1, write: 1 } },
    digest: { backend: "openai", openai: { url: server.url } },
  })
  const call = (name: keyof typeof hooks) => hooks[name] as unknown as Call
  /** part ids by recall id, and message ids by the numbers of their steps */
  const folds = new Map<string, string>()
  const steps = new Map<number, string>()
  const sentTexts = new Set<string>()
  const transform = async () => {
    const messages = session.fresh()
    const before = messages.flatMap(({ parts }) => parts)
    await call("experimental.chat.messages.transform")({}, { messages })
    for (const part of own(before, messages)) {
      const text = part.state && resultOf(part.state)
      const id = idIn(text)
      if (id !== "") folds.set(id, part.id ?? "")
      sentTexts.add(id === "" ? JSON.stringify(part) : (text ?? ""))
    }
    const numbers = recordsIn(messages).flatMap(stepNumbers)
    for (const [at, gone] of [...stepsGone(session.messages, messages)].entries()) steps.set(numbers[at] ?? 0, gone)
    return messages
  }
  const idle = () => call("event")({ event: { type: "session.idle", properties: { sessionID: "ses_test" } } })

  session.user("see to the parts of the shop")
  await call("experimental.chat.system.transform")(
    {
      sessionID: "ses_test",
      model: { id: "claude-sonnet-4-5", providerID: "anthropic", limit: { context: 900_000, output: 8_000 } },
    },
    { system: ["You are OpenCode."] },
  )
  const planted: Planted[] = []
  const stage: Stage = {
    titles: [],
    fire: (type, properties) => call("event")({ event: { type, properties } }),
  }
  let sent: HostMessage[] = []
  const plant = async (way: string, plants: readonly Plant[], how: Way) => {
    for (const one of plants) {
      planted.push({ ...one, way, name: `${one.kind} in ${way}` })
      await how(session, one.text, planted.length, stage)
      sent = await transform()
    }
    await idle()
    await quiet(server)
    for (const at of planted.keys())
      await stage.fire("permission.replied", { sessionID: "ses_test", requestID: `per_${at + 1}` })
  }
  for (const [way, plants] of plan) {
    const how = WAYS[way]
    if (!how) throw new Error(`no way is called ${way}`)
    await plant(way, plants, how)
  }
  const named = plantsOf(99).filter(({ kind }) => NAMED.includes(kind))
  await plant("a file's name", named, (session, text, at) => {
    const name = text
      .split(/[\s"]+/)
      .find((word) => /[=_]|sk-|eyJ/.test(word))
      ?.replace(/[/:]+/g, "-")
    return session.assistant([read(`backup/${at}-${name}.txt`), bash(`cat backup/${name}.sh`, "done")])
  })
  for (let at = 0; at < 12; at++) session.assistant([read(`late-${at}.ts`)])
  sent = await transform()

  const recall = hooks.tool?.hud_recall as unknown as Recall
  const ask = async (asked: object) => (await recall.execute(asked, { sessionID: "ses_test", messages: sent })).output
  const ofOutputs = [...folds].map(async ([ids, partID]) => {
    const part = session.messages.flatMap(({ parts }) => parts).find((one) => one.id === partID)
    return { asked: { ids }, answer: await ask({ ids }), original: (part?.state && resultOf(part.state)) ?? "" }
  })
  const ofSteps = [...steps].map(async ([number, id]) => {
    const step = session.fresh().filter(({ info }) => info.id === id)
    const asked = { steps: `${number}` }
    return { asked, answer: await ask(asked), original: conversationOf(step).map(stepText)[0] ?? "" }
  })
  const recalled = await Promise.all([...ofOutputs, ...ofSteps])
  // what came back stands in the session as an output of its own
  session.assistant(recalled.slice(0, 40).map(({ asked, answer }) => tool("hud_recall", asked, answer)))
  await transform()
  const compacted: { context: string[] } = { context: [] }
  await call("experimental.session.compacting")({ sessionID: "ses_test" }, compacted)
  for (const text of compacted.context) put("the compaction", text)
  await transform()
  session.compaction(session.messages.at(-4)?.info.id)
  await transform()
  await idle()
  await quiet(server)
  await (hooks.dispose as () => Promise<void>)()

  put("what was sent", [...sentTexts].join("\n"))
  for (const { body } of server.seen) put("the requests for digests", JSON.stringify(body))
  const log = join(folder, "data", "opencode", "log")
  mkdirSync(log, { recursive: true })
  writeFileSync(join(log, "opencode.log"), (texts.get("the log") ?? []).map((text) => `INFO 1 ${text}\n`).join(""))
  const places = new Map([...texts].map(([place, all]) => [place, all.join("\n")]))
  for (const path of filesIn(data))
    places.set(`the file ${path.slice(data.length + 1).replace(/\w{20,}/, "…")}`, readFileSync(path, "latin1"))
  return {
    ...{
      planted,
      session,
      title: stage.titles.join("\n"),
      places,
      folds: folds.size + steps.size,
      recalled,
      folder,
      data,
    },
    asked: server.seen.filter(({ path }) => path.endsWith("/chat/completions")).length,
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** A model's server that answers with what it was asked: the worst that one can do with a secret it has seen. */
function echoing(): Promise<Served> {
  return serve(({ path, body }) => {
    if (path.endsWith("/models")) return modelList("tiny")
    const lines = (body.messages ?? []).flatMap(({ content }) => content.split("\n")).filter((line) => line.length > 8)
    const telling = lines.filter((line) => !/ step \d+ took /.test(line))
    return completion(JSON.stringify({ summary: telling.join(" ").slice(0, 84) }))
  })
}

/** Until nothing more is asked: a request follows the last one at once. */
async function quiet(server: Served): Promise<void> {
  for (let before = -1; before !== server.seen.length || server.open > 0; ) {
    before = server.seen.length
    await new Promise((resolve) => setTimeout(resolve, 150))
  }
}

/** What the plugin put into an array, and the part whose place it took: it replaces parts and messages, and changes none. */
function* own(before: readonly HostPart[], sent: readonly HostMessage[]): Generator<HostPart> {
  const known = new Set(before)
  for (const { parts } of sent) for (const part of parts) if (!known.has(part)) yield part
}

export function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile())
    .sort()
}
