// What a digest is made from: a call with its output, and the same without secrets.

import type { DigestSource } from "../output/digest.ts"
import { RECALL_TOOL } from "../output/shows.ts"
import { saysError, toolKindOf } from "../output/tools.ts"
import { hasFoundNothing } from "../output/verdict.ts"
import { asNumber, asRecord, asString, parseJson } from "../system/values.ts"
import { inShell } from "../text/format.ts"
import { FOREIGN_WORDS, isSecretName, secrecyOf } from "../text/redact/names.ts"
import { MAX_REPEATED, REVEALING, redact, redactLine } from "../text/redact/redact.ts"
import { isPlaceholder, REDACTED } from "../text/redact/value.ts"
import { isSecretCommand, isSecretFile, withholdValues } from "../text/redact/withheld.ts"
import { bothEnds, wellFormed } from "../text/sanitize.ts"
import { isHeldBack, pathOf } from "./arguments.ts"
import type { ToolPart } from "./conversation.ts"

/** Of a longer text only the two halves at its ends are kept: no digest looks further in. */
const MAX_SOURCE_CHARS = 256 * 1024
/** What nests deeper in the arguments is left out of digests and records. No known tool takes arguments that deep. */
const MAX_DEPTH = 6

/** The output is empty while the tool runs. */
export function sourceOf({ tool, status, input, output, metadata }: ToolPart): DigestSource {
  // editors for models have one tool, whose command says what is to be done
  const kind = input.command === "view" && pathOf(input) !== undefined ? "read" : toolKindOf(tool)
  const [text, exit] = [wellFormed(output), asNumber(metadata.exit)]
  const source = {
    tool,
    kind,
    input: Array.isArray(input.command) ? { ...input, command: joined(input.command.map(wordOf)) } : input,
    ...(kind === "command" || kind === "other" ? ranAs(text, exit) : { output: text, exit }),
  }
  // what was read, printed, answered or recalled may begin like an error
  const isSaid = /^(?:edit|write|search|other)$/.test(kind) && tool !== RECALL_TOOL && saysError(text)
  const isError = status === "error" || isSaid
  return { ...source, failed: isError && !(kind === "command" && hasFoundNothing(source)) }
}

/** What a command printed, and its exit code, which tools of MCP servers return together as JSON. */
function ranAs(output: string, exit: number | undefined) {
  const isJson = exit === undefined && /"(?:command_)?(?:exit|return)_?code"/i.test(output)
  const run = (isJson && asRecord(parseJson(output.slice(output.search(/^\{/m))))) || {}
  const code = asNumber(run.exit_code ?? run.exitCode ?? run.return_code ?? run.command_exit_code)
  const printed = [run.output, run.stdout, run.stderr, run.command_output].filter((one) => typeof one === "string")
  return code === undefined || printed.length === 0 ? { output, exit } : { output: printed.join("\n"), exit: code }
}

/** Lists are not read, since they may nest too deeply. */
const wordOf = (one: unknown) => (typeof one === "object" ? "" : String(one))

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
  const input = redactArguments(source)
  return { ...source, tool, input, output: redactOutput(source, input) }
}

/** The output alone, as `withoutSecrets` returns it; `clean` are the arguments that it returns. */
export function redactOutput(source: DigestSource, clean: DigestSource["input"] = {}): string {
  const output = redactEnds(source.output)
  // a tool may repeat what it was given: `Filled #password with: …`
  const removed = removedIn(source.input, clean).filter((one) => REVEALING.test(one))
  const own = removed.slice(0, MAX_REPEATED).reduce((text, one) => text.replaceAll(one, REDACTED), output)
  return showsSecrets(source) ? withholdValues(own) : own
}

/** The texts in a value of which `clean` has nothing left. */
function removedIn(value: unknown, clean: unknown): string[] {
  if (typeof value === "string") return clean === REDACTED ? [value] : []
  return clean ? Object.entries(value ?? {}).flatMap(([key, one]) => removedIn(one, Object(clean)[key])) : []
}

/** Whether the purpose of the file or command is secrets. */
export function showsSecrets({ input }: DigestSource): boolean {
  return isSecretCommand(asString(input.command)) || isSecretFile(pathOf(input))
}

/** The arguments that hold what a file contains. */
const CONTENT =
  /^(?:(?:new_?)?contents?|(?:old|new)_?(?:str(?:ing)?|text)|(?:file|patch)_?text|code_edit|body|text|value|data|diff|needle|repl)$/i

/** Arguments whose value another one may name: `{ key: "DB_PASSWORD", data: "…" }`. */
const VALUE = /^(?:\w*value|val|text|input|to|default|data|answer|content|payload)$/i
/** Arguments that are never the value of what stands before them. */
const NO_VALUE = new RegExp(`${CONTENT.source}|(?:path|file|dir|ur[il]|ref|type|name|id|description)$`, "i")
/** Arguments that may name a file. */
const FILE = /path|file|name|ur[il]|key/i
const MAX_NAMED_CHARS = 200
/** Fields of an object that may name a value beside them; each is redacted with each value. */
const MAX_NAMING_FIELDS = 50

/** An argument's value without secrets. The name takes part, since it may be what marks the value as a secret. */
function redactNamed(name: string, value: string): string {
  const named = redact(`${name}=${value}`)
  // some rules look at the start of a line, where the name stands now
  return redact(named.startsWith(`${name}=`) ? named.slice(name.length + 1) : value)
}

/** The arguments alone, as `withoutSecrets` returns them. */
export function redactArguments(source: DigestSource): DigestSource["input"] {
  /** the ends of the texts so far, of which the last ones may name a value */
  const said: string[] = []

  const isNamedBefore = (value: unknown) => said.length > 0 && isNamedBy([` ${said.slice(-8).join(" ")}`], " ", value)

  /**
   * `name`: what the value is called, by its own name or by what names it. `isSecret`: of what a file contains, only the names
   * are left.
   */
  function redactValue(value: unknown, name: string, isSecret: boolean, depth: number): unknown {
    if (typeof value === "string") return redactText(value, name, isSecret)
    if (typeof value === "number") return redactNamed(name, `${value}`) === `${value}` ? value : REDACTED
    if (typeof value !== "object" || value === null) return value
    if (depth > MAX_DEPTH) return {}
    if (!Array.isArray(value)) return redactFields(value as Record<string, unknown>, name, isSecret, depth)
    return value.map((one) => redactValue(isNamedBefore(one) ? REDACTED : one, name, isSecret, depth + 1))
  }

  function redactText(text: string, name: string, isSecret: boolean): string {
    if (text !== "" && isHeldBack(name)) return REDACTED
    const redacted = text.length > MAX_SOURCE_CHARS ? redactEnds(text) : redactNamed(name, text)
    said.push(redacted.slice(-MAX_NAMED_CHARS))
    return (isSecret && CONTENT.test(name)) || namesSecretFile(name) ? withholdValues(redacted) : redacted
  }

  function redactFields(fields: DigestSource["input"], name: string, isSecret: boolean, depth: number) {
    const beside = Object.values(fields).slice(0, MAX_NAMING_FIELDS)
    const isFile = ([key, one]: [string, unknown]) => FILE.test(key) && isSecretFile(asString(one))
    const isNearFile = isSecret || Object.entries(fields).some(isFile)
    const clean = Object.entries(fields).map(([key, one]) => {
      const isValue = VALUE.test(key)
      // only a single word, since each is redacted once more
      const mayBeNamed = typeof one === "string" && /^\S+$/.test(one) && !NO_VALUE.test(key)
      const isNamed = isValue ? isNamedBy(beside, ": ", one) : mayBeNamed && isNamedBefore(one)
      const called = (isValue ? secretBeside(beside, key, one) : undefined) ?? nameWithin(name, key)
      return [key, redactValue(isNamed ? REDACTED : one, called, isNearFile || namesSecretFile(key), depth + 1)]
    })
    return Object.fromEntries(clean)
  }

  return redactFields(source.input, "", showsSecrets(source), 0)
}

/** What a field of an object is called: as the object, if that is named like a secret and the field is not. */
function nameWithin(name: string, key: string): string {
  return isHeldBack(name) || (secrecyOf(name) && !secrecyOf(key) && !isHeldBack(key)) ? name : key
}

/** Whether an argument is called like a file whose content is secret, such as `.env`; `shadow` alone is a style's property. */
const namesSecretFile = (name: string) => /[._]/.test(name) && isSecretFile(name)

/** Words for a password within longer words. */
const COMPOUND = new RegExp(`passwort|${FOREIGN_WORDS.source}`, "i")

/** A secret's name among the texts beside an object, or within one beside a word: `{ element: "Password field", text: "…" }`. */
function secretBeside(texts: readonly unknown[], key: string, value: unknown): string | undefined {
  const isText = typeof value === "string"
  if (isText && (!/^\S{3,200}$/.test(value) || isPlaceholder(value))) return undefined
  const names = texts.flatMap((one) => (typeof one === "string" && one !== value ? one.slice(0, 1000) : []))
  if (!isText || key === "to") return names.find(isSecretName)
  // Passwortfeld and 密码输入框 are one word
  const words = names.flatMap((one) => one.split(/[^\p{L}\d_.-]+/u))
  return words.flatMap((one) => [one, ...(COMPOUND.exec(one) ?? [])]).find(isSecretName)
}

/** Whether one of the texts beside a short value says that it is a secret. */
function isNamedBy(words: readonly unknown[], sign: string, value: unknown): boolean {
  if (typeof value !== "string" || value.length > MAX_NAMED_CHARS || value.includes("\n")) return false
  const named = words.filter((one) => typeof one === "string" && one !== "" && one !== value)
  const alone = named.length > 0 ? redact(value) : value
  return named.some((one) => !redact(`${String(one).slice(-MAX_NAMED_CHARS)}${sign}${alone}`).endsWith(alone))
}

function redactEnds(text: string): string {
  return endsOf(text).map(redact).join("\n")
}

/** What is kept of a text. */
export function endsOf(text: string): string[] {
  return bothEnds(text, MAX_SOURCE_CHARS)
}

/** Equal for calls with equal arguments and equal outputs. */
export function digestKey({ inputHash, outputHash = "" }: { inputHash: string; outputHash?: string }): string {
  return `${inputHash} ${outputHash}`
}
