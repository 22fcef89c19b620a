// Which of a session's folds a request for originals means.

import { toolKindOf } from "../output/tools.ts"
import { folderOf, pathsOf } from "../session/arguments.ts"
import type { AttachedFile, Message, ToolPart } from "../session/conversation.ts"
import type { Entry } from "../session/entry.ts"
import { asRecord, isTooDeep } from "../system/values.ts"
import { isAbsolute, normalizePath, pathFrom } from "../text/paths.ts"
import { comparable, holderOf } from "./excerpt.ts"
import type { Fold, Folds } from "./fold.ts"
import { callsIn, callText, stepText } from "./original.ts"
import { isWithin, type NumberRange } from "./ranges.ts"

/** What the agent asks for. Ids and steps add up; a file narrows them. */
export type RecallRequest = {
  /** as given, without repetitions; some may be no ids */
  ids: readonly string[]
  steps: readonly NumberRange[]
  file?: string | undefined
  lines?: NumberRange | undefined
  search?: string | undefined
  page: number
}

/**
 * `files`: the paths that its calls name; `attached`: files that came with the results, which the text does not contain;
 * `calls`: of a step, each call with the paths that it names.
 */
type Found = { kind: "found"; text: string; isFile: boolean; files?: readonly string[] } & OfStep
type OfStep = { attached?: readonly AttachedFile[]; calls?: readonly { part: ToolPart; files: readonly string[] }[] }

/** The original of a fold, or why there is none: it has changed, no longer exists, or OpenCode did not answer. */
export type Original = Found | { kind: "changed" | "gone" | "unanswered" }

export type RecallSource = {
  request: RecallRequest
  /** all of the session's, by id, and those that `namedFolds` finds among them */
  folds: Folds
  named: readonly Fold[]
  /** of the named folds, by id */
  originals: ReadonlyMap<string, Original>
  /** the conversation's steps, folded or not, where they are known */
  inConversation?: readonly Pick<Entry, "call" | "blocks">[] | undefined
}

/** The original of a fold in its message, verbatim; of a step as `stepText` writes it. Undefined when the message lost it. */
export function originalIn(message: Message, fold: Pick<Fold, "kind" | "partID">): Found | undefined {
  const calls = callsIn(message, fold).map((part) => ({ part, files: filesNamed(message, part) }))
  const files = [...new Set(calls.flatMap((call) => call.files))]
  // a folded output is sent with its files
  if (fold.kind === "output") return calls[0] && { ...outputOf(calls[0].part), files }
  const attached = calls.flatMap(({ part }) => part.attached ?? [])
  return { kind: "found", text: stepText(message), isFile: false, files, attached, calls }
}

function outputOf({ tool, input, output }: ToolPart): Found {
  return { kind: "found", text: output, isFile: toolKindOf(tool) === "read" && pathsOf(input).length === 0 }
}

/**
 * What a request returns of a fold. If it names a file, that is only those of a step's calls that name the file; of a call that
 * reads it, only the output, since its lines are the file's.
 */
export function ofFile(fold: Fold, original: Original, { file, lines, search }: RecallRequest): [Fold, Original][] {
  if (original.kind !== "found" || !original.calls || file === undefined) return [[fold, original]]
  const naming = original.calls.filter(({ files }) => namesFile(files, file))
  if (!lines && search === undefined && naming.length === original.calls.length) return [[fold, original]]
  return naming.map(({ part, files }) => {
    const output = outputOf(part)
    if (output.isFile) return [{ ...fold, kind: "output", what: `${part.tool} ${files.join(" ")}` }, output]
    return [
      { ...fold, what: part.tool },
      { ...output, text: callText(part) },
    ]
  })
}

/** The fold with this id, in either case and with or without its `r`. */
export function foldWithID(folds: Folds, word: string): Fold | undefined {
  const id = word.toLowerCase()
  return folds.get(id) ?? folds.get(`r${id}`)
}

/** Whether the request names folds, by ids or steps. */
export function hasTargets({ ids, steps }: RecallRequest): boolean {
  return ids.length > 0 || steps.length > 0
}

/** The folds that ids and steps name, in this order; all when there are neither. Those of steps are oldest first. */
export function namedFolds(request: RecallRequest, folds: Folds): Fold[] {
  const oldestFirst = [...folds.values()].sort((one, other) => one.step - other.step)
  if (!hasTargets(request)) return oldestFirst
  const named = request.ids.flatMap((word) => foldWithID(folds, word) ?? [])
  return [...new Set([...named, ...oldestFirst.filter(({ step }) => isWithin(request.steps, step))])]
}

/**
 * The folds to show, in the order of the answer. A fold that was not asked for by its id is left out when its whole step is
 * shown, when it does not contain the searched text, or when it is gone and a later step has its number.
 */
export function shownFolds({ request, folds, named, originals }: RecallSource): Fold[] {
  const { ids, file, search } = request
  const asked = new Set(ids.map((word) => foldWithID(folds, word)))
  const isWanted = search === undefined ? () => true : holderOf(search)
  const originalOf = ({ id }: Fold) => originals.get(id)
  const found = named.filter((one) => originalOf(one)?.kind === "found")
  const whole = new Set(found.flatMap(({ kind, messageID }) => (kind === "step" ? [messageID] : [])))
  const apart = named.filter((one) => asked.has(one) || one.kind === "step" || !whole.has(one.messageID))
  const messageOfStep = new Map(found.map(({ step, messageID }) => [step, messageID]))
  // step numbers are used again after a revert, or when the count of steps could not be stored
  const isReplaced = (one: Fold) =>
    originalOf(one)?.kind === "gone" && (messageOfStep.get(one.step) ?? one.messageID) !== one.messageID
  const shown = apart.filter((one) => {
    const original = originalOf(one)
    if (file !== undefined && !namesFile(original?.kind === "found" ? original.files : [], file)) return false
    if (asked.has(one)) return true
    // its fold was dropped, and the step is in the conversation
    if (original?.kind === "changed") return false
    if (original?.kind !== "found") return hasTargets(request) && !isReplaced(one)
    return isWanted(original.text)
  })
  // of a file, the last read or edit shows its state best, and only it may fit the first page
  return hasTargets(request) ? shown : shown.reverse()
}

/** Whether one of the paths is the file's, in any case. */
function namesFile(files: readonly string[] | undefined, file: string): boolean {
  const wanted = comparable(bare(file))
  return files?.some((path) => endsWith(comparable(path), wanted)) === true
}

/** A path, normalised, without the `file://` before it and the lines behind it, as records write them. */
function bare(path: string): string {
  return normalizePath(path.replace(/^file:\/\/|(?::\d+(?:-\d*)?){1,2}$/g, ""))
}

/** Whether a path is the wanted one or ends with it; a path that is not absolute may also be its end. */
function endsWith(path: string, wanted: string): boolean {
  return path === wanted || path.endsWith(`/${wanted}`) || (!isAbsolute(path) && wanted.endsWith(`/${path}`))
}

/** Names of arguments that hold paths, including those of unknown tools. */
const PATH_ARGUMENT = /file|path|source|destination|target/i
const MAX_PATH_CHARS = 1000
/** How much of a command, and of a patch, is searched for paths. */
const MAX_COMMAND_CHARS = 20_000
const MAX_PATCH_CHARS = 500_000

/** The paths that a call names in its arguments, normalised, in full where the session's folder is known. */
function filesNamed(message: Message, { tool, input }: ToolPart): string[] {
  if (isTooDeep(input)) return []
  const paths = pathsIn("", input, toolKindOf(tool) === "command").map(bare)
  const named = paths.filter((path) => path !== "").map((path) => pathFrom(folderOf(input), path))
  return [...new Set(named)].map((path) => pathFrom(message.cwd ?? message.root, path))
}

function pathsIn(name: string, value: unknown, isCommand: boolean): string[] {
  if (typeof value === "string") {
    if (isCommand && name === "command") return value.slice(0, MAX_COMMAND_CHARS).split(/[\s"'`<>|&;()=,]+/)
    if (PATH_ARGUMENT.test(name) && value.length <= MAX_PATH_CHARS && !value.includes("\n")) return [value]
    return [...value.slice(0, MAX_PATCH_CHARS).matchAll(PATCHED)].map(([, path = ""]) => path.trim())
  }
  if (Array.isArray(value)) return value.flatMap((one) => pathsIn(name, one, isCommand))
  return Object.entries(asRecord(value) ?? {}).flatMap(([field, one]) => pathsIn(field, one, isCommand))
}

/** The files of a patch, in the format of OpenCode's patch tool or of `diff`. */
const PATCHED = /^(?:\*\*\* (?:(?:Add|Update|Delete) File|Move to): |(?:---|\+\+\+) (?:[ab]\/)?)(\S.{0,400})$/gm
