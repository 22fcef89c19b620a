// The world of an end-to-end test: the real OpenCode with the plugin, isolated, and the scripted model. The tests of a file share
// one world, and each uses its own sessions.

import { fileURLToPath } from "node:url"
import type { ModelSpec } from "../opencode/config.ts"
import { createHost, findOpencode, type Host } from "../opencode/host.ts"
import { type Provider, startProvider } from "../opencode/provider.ts"
import type { ModelRequest } from "../opencode/request.ts"
import type { Asked, Client } from "../opencode/serve.ts"
import type { Reply, ToolCall } from "../opencode/wire.ts"

/** Enough for a slow machine under load to start OpenCode and play a script. */
export const PATIENCE_MS = 120_000

/** Some looks start `ps` or read every log, so more of them would slow down what they wait for. */
const LOOK_EVERY_MS = 200

/** On a busy machine a hook can miss the default deadline, and its request then has no HUD. */
const HOOK_PATIENCE_MS = 5_000

/** The sources unless told otherwise, so that the built package can be put through the same tests. */
export const PLUGIN = process.env.HUD_PLUGIN ?? fileURLToPath(new URL("../../src/plugin.ts", import.meta.url))

/** With folding off the HUD is complete from the start. */
export const ALONE = { fold: { enabled: false } } as const

export const OPENAI = "scripted/scripted-1"
export const ANTHROPIC = "scripted-anthropic/claude-sonnet-4-5"
export const BINDING = "scripted-anthropic/claude-sonnet-5-5"
export const MISTRAL = "scripted/devstral-small"
export const COPILOT = "github-copilot/gpt-4.1"
/** a context window of 60,000 tokens, as the one below it */
export const SMALL = "scripted/small"
export const SMALL_ANTHROPIC = "scripted-anthropic/claude-haiku-4-5"

const SMALL_LIMIT = { context: 60_000, output: 2_000 }

const MODELS: readonly ModelSpec[] = [
  { provider: "scripted", id: "scripted-1", npm: "@ai-sdk/openai-compatible" },
  { provider: "scripted", id: "devstral-small", npm: "@ai-sdk/openai-compatible" },
  { provider: "scripted", id: "small", npm: "@ai-sdk/openai-compatible", limit: SMALL_LIMIT },
  { provider: "github-copilot", id: "gpt-4.1", npm: "@ai-sdk/openai-compatible" },
  { provider: "scripted-anthropic", id: "claude-sonnet-4-5", npm: "@ai-sdk/anthropic" },
  { provider: "scripted-anthropic", id: "claude-haiku-4-5", npm: "@ai-sdk/anthropic", limit: SMALL_LIMIT },
  { provider: "scripted-anthropic", id: "claude-sonnet-5-5", npm: "@ai-sdk/anthropic", reasoning: true },
]

export const FILES: Readonly<Record<string, string>> = {
  // The HUD's budget is a share of the context. Some 20,000 tokens of instructions make room for every line.
  "AGENTS.md": "Keep the code plain, the tests quick and the words few.\n".repeat(1_400),
  "README.md": "# A project\n",
  "alpha.txt": "first\nsecond\n",
  "beta.txt": "one\ntwo\n",
  "gamma.txt": "uno\ndos\n",
  // Its name makes it a check: its failure stays open until it passes.
  check: 'echo "FAIL login.test.ts: expected 200, got 401"\nexit 1\n',
}

export type WorldOptions = {
  /** null runs OpenCode without any plugin; `PLUGIN` when absent. Its option `deadlineMs` is `HOOK_PATIENCE_MS` unless given */
  plugin?: string | readonly [string, object] | null
  files?: Readonly<Record<string, string>>
  /** where what OpenCode stores, tells or reverts is compared; see `HostOptions` */
  snapshots?: boolean
  /** the first one is the default */
  models?: readonly ModelSpec[]
  /** merged over the top level of opencode.json */
  config?: Readonly<Record<string, unknown>>
  /** further environment variables of OpenCode */
  env?: Readonly<Record<string, string>>
}

export type World = { provider: Provider; host: Host; close(): Promise<void> }
export type ServedWorld = World & { client: Client }

/** Starts the model; OpenCode itself starts with the first `host.run`. */
export async function openWorld(options: WorldOptions = {}): Promise<World> {
  const { plugin = PLUGIN, files = FILES, models = MODELS, config = {}, env = {}, snapshots } = options
  // OpenCode reports nothing about a plugin that cannot be imported; importing it here shows the error.
  if (plugin !== null) await import(typeof plugin === "string" ? plugin : plugin[0])
  const provider = await startProvider()
  const host = createHost({
    opencode: findOpencode(),
    url: provider.url,
    models,
    files,
    ...(snapshots === undefined ? {} : { snapshots }),
    config,
    env,
    ...(plugin === null ? {} : { plugin: patient(plugin) }),
  })
  const close = async () => {
    await host.close()
    await provider.close()
  }
  return { provider, host, close }
}

function patient(plugin: NonNullable<WorldOptions["plugin"]>): readonly [string, object] {
  const [path, options] = typeof plugin === "string" ? [plugin, {}] : plugin
  return [path, { deadlineMs: HOOK_PATIENCE_MS, ...options }]
}

/** The same with `opencode serve` running in the project. */
export async function serveWorld(options: WorldOptions = {}): Promise<ServedWorld> {
  const world = await openWorld(options)
  try {
    return { ...world, client: await world.host.serve() }
  } catch (cause) {
    await world.close()
    throw cause
  }
}

export type Turn = { session: string; requests: ModelRequest[] }

/** One turn: in a new session unless one is named. Resolves with the main agent's requests of this turn. */
export async function converse(
  { client, provider }: ServedWorld,
  prompt: string,
  replies: readonly Reply[],
  options: { session?: string; model?: string; directory?: string } = {},
): Promise<Turn> {
  const { directory, model } = options
  const session = options.session ?? (await client.create(directory ? { directory } : {}))
  const before = provider.from("main", session).length
  provider.play(replies, session)
  await client.prompt(session, prompt, model ? { model } : {})
  return { session, requests: provider.from("main", session).slice(before) }
}

/** An answer that begins and does not end, and one whose command does not. */
export const UNENDING: Reply = { text: "I begin and never end", hang: true }
export const UNENDING_COMMAND: Reply = use(bash("sleep 600"))

/** Sends a prompt, and resolves when its turn has come to one of these. */
export async function promptUnending(client: Client, session: string, prompt: string, asked: Asked = {}) {
  const from = client.events.length
  await client.promptAsync(session, prompt, asked)
  await client.event(({ properties }) => properties.sessionID === session && isUnending(properties), { from })
}

/** Whether an event tells that one of these has begun. */
export function isUnending({ delta, part }: Record<string, unknown>): boolean {
  return String(delta).endsWith("end") || /"running".*"sleep 600"/.test(JSON.stringify(part ?? ""))
}

/** The same, and aborts the turn. Resolves when the session is idle. */
export async function promptAndAbort(client: Client, session: string, prompt: string, asked: Asked = {}) {
  await promptUnending(client, session, prompt, asked)
  // the event of an earlier turn's end may come after its answer
  const from = client.events.length
  await client.abort(session)
  await client.idle(session, from)
}

/** Polls until `look` returns something; for what is written in the background, such as a log. Rejects after the deadline. */
export async function eventually<T>(
  what: string,
  look: () => T | undefined | Promise<T | undefined>,
  deadlineMs = 60_000,
): Promise<T> {
  const until = Date.now() + deadlineMs
  for (;;) {
    const seen = await look()
    if (seen !== undefined) return seen
    if (Date.now() > until) throw new Error(`not within ${deadlineMs} ms: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS))
  }
}

export function say(text: string): Reply {
  return { text }
}

export function use(...calls: ToolCall[]): Reply {
  return { calls }
}

/** A step with news: the same twice. */
export const TWICE: Reply = use(bash("ls"), bash("ls"))

export function read(filePath: string): ToolCall {
  return { name: "read", arguments: { filePath } }
}

export function edit(filePath: string, oldString: string, newString: string): ToolCall {
  return { name: "edit", arguments: { filePath, oldString, newString } }
}

export function bash(command: string): ToolCall {
  return { name: "bash", arguments: { command, description: "Runs a command" } }
}

export function todo(...entries: readonly (readonly [string, "pending" | "in_progress" | "completed"])[]): ToolCall {
  const todos = entries.map(([content, status]) => ({ content, status, priority: "high" }))
  return { name: "todowrite", arguments: { todos } }
}
