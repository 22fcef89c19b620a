// A small OpenCode 2 for the tests, written from what is known of the real one (docs/hosts.md says what was verified and how).
// It is as strict as the real one: messages are frozen instances of a class, a hook that throws or leaves a malformed part
// behind fails the turn, hooks run in order, and nothing waits for them but the turn itself.

import type { HostMessage } from "../../src/host/v1/message.ts"

type Json = Record<string, unknown>
export type Part = {
  type: string
  text?: string
  id?: string
  name?: string
  input?: unknown
  encrypted?: string
  result?: Json
  cache?: Json
}

export class WireMessage {
  declare readonly id?: string
  declare readonly role: string
  declare readonly content: readonly Part[]
  constructor(given: object) {
    Object.assign(this, structuredClone(given))
    deepFreeze(this)
  }
}

function deepFreeze(value: unknown): void {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return
  Object.freeze(value)
  for (const inner of Object.values(value)) deepFreeze(inner)
}

export type Stored = { id: string; type: string } & Json
export type SentV2 = { messages: readonly WireMessage[]; system: readonly Json[]; breakpoints: number }
type Hook = (event: Json) => unknown
type Tool = {
  name: string
  input: Json
  options?: Json
  execute(input: unknown, call: Json): Promise<{ content: string }>
}

export const MODEL_V2 = {
  id: "claude-sonnet-4-5",
  providerID: "anthropic",
  limit: { context: 200_000, output: 8_000 },
  cost: [{ input: 3, output: 15, cache: { read: 0.3, write: 3.75 } }],
}

/** What OpenCode 1.18.33, which has an early OpenCode 2 inside, passes to `setup`. */
export const PARTIAL_CONTEXT = Object.fromEntries(
  "agent aisdk catalog command integration options plugin reference skill".split(" ").map((name) => [name, {}]),
)

/** The loader's rules for a module. Throws where OpenCode 2 does not load one. */
export function loadedModule(module: Json): { id: string; setup(context: object): unknown } {
  const plugin = module.default as Json
  const isPlain = typeof plugin === "object" && plugin !== null && Object.getPrototypeOf(plugin) === Object.prototype
  const own = (name: string) => (isPlain ? Object.getOwnPropertyDescriptor(plugin, name)?.value : undefined)
  if (typeof own("id") !== "string" || (typeof own("setup") !== "function" && own("effect") === undefined))
    throw new Error("Plugin must export a default definition with an id and an effect or setup function")
  if (own("effect") !== undefined) throw new Error("this loads its effect, not its setup")
  return plugin as never
}

type Listener = (event: object | undefined) => void

export type FakeOptions = {
  model?: object
  /** what `model.list` answers */
  models?: readonly object[]
  stored?: readonly Stored[]
  directory?: string
  project?: string
  sessionID?: string
  /** who hears events; locations of one process share it */
  listeners?: Set<Listener>
}

export function fakeHostV2({
  model = MODEL_V2,
  models = [model],
  stored = [],
  directory = "/home/dev/shop",
  project = directory,
  sessionID = "ses_v2",
  listeners = new Set(),
}: FakeOptions = {}) {
  const messages: Stored[] = [...stored]
  const hooks: [string, Hook][] = []
  const tools = new Map<string, Tool>()
  const streams = new Set<Listener>()
  let made = messages.length
  let denied = false
  const calls = { context: 0, list: 0 }

  const emit = (type: string, data: object = {}, created = Date.now()) => {
    for (const listener of listeners) listener({ id: `evt_${made}`, created, type, data: { sessionID, ...data } })
  }
  async function* subscribe() {
    const queue: (object | undefined)[] = []
    let wake = () => {}
    const listener = (event: object | undefined) => {
      queue.push(event)
      wake()
    }
    listeners.add(listener)
    streams.add(listener)
    try {
      for (;;) {
        while (queue.length > 0) {
          const event = queue.shift()
          if (!event) return
          yield event
        }
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    } finally {
      listeners.delete(listener)
    }
  }

  async function run(name: string, event: Json): Promise<void> {
    for (const [hook, callback] of hooks) if (hook === name) await callback(event)
  }

  /** What is stored from the last compaction on. */
  const active = () =>
    messages.slice(
      Math.max(
        0,
        messages.findLastIndex(({ type }) => type === "compaction"),
      ),
    )
  /** The messages of a request, made again from what is stored. */
  const array = (): WireMessage[] => active().flatMap(wireOf)

  /** The tools that the agent may call. */
  const offered = () => Object.fromEntries(denied ? [] : [...tools].map(([name, { input }]) => [name, { input }]))

  return {
    messages,
    calls,
    emit,
    array,
    tools,
    /** whether the agent may not call the plugin's tool */
    set denied(value: boolean) {
      denied = value
    },
    context: (options: object = {}): object => ({
      app: { name: "opencode", version: "2.0.20", channel: "latest" },
      location: { directory, project: { id: "prj", directory: project, canonical: project } },
      options,
      session: {
        async hook(name: string, callback: Hook) {
          hooks.push([name, callback])
          return { async dispose() {} }
        },
        async context() {
          calls.context++
          return { location: {}, data: structuredClone(active()) }
        },
      },
      tool: {
        async transform(edit: (editor: object) => void) {
          edit({ add: (tool: Tool) => void tools.set(tool.name, tool) })
          return { async dispose() {} }
        },
      },
      model: {
        async list() {
          calls.list++
          return { location: {}, data: models }
        },
      },
      event: { subscribe },
    }),
    /** Adds a hook of another plugin, after those there are. */
    hook: (name: string, callback: Hook): void => void hooks.push([name, callback]),
    /** Ends the streams and hooks, as after a plugin's cleanup. */
    unload(): void {
      for (const listener of streams) listener(undefined)
      hooks.length = 0
      tools.clear()
    },
    user(text: string, id = `msg_${String(++made).padStart(6, "0")}`): void {
      if (!messages.some((one) => one.type === "user")) emit("session.created")
      messages.push({ id, type: "user", text, time: { created: Date.now() } })
      emit("session.execution.started")
    },
    /** A step's answer is stored and announced. */
    answer(content: Json[], tokens: object = USAGE, id = `msg_${String(++made).padStart(6, "0")}`): void {
      const { providerID, id: modelID } = model as typeof MODEL_V2
      const time = { created: Date.now(), completed: Date.now() }
      messages.push({
        id,
        type: "assistant",
        agent: "build",
        model: { providerID, id: modelID },
        content,
        tokens,
        cost: 0,
        time,
      })
      announce(messages.at(-1) as Stored, emit)
    },
    store(message: Stored): void {
      messages.push(message)
      if (message.type === "assistant") announce(message, emit)
    },
    end: (how: "succeeded" | "failed" | "interrupted" = "succeeded") => emit(`session.execution.${how}`),
    /** One call of the agent's model; rejects as the turn would fail. `change`: what is else with the event. */
    async request(change: (event: Json) => void = () => {}, agent = "build"): Promise<SentV2> {
      const { providerID, id } = model as typeof MODEL_V2
      const event: Json = {
        sessionID,
        agent,
        model: { providerID, id },
        system: [
          { type: "text", text: "You are OpenCode." },
          { type: "text", text: "Instructions of the project." },
        ],
        messages: array(),
        options: {},
        tools: offered(),
      }
      change(event)
      await run("context", event)
      return checked(event)
    },
    /**
     * What the summariser gets, and the summary of a plugin in place of its answer. `told`: what it is to do; OpenCode adds
     * it before or after the hook. `kept`: how many of the newest messages are not summarised but kept in its own words.
     */
    async compact(told?: string, kept = 0): Promise<SentV2> {
      const summarised = array().slice(0, array().length - kept)
      const event: Json = {
        sessionID,
        agent: "build",
        model,
        system: [],
        messages: summarised,
        options: {},
        tools: offered(),
      }
      if (told !== undefined)
        event.messages = [...summarised, new WireMessage({ role: "user", content: [{ type: "text", text: told }] })]
      await run("compaction", event)
      const sent = checked(event)
      const given = (event.result as Json | undefined)?.summary
      if (event.result !== undefined && (typeof given !== "string" || given === "")) throw new Error("malformed result")
      const summary = typeof given === "string" ? given : "the model's summary"
      messages.push({
        id: `msg_${String(++made).padStart(6, "0")}`,
        type: "compaction",
        status: "completed",
        reason: "auto",
        summary,
      })
      emit("session.compaction.ended", { reason: "auto", text: summary })
      return sent
    },
    async call(name: string, input: object): Promise<string> {
      const tool = tools.get(name)
      if (!tool) throw new Error(`no tool ${name}`)
      if (tool.options?.codemode !== false) throw new Error(`${name} can only be reached from a program`)
      const { content } = await tool.execute(input, { sessionID, agent: "build", messageID: "msg", id: "call" })
      if (typeof content !== "string") throw new Error("the content is no text")
      return content
    },
  }
}

export const USAGE = { input: 400, output: 100, reasoning: 0, cache: { read: 4000, write: 0 } }

/** Events reach their readers in later ticks. */
export const heard = () => new Promise((resolve) => setTimeout(resolve, 5))

/** A tool call as OpenCode 2 stores it. */
export function toolV2(
  id: string,
  name: string,
  input: object,
  text: string,
  failed = false,
  metadata: object = {},
): Json {
  const state = failed
    ? { status: "error", input, error: { type: "ToolError", message: text }, content: [] }
    : { status: "completed", input, content: [{ type: "text", text }], metadata }
  return { type: "tool", id, name, state, time: { created: 1, ran: 1, completed: 2 } }
}

/** A message of OpenCode 1's as OpenCode 2 would have stored it. */
export function storedOf({ info, parts }: HostMessage): Stored {
  const id = info.id ?? ""
  if (info.role === "user")
    return { id, type: "user", text: parts.map(({ text = "" }) => text).join(""), time: info.time }
  const content = parts.flatMap((part): Json[] => {
    if (part.type === "text" || part.type === "reasoning") return [{ type: part.type, text: part.text }]
    const { status, input, output, error, metadata, time } = part.state ?? {}
    if (part.type !== "tool") return []
    const tool = toolV2(
      part.callID ?? "",
      part.tool ?? "",
      input ?? {},
      output ?? error ?? "",
      status === "error",
      metadata,
    )
    return [{ ...tool, time: { created: time?.start, ran: time?.start, completed: time?.end } }]
  })
  const { providerID, modelID: model, agent, tokens, cost, time } = info
  return { id, type: "assistant", agent, model: { providerID, id: model }, content, tokens, cost, time }
}

function announce(
  { id, content, tokens, cost, time }: Stored,
  emit: (type: string, data: object, created?: number) => void,
) {
  const { created, completed } = time as { created?: number; completed?: number }
  // the event is made when the answer begins, later than the time that is stored
  const started = created === undefined ? {} : { started: created }
  emit("session.step.started", { assistantMessageID: id, ...started }, created === undefined ? created : created + 700)
  for (const one of content as Json[]) {
    if (one.type !== "tool") continue
    const { state, time } = one as { state: Json; time: { ran?: number; completed?: number } }
    emit("session.tool.called", { assistantMessageID: id, id: one.id, input: state.input }, time.ran)
    const how = state.status === "error" ? "failed" : "success"
    emit(`session.tool.${how}`, { assistantMessageID: id, id: one.id, metadata: state.metadata }, time.completed)
  }
  if (tokens) emit("session.step.ended", { assistantMessageID: id, finish: "stop", cost, tokens }, completed)
}

/** The skills that the user named come first; an image that is a file is preceded by its path. */
function userContent(skills: unknown = [], text: unknown, images: unknown = []): Json[] {
  return [
    ...(skills as Json[]).map((skill) => ({ type: "text", text: skill.text })),
    ...(text === "" ? [] : [{ type: "text", text }]),
    ...(images as string[]).flatMap((path) => [
      { type: "text", text: `Attached file: ${path}` },
      { type: "media", media: { mediaType: "image/png", source: { type: "base64", data: "AAAA" } } },
    ]),
  ]
}

/** A stored message as requests have it: the results of an agent's calls are messages of their own. */
function wireOf({ id, type, text, skills, images, summary, retained = [], content, error }: Stored): WireMessage[] {
  if (type === "compaction") {
    // The provider's own, which only it can read. These messages have no ids; what it kept of the user comes first.
    if (summary === undefined)
      return [
        ...(retained as string[]).map(
          (said) => new WireMessage({ role: "user", content: [{ type: "text", text: said }] }),
        ),
        new WireMessage({
          role: "assistant",
          content: [{ type: "compaction", provider: "openai", encrypted: `sealed ${id}` }],
        }),
      ]
    const checkpoint = `<conversation-checkpoint>\n${String(summary)}\n</conversation-checkpoint>`
    return [new WireMessage({ id, role: "user", content: [{ type: "text", text: checkpoint }] })]
  }
  if (type === "system") return [new WireMessage({ role: "system", content: [{ type: "text", text }] })]
  if (type === "model-switched") return [new WireMessage({ role: "system", content: [{ type: "effort" }] })]
  if (type === "user") return [new WireMessage({ id, role: "user", content: userContent(skills, text, images) })]
  if (type !== "assistant") return [new WireMessage({ id, role: "user", content: [{ type: "text", text }] })]
  const parts = content as (Json & { state: Json })[]
  const said = parts.flatMap((part): Json[] => {
    // what a failed step reasoned is sent as text
    if (part.type === "reasoning" && error !== undefined) return [{ type: "text", text: part.text }]
    if (part.type !== "tool") return [part]
    const call = { type: "tool-call", id: part.id, name: part.name, input: part.state.input }
    return part.executed ? [call, { type: "tool-result", id: part.id, name: part.name, result: part.result }] : [call]
  })
  const results = parts.flatMap((part) => {
    if (part.type !== "tool" || part.executed) return []
    const { status, error, content } = part.state as { status: string; error?: Json; content: Part[] }
    const only = content.length === 1 && content[0]?.type === "text" ? content[0] : undefined
    const value = only ? only.text : content
    const result =
      status === "error" ? { type: "error", value: { error, content } } : { type: only ? "text" : "content", value }
    return [new WireMessage({ role: "tool", content: [{ type: "tool-result", id: part.id, name: part.name, result }] })]
  })
  return [new WireMessage({ id, role: "assistant", content: said }), ...results]
}

const MAX_BREAKPOINTS = 4

/** The request as it goes out. Throws as the real host does for what it cannot encode. */
function checked({ messages, system, tools = {} }: Json): SentV2 {
  if (!Array.isArray(messages) || !Array.isArray(system)) throw new Error("messages and system are arrays")
  for (const message of messages) checkMessage(message)
  checkOrder(messages)
  for (const part of system)
    if (part?.type !== "text" || typeof part.text !== "string") throw new Error("malformed system part")
  const own = messages.flatMap(({ content }) => content).filter((part: Part) => part.cache !== undefined).length
  let left = MAX_BREAKPOINTS - own
  if (left < 0) throw new Error("more cache breakpoints than the provider takes")
  if (Object.keys(tools as object).length > 0 && left > 0) left--
  left -= Math.min(left, Math.min(2, system.length))
  const sent = messages.map(({ id, role, content, metadata }) => new WireMessage({ id, role, content, metadata }))
  return { messages: left > 0 ? marked(sent) : sent, system, breakpoints: own }
}

/** OpenCode marks the last message's last text, or its last part. */
function marked(messages: readonly WireMessage[]): WireMessage[] {
  const last = messages.at(-1)
  if (!last || last.content.some(({ cache }) => cache)) return [...messages]
  const text = last.content.findLastIndex(({ type }) => type === "text")
  const at = text >= 0 ? text : last.content.length - 1
  const content = last.content.map((part, i) => (i === at ? { ...part, cache: { type: "ephemeral" } } : part))
  return [...messages.slice(0, -1), new WireMessage({ ...last, content })]
}

function checkMessage(message: unknown): void {
  const { role, content } = (message ?? {}) as Json
  if (!["system", "user", "assistant", "tool"].includes(String(role))) throw new Error(`malformed role ${String(role)}`)
  if (!Array.isArray(content)) throw new Error("content is no array")
  for (const part of content as Part[]) {
    const isText = part?.type === "text" || part?.type === "reasoning"
    const isCall = part?.type === "tool-call" && typeof part.id === "string" && typeof part.name === "string"
    const isResult = part?.type === "tool-result" && typeof part.id === "string" && isToolResult(part.result)
    const isOther = ["media", "compaction", "effort"].includes(part?.type)
    if (part?.cache !== undefined && ["compaction", "effort", "reasoning"].includes(part.type))
      throw new Error(`a mark on ${part.type}`)
    if (!(isText && typeof part.text === "string") && !isCall && !isResult && !isOther)
      throw new Error(`malformed part ${JSON.stringify(part)}`)
  }
}

function isToolResult(result: Json | undefined): boolean {
  if (result?.type === "content") return Array.isArray(result.value)
  return ["text", "json", "error"].includes(String(result?.type)) && "value" in (result ?? {})
}

/** Every call is followed by its results at once, and no result stands without its call. */
function checkOrder(messages: readonly WireMessage[]): void {
  let open = new Set<string>()
  for (const { role, content } of messages) {
    if (role === "tool") {
      for (const { id = "" } of content) if (!open.delete(id)) throw new Error(`result ${id} without its call`)
      continue
    }
    if (open.size > 0) throw new Error(`calls without results: ${[...open].join(", ")}`)
    // a provider's own calls have their results beside them
    const answered = new Set(content.flatMap(({ type, id }) => (type === "tool-result" ? [id] : [])))
    open = new Set(content.flatMap(({ type, id }) => (type === "tool-call" && id && !answered.has(id) ? [id] : [])))
  }
  if (open.size > 0) throw new Error(`calls without results: ${[...open].join(", ")}`)
}

/** All texts of a request, in order; empty for a call. */
export function textsOf(messages: readonly WireMessage[]): string[] {
  return messages.flatMap(({ content }) => content.map(({ text, result }) => text ?? resultTextOf(result)))
}

function resultTextOf(result: Json | undefined): string {
  const value = result?.value as { error?: { message?: string } } | string | undefined
  if (typeof value === "string") return value
  return value?.error ? (value.error.message ?? "") : value === undefined ? "" : JSON.stringify(value)
}

const LOOKBACK = 20

/**
 * What a provider with cache marks reads of each request: an entry is written where a request has a mark, and found by a
 * mark at most twenty parts behind it. Answers the parts read, one number a request.
 */
export function partsRead(requests: readonly SentV2[]): number[] {
  const entries = new Set<string>()
  return requests.map(({ messages }) => {
    const parts = messages.flatMap(({ content }) => content)
    const plain = parts.map(({ cache: _, ...part }) => JSON.stringify(part))
    const prefix = (end: number) => plain.slice(0, end).join("\n")
    const marks = parts.flatMap(({ cache }, at) => (cache ? [at + 1] : []))
    let read = 0
    for (const mark of marks)
      for (let end = mark; end > 0 && mark - end < LOOKBACK; end--)
        if (entries.has(prefix(end))) read = Math.max(read, end)
    for (const mark of marks) entries.add(prefix(mark))
    return read
  })
}
