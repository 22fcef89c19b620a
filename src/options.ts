// The options tuple `["opencode-hudfold", { … }]`: schema, defaults, messages about mistakes, and the outputs that they
// protect. A wrong option never stops the plugin: it takes its default, and one message says so.

import picomatch from "picomatch"
import * as z from "zod/mini"
import { BACKENDS } from "./digest/backends/backend.ts"
import { gpuChoiceSchema } from "./engine/wire/messages.ts"
import { BILLINGS, type PricingOverride } from "./fold/pricing.ts"
import { SECTIONS } from "./hud/sections.ts"
import { SLOTS } from "./hud/slots.ts"
import type { RequestOptions } from "./request/request.ts"
import type { ToolEvent } from "./session/tool-event.ts"
import { isStorePath, STORE_PATH } from "./system/data-folder.ts"
import { asRecord, defined, jsonOf, parseJson } from "./system/values.ts"

const described = <T extends z.ZodMiniType>(schema: T, text: string): T => schema.check(z.describe(text)) as T
const optional = <T extends z.ZodMiniType>(schema: T, text: string) => z.optional(described(schema, text))
const withDefault = <T extends z.ZodMiniType>(schema: T, fallback: z.output<T>, text: string) =>
  z._default(described(schema, text), fallback as never)
const on = (text: string) => withDefault(z.boolean(), true, text)
const group = <T extends z.ZodMiniType>(schema: T, text: string) => z.prefault(described(schema, text), {} as never)
const off = (text: string) => withDefault(z.boolean(), false, text)
/** Of a name or a pattern. picomatch throws for a pattern of more than 65,536 characters. */
const MAX_PATTERN_CHARS = 1000
const strings = (text: string) => withDefault(z.array(z.string().check(z.maxLength(MAX_PATTERN_CHARS))), [], text)
const nonEmptyString = z.string().check(z.minLength(1))
const int = (least: number, most: number) => z.int().check(z.minimum(least), z.maximum(most))
const number = (least: number, most: number) => z.number().check(z.minimum(least), z.maximum(most))

const hud = z.strictObject({
  enabled: on("Send the HUD, and its facts to OpenCode's compactor. Folding has an option of its own."),
  budgetTokens: withDefault(int(60, 2000), 250, "Maximum size of the HUD, in estimated tokens. Most are far smaller."),
  slot: withDefault(
    z.enum(["auto", ...SLOTS]),
    "auto",
    "Where the HUD goes: `tail` (a message at the end), `tool` (inside the last tool result), `sticky` (stays where it was sent, changes are added), or `auto`: by provider and model. Models that accept only `tool` get it whatever this says.",
  ),
  sections: withDefault(
    z.array(z.enum(SECTIONS)),
    [...SECTIONS],
    "Sections that the HUD may have. Their order does not matter.",
  ),
})

const price = z.strictObject({
  read: optional(
    number(0, 1),
    "Price of an input token read from the cache, as a share of an uncached one. Default: OpenCode's, else the provider's.",
  ),
  write: optional(
    number(0, 10),
    "Price of an input token written to the cache, as a multiple of an uncached one. Default: as for `read`.",
  ),
  lifetimeMinutes: optional(
    number(0, 100_000),
    "How long a prompt stays cached without a call. Default: the provider's.",
  ),
  billing: optional(
    z.enum(BILLINGS),
    "What the provider charges for: tokens, requests, or nothing (a local model). Default: the provider's.",
  ),
})

const fold = z.strictObject({
  enabled: on(
    "Send settled steps as a record and old tool outputs as one line each when that pays, and offer `hud_recall`.",
  ),
  maxContextTokens: optional(
    int(8000, 100_000_000),
    "The size in tokens that no request should exceed; older steps are folded harder to stay below it. Default: where OpenCode compacts, or would if its `compaction.auto` were on.",
  ),
  compaction: off(
    "OpenCode 2 only: a compaction leaves your words verbatim, a record of every step and the facts, in place of a summary that the model writes. It makes no call.",
  ),
  protectedTools: strings(
    "Tools whose outputs are never folded, nor the steps that called them, by name; `*` stands for any characters.",
  ),
  protectedFiles: strings(
    "Files whose contents are never folded where tools for files read or wrote them, nor the steps that did, as globs such as `docs/**/*.md`, or folders such as `docs/`, relative to the project. What a command prints of a file is folded.",
  ),
  price: group(price, "What the provider charges, if OpenCode's data about the model is wrong or incomplete."),
})

const warn = z.strictObject({
  sessionCost: optional(
    number(0.01, 1_000_000),
    "Warns once when a session has cost this much in USD; what its subagents cost counts on OpenCode 1 only. Compactions, titles and the calls of `disabledAgents` are not counted. Default: no warning.",
  ),
})

const store = z.strictObject({
  enabled: on(
    "Keep state on disk. With `false`, a resumed session loses its folds and what it has cost, and the panel, the slash commands, `hudfold status` and `hudfold stats` have nothing to show.",
  ),
  path: optional(
    nonEmptyString.check(z.refine(isStorePath, STORE_PATH)),
    "The file, ending in `.db`: a name in the data folder, or an absolute path; default `hud.db`.",
  ),
})

const openai = z.strictObject({
  url: withDefault(
    nonEmptyString,
    "http://127.0.0.1:11434/v1",
    "Base URL of an OpenAI-compatible server: Ollama (the default), LM Studio, llama-server.",
  ),
  model: optional(nonEmptyString, "The name of the model on that server; default: the first one it lists."),
  apiKey: optional(z.string(), "Sent as a bearer token; default: none, which most local servers accept."),
  timeoutMs: withDefault(int(1000, 600_000), 60_000, "How long one digest may take, in milliseconds."),
  allowRemote: off("Allow the address of another machine. Tool outputs are sent there."),
})

const digest = z.strictObject({
  backend: withDefault(
    z.enum(BACKENDS),
    "auto",
    "Who writes digests: `llama` (the local model that `hudfold setup` installs), `openai` (a local server), `extract` (no model), or `auto`: `llama` if it is set up, else `extract`.",
  ),
  model: optional(
    nonEmptyString,
    "Absolute path of a model that setup has downloaded; default: the one in use, which may be any GGUF file (`hudfold model use`).",
  ),
  gpu: withDefault(
    gpuChoiceSchema,
    "auto",
    "Where the model runs: on the best GPU that works, on the CPU, or on a GPU by name.",
  ),
  threads: withDefault(int(0, 64), 0, "CPU threads; 0: half the cores, at least 1 and at most 6."),
  memoryMB: withDefault(
    int(0, 1_000_000),
    0,
    "Memory limit in MB. A model that needs more is refused. 0: three quarters of the free memory.",
  ),
  idleMinutes: withDefault(number(0.05, 1440), 5, "Minutes without work after which the model is unloaded."),
  runtime: withDefault(
    z.enum(["auto", "opencode", "bun", "node"]),
    "auto",
    "What runs the sidecar; `auto`: OpenCode's own binary, else bun, else node.",
  ),
  openai: group(openai, "The server of the `openai` backend."),
})

export const optionsSchema = z.strictObject({
  $schema: optional(z.string(), "For editors; ignored."),
  enabled: on("`false` switches the whole plugin off."),
  // OpenCode's screen shows `plan` as Plan
  disabledAgents: withDefault(
    z.array(z.string().check(z.maxLength(MAX_PATTERN_CHARS), z.toLowerCase())),
    [],
    "Agents whose messages stay unchanged (no HUD, no folds), by name, such as `plan`, in any case. They may still call `hud_recall`.",
  ),
  hud: group(hud, "The status message."),
  fold: group(fold, "Old tool outputs and settled steps, folded into lines and records."),
  warn: group(warn, "Warnings on the screen."),
  store: group(store, "The plugin's own state."),
  digest: group(digest, "Who writes the digests of tool outputs, and how."),
  deadlineMs: withDefault(
    int(5, 5000),
    50,
    "A hook slower than this, in milliseconds, is logged. Its result is still used, unless it was only waiting. A request may wait up to a second for the store.",
  ),
})

export type Options = z.output<typeof optionsSchema>

/** The options for the preparation of one request. */
export function requestOptionsOf({ hud, fold }: Options): RequestOptions {
  return { hud, fold, isProtected: protection(fold) }
}

/** A test for protected events. Patterns are globs; one without a slash matches a file's name in any folder. */
export function protection({
  protectedTools,
  protectedFiles,
}: Pick<Options["fold"], "protectedTools" | "protectedFiles">): (event: ToolEvent) => boolean {
  const isTool = matcher(protectedTools)
  const isFile = matcher(protectedFiles)
  return ({ tool, kind, summary, files }) => {
    if (isTool(tool) || files.some(({ path }) => isFile(path))) return true
    // a failed call has used no file; the one it named is its summary
    return files.length === 0 && /^(?:read|edit|write)$/.test(kind) && isFile(summary)
  }
}

function matcher(patterns: readonly string[]): (text: string) => boolean {
  // picomatch throws on an empty pattern; with `basename`, one with a slash would never match, nor does a folder's name; names on
  // macOS may have accents as characters of their own
  const tests = patterns
    .filter((pattern) => pattern !== "")
    .map((pattern) => (pattern.endsWith("/") ? `${pattern}**` : pattern).normalize("NFC"))
    // the name of a folder of routes, such as `(auth)`, is no group
    .map((pattern) => pattern.replace(/(?<![?*+@!\\])\(([^()|]*)\)/g, "\\($1\\)"))
    .map((pattern) => picomatch(pattern, { dot: true, nocase: true, nonegate: true, basename: !pattern.includes("/") }))
  return (text) => tests.some((test) => test(text.normalize("NFC")))
}

/** The user's prices, which override those of the provider. */
export function pricingOverride({ fold: { price } }: Options): PricingOverride {
  const { read, write, lifetimeMinutes, billing } = price
  const lifetimeMs = lifetimeMinutes === undefined ? undefined : lifetimeMinutes * 60_000
  return defined({ read, write, lifetimeMs, billing })
}

/** Names an option, such as `hud.budgetTokens`, and says what was expected, what was given, and what is used instead. */
type OptionProblem = { option: string; message: string }

/** The options to run with, and the problems of those given. Never throws, whatever is given. */
export function readOptions(given: unknown): { options: Options; problems: OptionProblem[] } {
  const problems: OptionProblem[] = []
  const defaults = (message: string) => ({
    options: optionsSchema.parse({}),
    problems: [{ option: "(all)", message: `the options must be ${message}; using the defaults` }],
  })
  if (given !== undefined && given !== null && !asRecord(given)) return defaults(`an object, got ${show(given)}`)
  const left = parseJson(jsonOf(given ?? {}) ?? "")
  if (left === undefined) return defaults("plain JSON")
  // as `"lsp": false` in OpenCode's own configuration
  const groups = asRecord(left) ?? {}
  for (const name of ["hud", "fold"]) if (groups[name] === false) groups[name] = { enabled: false }
  // terminates, because each round removes what the round before rejected
  for (;;) {
    const parsed = optionsSchema.safeParse(left)
    if (parsed.success) return { options: parsed.data, problems }
    for (const issue of parsed.error.issues) {
      // an element's path ends with its list, which is the option
      const end = issue.path.findIndex((key) => typeof key === "number")
      const path = end < 0 ? issue.path : issue.path.slice(0, end)
      const paths = issue.code === "unrecognized_keys" ? issue.keys.map((key) => [...path, key]) : [path]
      for (const path of paths) {
        // removed already, because of another problem with the same list
        if (valueAt(left, path) === undefined) continue
        problems.push({ option: path.join("."), message: explain(issue, path, valueAt(given, path)) })
        remove(left, path)
      }
    }
  }
}

function explain(issue: z.core.$ZodIssue, path: readonly PropertyKey[], value: unknown): string {
  const name = path.join(".")
  if (issue.code === "unrecognized_keys")
    return name === "rows"
      ? "unknown option rows; it is ignored. It is an option of the panel, in tui.json"
      : `unknown option ${name}; it is ignored. Known: ${known(path.slice(0, -1)).join(", ")}`
  const fallback = valueAt(optionsSchema.parse({}), path)
  const used = fallback === undefined || typeof fallback === "object" ? "the default" : show(fallback)
  return `option ${name}: expected ${expected(issue)}, got ${show(value)}; using ${used}`
}

const TYPES: Readonly<Record<string, string>> = {
  boolean: "true or false",
  number: "a number",
  int: "a whole number",
  string: "a string",
  array: "a list",
  object: "an object",
}

/** What an issue expects, in words. zod's own messages would triple the size of the code loaded at startup. */
function expected(issue: z.core.$ZodIssue): string {
  const where = issue.path.some((key) => typeof key === "number") ? "every entry to be " : ""
  switch (issue.code) {
    case "invalid_type":
      return `${where}${TYPES[issue.expected] ?? issue.expected}`
    case "invalid_value":
      return `${where}one of ${issue.values.map(show).join(", ")}`
    case "too_small":
      return issue.origin === "string" ? "a non-empty string" : `${where}at least ${issue.minimum}`
    case "too_big":
      return `${where}at most ${issue.maximum}${issue.origin === "string" ? " characters long" : ""}`
    case "custom":
      return issue.message
    default:
      return "another value"
  }
}

/** The names of the options at a path. */
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

function remove(value: unknown, path: readonly PropertyKey[]): void {
  const parent = asRecord(valueAt(value, path.slice(0, -1)))
  if (parent) Reflect.deleteProperty(parent, path.at(-1) ?? "")
}

function show(value: unknown): string {
  const text = jsonOf(value) ?? typeof value
  return text.length > 60 ? `${text.slice(0, 59)}…` : text
}
