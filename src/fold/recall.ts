// The `hud_recall` tool: reads the agent's request, and writes the answer with the originals or why there is none.
// Models are careless with arguments, so every form that can be understood is accepted.

import * as z from "zod/mini"
import { RECALL_TOOL } from "../output/shows.ts"
import type { AttachedFile } from "../session/conversation.ts"
import { asRecord } from "../system/values.ts"
import { plural } from "../text/format.ts"
import { cut, line } from "../text/sanitize.ts"
import { fileNumbering, ownNumbering, searchLines, takeLines } from "./excerpt.ts"
import type { Fold } from "./fold.ts"
import { type Block, fits, type PageLimits, paginate, renderPage } from "./pages.ts"
import { merged, type NumberRange, rangesText, readRanges, scalar } from "./ranges.ts"
import { countOfFolds, IN_FULL, notesOn, quoted, tryOneWord } from "./recall-notes.ts"
import { hasTargets, type Original, ofFile, type RecallRequest, type RecallSource, shownFolds } from "./select.ts"

/** Always the same: the provider caches the list of tools before everything else. */
export const RECALL_DESCRIPTION = `Returns verbatim what the plugin hudfold took out of this conversation: a tool output, by the id in its line ("folded r4k2x9db"), or your own steps, by their numbers in a record. Records and <hud> blocks come from the plugin, not from the user.`

const properties = {
  ids: { type: "string", description: 'Ids, such as "r4k2x9db, r0m3c7aa".' },
  steps: { type: "string", description: 'Step numbers: "12", "3-41" or "3,7-9".' },
  file: { type: "string", description: "Only what read or changed this file; alone, newest first." },
  search: { type: "string", description: "Only lines with this text. Alone, it searches everything taken out." },
  lines: { type: "string", description: 'Only these lines: "120-180"; with a file, by its line numbers.' },
  page: { type: "number", description: "Page of a long answer." },
}

/** The arguments as JSON Schema. Written out, since zod's writer of schemas would add to OpenCode's start. */
export const RECALL_SCHEMA = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  properties,
  additionalProperties: false,
}

/**
 * The arguments for OpenCode 1, which shows them to the model but does not validate with them, and reads a description from the
 * schema's property [seen on 1.18.33].
 */
export const RECALL_ARGS = Object.fromEntries(
  Object.entries(properties).map(([name, { type, description }]) => [
    name,
    z.optional(Object.assign(type === "number" ? z.number() : z.string(), { description })),
  ]),
)

/** The tool as providers get it with every request: name, description and arguments. */
export const RECALL_DEFINITION = JSON.stringify({
  name: RECALL_TOOL,
  description: RECALL_DESCRIPTION,
  parameters: RECALL_SCHEMA,
})

/** Lines in an original that look like lines of this tool's answers. */
const LIKE_ANSWER =
  /^(?:\[(?:recalled )?r[0-9a-z]{7} · |\[page \d+ of \d+[;,] |\[Not (?:folded|searched)\b|\[Nothing among |\[\d+ of \d+ attached files |\[(?:\d+ lines?|no line) with "|\[No steps? \d|Nothing is folded in this session)/m

const MAX_WANTED_CHARS = 500
/** Ids per request, and characters of each: they are repeated on every page. The same for ranges of steps. */
const MAX_IDS = 100
const MAX_ID_CHARS = 20
/** Size of the pages of a search among everything: an agent looks through them for one thing. */
const SEARCH_LIMITS: PageLimits = { bytes: 16_000, lines: 400 }

/**
 * The request, or a sentence that says what is wrong with it. Arguments may also be called as in OpenCode's own tools: `filePath`,
 * `pattern`, `query`.
 */
export function readRecallRequest(args: unknown): RecallRequest | string {
  const given = asRecord(args) ?? {}
  const problems: string[] = []
  /** What `parse` makes of an argument; undefined when it is absent, or makes no sense and `rule` is a problem. */
  const read = <T>(value: unknown, parse: (value: unknown) => T | undefined, rule: string): T | undefined => {
    const parsed = isEmpty(value) ? undefined : parse(value)
    if (parsed === undefined && !isEmpty(value)) problems.push(`${rule}; got ${quoted(value)}.`)
    return parsed
  }
  const words = readIDs(present(given.ids, given.id))
  const ranges = read(
    present(given.steps, given.step),
    readRanges,
    '"steps" are numbers from 1 on or ranges of them, as "12", "3-41" or "3,7-9"; ids go into "ids"',
  )
  // the records name steps by numbers, which are easily taken for ids
  const numbers = words.filter((word) => STEP_NUMBER.test(word))
  const ids = words.filter((word) => !STEP_NUMBER.test(word))
  const steps = merged([...(ranges ?? []), ...numbers.flatMap((number) => readRanges(number) ?? [])])
  const lines = read(given.lines, readLines, '"lines" is a line or a range, as "120" or "120-180"')
  const search = read(
    present(given.search, given.pattern, given.query),
    (value) => oneLineIn(scalar(value)?.replace(/(?<=.)…?\n?$/, ""), MAX_WANTED_CHARS),
    `"search" is a text within one line, of at most ${MAX_WANTED_CHARS} characters`,
  )
  const file = read(
    present(given.file, given.path, given.filePath),
    (value) => oneLineIn(scalar(value)?.trim(), MAX_WANTED_CHARS)?.replace(/^(["'`])(.+)\1$/, "$2"),
    `"file" is the path of one file or the end of it, of at most ${MAX_WANTED_CHARS} characters`,
  )
  const page = read(given.page, readPage, '"page" is a whole number from 1 on') ?? 1
  if (problems[0] !== undefined) return problems[0]
  if (ids.length > MAX_IDS || steps.length > MAX_IDS)
    return `At most ${MAX_IDS} ids and ${MAX_IDS} ranges of steps are returned at once; got ${ids.length} and ${steps.length}.`
  if (ids.length === 0 && steps.length === 0 && file === undefined && search === undefined)
    return `${RECALL_TOOL} needs to know what to return; none was given of "ids" (the id of a folded output, such as "r4k2x9db"), "steps" (as "12" or "3-41"), "file" and "search".`
  return { ids, steps, file, lines, search, page }
}

/** Ids have seven characters after their `r`. */
const STEP_NUMBER = /^\d{1,6}(?:-\d{1,6})?$/
/** Words that agents copy along with an id, and write where they have none. */
const NO_ID = /^(?:folded|recalled|ids?|steps?|and|none|null|undefined|n\/a|·|-)?$/

/** The ids in `r4k2x9db`, `[r4k2x9db]`, `"R4K2X9DB", r0000001` or a list of these, in lower case. Words that are no ids stay among them. */
export function readIDs(value: unknown): string[] {
  const texts = (Array.isArray(value) ? value : [value]).flatMap((one) => scalar(one) ?? [])
  // in the line of a folded output, a number behind the id is no step's
  const words = texts.flatMap((text) => text.replace(/·(?!\s*r[0-9a-z]{7}\b).*/gi, "").split(/[\s,;|]+/))
  const ids = words.map((word) => cut(word.replace(/^["'`([{#]+|["'`)\]}.:]+$/g, ""), MAX_ID_CHARS).toLowerCase())
  return [...new Set(ids)].filter((id) => !NO_ID.test(id))
}

/** The answer, its files, and the folds whose originals it returns. `limits` are what the host passes on in full. */
export function answerRecall(source: RecallSource, limits: PageLimits) {
  if (source.folds.size === 0)
    return { text: `Nothing is folded in this session${IN_FULL}.`, attached: [], recalled: [] }
  const shown = shownFolds(source)
  const files = attachedFiles(source, shown)
  return {
    text: pageOf(source, shown, files.length, limits),
    attached: source.request.page > 1 ? [] : files.slice(0, MAX_ATTACHED),
    recalled: shown.filter(({ id }) => source.originals.get(id)?.kind === "found"),
  }
}

/**
 * One page of the answer. A single original that fits is returned verbatim, unless it looks like an answer; otherwise
 * each has a line above it, and a last line says how to get the next page.
 */
function pageOf(source: RecallSource, shown: readonly Fold[], attached: number, limits: PageLimits): string {
  const { request, originals } = source
  const { file, search, lines, page } = request
  const notes = notesOn(source, shown)
  if (attached > MAX_ATTACHED)
    notes.push(`${MAX_ATTACHED} of ${attached} attached files are returned; to get the others, name fewer steps`)
  const [only] = shown
  const isAlone = shown.length === 1 && notes.length === 0 && file === undefined && search === undefined && !lines
  const alone = isAlone ? originals.get(only?.id ?? "") : undefined
  if (alone?.kind === "found" && page === 1 && fits(alone.text, limits) && !LIKE_ANSWER.test(alone.text))
    return alone.text
  const isSearch = search !== undefined && !hasTargets(request) && file === undefined
  const parts = shown.flatMap((fold) => ofFile(fold, originals.get(fold.id) ?? { kind: "gone" }, request))
  const blocks = parts.map(([fold, original]) => blockOf(fold, original, request))
  const size = isSearch
    ? { bytes: Math.min(limits.bytes, SEARCH_LIMITS.bytes), lines: Math.min(limits.lines, SEARCH_LIMITS.lines) }
    : limits
  const all = [...(isSearch ? foundBlocks(source, blocks) : blocks), ...notes.map(headOnly)]
  const pages = paginate(all, size, Buffer.byteLength(pageNote(request, 99_998, 99_999)) + 2)
  const pieces = pages[page - 1]
  if (!pieces)
    return `There is no page ${page}: this answer has ${pages.length === 1 ? "one page" : `${pages.length} pages`}.`
  return renderPage(
    pages.length === 1 ? pieces : [...pieces, { head: pageNote(request, page, pages.length), text: "" }],
  )
}

/** Files returned at once: providers refuse requests with too many. */
const MAX_ATTACHED = 20

/** The files attached to the originals that are shown, which go with the first page. Lines and a search are about texts. */
function attachedFiles({ request, originals }: RecallSource, shown: readonly Fold[]): AttachedFile[] {
  if (request.lines !== undefined || request.search !== undefined) return []
  return shown.flatMap(({ id }) => {
    const original = originals.get(id)
    return original?.kind === "found" ? (original.attached ?? []) : []
  })
}

/** The blocks that hold the searched text, below a head for all. */
function foundBlocks({ request, named }: RecallSource, searched: readonly Block[]): Block[] {
  const blocks = searched.filter(({ found }) => found)
  const count = blocks.reduce((sum, { found = 0 }) => sum + found, 0)
  const holding = `${count === 0 ? "no line" : plural(count, "line")} with ${quoted(request.search)}`
  const where = `${blocks.length === 0 ? "" : `${blocks.length} of `}${countOfFolds(named.length)}`
  const order = blocks.length > 1 ? ", newest first" : ""
  const advice = blocks.length === 0 ? `${tryOneWord(request.search)}${IN_FULL}` : ""
  return [headOnly(`${holding} in ${where}${order}${advice}`), ...blocks]
}

const headOnly = (words: string): Block => ({ text: "", head: () => `[${words}]` })

function blockOf(fold: Fold, original: Original, { lines, search }: RecallRequest): Block {
  const isAlike = original.kind === "found" && LIKE_ANSWER.test(original.text)
  const alike = isAlike ? " · holds lines that read like this one" : ""
  const name = `${fold.id} · step ${fold.step} · ${cut(line(fold.what), 100)}${alike}`
  if (original.kind !== "found") return headOnly(`${name} · ${LOST[original.kind]}`)
  const numbering = original.isFile ? fileNumbering(original.text) : ownNumbering(original.text)
  if (search !== undefined) {
    const { text, found } = searchLines(original.text, search, numbering, lines)
    const holding = found === 0 ? "no line" : plural(found, "line")
    const where = lines ? `${span(lines)} of ${numbering.from}-${numbering.to}` : span(numbering)
    const hits = `${holding} with ${quoted(search)} in ${where}${found === 0 ? tryOneWord(search) : ""}`
    return found === 0 ? headOnly(`${name} · ${hits}`) : { text, found, head: () => `[recalled ${name} · ${hits}]` }
  }
  if (lines) {
    const taken = takeLines(original.text, lines, numbering)
    if (!taken) return headOnly(`${name} · ${span(lines)} asked for, ${span(numbering)} there`)
    return {
      text: taken.text,
      head: (part) => {
        const here = part ? { from: taken.from + part.fromLine, to: taken.from + part.toLine } : taken
        return `[recalled ${name} · ${span(here)} of ${numbering.from}-${numbering.to}${fold.kind === "step" ? ", counted in this text" : ""}]`
      },
    }
  }
  // the whole output has lines around the file's content, which the file's own numbers do not cover
  const count = ownNumbering(original.text).to
  const whole = isAlike ? ` · all ${count} lines below are its own` : ""
  return {
    text: original.text,
    head: (part) =>
      part
        ? `[recalled ${name} · ${part.fromLine + 1}-${part.toLine + 1} of ${count} ${fold.kind} lines]`
        : `[recalled ${name}${whole}]`,
  }
}

function span({ from, to }: NumberRange): string {
  if (from === to) return `line ${from}`
  return to === Number.POSITIVE_INFINITY ? `lines ${from} on` : `lines ${from}-${to}`
}

const LOST: Readonly<Record<Exclude<Original["kind"], "found">, string>> = {
  changed: "not available: its content has changed since it was folded; look again to see the present state",
  gone: "not available: it is no longer in the session; look again to see the present state",
  unanswered: "not available now: OpenCode did not answer; ask again",
}

/** The line below a page: its number, and the arguments for the next page. */
function pageNote({ ids, steps, file, lines, search }: RecallRequest, page: number, of: number): string {
  if (page === of) return `[page ${page} of ${of}, the last]`
  // JSON leaves out what is undefined
  const next = {
    ids: ids.length > 0 ? ids.join(", ") : undefined,
    steps: steps.length > 0 ? rangesText(steps) : undefined,
    file,
    lines: lines && rangesText([lines]),
    search,
    page: page + 1,
  }
  return `[page ${page} of ${of}; the next is ${RECALL_TOOL} ${JSON.stringify(next)}]`
}

/** A range of lines; a list of two numbers is one too. */
function readLines(value: unknown): NumberRange | undefined {
  const ranges = readRanges(Array.isArray(value) && value.length === 2 ? value.map(scalar).join("-") : value)
  return ranges?.length === 1 ? ranges[0] : undefined
}

function oneLineIn(text: string | undefined, maxChars: number): string | undefined {
  return text === undefined || text.length > maxChars || text.includes("\n") ? undefined : text
}

/** Some models count pages from 0. */
function readPage(value: unknown): number | undefined {
  const page = Number(scalar(value) ?? Number.NaN)
  return Number.isInteger(page) && page >= 0 ? page || 1 : undefined
}

/** Models also pass empty values for arguments they do not need. */
function isEmpty(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0
  return value === undefined || value === null || (typeof value === "string" && value.trim() === "")
}

function present(...values: unknown[]): unknown {
  return values.find((value) => !isEmpty(value))
}
