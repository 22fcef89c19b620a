// The configuration of an isolated OpenCode: its opencode.json and its environment. Every provider in it is the scripted
// one, under different names and protocols, so that one server process covers all cases.

import { delimiter, dirname, join } from "node:path"

export type ModelSpec = {
  provider: string
  id: string
  npm: `@ai-sdk/${"openai-compatible" | "openai" | "anthropic" | "google" | "mistral" | "amazon-bedrock"}`
  limit?: { context: number; output: number }
  /** per million tokens, in dollars */
  cost?: { input: number; output: number; cache_read: number; cache_write: number }
  reasoning?: boolean
  /** what the provider calls it; `id` when absent */
  apiID?: string
}

export type HostOptions = {
  /** the OpenCode binary, see `findOpencode` */
  opencode: string
  /** the scripted provider's address */
  url: string
  /** the first one is the default; `MODELS` when absent */
  models?: readonly ModelSpec[]
  /** path or package of a plugin to load, with its options */
  plugin?: string | readonly [string, object]
  /** git snapshots at every step, as by OpenCode's default; they take half of a step's time, so without them when absent */
  snapshots?: boolean
  /** merged over the top level of opencode.json */
  config?: Readonly<Record<string, unknown>>
  /** added to the environment */
  env?: Readonly<Record<string, string>>
  /** the project's files, by path */
  files?: Readonly<Record<string, string>>
}

type Entry = { npm: string; name: string; options: object; models: Record<string, unknown> }

const MODELS: readonly ModelSpec[] = [
  { provider: "scripted", id: "scripted-1", npm: "@ai-sdk/openai-compatible" },
  { provider: "scripted-anthropic", id: "claude-sonnet-4-5", npm: "@ai-sdk/anthropic" },
]

const LIMIT = { context: 200_000, output: 8_000 }
const COST = { input: 3, output: 15, cache_read: 0.3, cache_write: 3.75 }

/** Passed on from the environment; the rest belongs to the user and is left out. */
const PASSED = ["PATH", "Path", "LANG", "LC_ALL", "SystemRoot", "SYSTEMROOT", "ComSpec", "PATHEXT", "WINDIR"]

const SWITCHED_OFF = [
  "OPENCODE_DISABLE_AUTOUPDATE",
  "OPENCODE_DISABLE_MODELS_FETCH",
  "OPENCODE_DISABLE_LSP_DOWNLOAD",
  "OPENCODE_DISABLE_SHARE",
  "OPENCODE_DISABLE_EMBEDDED_WEB_UI",
  "OPENCODE_DISABLE_CLAUDE_CODE",
  "OPENCODE_DISABLE_EXTERNAL_SKILLS",
  "OPENCODE_DISABLE_TERMINAL_TITLE",
]

export function configFor(options: HostOptions): { model: string } & Record<string, unknown> {
  const models = options.models ?? MODELS
  const first = models[0]
  if (!first) throw new Error("a host needs at least one model, got none")
  const provider: Record<string, Entry> = {}
  for (const model of models) {
    const fresh: Entry = {
      npm: model.npm,
      name: model.provider,
      options: { baseURL: `${options.url}/v1`, apiKey: "none" },
      models: {},
    }
    const entry = provider[model.provider] ?? fresh
    entry.models[model.id] = {
      name: model.id,
      ...(model.apiID ? { id: model.apiID } : {}),
      tool_call: true,
      reasoning: model.reasoning ?? false,
      limit: model.limit ?? LIMIT,
      cost: model.cost ?? COST,
    }
    provider[model.provider] = entry
  }
  return {
    $schema: "https://opencode.ai/config.json",
    model: `${first.provider}/${first.id}`,
    share: "disabled",
    autoupdate: false,
    snapshot: options.snapshots ?? false,
    enabled_providers: Object.keys(provider),
    provider,
    ...(options.plugin === undefined ? {} : { plugin: [options.plugin] }),
    ...options.config,
  }
}

/** Of the folder that `environmentFor` is given: the catalogue of models that OpenCode reads in place of its own. */
export const CATALOGUE = "models.json"

/** The environment of every process that runs under `root`. */
export function environmentFor(root: string): Record<string, string> {
  const env: Record<string, string> = {}
  for (const name of PASSED) {
    const value = process.env[name]
    if (value !== undefined) env[name] = value
  }
  // The scripted agent runs `node`, which may be missing from PATH when this program was started by its full path.
  if (env.PATH !== undefined) env.PATH = `${env.PATH}${delimiter}${dirname(process.execPath)}`
  for (const name of SWITCHED_OFF) env[name] = "1"
  return {
    ...env,
    HOME: join(root, "home"),
    USERPROFILE: join(root, "home"),
    XDG_CONFIG_HOME: join(root, "config"),
    XDG_DATA_HOME: join(root, "data"),
    XDG_STATE_HOME: join(root, "state"),
    XDG_CACHE_HOME: join(root, "cache"),
    TMPDIR: join(root, "tmp"),
    TEMP: join(root, "tmp"),
    TMP: join(root, "tmp"),
    // OpenCode spends a third of its start on a catalogue of some thousand models that no test calls
    OPENCODE_MODELS_PATH: join(root, CATALOGUE),
    GIT_CONFIG_NOSYSTEM: "1",
    TERM: "dumb",
    NO_COLOR: "1",
  }
}
