// What a command is, how its arguments and their values are read, and its help.

import { existsSync, statSync } from "node:fs"
import { resolve } from "node:path"
import { parseArgs } from "node:util"
import { cut } from "../text/sanitize.ts"
import { wrapped } from "./terminal.ts"

/** A mistake of the caller. The message is one line: what is wrong and what to do. */
export class UsageError extends Error {
  override readonly name = "UsageError"
}

/** A last positional whose name ends in `...` may be repeated or left out; its values are only in `_`. */
type Argument = {
  type: "boolean" | "string" | "positional"
  description: string
  valueHint?: string
  /** of a positional */
  required?: boolean
}
type Arguments = Record<string, Argument>
type ValueOf<A extends Argument> = A extends { type: "boolean" }
  ? boolean | undefined
  : A extends { required: true }
    ? string
    : string | undefined
type Values<A extends Arguments> = { [Name in keyof A]: ValueOf<A[Name]> } & { _: string[] }

/** `run` resolves with the exit code. */
type Action<A extends Arguments> = { description: string; args: A; run(args: Values<A>): Promise<number> }
/** Subcommands are loaded on demand, since most are slow to load. */
type Group = { description: string; commands: Record<string, () => Command | Promise<Command>> }
type Given = Record<string, unknown> & { _: string[] }
export type Command = Group | { description: string; args: Arguments; run(args: Given): Promise<number> }

export const JSON_ARGUMENT = { type: "boolean", description: "Print JSON for programs" } as const

export function defineCommand<const A extends Arguments>(command: Action<A>): Command {
  return command as unknown as Command
}

/** `command` is the command as typed, such as `hudfold model pull`. Throws UsageError. */
export function readArguments(given: readonly string[], args: Arguments, command: string): Given {
  const see = `see ${command} --help`
  const options: Record<string, { type: "boolean" | "string" }> = {}
  for (const [name, { type }] of Object.entries(args)) if (type !== "positional") options[name] = { type }
  const names = Object.keys(args).filter((name) => !(name in options))
  try {
    const { values, positionals } = parseArgs({ args: [...given], options, allowPositionals: true })
    const empty = Object.keys(values).find((name) => values[name] === "")
    if (empty) throw new UsageError(`--${empty} needs a value (${see})`)
    const missing = names[positionals.length]
    if (missing && args[missing]?.required)
      throw new UsageError(`missing ${missing.replace("...", "").toUpperCase()}. ${args[missing].description}; ${see}`)
    const [extra] = names.at(-1)?.endsWith("...") ? [] : positionals.slice(names.length)
    if (extra !== undefined) throw new UsageError(`unexpected argument ${quoteArgument(extra)}; ${see}`)
    return { ...values, ...Object.fromEntries(names.map((name, at) => [name, positionals[at]])), _: positionals }
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    // what follows is about names that begin with a dash
    throw new UsageError(`${error.message.replace(/\.? To specify .*/s, "")} (${see})`)
  }
}

/** The folder of the option `--dir` as an absolute path, by default the working directory. Throws UsageError. */
export function readFolder(given = "."): string {
  const path = resolve(given)
  // existsSync is also false below a file, where statSync throws
  if (existsSync(path) && statSync(path).isDirectory()) return path
  throw new UsageError(`--dir: ${path} is not a folder`)
}

/** A whole number from 1, if one is given. Throws UsageError. */
export function readNumber(option: string, given: string | undefined): number | undefined {
  if (given === undefined) return undefined
  const number = Number(given)
  if (/^\d+$/.test(given) && number >= 1) return number
  throw new UsageError(`${option} must be a whole number from 1, got ${quoteArgument(given)}`)
}

/** One of the choices, if one is given. Throws UsageError. */
export function readChoice<T extends string>(option: string, given: string | undefined, choices: readonly T[]) {
  const choice = choices.find((one) => one === given)
  if (choice !== undefined || given === undefined) return choice
  throw new UsageError(`${option} must be one of ${choices.join(", ")}, got ${quoteArgument(given)}`)
}

export function quoteArgument(text: string): string {
  return JSON.stringify(cut(text, 60))
}

export async function helpOf(command: Command, path: string): Promise<string> {
  const [usage, rows] = "commands" in command ? await groupHelp(command) : actionHelp(command)
  const width = Math.max(...rows.map(([name]) => name.length)) + 4
  const lines = rows.map(([name, words]) => `  ${name.padEnd(width - 2)}${wrapped(words, width)}`)
  return [wrapped(command.description), "", `usage: ${path} ${usage}`, "", ...lines].join("\n")
}

async function groupHelp({ commands }: Group) {
  const rows = Object.entries(commands).map(async ([name, load]) => [name, (await load()).description] as const)
  return ["COMMAND; for more about one, add --help", await Promise.all(rows)] as const
}

function actionHelp({ args }: { args: Arguments }) {
  const rows = Object.entries(args).map(([name, { type, valueHint, description }]) => {
    const value = type === "string" ? `=<${valueHint}>` : ""
    return [type === "positional" ? name.toUpperCase() : `--${name}${value}`, description] as const
  })
  const positionals = Object.entries(args).filter(([, { type }]) => type === "positional")
  const names = positionals.map(([name, { required }]) => (required ? name.toUpperCase() : `[${name.toUpperCase()}]`))
  return [["[OPTIONS]", ...names].join(" "), rows] as const
}
