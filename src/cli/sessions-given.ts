// Recorded sessions and plugin options as they are given on a command line.
import { existsSync } from "node:fs"
import { resolve } from "node:path"
import { callOptionsOf, type Options, readOptions, tariffOverride } from "../options.ts"
import type { ReplayOptions } from "../replay/calls.ts"
import { type NamedPrice, PRICE_NAMES, priceNamed } from "../replay/pricing.ts"
import { readExport } from "../store/export.ts"
import type { Recording } from "../store/recording.ts"
import { quote } from "./arguments.ts"
import { UsageError } from "./terminal.ts"

/** How a session can be given, for the help. */
export const SESSION = "a session id, the beginning of one, `latest`, or a file written by `opencode export`"

/** Reads a session by its id, which needs SQLite, or from a file. Throws UsageError, StoreError. */
export async function readSession(argument: string): Promise<Recording> {
  if (isFile(argument)) return readExport(argument)
  const { openOpencode } = await import("../store/opencode.ts")
  const database = await openOpencode()
  try {
    return database.readSession(argument)
  } finally {
    database.close()
  }
}

/** Whether the argument is a path; else it is a session id. Throws UsageError for what looks like neither. */
export function isFile(argument: string): boolean {
  if (existsSync(argument)) return true
  if (argument === "latest" || /^ses_\w*$/.test(argument)) return false
  if (/[./\\]/.test(argument)) return true
  const what = `${quote(argument)} is neither a file nor a session id, which begins with ses_`
  throw new UsageError(`${what}; \`opencode session list\` names the sessions`)
}

/** What is neither is complained of when it is read. */
export function kindOf(session: string): "file" | "id" | "neither" {
  try {
    return isFile(session) ? "file" : "id"
  } catch {
    return "neither"
  }
}

/** The same sessions as arguments of a process that runs in another folder. */
export function standingAnywhere(sessions: readonly string[]): string[] {
  return sessions.map((session) => (kindOf(session) === "file" ? resolve(session) : session))
}

/** The provider that `--price` names. Throws UsageError. */
export function readPrice(name: string, options: Options): NamedPrice {
  const price = priceNamed(name, tariffOverride(options))
  if (price) return price
  throw new UsageError(`--price must be a provider's id or one of ${PRICE_NAMES.join(", ")}; got ${quote(name)}`)
}

/** The plugin's options from `--options`, the defaults without one. Throws UsageError. */
export function readOptionsGiven(text: string | undefined): Options {
  if (text === undefined) return readOptions({}).options
  let given: unknown
  try {
    given = JSON.parse(text)
  } catch {
    throw new UsageError(`--options must be JSON such as '{"hud":{"budgetTokens":200}}', got ${quote(text)}`)
  }
  // To the plugin null is no options; here it was typed.
  if (given === null) throw new UsageError("--options: the options must be an object, got null")
  const { options, problems } = readOptions(given)
  const [problem] = problems
  if (problem) throw new UsageError(`--options: ${problem.message.replace(/[;,]? (?:using|it is ignored)\b[^.]*/, "")}`)
  return options
}

/** The options as the replay of a session wants them. */
export function replayOptionsOf(options: Options): ReplayOptions {
  return {
    ...callOptionsOf(options),
    disabledAgents: options.disabledAgents,
    prices: tariffOverride(options),
  }
}
