// Checks a command line against a command's definition before citty reads it. citty silently accepts unknown options and
// missing values, and prints the whole usage text for anything it does refuse.
import { statSync } from "node:fs"
import { resolve } from "node:path"
import { parseArgs } from "node:util"
import type { ArgsDef } from "citty"
import { UsageError } from "./terminal.ts"

/**
 * Throws UsageError. `command` is the command as typed, for the hint. A last positional whose name ends in `...` may be
 * repeated; citty leaves all of its values in `args._`.
 */
export function checkArguments(args: readonly string[], definitions: ArgsDef, command: string): void {
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
      const shown = options.filter(([, one]) => one.description !== undefined)
      const known = [...shown.map(([name]) => `--${name}`), "--help"].join(", ")
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
    throw new UsageError(`missing ${missing[0].toUpperCase()}: ${missing[1].description}; ${see}`)
  }
  if (given.length > positionals.length && !positionals.at(-1)?.[0].endsWith("...")) {
    throw new UsageError(`unexpected argument ${quoteArgument(given[positionals.length] ?? "")}; ${see}`)
  }
}

/** The folder of the option `--dir` as an absolute path, by default the working directory. Throws UsageError. */
export function readFolder(given = "."): string {
  const path = resolve(given)
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return path
  throw new UsageError(`--dir: ${path} is not a folder`)
}

/** A whole number from 1. Throws UsageError. */
export function readNumber(option: string, given: string, most = Number.MAX_SAFE_INTEGER): number {
  const number = Number(given)
  if (/^\d+$/.test(given) && number >= 1 && number <= most) return number
  throw new UsageError(`${option} must be a whole number from 1, got ${quoteArgument(given)}`)
}

export function quoteArgument(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 59)}…` : text)
}
