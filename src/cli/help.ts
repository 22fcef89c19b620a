// What `--help` prints: plain text without padding at the end, wrapped on a terminal with hanging indents.

import type { ArgsDef, CommandDef } from "citty"
import { BOLD, coloured, wrapped } from "./terminal.ts"

type Named = { name: string; description: string }

/** The help of a command. `path` is the command as typed; options without a description are internal and not shown. */
export async function helpOf(path: string, command: CommandDef<ArgsDef>, version: string): Promise<string> {
  const { description = "" } = (await resolved(command.meta)) ?? {}
  const args = Object.entries((await resolved(command.args)) ?? {})
  const positionals = args.flatMap(([name, one]): Named[] => {
    if (one.type !== "positional") return []
    const upper = name.toUpperCase()
    const shown = one.required === false ? `[${upper}]` : `<${upper}>`
    return [{ name: shown, description: capitalised(one.description ?? "") }]
  })
  const options = args.flatMap(([name, one]): Named[] => {
    if (one.type === "positional" || one.description === undefined) return []
    const value = one.type === "boolean" ? "" : `=<${one.valueHint ?? "VALUE"}>`
    return [{ name: `--${name}${value}`, description: one.description }]
  })
  const subCommands = Object.entries((await resolved(command.subCommands)) ?? {})
  const commands = await Promise.all(
    subCommands.map(async ([name, sub]): Promise<Named> => {
      const meta = await resolved((await resolved(sub)).meta)
      return { name, description: meta?.description ?? "" }
    }),
  )
  const use = [path, ...(commands.length > 0 ? ["<command>"] : []), ...positionals.map(({ name }) => name)]
  return [
    wrapped(`${description}. (hudfold ${version})`),
    "",
    wrapped(`Usage: ${[...use, ...(options.length > 0 ? ["[options]"] : [])].join(" ")}`, 4, 0),
    ...list("Commands", commands),
    ...list("Arguments", positionals),
    ...list("Options", options),
    ...(commands.length > 0 ? ["", `${path} <command> --help says more about a command.`] : []),
  ].join("\n")
}

/** An argument's description begins in lower case, since it is also part of the error when the argument is missing. */
function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** The description of a longer name begins on the next line. */
const MAX_NAME_COLUMNS = 20

function list(title: string, entries: readonly Named[]): string[] {
  if (entries.length === 0) return []
  const width = Math.min(MAX_NAME_COLUMNS, Math.max(...entries.map(({ name }) => name.length)))
  const indent = width + 4
  const lines = entries.flatMap(({ name, description }) => {
    const said = wrapped(description, indent)
    return name.length > width ? [`  ${name}`, `${" ".repeat(indent)}${said}`] : [`  ${name.padEnd(width)}  ${said}`]
  })
  return ["", coloured(title, BOLD), ...lines]
}

export async function resolved<T>(value: T | Promise<T> | (() => T | Promise<T>)): Promise<T> {
  return typeof value === "function" ? (value as () => T | Promise<T>)() : value
}
