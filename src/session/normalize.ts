// Turns a tool part into a tool event, and makes the source of its digest, which never contains a secret.

import { commandKey, hidesExit } from "../output/commands.ts"
import type { Digest, DigestSource } from "../output/digest.ts"
import { showsOf } from "../output/shows.ts"
import { type FileUse, type ToolKind, toolKindOf } from "../output/tools.ts"
import { verdictOf } from "../output/verdict.ts"
import { asRecord, asString, defined, jsonOf } from "../system/values.ts"
import { normalizePath, relativeTo } from "../text/paths.ts"
import { mentionsSecrets, redact, redactLine } from "../text/redact/redact.ts"
import { isSecretSource, withholdValues } from "../text/redact/withheld.ts"
import { cut, cutMiddle, own, wellFormed } from "../text/sanitize.ts"
import { tokensOfLength } from "../text/tokens.ts"
import type { ToolPart } from "./conversation.ts"
import type { ToolEvent } from "./event.ts"

/** What the pure rooms need from outside. */
export type Env = {
  /** a content hash, hex, for which no tool output can be crafted to collide */
  hash(text: string): string
  /** the digest of an output; `key` is equal for equal sources */
  digest(key: string, source: DigestSource): Digest
  /** the project's folder, for short paths; a message's own root takes precedence */
  root?: string
}

/** Where a part belongs: its message, the call that made it, the folder its paths are relative to. */
export type Place = {
  messageID: string
  call: number
  root?: string | undefined
  /** whether the gist of an output is needed, by the hashes of arguments and output */
  wantsGist(inputHash: string, outputHash: string): boolean
}

/** Kinds whose output is worth a gist. The outputs of the others say no more than their arguments. */
const GISTS: ReadonlySet<ToolKind> = new Set(["command", "search", "list", "web", "task", "other"])

const MAX_TOOL_CHARS = 60
const MAX_SUMMARY_CHARS = 100
const MAX_FAILURE_CHARS = 160
const MAX_ATTEMPT_CHARS = 200
const MAX_PATH_CHARS = 300
/** How much of a failed output is searched for the failure, from its end. */
const MAX_FAILED_CHARS = 32_000
/** Longest output whose paths are shortened before it is judged. */
const MAX_SHORTENED_CHARS = 200_000
/** Of a longer text only the two halves at its ends are kept: no digest looks further in. */
const MAX_SOURCE_CHARS = 256 * 1024
/** What nests deeper in the arguments is left out of digests and records. No known tool takes arguments that deep. */
const MAX_DEPTH = 6

/** The tool event of a call. Throws only if reading a field throws, which another plugin may have caused. */
export function normalize(part: ToolPart, place: Place, env: Env): ToolEvent {
  const { tool, status, metadata, endMs, removed } = part
  const source = sourceOf(part)
  const { kind, input, output, failed, exit } = source
  const command = asString(input.command) ?? ""
  const done = failed || status === "completed"
  // a command that was cut short has no exit code, but its output may still show how it went
  const shown = done && kind === "command" ? withoutRoot(output, place.root) : ""
  const judged = done && kind === "command" ? verdictOf({ tool, kind, input, output: shown, ...defined({ exit }) }) : {}
  const error = failed ? (showsSecrets(source) ? redactOutput(source) : output) : undefined
  const failure = judged.failure === undefined ? error : failureOf(source, shown, judged.failure)
  const summary = summarize(kind, input, place.root)
  const asked = canonical(kind, input)
  const inputHash = env.hash(`${tool}\n${asked}`)
  const outputHash = done && !removed ? env.hash(output) : undefined
  const digest =
    outputHash !== undefined && GISTS.has(kind) && place.wantsGist(inputHash, outputHash)
      ? env.digest(digestKey(inputHash, outputHash), withoutSecrets(source))
      : undefined
  const files = done && !failed ? filesOf(kind, input, metadata, place.root) : []
  return {
    callID: part.callID,
    partID: part.id,
    messageID: place.messageID,
    tool: own(cut(redactLine(tool), MAX_TOOL_CHARS)),
    kind,
    status,
    input: own(summary),
    attempt: own(
      cut(
        kind === "command" ? redactLine(commandKey(redact(command))) : `${redactLine(tool)} ${summary}`,
        MAX_ATTEMPT_CHARS,
      ),
    ),
    shows: showsOf(tool, kind, files, command),
    inputHash,
    ...defined({ outputHash }),
    ...(digest ? { gist: own(cut(redactLine(digest.gist), MAX_FAILURE_CHARS)) } : {}),
    outputTokens: tokensOfLength(output.length),
    ...(error === undefined ? {} : { error: own(cut(redactLine(error), MAX_FAILURE_CHARS)) }),
    ...defined({ exit }),
    ok:
      done && !failed && !judged.failure && (judged.verdict === "pass" || !(kind === "command" && hidesExit(command))),
    ...(failure ? { failure: own(cut(redactLine(failure), MAX_FAILURE_CHARS)) } : {}),
    files,
    ...defined({ endedAt: endMs }),
    cleared: removed || part.clearedMs !== undefined,
    call: place.call,
  }
}

/**
 * What failed. If the output (`shown`) contains secrets, it is judged again without them, since the failure's line (`failure`)
 * could quote one line of a key.
 */
function failureOf(source: DigestSource, shown: string, failure: string): string | undefined {
  const end = shown.slice(-MAX_FAILED_CHARS)
  // what a line shows by itself is removed from it later
  if (!showsSecrets(source) && !mentionsSecrets(end)) return failure
  const output = redactOutput({ ...source, output: end })
  return output === shown ? failure : verdictOf({ ...source, output }).failure
}

/** What the digest of a call is made from. The output is empty while the tool runs. */
export function sourceOf({ tool, status, input, output, metadata }: ToolPart): DigestSource {
  const { exit } = metadata
  return {
    tool,
    kind: toolKindOf(tool),
    input,
    output: wellFormed(output),
    failed: status === "error",
    ...(typeof exit === "number" ? { exit } : {}),
  }
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

function showsSecrets({ input }: DigestSource): boolean {
  return isSecretSource(asString(input.command), pathOf(input))
}

/** The arguments that hold what a file contains. */
const CONTENT = /^(?:content|(?:old|new)_?string|patch_?text|text|value)$/i

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
  if (typeof value !== "object" || value === null) return value
  if (depth > MAX_DEPTH) return {}
  if (Array.isArray(value)) return value.map((one) => redactArguments(one, isSecret, name, depth + 1))
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [key, redactArguments(one, isSecret, key, depth + 1)]),
  )
}

function redactEnds(text: string): string {
  const [first = "", last] = endsOf(text)
  return last === undefined ? redact(first) : `${redact(first)}\n${redact(last)}`
}

/** The text, or the two halves that are kept of a longer one. */
export function endsOf(text: string): string[] {
  if (text.length <= MAX_SOURCE_CHARS) return [text]
  return [text.slice(0, MAX_SOURCE_CHARS / 2), text.slice(-MAX_SOURCE_CHARS / 2)]
}

/** Equal for calls with equal arguments and equal outputs. */
export function digestKey(inputHash: string, outputHash: string): string {
  return `${inputHash} ${outputHash}`
}

/** Shortens the absolute paths that test runners print. */
function withoutRoot(output: string, root: string | undefined): string {
  return !root || root === "/" || output.length > MAX_SHORTENED_CHARS ? output : output.replaceAll(`${root}/`, "")
}

/** The todo list that a todo call wrote, from its result's metadata or its arguments. */
export function todosOf({ metadata, input }: ToolPart): unknown {
  return metadata.todos ?? input.todos
}

/** Arguments in a canonical form, independent of their order. A command's description does not change what it does. */
function canonical(kind: ToolKind, input: Record<string, unknown>): string {
  const names = Object.keys(input).filter((name) => kind !== "command" || name !== "description")
  const json = jsonOf(names.sort().map((name) => [name, input[name]]))
  if (json === undefined) throw new TypeError("the arguments have no JSON")
  return json
}

/** The arguments in one line without secrets. They are redacted before they are cut: half a secret is not recognised. */
function summarize(kind: ToolKind, input: Record<string, unknown>, root: string | undefined): string {
  const summary = redactLine(summaryOf(kind, input, root))
  const isNamedByItsEnd = kind === "command" || kind === "read" || kind === "edit" || kind === "write"
  return (isNamedByItsEnd ? cutMiddle : cut)(summary, MAX_SUMMARY_CHARS)
}

function summaryOf(kind: ToolKind, input: Record<string, unknown>, root: string | undefined): string {
  const path = pathOf(input)
  const where = path === undefined ? "" : relativeTo(root, path)
  const pattern = asString(input.pattern) ?? asString(input.query)
  switch (kind) {
    case "command":
      return asString(input.command) ?? ""
    case "search":
    case "list":
      return [pattern && `"${cut(redactLine(pattern), 60)}"`, where && `in ${where}`].filter(Boolean).join(" ")
    case "web":
      return asString(input.url) ?? (pattern ? `"${pattern}"` : firstText(input))
    case "task":
      return asString(input.description) ?? asString(input.prompt) ?? ""
    case "read":
    case "edit":
    case "write":
      return where
    case "patch": {
      const files = patched(asString(input.patchText) ?? "")
      return files.map((file) => relativeTo(root, file.path)).join(", ")
    }
    default:
      return firstText(input)
  }
}

function firstText(input: Record<string, unknown>): string {
  return Object.values(input).find((value): value is string => typeof value === "string") ?? ""
}

/** The file or folder that a call names. */
export function pathOf(input: Record<string, unknown>): string | undefined {
  return asString(input.filePath) ?? asString(input.file_path) ?? asString(input.path)
}

function filesOf(
  kind: ToolKind,
  input: Record<string, unknown>,
  metadata: ToolPart["metadata"],
  root: string | undefined,
): FileUse[] {
  const path = pathOf(input)
  const use = (path: string, use: FileUse["use"]): FileUse => ({ path: keyOf(root, path), use })
  switch (kind) {
    case "read":
      return path && asRecord(metadata.display)?.type !== "directory" ? [use(path, "read")] : []
    case "edit":
      return path ? [use(path, "edit")] : []
    case "write":
      return path ? [use(path, "write")] : []
    case "search":
      // searching a single file shows part of it, and `read` claims no more
      return path && /\.\w+$/.test(path) ? [use(path, "read")] : []
    case "patch": {
      const listed = Array.isArray(metadata.files) ? metadata.files.map(asRecord) : []
      const reported = listed.flatMap((file) => {
        const path = asString(file?.filePath) ?? asString(file?.relativePath)
        return path ? [{ path, type: asString(file?.type) }] : []
      })
      return (reported.length ? reported : patched(asString(input.patchText) ?? "")).map((file) =>
        use(file.path, file.type === "add" ? "write" : file.type === "delete" ? "delete" : "edit"),
      )
    }
    default:
      return []
  }
}

/** The files named in a patch's headers. */
function patched(patch: string): { path: string; type: string | undefined }[] {
  return [...patch.matchAll(/^\*\*\* (Add|Update|Delete) File: (.{1,400})$/gm)].map(([, verb, path]) => ({
    path: (path ?? "").trim(),
    type: verb?.toLowerCase(),
  }))
}

/** One spelling per file: relative within the root, absolute outside, bounded. It is not redacted. */
export function keyOf(root: string | undefined, path: string): string {
  return own(cutMiddle(relativeTo(root, normalizePath(path)), MAX_PATH_CHARS))
}
