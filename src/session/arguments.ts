// What a call's arguments say: the files it uses, a summary in one line, and a canonical form to compare calls by.

import { type FileUse, saysError, type ToolKind } from "../output/tools.ts"
import { asRecord, asString, isTooDeep, jsonOf, renew } from "../system/values.ts"
import { inShell } from "../text/format.ts"
import { normalizePath, pathFrom, relativeTo } from "../text/paths.ts"
import { isSecretName } from "../text/redact/names.ts"
import { redactLine } from "../text/redact/redact.ts"
import { cut, cutMiddle, own } from "../text/sanitize.ts"
import type { Message, ToolPart } from "./conversation.ts"

const MAX_SUMMARY_CHARS = 100
const MAX_PATH_CHARS = 300

/** Where a part belongs: its message, and the folder its paths are kept relative to. */
export type Place = {
  messageID: string
  root?: string | undefined
  /** the absolute folder that commands run in, and that the paths of calls are relative to */
  cwd?: string | undefined
}

/** Arguments in a canonical form, independent of their order. A command's description does not change what it does. */
export function canonical(kind: ToolKind, input: Record<string, unknown>): string {
  const names = Object.keys(input).filter((name) => kind !== "command" || name !== "description")
  const json = jsonOf(names.sort().map((name) => [name, input[name]]))
  if (json === undefined) throw new TypeError("the arguments have no JSON")
  return json
}

/** The arguments in one line, redacted before they are cut: half a secret is not recognised. `clean` gives them without secrets. */
export function summarize(kind: ToolKind, input: ToolPart["input"], place: Partial<Place>, clean: () => unknown) {
  const summary = redactLine(inWords(kind, input, place) ?? argumentsInOrder(clean()))
  const isNamedByItsEnd = kind === "command" || kind === "read" || kind === "edit" || kind === "write"
  return (isNamedByItsEnd ? cutMiddle : cut)(summary, MAX_SUMMARY_CHARS)
}

/** What a call is about. Undefined where its kind does not say which argument tells that, or it is not there. */
export function inWords(kind: ToolKind, input: ToolPart["input"], { root, cwd }: Partial<Place>) {
  const path = pathOf(input)
  const where = path === undefined ? path : relativeTo(root, path)
  const pattern = asString(input.pattern) ?? asString(input.query)
  if (kind === "command") return commandIn(input, cwd ?? root)
  if (kind === "list" || (kind === "search" && pattern !== undefined))
    return [pattern && `"${cut(redactLine(pattern), 60)}"`, where && `in ${where}`].filter(Boolean).join(" ")
  if (kind === "web") return asString(input.url) ?? (pattern && `"${pattern}"`)
  if (kind === "task") return asString(input.description) ?? asString(input.prompt) ?? ""
  if (kind === "read" || kind === "edit" || kind === "write") return where
  if (kind === "todo" || kind === "question") return Object.values(input).map(asString).find(Boolean) ?? ""
  if (kind !== "patch") return
  const files = patchedFiles(asString(input.patchText) ?? "")
  return files.map((file) => relativeTo(root, file.path)).join(", ")
}

/** All arguments, given without secrets, in one short line. Of two, each takes at most half of it; of more, a third. */
export function argumentsInOrder(input: unknown): string {
  const words = wordsIn(input).slice(0, MAX_SUMMARY_CHARS / 2)
  const share = Math.floor(MAX_SUMMARY_CHARS / Math.min(3, words.length))
  return redactLine(words.map((one) => cutMiddle(redactLine(one), share)).join(" "))
}

function wordsIn(value: unknown, name = ""): string[] {
  if (typeof value === "boolean") return [`${name}=${value}`]
  // a limit does not say what was asked
  if (value === "" || isHeldBack(name) || /(?:_ms|tokens)$|^(?:max|limit|timeout|per_?page)/i.test(name)) return []
  if (typeof value === "string") return [value]
  if (typeof value === "number") return [`${name}=${value}`]
  return Object.entries(value ?? {}).flatMap(([key, one]) => wordsIn(one, Array.isArray(value) ? name : key))
}

const HELD_BACK = /(?:^val|value|^bearer|^authorization|^pass|^stringdata|^secure\w*)$/i
/** Keys of Jira and RabbitMQ, and the name of a secret of AWS. */
const NO_SECRET = /^(?:project_?key|routing_?key|secret_?id)$/i

/** Whether it names a secret, which may be a passphrase of plain words, or a value that may be one and is named elsewhere. */
export function isHeldBack(name: string): boolean {
  const answer = answers.get(name) ?? (HELD_BACK.test(name) || (isSecretName(name) && !NO_SECRET.test(name)))
  if (name.length <= MAX_KEPT_CHARS) renew(answers, own(name), answer, MAX_ANSWERS)
  return answer
}

/** By name. Tools have few names of arguments, and each is asked about several times in every call. */
const answers = new Map<string, boolean>()
const MAX_ANSWERS = 500
const MAX_KEPT_CHARS = 50

/** The folder that a command was given, by OpenCode's shell or Serena's. */
export function folderOf({ workdir, cwd }: Record<string, unknown>): string | undefined {
  return asString(workdir) ?? asString(cwd)
}

/** The command, behind the folder that it was given where that is another one than `cwd`. */
export function commandIn(input: Record<string, unknown>, cwd: string | undefined): string | undefined {
  const [command, workdir] = [asString(input.command), folderOf(input)]
  const folder = command && workdir ? relativeTo(cwd, pathFrom(cwd, workdir)) : "."
  if (folder === "." || folder === pathFrom(cwd, "")) return command
  return `cd ${inShell(cutMiddle(redactLine(folder), 60))} && ${command}`
}

/** OpenCode's own, and those of widely used MCP servers and plugins. */
const PATH_ARGUMENTS = ["filePath", "file_path", "path", "relative_path", "pathInProject", "target_filepath"]
/** Arguments that say that a file is in a repository elsewhere. */
const ELSEWHERE = /^(?:owner|repo|repo_?slug|project_?id)$/i

/** The file or folder that a call names. */
export function pathOf(input: Record<string, unknown>): string | undefined {
  return PATH_ARGUMENTS.map((name) => asString(input[name])).find((path) => path !== undefined)
}

/** Whether an edit was only tried out. */
export function isTrial({ dryRun, dry_run }: Record<string, unknown>): boolean {
  return dryRun === true || dry_run === true
}

/** The files of a call that reads several. */
export function pathsOf({ paths }: Record<string, unknown>): string[] {
  return Array.isArray(paths) ? paths.filter((one) => typeof one === "string") : []
}

/** The files that a call used. Of a patch those that its result reports, else those in its headers. */
export function filesUsed(
  kind: ToolKind,
  { tool, input, output, metadata }: ToolPart,
  { root, cwd }: Place,
): FileUse[] {
  const isElsewhere = Object.keys(input).some((name) => ELSEWHERE.test(name))
  if (isTrial(input) || isElsewhere || saysError(output)) return []
  const path = pathOf(input)
  const used = (file: string, use: FileUse["use"]): FileUse => ({ path: keyOf(root, pathFrom(cwd, file)), use })
  // older versions of OpenCode say only in the output that it is a folder
  const isFolder = asRecord(metadata.display)?.type === "directory" || /^<path>.*\n<type>directory</.test(output)
  if (kind === "read") {
    if (path !== undefined) return isFolder ? [] : [used(path, "read")]
    return pathsOf(input).flatMap((one) => (output.includes(`${one}: Error`) ? [] : used(one, "read")))
  }
  if (kind === "edit" || kind === "write") return path ? [used(path, kind)] : []
  if (kind === "search") {
    // searching a single file shows part of it, and `read` claims no more; the project's folder may be called `shop.dev`
    const isFile = path !== undefined && /[^/]\.\w+$/.test(used(path, "read").path)
    // of a symbol, some show only where it is, or where else it is used
    const isPlace = /referenc|usages/.test(tool) || (/find_symbol$/.test(tool) && input.include_body !== true)
    return isFile && !isPlace ? [used(path, "read")] : []
  }
  if (kind !== "patch") return []
  const listed = Array.isArray(metadata.files) ? metadata.files.map(asRecord) : []
  const reported = listed.flatMap((file) => {
    const path = asString(file?.filePath)
    return path ? [{ path, movedTo: asString(file?.movePath), type: asString(file?.type) }] : []
  })
  const patched = reported.length > 0 ? reported : patchedFiles(asString(input.patchText) ?? "")
  return patched.flatMap(({ path, movedTo, type = "" }) =>
    movedTo
      ? [used(path, "delete"), used(movedTo, "edit")]
      : [used(path, type === "add" ? "write" : type === "delete" ? type : "edit")],
  )
}

/** The files named in the headers of a patch for OpenCode's patch tool. */
export function patchedFiles(patch: string) {
  const headers = /^\*\*\* (Add|Update|Delete) File: (.{1,400})$(?:\r?\n\*\*\* Move to: (.{1,400})$)?/gm
  return [...patch.matchAll(headers)].map(([header, verb, path = "", movedTo]) => ({
    header,
    path: path.trim(),
    movedTo: movedTo?.trim(),
    type: verb?.toLowerCase(),
  }))
}

/** One spelling per file: relative within the root, absolute outside, bounded. It is not redacted. */
export function keyOf(root: string | undefined, path: string): string {
  return own(cutMiddle(relativeTo(root, normalizePath(path)), MAX_PATH_CHARS))
}

/** The texts and arguments of a message, without what tools returned. */
export function writtenIn({ parts }: Message): string[] {
  return parts.flatMap((part) =>
    part.type === "tool" ? stringsIn(part.input) : part.type === "text" && !part.ignored ? [part.text] : [],
  )
}

/** All strings in a value; none where it nests too deeply to be read. */
export function stringsIn(value: unknown, isRead = !isTooDeep(value)): string[] {
  if (typeof value === "string") return [value]
  if (typeof value !== "object" || value === null || !isRead) return []
  return Object.values(value).flatMap((one) => stringsIn(one, isRead))
}
