#!/usr/bin/env node

// The command line of hudfold: finds the command, checks its arguments, answers --help and --version, and turns every error
// into one line and an exit code: 2 for what the user can fix, 1 for a bug.

import manifest from "../../package.json" with { type: "json" }
import { ignoredFolder } from "../system/data-folder.ts"
import { CodedError, isOlder } from "../system/values.ts"
import { type Command, helpOf, quoteArgument, readArguments, UsageError } from "./command.ts"
import { clearBunEnvironment, runOnBun } from "./runtime.ts"
import { complain, endWhenOutputFails, print } from "./terminal.ts"

const OLDEST_NODE = manifest.engines.node.replace(">=", "")
const REFUSALS = ["EACCES", "EPERM", "EROFS", "ENOSPC", "EDQUOT", "ENOTDIR", "EEXIST"]
const main: Command = {
  description: manifest.description,
  commands: {
    replay: async () => (await import("./replay.ts")).replay,
    report: async () => (await import("./report.ts")).report,
    stats: async () => (await import("./stats.ts")).stats,
    status: async () => (await import("./status.ts")).status,
    inspect: async () => (await import("./inspect.ts")).inspect,
    doctor: async () => (await import("./doctor.ts")).doctor,
    setup: async () => (await import("./setup.ts")).setup,
    model: async () => (await import("./model.ts")).model,
  },
}

/** `path` is the command as typed, such as `hudfold model`. */
async function run(command: Command, args: readonly string[], path: string): Promise<number> {
  const [first, ...rest] = args
  const isGroup = "commands" in command
  const options = isGroup ? args.slice(0, 1) : args
  if (options.includes("--help") || options.includes("-h")) {
    print(await helpOf(command, path))
    return 0
  }
  if (!isGroup) {
    const values = readArguments(args, command.args, path)
    return (await runOnBun(process.argv.slice(2))) ?? (await command.run(values))
  }
  const known = `expected ${Object.keys(command.commands).join(", ")} (see ${path} --help)`
  if (first === undefined) throw new UsageError(`no command; ${known}`)
  if (first.startsWith("-")) throw new UsageError(`unknown option ${first}; ${known}`)
  const load = Object.hasOwn(command.commands, first) ? command.commands[first] : undefined
  if (!load) throw new UsageError(`unknown command ${quoteArgument(first)}; ${known}`)
  return run(await load(), rest, `${path} ${first}`)
}

/** Whether the system refuses access, a disk is full, or a file is in the way, as its message says. */
function isRefusal(error: unknown): error is Error {
  return error instanceof Error && "code" in error && REFUSALS.includes(String(error.code))
}

endWhenOutputFails()
const isChild = clearBunEnvironment()
const ignored = isChild ? undefined : ignoredFolder()
if (ignored) complain(ignored)
try {
  const args = process.argv.slice(2)
  const { bun, node } = process.versions
  if (!bun && isOlder(node, OLDEST_NODE))
    throw new UsageError(`needs Node ${OLDEST_NODE} or newer, and this is Node ${node}`)
  if (args[0] === "--version" || args[0] === "-v") print(manifest.version)
  else process.exitCode = await run(main, args, "hudfold")
} catch (error) {
  const expected = error instanceof UsageError || error instanceof CodedError || isRefusal(error)
  process.exitCode = expected ? 2 : 1
  if (expected) complain(error.message)
  else if (process.env.HUDFOLD_DEBUG) throw error
  else complain(`failed unexpectedly: ${String(error)} (HUDFOLD_DEBUG=1 shows where)`)
}
