// Part → tool event. Reads every shape of a tool part that OpenCode has written, and what it cannot read it leaves
// out: it never throws on a part.

import { commandKey, hidesExit } from "../output/commands.ts"
import type { Digest, DigestSource } from "../output/digest.ts"
import { filesShown, showsOf } from "../output/shows.ts"
import type { FileUse, ToolKind } from "../output/tools.ts"
import { toolKindOf } from "../output/tools.ts"
import { verdictOf } from "../output/verdict.ts"
import { asRecord, asString } from "../system/values.ts"
import { normalizePath, relativeTo } from "../text/paths.ts"
import { redact } from "../text/redact/redact.ts"
import { cut, cutMiddle, line, own, wellFormed } from "../text/sanitize.ts"
import { tokensOfLength } from "../text/tokens.ts"
import type { ToolPart } from "./conversation.ts"
import type { ToolEvent } from "./event.ts"
import { withoutSecrets } from "./withheld.ts"

/** What the core may not do itself. */
export type Env = {
  /** a content hash that no tool output can be made to collide in; hex */
  hash(text: string): string
  /** the digest of an output; `key` is equal for equal sources */
  digest(key: string, source: DigestSource): Digest
  /** the project's folder, for short paths; a message's own `info.path` comes first */
  root?: string
}

/** Where a part stands: its message, the call that made it, the folder its paths are in. */
export type Place = {
  messageID: string
  call: number
  root?: string | undefined
  /** whether the gist of an output is wanted, by the hashes of question and answer */
  wantsGist(inputHash: string, outputHash: string): boolean
}

/** Kinds whose output is worth a gist: the others' say no more than their arguments. */
const GISTS: ReadonlySet<ToolKind> = new Set(["command", "search", "list", "web", "task", "other"])

/** Longest input summary and failure line kept, in characters. */
const SUMMARY = 100
const FAILURE = 160
const ATTEMPT = 200
/** What is looked at of an output that failed, from its end, in characters. */
const FAILED = 32_000
/** Longest output whose paths are shortened before it is judged, in characters. */
const SHORTENED = 200_000

/** The tool event of a call. Throws only where a field that another plugin put there does. */
export function normalize(part: ToolPart, place: Place, env: Env): ToolEvent {
  const { tool, status, metadata, startMs, endMs, removed } = part
  const source = sourceOf(part)
  const { kind, input, output, failed, exit } = source
  const command = asString(input.command) ?? ""
  const done = failed || status === "completed"
  // a command that OpenCode could not finish has no exit code; what it printed may still say how it went
  const judged =
    done && kind === "command"
      ? verdictOf({ tool, kind, input, output: withoutRoot(output, place.root), ...maybe("exit", exit) })
      : {}
  const failure = judged.failure === undefined ? (failed ? output : undefined) : failureOf(source, place.root)
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
    tool: own(cut(line(tool), 60)),
    kind,
    status,
    input: own(summary),
    attempt: own(cut(kind === "command" ? redact(line(commandKey(command))) : `${line(tool)} ${summary}`, ATTEMPT)),
    shows: showsOf(tool, kind, files, command),
    inputHash,
    ...maybe("outputHash", outputHash),
    ...(digest ? { gist: own(cut(redact(line(digest.gist)), FAILURE)) } : {}),
    inputTokens: tokensOfLength(asked.length),
    outputTokens: tokensOfLength(output.length),
    ...(failed ? { error: own(cut(redact(line(output)), FAILURE)) } : {}),
    ...maybe("exit", exit),
    ok:
      done && !failed && !judged.failure && (judged.verdict === "pass" || !(kind === "command" && hidesExit(command))),
    ...(failure ? { failure: own(cut(redact(line(failure)), FAILURE)) } : {}),
    files,
    ...(startMs !== undefined && endMs !== undefined ? { durationMs: Math.max(0, endMs - startMs) } : {}),
    ...maybe("endedAt", endMs),
    cleared: removed || part.clearedMs !== undefined,
    call: place.call,
  }
}

/** What failed, told from an output without its secrets: of a key, one row might be quoted. */
function failureOf(source: DigestSource, root: string | undefined): string | undefined {
  const output = redact(withoutRoot(source.output.slice(-FAILED), root))
  return verdictOf({ ...source, output }).failure
}

/** What a digest of a call is made from; the output is empty while the tool runs. */
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

/** Equal for equal questions with equal answers. */
export function digestKey(inputHash: string, outputHash: string): string {
  return `${inputHash} ${outputHash}`
}

/** Test runners name files by their full path; in the project the short one says as much. */
function withoutRoot(output: string, root: string | undefined): string {
  return root === undefined || root === "/" || output.length > SHORTENED ? output : output.replaceAll(`${root}/`, "")
}

/** The todo list a todo call wrote, from its result's metadata or its arguments. */
export function todosOf({ metadata, input }: ToolPart): unknown {
  return metadata.todos ?? input.todos
}

/** Arguments in one spelling whatever their order. A command's description says nothing about what it does. */
function canonical(kind: string, input: Record<string, unknown>): string {
  const names = Object.keys(input).filter((name) => kind !== "command" || name !== "description")
  return JSON.stringify(names.sort().map((name) => [name, input[name]]))
}

/** One line without secrets, to be cut only then: of half a secret nothing tells that it is one. */
function clean(text: string): string {
  return redact(line(text))
}

function summarize(kind: string, input: Record<string, unknown>, root: string | undefined): string {
  const path = pathOf(input)
  const where = path === undefined ? "" : relativeTo(root, path)
  const pattern = asString(input.pattern) ?? asString(input.query)
  switch (kind) {
    case "command":
      return cutMiddle(clean(asString(input.command) ?? ""), SUMMARY)
    case "search":
    case "list":
      return cut(
        clean([pattern && `"${cut(clean(pattern), 60)}"`, where && `in ${where}`].filter(Boolean).join(" ")),
        SUMMARY,
      )
    case "web":
      return cut(clean(asString(input.url) ?? (pattern ? `"${pattern}"` : firstText(input))), SUMMARY)
    case "task":
      return cut(clean(asString(input.description) ?? asString(input.prompt) ?? ""), SUMMARY)
    case "read":
    case "edit":
    case "write":
      return cutMiddle(clean(where), SUMMARY)
    case "patch":
      return cut(
        clean(
          patched(asString(input.patchText) ?? "")
            .map((file) => relativeTo(root, file.path))
            .join(", "),
        ),
        SUMMARY,
      )
    default:
      return cut(clean(firstText(input)), SUMMARY)
  }
}

function firstText(input: Record<string, unknown>): string {
  return Object.values(input).find((value): value is string => typeof value === "string") ?? ""
}

function pathOf(input: Record<string, unknown>): string | undefined {
  return asString(input.filePath) ?? asString(input.file_path) ?? asString(input.path)
}

function filesOf(
  kind: string,
  input: Record<string, unknown>,
  metadata: Record<string, unknown> | undefined,
  root: string | undefined,
): FileUse[] {
  const path = pathOf(input)
  const use = (path: string, use: FileUse["use"]): FileUse => ({ path: keyOf(root, path), use })
  switch (kind) {
    case "read": {
      if (!path || asRecord(metadata?.display)?.type === "directory") return []
      const range = rangeOf(input, metadata)
      return [range ? { ...use(path, "read"), range } : use(path, "read")]
    }
    case "command":
      return filesShown(asString(input.command) ?? "").map((path) => use(path, "read"))
    case "edit":
      return path ? [use(path, "edit")] : []
    case "write":
      return path ? [use(path, "write")] : []
    case "search":
      // searching one named file shows some of it, which is all that `read` claims
      return path && /\.\w+$/.test(path) ? [use(path, "read")] : []
    case "patch": {
      const listed = Array.isArray(metadata?.files) ? metadata.files.map(asRecord) : []
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

/** The files a patch names, from its own headers. */
function patched(patch: string): { path: string; type: string | undefined }[] {
  return [...patch.matchAll(/^\*\*\* (Add|Update|Delete) File: (.{1,400})$/gm)].map(([, verb, path]) => ({
    path: (path ?? "").trim(),
    type: verb?.toLowerCase(),
  }))
}

/** The lines a read showed, when it did not show the whole file. */
function rangeOf(
  input: Record<string, unknown>,
  metadata: Record<string, unknown> | undefined,
): readonly [number, number] | undefined {
  const display = asRecord(metadata?.display)
  const { lineStart, lineEnd, totalLines } = display ?? {}
  if (typeof lineStart === "number" && typeof lineEnd === "number")
    return lineStart === 1 && lineEnd === totalLines ? undefined : [lineStart, lineEnd]
  const { offset, limit } = input
  if (typeof offset !== "number" && typeof limit !== "number") return
  const from = Math.max(1, typeof offset === "number" ? offset : 1)
  return [from, typeof limit === "number" ? from + limit - 1 : Number.POSITIVE_INFINITY]
}

/** One spelling for one file: relative in the root, absolute outside, bounded. As the disk has it, not to be shown so. */
export function keyOf(root: string | undefined, path: string): string {
  return own(cutMiddle(relativeTo(root, normalizePath(path)), 300))
}

/** A property that is there or not, as `exactOptionalPropertyTypes` wants it. */
function maybe<K extends string, V>(key: K, value: V | undefined): { [P in K]?: V } {
  return (value === undefined ? {} : { [key]: value }) as { [P in K]?: V }
}
