#!/usr/bin/env node
// The command line of hudfold: finds the command, answers --help and --version, and turns every error into one line and an
// exit code: 2 for what the user can fix, 1 for a bug.
import { type ArgsDef, type CommandDef, defineCommand, runCommand } from "citty"
import manifest from "../../package.json" with { type: "json" }
import { ignoredFolder } from "../system/data-folder.ts"
import { CodedError } from "../system/values.ts"
import { checkArguments, quoteArgument } from "./arguments.ts"
import { helpOf, resolved } from "./help.ts"
import { clearBunEnvironment } from "./runtime.ts"
import { complain, endQuietlyOnClosedPipe, print, UsageError } from "./terminal.ts"

const name = "hudfold"
const { version } = manifest

// Loaded on demand: --help must not load the database layer.
const main = defineCommand({
  meta: { name, version, description: "A head-up display for OpenCode's agents" },
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
    if (asksForHelp(args)) return say(await helpOf(path, command, version))
    checkArguments(args, (await resolved(command.args)) ?? {}, path)
    const { result } = await runCommand(command, { rawArgs: [...args] })
    return typeof result === "number" ? result : 0
  }
  const [first, ...rest] = args
  if (first === "--help" || first === "-h") return say(await helpOf(path, command, version))
  const known = `expected ${Object.keys(subCommands).join(", ")} (see ${path} --help)`
  if (first === undefined) throw new UsageError(`no command; ${known}`)
  if (first.startsWith("-")) throw new UsageError(`unknown option ${first}; ${known}`)
  const sub = Object.hasOwn(subCommands, first) ? subCommands[first] : undefined
  if (!sub) throw new UsageError(`unknown command ${quoteArgument(first)}; ${known}`)
  return runCommandOf(await resolved(sub), rest, `${path} ${first}`)
}

function say(text: string): number {
  print(text)
  return 0
}

function asksForHelp(args: readonly string[]): boolean {
  const end = args.indexOf("--")
  return args.slice(0, end < 0 ? undefined : end).some((arg) => arg === "--help" || arg === "-h")
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
