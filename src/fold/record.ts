// The texts sent instead of what is folded: a digest line for an output, and lines of the record for a step. They are plain
// text without a tag or anything that reads like a call, so that there is nothing for a model to imitate.

import { cleanDigest, type DigestSource } from "../output/digest.ts"
import { RECALL_TOOL } from "../output/shows.ts"
import { argumentsInOrder, commandIn, inWords, isTrial, patchedFiles, pathOf, stringsIn } from "../session/arguments.ts"
import type { Message, ToolPart } from "../session/conversation.ts"
import type { ToolEvent } from "../session/tool-event.ts"
import { asString, groupBy } from "../system/values.ts"
import { plural } from "../text/format.ts"
import { namesIn } from "../text/names.ts"
import { redact } from "../text/redact/redact.ts"
import { codeLine, cut, oneLine } from "../text/sanitize.ts"
import { cutToTokens } from "../text/tokens.ts"
import { type Fold, isRecallID } from "./fold.ts"
import type { NameSource } from "./names.ts"
import { recordedSteps } from "./ranges.ts"
import { type FoldSource, foldSource } from "./sources.ts"

/** Longest text accepted from a store. */
const MAX_TEXT_CHARS = 100_000

// Decision 030 says how these lengths were measured.

/** A call with the argument that says what it was about, such as its command. */
const MAX_CALL_CHARS = 150
/** What the agent said beside its calls. */
const MAX_SAID_CHARS = 100
/** What the user said to a call that they rejected: as good as a message, of which no word is left out. */
const MAX_FEEDBACK_CHARS = 1000
/** The text that ends a turn. */
const MAX_CLOSING_CHARS = 250
/** A patch with the names of its files, which later calls are likely to use. */
const MAX_PATCH_CHARS = 600
/** An output of at most this many characters stands in the record whole. */
const MAX_SHORT_CHARS = 80
/** The same of a search or a listing, whose paths are used next, and of an unknown tool, which may have failed in words only. */
const MAX_FOUND_CHARS = 250
/** What was written is often edited again: up to this length, an edit, a patch or a new file stands in the record line by line. */
export const MAX_EDIT_CHARS = 1600
/** Tokens of the digest in a folded output's line. */
export const DIGEST_TOKENS = 16

/** The head of a record, with its steps as `recordedSteps` writes them. */
export function recordHead(steps: string): string {
  const noun = /\D/.test(steps) ? "Steps" : "Step"
  return `${noun} ${steps} of this session, kept by hudfold as a record (${RECALL_TOOL} with steps "${steps}" returns them verbatim):`
}

const records = new WeakMap<Fold, { folds: readonly Fold[]; text: string }>()

/** The record of adjacent folded steps, oldest first. Remembered: it is sent with every request. */
export function recordOf(folds: readonly Fold[]): string {
  const [first] = folds
  const known = first && records.get(first)
  if (known?.folds.length === folds.length && known.folds.every((fold, at) => fold === folds[at])) return known.text
  const texts = folds.map((fold) => fold.text).filter((one) => one !== "")
  const text = [recordHead(recordedSteps(folds.map(({ step }) => step))), ...texts].join("\n")
  if (first) records.set(first, { folds, text })
  return text
}

/** One piece of a fold's text: its first line, to which some names may be added, and verbatim lines below it. */
export type RecordLine = NameSource & { first: string; below?: readonly string[] | undefined }

/** The line of a folded output, with the names in the call. */
export function outputLine(id: string, part: ToolPart, digest: string, { names, isSafe }: NameSource): RecordLine {
  const tool = cut(oneLine(redact(part.tool)), 60).replaceAll("·", ".") || "a tool"
  const first = `folded ${id} · ${escapeFolds(`${tool} · ${beginningOf(digest)}`)}`
  return { first, names, isSafe }
}

/** The beginning of a digest that stands in the line of a folded output. */
export function beginningOf(digest: string): string {
  return cutToTokens(cleanDigest(digest), DIGEST_TOKENS)
}

/** Lines of steps, by the ledger's array of their events: it is the same object as long as the message is the same. */
const knownLines = new WeakMap<readonly ToolEvent[], { step: number; lines: RecordLine[] }>()

/** The lines of a folded step. Cached until `forgetLines`. */
export function stepLines(step: number, message: Message, events: readonly ToolEvent[]): RecordLine[] {
  const known = knownLines.get(events)
  if (known?.step === step) return known.lines
  const lines = newStepLines(step, message, events)
  knownLines.set(events, { step, lines })
  return lines
}

export function forgetLines(events: readonly ToolEvent[]): void {
  knownLines.delete(events)
}

function newStepLines(step: number, message: Message, events: readonly ToolEvent[]): RecordLine[] {
  const isClosing = !message.parts.some(({ type }) => type === "tool")
  return message.parts.flatMap((part): RecordLine[] => {
    if (part.type === "text" && !part.ignored && part.text.trim() !== "") {
      const text = redact(part.text)
      const said = isClosing ? cut(oneLine(text.slice(0, 4 * MAX_CLOSING_CHARS)), MAX_CLOSING_CHARS) : essence(text)
      // redacted again: on one line, a name and its value may have come together
      if (said === "") return [{ first: "", names: [] }]
      return [{ first: `${step} said: ${escapeFolds(redact(said))}`, names: namesIn(text) }]
    }
    if (part.type !== "tool") return []
    const event = events.find(({ partID }) => partID === part.id)
    return [callLine(step, part, event, message.cwd)]
  })
}

/** The line of a call in the record of its step. It is kept long, and holds no reference to the part. */
function callLine(step: number, part: ToolPart, event: ToolEvent | undefined, cwd: string | undefined): RecordLine {
  const source = foldSource(part, event)
  const call = source.call()
  const outcome = outcomeOf(part, source, event)
  const isDone = event?.shows === "change" && part.status === "completed" && !call.failed && !isTrial(call.input)
  const below = isDone ? editLines(call) : []
  const isShort = below.reduce((sum, one) => sum + one.length + 1, 0) <= MAX_EDIT_CHARS
  const { attached = [] } = part
  const noun = attached.every(({ mime }) => mime.startsWith("image/")) ? "image" : "file"
  const files = attached.length > 0 ? ` (${plural(attached.length, noun)})` : ""
  return {
    first: `${step} ${escapeFolds(callWords(call, part.output, cwd))}${files}${outcome && `: ${escapeFolds(outcome)}`}`,
    get names() {
      return source.names
    },
    isSafe: source.isSafe,
    below: isShort ? below : undefined,
  }
}

/** The piece as text, with the names that were chosen for it. */
export function withNames({ first, below = [] }: RecordLine, names: readonly string[] = []): string {
  // not redacted together, since what stands beside a name is not its value
  const listed = escapeFolds(names.join(" "))
  const named = first !== "" && listed !== "" ? `${first} · ${listed}` : first || listed
  return [named, ...below].join("\n")
}

/** What widely used tools call the text that an edit removes, and the one that it writes. */
const REMOVED = ["oldString", "old_string", "old_str", "oldText"]
const WRITTEN = "newString new_string new_str newText content file_text body repl code_edit text".split(" ")

/**
 * An edit's lines: `-` before what it removed, `+` before what it wrote, and `=` before what was there and stayed. `source`
 * is redacted. Those of a list of edits cost more than they save: in a recorded session, 3 points for 1 recall of 100 calls.
 */
function editLines({ kind, input }: DigestSource): string[] {
  if (kind === "patch") {
    const lines = (asString(input.patchText) ?? "").split("\n")
    // not trimmed: an unchanged line may be an item of a list
    return lines.filter((one) => /^[+-]\s*\S/.test(one)).map(asCode)
  }
  const first = (names: readonly string[]) => names.map((name) => input[name]).find((text) => text !== undefined)
  // Serena's name for it; there it may also be a pattern
  const before = first(REMOVED) ?? (input.mode === "literal" ? input.needle : undefined)
  const after = first(WRITTEN)
  // an edit of the indentation alone would else show no change
  const isIndented = writtenLines(before).join("\n") === writtenLines(after).join("\n")
  const [removed, written] = [writtenLines(before, isIndented), writtenLines(after, isIndented)]
  const gone = marked(removed, "-", written).filter((one) => one.startsWith("-"))
  return [...gone, ...marked(written, "+", removed)].map(asCode)
}

/** The lines, each behind a sign: `=` for as many as the others have too, and `sign` for the rest. */
function marked(lines: readonly string[], sign: string, others: readonly string[]): string[] {
  const left = groupBy(others, (one) => one)
  return lines.map((one) => `${left.get(one)?.pop() === undefined ? sign : "="} ${one}`)
}

/** The lines of a text that are not blank, without the blanks around them. */
function writtenLines(text: unknown, isIndented = false): string[] {
  const lines = (asString(text) ?? "").split("\n").map((one) => (isIndented ? one.trimEnd() : one.trim()))
  // where Morph's edits leave lines out
  return lines.filter((one) => one !== "" && !one.includes("... existing code ..."))
}

/** What a call was about. The source is redacted; `output` only tells whether a file was read whole. */
function callWords({ tool, kind, input }: DigestSource, output: string, cwd: string | undefined): string {
  const name = cut(oneLine(tool), 60) || "a tool"
  if (kind === "patch") {
    const headers = patchedFiles(stringsIn(input).join("\n")).map(({ header }) => header)
    return cut(oneLine([name, ...headers].join(" ")), MAX_PATCH_CHARS)
  }
  const path = pathOf(input)
  const [from, count] = [Number(input.offset) || 1, Number(input.limit)]
  const isCut = count > 0 && output.split("\n").length > count && !output.includes("\n(End of file - ")
  // more lines may have been asked for than the file has
  const end = Math.min(from + count - 1, Number(/\n\(End of file - total (\d+) /.exec(output)?.[1] ?? Infinity))
  const range = kind === "read" && (from > 1 || isCut) ? `:${from}-${count > 0 ? end : ""}` : ""
  const about = [
    commandIn(input, cwd),
    path && path + range,
    asString(input.name_path),
    // which part was read, as servers say it: start_line, head, view_range
    kind === "read" ? argumentsInOrder(numbersIn(input)) || undefined : undefined,
    asString(input.pattern) ?? asString(input.query),
    asString(input.include),
    asString(input.url),
    Object.keys(input).find((name) => /^(?:replace_?all|dry_?run)$/i.test(name) && input[name] === true),
  ].filter((words) => words !== undefined)
  // the first item of a todo list says nothing of what changed in it
  const known = about.length > 0 || kind === "todo" ? about : stringsIn(input).slice(0, 1)
  const words = inWords(kind, input, {}) === undefined ? [argumentsInOrder(input)] : known
  const said = cut(oneLine(`${name} ${words.join(" ")}`.slice(0, 2 * MAX_CALL_CHARS)), MAX_CALL_CHARS)
  const [trailer] = (kind === "command" && TRAILER.exec(words.join(" "))) || []
  return trailer === undefined || said.includes(trailer) ? said : `${said} ${trailer}`
}

/** The arguments that are numbers, or lists of them, without those that stand behind the path. */
function numbersIn({ offset: _, limit: __, ...others }: DigestSource["input"]): Record<string, unknown> {
  const areNumbers = ([, value]: [string, unknown]) => [value].flat().every((one) => typeof one === "number")
  return Object.fromEntries(Object.entries(others).filter(areNumbers))
}

/** A trailer such as `Co-authored-by:`. An agent ends each of its commit messages with the same one, so it needs it again. */
const TRAILER = /^[a-z]+(?:-[a-z]+)?-by: .{1,100}?(?=["']?$)/im

/** What the user said when they rejected a call, in the words of OpenCode and Claude Code. */
const FEEDBACK =
  /^The user (?:rejected permission|doesn't want to proceed)[^\n]*? (?:following feedback|the user said):\s*(\S[\s\S]*)/

/** A line that says nothing of the result: a blank one, a host's note, or the script that its runner announces. */
const SAYS_NOTHING = /^\s*(?:\(no output\)|(?:\[\S+\] )?[$>] .*)?$/

/** The first of the errors that OpenCode's language server finds in a file once it is changed. */
const DIAGNOSED = /^LSP errors detected in (?!other files).+\n<diagnostics .+\n(.+)/m

/** How a call ended, where that is worth saying. */
function outcomeOf({ output, status }: ToolPart, source: FoldSource, event: ToolEvent | undefined): string {
  // an older call that has not finished never will
  if (status === "pending" || status === "running") return "interrupted"
  const { kind, failed } = source.call()
  const [, feedback] = (failed && FEEDBACK.exec(source.whole().output)) || []
  // redacted again: on one line, a name and its value may have come together
  if (feedback) return `rejected, the user said: ${cut(redact(oneLine(redact(feedback))), MAX_FEEDBACK_CHARS)}`
  if (event?.failure !== undefined) return `failed, ${event.failure}`
  if (failed) return `failed, ${cut(event?.error ?? "", MAX_SHORT_CHARS)}`
  // an edit of something other than a file may have failed in words only
  if ((kind === "edit" || kind === "write" || kind === "patch") && event?.files.length !== 0) {
    const [, diagnostic] = (DIAGNOSED.test(output) && DIAGNOSED.exec(source.whole().output)) || []
    // it may quote a value that was removed from the arguments
    return diagnostic ? `LSP ${source.isSafe(diagnostic) ? cut(oneLine(diagnostic), MAX_SHORT_CHARS) : "errors"}` : ""
  }
  const passed = event?.isCheck && event.ok
  if (passed && output.split("\n").every((one) => SAYS_NOTHING.test(one))) return "passed"
  const isAnswer = /^(?:matches|listing|other|change)$/.test(event?.shows ?? "")
  if (output.trim() !== "" && output.length <= (isAnswer ? MAX_FOUND_CHARS : MAX_SHORT_CHARS))
    // quoted, since a record is in the user's role, and these are not the user's words
    return `"${redact(oneLine(source.whole().output))}"`
  if (event?.ranNothing) return "no tests to run"
  return passed ? "passed" : ""
}

/** Words with which an agent only announces its next call, or is only pleased. */
const FILLER =
  /^(?!.*\b(?:because|since|so that|instead|rather than|but|not|keeps?|avoids?)\b)(?:(?:ok(?:ay)?|great|perfect|good|excellent|alright|now|next|first|then|sure|done|hmm|right)\b[\s,.!:–-]*)*(?:(?:let me|let's|i'll|i will|i'm going to|i am going to|i need to|i should|we need to)\b|$)/i

/** What a text of the agent says beyond announcing a call, shortened. */
function essence(text: string): string {
  const sentences = text.split(/(?<=[.!?:])\s+|\n+/)
  const worthSaying = sentences.filter((sentence) => sentence.trim() !== "" && !FILLER.test(sentence.trim()))
  return cut(oneLine(worthSaying.join(" ").slice(0, 4 * MAX_SAID_CHARS)), MAX_SAID_CHARS)
}

const LIKE_FOLD = /\b(folded|recalled)(?= r[0-9a-z]{7}\b)/gi
/** Keeps a text from reading like a fold: its source may contain folds, or text that looks like one. */
const escapeFolds = (text: string) => oneLine(text).replace(LIKE_FOLD, "$1:")
/** The same of a line that the agent wrote to a file, and may have to write again. */
const asCode = (text: string) => codeLine(text).replace(LIKE_FOLD, "$1:")

/**
 * Whether a fold's text can have been written by this file. The original is not at hand to compare with, and the store
 * may have been written by other software.
 */
export function isFoldText({ id, kind, text, step }: Pick<Fold, "id" | "kind" | "text" | "step">): boolean {
  if (!isRecallID(id) || text.length > MAX_TEXT_CHARS) return false
  const lines = text === "" ? [] : text.split("\n")
  const isCode = (one: string) => /^[-+=]/.test(one) && codeLine(one) === one
  if (lines.some((one) => oneLine(one) !== one && !isCode(one))) return false
  if (kind === "output") return lines.length === 1 && text.startsWith(`folded ${id} · `)
  return Number.isInteger(step) && step > 0
}
