#!/usr/bin/env node

// The command line of hudfold: finds the command, checks its arguments, answers --help and --version, and turns every error
// into one line and an exit code: 2 for what the user can fix, 1 for a bug.

import { parseArgs, stripVTControlCharacters } from "node:util"
import { type ArgsDef, type CommandDef, defineCommand, renderUsage, runCommand } from "citty"
import manifest from "../../package.json" with { type: "json" }
import { ignoredFolder } from "../system/data-folder.ts"
import { CodedError } from "../system/values.ts"
import { clearBunEnvironment, runOnBun } from "./runtime.ts"
import { complain, endQuietlyOnClosedPipe, print, quoteArgument, UsageError, wrapped } from "./terminal.ts"

const name = "hudfold"
const { version } = manifest

// Loaded on demand: --help must not load the database layer.
const main = defineCommand({
  meta: { name, version, description: manifest.description },
  subCommands: {
    replay: async () => (await import("./replay.ts")).replay,
    report: async () => (await import("./report.ts")).report,
    stats: async () => (await import("./stats.ts")).stats,
    status: async () => (await import("./status.ts")).status,
    inspect: async () => (await import("./inspect.ts")).inspect,
    doctor: async () => (await import("./doctor.ts")).doctor,
    setup: async () => (await import("./setup.ts")).setup,
    model: async () => (await import("./model.ts")).model,
  },
})

/** `path` is the command as typed, such as `hudfold model`. */
async function runCommandOf(command: CommandDef<ArgsDef>, args: readonly string[], path: string): Promise<number> {
  const subCommands = await resolved(command.subCommands)
  if (!subCommands) {
    if (asksForHelp(args)) return say(await helpOf(path, command))
    checkArguments(args, (await resolved(command.args)) ?? {}, path)
    const code = await runOnBun(process.argv.slice(2))
    if (code !== undefined) return code
    const { result } = await runCommand(command, { rawArgs: [...args] })
    return typeof result === "number" ? result : 0
  }
  const [first, ...rest] = args
  if (first === "--help" || first === "-h") return say(await helpOf(path, command))
  const known = `expected ${Object.keys(subCommands).join(", ")} (see ${path} --help)`
  if (first === undefined) throw new UsageError(`no command; ${known}`)
  if (first.startsWith("-")) throw new UsageError(`unknown option ${first}; ${known}`)
  const sub = Object.hasOwn(subCommands, first) ? subCommands[first] : undefined
  if (!sub) throw new UsageError(`unknown command ${quoteArgument(first)}; ${known}`)
  return runCommandOf(await resolved(sub), rest, `${path} ${first}`)
}

async function resolved<T>(value: T | Promise<T> | (() => T | Promise<T>)): Promise<T> {
  return typeof value === "function" ? (value as () => T | Promise<T>)() : value
}

function say(text: string): number {
  print(text)
  return 0
}

function asksForHelp(args: readonly string[]): boolean {
  const end = args.indexOf("--")
  return args.slice(0, end < 0 ? undefined : end).some((arg) => arg === "--help" || arg === "-h")
}

/**
 * Before citty reads the arguments: it silently accepts unknown options and missing values, and prints the whole usage text
 * for anything it does refuse. A last positional whose name ends in `...` may be repeated; citty leaves all of its values in
 * `args._`. Throws UsageError.
 */
function checkArguments(args: readonly string[], definitions: ArgsDef, command: string): void {
  const see = `see ${command} --help`
  const options = Object.entries(definitions).filter(([, one]) => one.type !== "positional")
  const positionals = Object.entries(definitions).filter(([, one]) => one.type === "positional")
  const { tokens } = parseArgs({
    args: [...args],
    options: Object.fromEntries(
      options.map(([name, one]) => [name, { type: one.type === "boolean" ? "boolean" : "string" } as const]),
    ),
    allowPositionals: true,
    strict: false,
    tokens: true,
  })
  for (const token of tokens) {
    if (token.kind !== "option") continue
    const definition = Object.hasOwn(definitions, token.name) ? definitions[token.name] : undefined
    if (!definition || definition.type === "positional" || token.rawName !== `--${token.name}`) {
      const known = [...options.map(([name]) => `--${name}`), "--help"].join(", ")
      throw new UsageError(`unknown option ${token.rawName}; expected ${known} (${see})`)
    }
    if (definition.type === "boolean" && token.value !== undefined) {
      throw new UsageError(`${token.rawName} takes no value, got ${quoteArgument(token.value)} (${see})`)
    }
    if (definition.type !== "boolean" && !token.value) throw new UsageError(`${token.rawName} needs a value (${see})`)
  }
  const given = tokens.flatMap((token) => (token.kind === "positional" ? [token.value] : []))
  const missing = positionals[given.length]
  if (missing && missing[1].required !== false) {
    throw new UsageError(`missing ${missing[0].toUpperCase().replace("...", "")}. ${missing[1].description}; ${see}`)
  }
  if (given.length > positionals.length && !positionals.at(-1)?.[0].endsWith("...")) {
    throw new UsageError(`unexpected argument ${quoteArgument(given[positionals.length] ?? "")}; ${see}`)
  }
}

/** What `--help` prints: citty's text without its colours, each description wrapped in its own column. */
async function helpOf(path: string, command: CommandDef<ArgsDef>): Promise<string> {
  const usage = await renderUsage(command, { meta: { name: path.split(" ").slice(0, -1).join(" ") } })
  const lines = stripVTControlCharacters(usage).trimEnd().split("\n")
  return lines
    .map((line) => {
      const [name = ""] = /^ +\S+ {2,}/.exec(line) ?? []
      return name + wrapped(line.slice(name.length).trimEnd(), name.length)
    })
    .join("\n")
}

endQuietlyOnClosedPipe()
const isChild = clearBunEnvironment()
const ignored = isChild ? undefined : ignoredFolder()
if (ignored) complain(ignored)
try {
  const args = process.argv.slice(2)
  process.exitCode = /^(?:--version|-v)$/.test(args[0] ?? "") ? say(version) : await runCommandOf(main, args, name)
} catch (error) {
  const expected = error instanceof UsageError || error instanceof CodedError
  process.exitCode = expected ? 2 : 1
  if (expected) complain(error.message)
  else if (process.env.HUDFOLD_DEBUG) throw error
  else complain(`failed unexpectedly: ${String(error)} (HUDFOLD_DEBUG=1 shows where)`)
}
