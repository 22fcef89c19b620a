// The options tuple `["opencode-hud", { … }]`: its schema, its defaults, and what is said when it is wrong. A wrong
// option never stops the plugin: that one option takes its default and one message says so.

import * as z from "zod"
import { SECTIONS } from "./core/hud/sections.ts"
import { SLOTS } from "./core/hud/slots.ts"

const hud = z
  .strictObject({
    enabled: z.boolean().default(true).describe("Send the HUD. Off, the plugin only watches."),
    budgetTokens: z
      .int()
      .min(60)
      .max(2000)
      .default(250)
      .describe("Upper bound of the HUD's size, in estimated tokens. Most are far smaller."),
    slot: z
      .enum(["auto", ...SLOTS])
      .default("auto")
      .describe(
        "Where the HUD goes: `tail` (a message at the end), `tool` (inside the last tool result), `sticky` (stays where it was sent, changes are added), or by provider and model.",
      ),
    sections: z
      .array(z.enum(SECTIONS))
      .default([...SECTIONS])
      .describe("Which sections the HUD may have."),
  })
  .prefault({})

const store = z
  .strictObject({
    enabled: z
      .boolean()
      .default(true)
      .describe("Keep state in a SQLite file, so that a resumed session goes on as it was."),
    path: z.string().min(1).optional().describe("The file; default `opencode-hud/hud.db` in the XDG data folder."),
  })
  .prefault({})

export const optionsSchema = z.strictObject({
  $schema: z.string().optional().describe("For editors; not read."),
  enabled: z.boolean().default(true).describe("The whole plugin."),
  disabledAgents: z.array(z.string()).default([]).describe("Agents that get no HUD, by name, such as `plan`."),
  hud: hud.describe("The status message."),
  store: store.describe("The plugin's own state."),
  deadlineMs: z
    .int()
    .min(5)
    .max(5000)
    .default(50)
    .describe(
      "How long a hook may keep a request waiting, in milliseconds; later, the request goes out without the HUD.",
    ),
})

export type Options = z.output<typeof optionsSchema>

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
  return `option ${name}: ${issue.message.replace(/^Invalid (?:input|option): /, "")}, got ${show(value)}; using ${fallback === undefined ? "the default" : show(fallback)}`
}

function known(path: readonly PropertyKey[]): string[] {
  const here = valueAt(optionsSchema.parse({}), path)
  const names = Object.keys(here as object)
  return path.length ? [...names, ...(path[0] === "store" ? ["path"] : [])] : names
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
