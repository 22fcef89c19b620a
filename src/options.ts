// The options tuple `["opencode-hudfold", { … }]`: its schema, its defaults, and what is said when it is wrong. A wrong
// option never stops the plugin: that one option takes its default and one message says so.

import * as z from "zod/mini"
import { GPUS } from "./engine/wire/messages.ts"
import { protection } from "./fold/protect.ts"
import type { TariffOverride } from "./fold/tariff.ts"
import { SECTIONS } from "./hud/sections.ts"
import { SLOTS } from "./hud/slots.ts"
import type { CallOptions } from "./request/request.ts"

const described = <T extends z.ZodMiniType>(schema: T, text: string): T => schema.check(z.describe(text)) as T
const on = (text: string) => z._default(described(z.boolean(), text), true)

const hud = z.strictObject({
  enabled: on("Send the HUD. Off, the plugin only watches."),
  budgetTokens: z._default(
    described(
      z.int().check(z.minimum(60), z.maximum(2000)),
      "Upper bound of the HUD's size, in estimated tokens. Most are far smaller.",
    ),
    250,
  ),
  slot: z._default(
    described(
      z.enum(["auto", ...SLOTS]),
      "Where the HUD goes: `tail` (a message at the end), `tool` (inside the last tool result), `sticky` (stays where it was sent, changes are added), or by provider and model.",
    ),
    "auto",
  ),
  sections: z._default(described(z.array(z.enum(SECTIONS)), "Which sections the HUD may have."), [...SECTIONS]),
})

const price = z.strictObject({
  read: z.optional(
    described(
      z.number().check(z.minimum(0), z.maximum(1)),
      "An input token read from the cache, as a share of a fresh one.",
    ),
  ),
  write: z.optional(
    described(
      z.number().check(z.minimum(0), z.maximum(10)),
      "An input token written to the cache, as a multiple of a fresh one.",
    ),
  ),
  lifetimeMinutes: z.optional(
    described(z.number().check(z.minimum(0), z.maximum(100_000)), "How long a prompt stays cached without a call."),
  ),
  billing: z.optional(
    described(
      z.enum(["tokens", "requests", "nothing"]),
      "What is paid for: tokens, requests, or nothing (a local model).",
    ),
  ),
})

const fold = z.strictObject({
  enabled: on("Send old tool outputs as digests where that is cheaper, and offer `hud_recall`."),
  protectedTools: z._default(
    described(z.array(z.string()), "Tools whose outputs are never folded, by name; `*` stands for any letters."),
    [],
  ),
  protectedFiles: z._default(
    described(z.array(z.string()), "Files whose contents are never folded, as globs such as `docs/**/*.md`."),
    [],
  ),
  price: z.prefault(
    described(price, "What the provider charges, where OpenCode's own record of the model is wrong or silent."),
    {},
  ),
})

const store = z.strictObject({
  enabled: on("Keep state on disk, so that a resumed session goes on as it was and the panel has something to show."),
  path: z.optional(
    described(
      z.string().check(z.minLength(1)),
      "The file, ending in `.db`: a name in the data folder, or an absolute path; default `hud.db`.",
    ),
  ),
})

const openai = z.strictObject({
  url: z._default(
    described(
      z.string().check(z.minLength(1)),
      "Base URL of an OpenAI-compatible server: Ollama (the default), LM Studio, llama-server.",
    ),
    "http://127.0.0.1:11434/v1",
  ),
  model: z.optional(described(z.string().check(z.minLength(1)), "Its name there; default: the first one it lists.")),
  apiKey: z.optional(described(z.string(), "Sent as a bearer token; most local servers want none.")),
  timeoutMs: z._default(
    described(z.int().check(z.minimum(1000), z.maximum(600_000)), "How long one digest may take, in milliseconds."),
    60_000,
  ),
  allowRemote: z._default(
    described(z.boolean(), "Allow an address that is not this machine. Tool outputs are sent there."),
    false,
  ),
})

const digest = z.strictObject({
  backend: z._default(
    described(
      z.enum(["auto", "llama", "openai", "extract"]),
      "Who writes digests: `llama` (the local model that `hudfold setup` installs), `openai` (a local server), `extract` (no model), or `auto`: `llama` where it is set up, else `extract`.",
    ),
    "auto",
  ),
  model: z.optional(
    described(
      z.string().check(z.minLength(1)),
      "Absolute path of a model that setup has fetched; default: the one in use, which may be any GGUF file (`hudfold model use`).",
    ),
  ),
  gpu: z._default(
    described(z.enum(["auto", "off", ...GPUS]), "Where the model runs: the best GPU that works, none, or one by name."),
    "auto",
  ),
  threads: z._default(
    described(z.int().check(z.minimum(0), z.maximum(64)), "Processor threads; 0: fewer than there are free cores."),
    0,
  ),
  memoryMB: z._default(
    described(
      z.int().check(z.minimum(0), z.maximum(1_000_000)),
      "A model that needs more memory is refused, in MB; 0: three quarters of what is free.",
    ),
    0,
  ),
  idleMinutes: z._default(
    described(z.number().check(z.minimum(0.05), z.maximum(1440)), "After how long without work the model is unloaded."),
    5,
  ),
  runtime: z._default(
    described(
      z.enum(["auto", "opencode", "bun", "node"]),
      "What runs the sidecar; `auto`: OpenCode's own binary, else bun, else node.",
    ),
    "auto",
  ),
  openai: z.prefault(described(openai, "The server of the `openai` backend."), {}),
})

export const optionsSchema = z.strictObject({
  $schema: z.optional(described(z.string(), "For editors; not read.")),
  enabled: on("The whole plugin."),
  disabledAgents: z._default(
    described(
      z.array(z.string()),
      "Agents whose requests are left as they are, no HUD and no folds, by name, such as `plan`.",
    ),
    [],
  ),
  hud: z.prefault(described(hud, "The status message."), {}),
  fold: z.prefault(described(fold, "Old tool outputs, folded into digests."), {}),
  store: z.prefault(described(store, "The plugin's own state."), {}),
  digest: z.prefault(described(digest, "Who writes short accounts of tool outputs, and how."), {}),
  deadlineMs: z._default(
    described(
      z.int().check(z.minimum(5), z.maximum(5000)),
      "How long a hook may keep a request waiting, in milliseconds; later, the request goes out without the HUD.",
    ),
    50,
  ),
})

export type Options = z.output<typeof optionsSchema>

/** The options as the preparation of one call wants them. */
export function callOptionsOf({ hud, fold }: Options): CallOptions {
  return { hud, fold, isProtected: protection(fold) }
}

/** The user's word on prices, as a tariff wants it. */
export function tariffOverride({ fold: { price } }: Options): TariffOverride {
  const { read, write, lifetimeMinutes, billing } = price
  return {
    ...(read === undefined ? {} : { read }),
    ...(write === undefined ? {} : { write }),
    ...(lifetimeMinutes === undefined ? {} : { lifetimeMs: lifetimeMinutes * 60_000 }),
    ...(billing === undefined ? {} : { billing }),
  }
}

export type OptionProblem = {
  /** the option, as `hud.budgetTokens` */
  option: string
  /** one sentence: what is wrong, expected, got, and what is used instead */
  message: string
}

/** The options to run with, and what was wrong with those given. Never throws, whatever is given. */
export function readOptions(given: unknown): { options: Options; problems: OptionProblem[] } {
  const problems: OptionProblem[] = []
  if (given !== undefined && given !== null && (typeof given !== "object" || Array.isArray(given))) {
    problems.push({ option: "(all)", message: `the options must be an object, got ${show(given)}; using the defaults` })
    return { options: optionsSchema.parse({}), problems }
  }
  let left: unknown
  try {
    left = structuredClone(given ?? {})
  } catch {
    problems.push({ option: "(all)", message: "the options must be plain JSON; using the defaults" })
    return { options: optionsSchema.parse({}), problems }
  }
  // each round takes out what the last one complained of, so it ends
  for (;;) {
    const parsed = optionsSchema.safeParse(left)
    if (parsed.success) return { options: parsed.data, problems }
    for (const issue of parsed.error.issues) {
      const paths =
        issue.code === "unrecognized_keys" ? issue.keys.map((key) => [...issue.path, key]) : [optionPath(issue.path)]
      for (const path of paths) {
        if (problems.some((problem) => problem.option === path.join("."))) continue
        problems.push({ option: path.join("."), message: explain(issue, path, valueAt(given, path)) })
        left = without(left, path)
      }
    }
  }
}

/** An element of a list is not an option of its own: the list is. */
function optionPath(path: readonly PropertyKey[]): PropertyKey[] {
  const at = path.findIndex((key) => typeof key === "number")
  return at < 0 ? [...path] : path.slice(0, at)
}

function explain(issue: z.core.$ZodIssue, path: readonly PropertyKey[], value: unknown): string {
  const name = path.join(".")
  if (issue.code === "unrecognized_keys")
    return `unknown option ${name}; it is ignored. Known: ${known(path.slice(0, -1)).join(", ")}`
  const fallback = valueAt(optionsSchema.parse({}), path)
  const used = fallback === undefined ? "the default" : show(fallback)
  return `option ${name}: expected ${expected(issue)}, got ${show(value)}; using ${used}`
}

/** What an issue asks for, in words. zod's own sentences would triple the size of what is loaded at start. */
function expected(issue: z.core.$ZodIssue): string {
  const where = issue.path.some((key) => typeof key === "number") ? "every entry to be " : ""
  switch (issue.code) {
    case "invalid_type":
      return `${where}${issue.expected}`
    case "invalid_value":
      return `${where}one of ${issue.values.map(show).join(", ")}`
    case "too_small":
      return issue.origin === "string" ? "a text that is not empty" : `${where}at least ${issue.minimum}`
    case "too_big":
      return `${where}at most ${issue.maximum}`
    default:
      return "another value"
  }
}

/** The names a level of the options has. */
function known(path: readonly PropertyKey[]): string[] {
  let schema: z.core.$ZodType = optionsSchema
  for (const key of path) schema = unwrap(schema)._zod.def.shape[String(key)] ?? schema
  return Object.keys(unwrap(schema)._zod.def.shape).filter((name) => name !== "$schema")
}

function unwrap(schema: z.core.$ZodType): z.core.$ZodObject {
  const { innerType } = schema._zod.def as { innerType?: z.core.$ZodType }
  return innerType ? unwrap(innerType) : (schema as z.core.$ZodObject)
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (at, key) => (typeof at === "object" && at !== null ? (at as Record<PropertyKey, unknown>)[key] : undefined),
    value,
  )
}

function without(value: unknown, [key, ...rest]: readonly PropertyKey[]): unknown {
  if (key === undefined) return {}
  if (typeof value !== "object" || value === null) return {}
  const copy = { ...(value as Record<PropertyKey, unknown>) }
  if (rest.length) copy[key] = without(copy[key], rest)
  else delete copy[key]
  return copy
}

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value)
  return text.length > 60 ? `${text.slice(0, 59)}…` : text
}
