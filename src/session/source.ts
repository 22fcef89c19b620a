// What a digest is made from: a call with its output, and the same without secrets.

import type { DigestSource } from "../output/digest.ts"
import { toolKindOf } from "../output/tools.ts"
import { hasFoundNothing } from "../output/verdict.ts"
import { asNumber, asRecord, asString, parseJson } from "../system/values.ts"
import { inShell } from "../text/format.ts"
import { secrecyOf } from "../text/redact/names.ts"
import { redact, redactLine } from "../text/redact/redact.ts"
import { REDACTED } from "../text/redact/value.ts"
import { isSecretSource, withholdValues } from "../text/redact/withheld.ts"
import { wellFormed } from "../text/sanitize.ts"
import { pathOf } from "./arguments.ts"
import type { ToolPart } from "./conversation.ts"

/** Of a longer text only the two halves at its ends are kept: no digest looks further in. */
const MAX_SOURCE_CHARS = 256 * 1024
/** What nests deeper in the arguments is left out of digests and records. No known tool takes arguments that deep. */
const MAX_DEPTH = 6

/** What the digest of a call is made from. The output is empty while the tool runs. */
export function sourceOf({ tool, status, input, output, metadata }: ToolPart): DigestSource {
  const [kind, text, exit] = [toolKindOf(tool), wellFormed(output), asNumber(metadata.exit)]
  const source = {
    tool,
    kind,
    input: Array.isArray(input.command) ? { ...input, command: joined(input.command.map(String)) } : input,
    ...(kind === "command" ? ranAs(text, exit) : { output: text, exit }),
  }
  return { ...source, failed: status === "error" && !(source.kind === "command" && hasFoundNothing(source)) }
}

/** What a command printed, and its exit code, which shell tools of MCP servers return together as JSON. */
function ranAs(output: string, exit: number | undefined) {
  const isJson = exit === undefined && /"(?:exit|return)_?code"/i.test(output)
  const run = (isJson && asRecord(parseJson(output.slice(output.search(/^\{/m))))) || {}
  const code = asNumber(run.exit_code ?? run.exitCode ?? run.return_code)
  const printed = [run.output, run.stdout, run.stderr].filter((one) => typeof one === "string")
  return code === undefined || printed.length === 0 ? { output, exit } : { output: printed.join("\n"), exit: code }
}

/** A command that was given in words, as a shell takes it; of `["bash", "-lc", "npm test"]` only the script. */
function joined(words: readonly string[]): string {
  const [program = "", option = "", script] = words
  if (/(?:^|[\\/])(?:ba|da|fi|k|z)?sh$/.test(program) && /^-\w*c$/.test(option) && script) return script
  return words.map(inShell).join(" ")
}

/**
 * The source with its arguments and its output redacted, before anything shortens them. Of a file or a command whose
 * purpose is secrets, only the names in its content are left.
 */
export function withoutSecrets(source: DigestSource): DigestSource {
  const tool = redactLine(source.tool)
  const input = redactArguments(source.input, showsSecrets(source)) as DigestSource["input"]
  return { ...source, tool, input, output: redactOutput(source) }
}

/** The output alone, as `withoutSecrets` returns it. */
export function redactOutput(source: DigestSource): string {
  const output = redactEnds(source.output)
  return showsSecrets(source) ? withholdValues(output) : output
}

/** Whether the purpose of the file or command is secrets. */
export function showsSecrets({ input }: DigestSource): boolean {
  return isSecretSource(asString(input.command), pathOf(input))
}

/** The arguments that hold what a file contains. */
const CONTENT = /^(?:content|(?:old|new)_?(?:str(?:ing)?|text)|(?:file|patch)_?text|code_edit|body|text|value)$/i

/** Arguments whose value another one may name: `{ key: "DB_PASSWORD", value: "…" }`. */
const VALUE = /^(?:\w*value|val|text|input|to|default|data)$/i
const MAX_NAMED_CHARS = 200

/** An argument's value without secrets. The name takes part, since it may be what marks the value as a secret. */
function redactNamed(name: string, value: string): string {
  const named = redact(`${name}=${value}`)
  // some rules look at the start of a line, where the name stands now
  return redact(named.startsWith(`${name}=`) ? named.slice(name.length + 1) : value)
}

/** `isSecret`: of arguments that hold what a file contains, only the names are left. */
function redactArguments(value: unknown, isSecret: boolean, name = "", depth = 0): unknown {
  if (typeof value === "string") {
    const redacted = value.length > MAX_SOURCE_CHARS ? redactEnds(value) : redactNamed(name, value)
    return isSecret && CONTENT.test(name) ? withholdValues(redacted) : redacted
  }
  if (typeof value === "number") return redactNamed(name, `${value}`) === `${value}` ? value : REDACTED
  if (typeof value !== "object" || value === null) return value
  if (depth > MAX_DEPTH) return {}
  const isList = Array.isArray(value)
  const words = Object.values(value)
  const entries = Object.entries(value).map(([key, one], at): [string, unknown] => {
    // in a list, the words before it name it, as in a command; elsewhere any argument beside it does
    const beside = isList ? [words.slice(Math.max(0, at - 8), at).join(" ")] : VALUE.test(key) ? words : []
    if (isNamedBy(beside, isList ? " " : ": ", one)) return [key, REDACTED]
    const isPart = isList || (secrecyOf(name) !== undefined && secrecyOf(key) === undefined)
    return [key, redactArguments(one, isSecret, isPart ? name : key, depth + 1)]
  })
  return isList ? entries.map(([, one]) => one) : Object.fromEntries(entries)
}

/** Whether one of the texts beside a short value says that it is a secret: `{ key: "DB_PASSWORD", value: "…" }`. */
function isNamedBy(words: readonly unknown[], sign: string, value: unknown): boolean {
  if (typeof value !== "string" || value.length > MAX_NAMED_CHARS || value.includes("\n")) return false
  const named = words.filter((one) => typeof one === "string" && one !== "" && one !== value)
  return named.some((one) => !redact(`${String(one).slice(-MAX_NAMED_CHARS)}${sign}${value}`).endsWith(value))
}

function redactEnds(text: string): string {
  return endsOf(text).map(redact).join("\n")
}

/** The text, or the two halves that are kept of a longer one. */
export function endsOf(text: string): string[] {
  if (text.length <= MAX_SOURCE_CHARS) return [text]
  return [text.slice(0, MAX_SOURCE_CHARS / 2), text.slice(-MAX_SOURCE_CHARS / 2)]
}

/** Equal for calls with equal arguments and equal outputs. */
export function digestKey({ inputHash, outputHash = "" }: { inputHash: string; outputHash?: string }): string {
  return `${inputHash} ${outputHash}`
}
