// The `hud_recall` tool: reads the agent's request, and writes the answer with the originals or why there is none.
// Models are careless with arguments, so every form that can be understood is accepted.

import * as z from "zod/mini"
import { RECALL_TOOL } from "../output/shows.ts"
import type { Message, ToolPart } from "../session/conversation.ts"
import { sourceOf } from "../session/normalize.ts"
import { asRecord } from "../system/values.ts"
import { plural } from "../text/format.ts"
import { cut, line } from "../text/sanitize.ts"
import { type LineRange, numberingOf, searchLines, takeLines } from "./excerpt.ts"
import type { Fold } from "./fold.ts"
import { type Block, byteLength, fits, HOST_LIMITS, lineCount, type PageLimits, paginate, renderPage } from "./pages.ts"

/** Constant like the whole tool list, which the provider caches before everything else. */
export const RECALL_DESCRIPTION = `Returns the original of a tool output, or of a failed call's arguments, that hudfold shortened to a line with the word "folded" and an id such as r12. The original comes back unchanged; a long one comes in pages.`

/** OpenCode shows these to the model but does not validate arguments with them [seen on 1.18.33]. */
export const RECALL_ARGS = {
  ids: described(z.string(), 'The id, or several with commas between: "r12" or "r12, r15".'),
  lines: z.optional(
    described(
      z.string(),
      'Only these lines, as "120-180" or "120"; of a file that was read, by the file\'s own line numbers.',
    ),
  ),
  search: z.optional(
    described(z.string(), "Only lines that hold this text, upper or lower case, numbered, with two lines around each."),
  ),
  page: z.optional(described(z.number(), "Which page of a long answer; the first when absent.")),
}

export type RecallRequest = {
  /** as written in folds, without repetitions; anything that is not an id stays as given */
  ids: string[]
  lines?: LineRange
  search?: string
  page: number
}

/** The original of a fold, or why there is none. */
export type Original =
  | { kind: "found"; text: string; isFile: boolean }
  /** the part's content has changed, the part no longer exists, or OpenCode did not answer */
  | { kind: "changed" | "gone" | "unanswered" }

/** Lines in an original that look like lines of this tool's answers. */
const LIKE_ANSWER =
  /^(?:\[(?:recalled )?r\d+ · |\[page \d+ of \d+[;,] |\[Not folded in |Nothing is folded in this session)/m

const MAX_SEARCH_CHARS = 500
/** Ids per request, and characters of each: they are repeated on every page. */
const MAX_IDS = 100
const MAX_ID_CHARS = 20
/** Unknown ids that an answer names, and known ones it suggests. */
const MAX_NAMED = 3

/** The request, or a sentence that says what is wrong with it. */
export function readRequest(args: unknown): RecallRequest | string {
  const given = asRecord(args) ?? {}
  const ids = readIDs(given.ids ?? given.id)
  if (ids.length === 0)
    return `${RECALL_TOOL} takes the id of a folded output as "ids", for example "r12"; none was given.`
  if (ids.length > MAX_IDS) return `"ids" are at most ${MAX_IDS} at once; got ${ids.length}.`
  const lines = isAbsent(given.lines) ? undefined : readRange(given.lines)
  if (lines === undefined && !isAbsent(given.lines))
    return `"lines" is a line or a range, as "120" or "120-180"; got ${shown(given.lines)}.`
  const search = isAbsent(given.search) ? undefined : String(given.search)
  if (search !== undefined && (search.length > MAX_SEARCH_CHARS || /\n./.test(search)))
    return `"search" is a text within one line, of at most ${MAX_SEARCH_CHARS} characters; got ${shown(search)}.`
  const page = isAbsent(given.page) ? 1 : Number(given.page)
  if (!Number.isInteger(page) || page < 0) return `"page" is a whole number from 1 on; got ${shown(given.page)}.`
  return {
    ids,
    ...(lines && { lines }),
    ...(search !== undefined && { search: search.replace(/\n$/, "") }),
    page: page || 1,
  }
}

/** The ids in `r12`, `12`, `[r12]`, `R12, r15` or a list of these. */
export function readIDs(value: unknown): string[] {
  const words = (Array.isArray(value) ? value : [value]).flatMap((one) =>
    typeof one === "string" || typeof one === "number" ? String(one).split(/[\s,;]+/) : [],
  )
  const ids = words.map((word) => {
    const bare = word.replace(/^["'`([#]+|["'`)\].:]+$/g, "")
    const number = /^r?0*(\d{1,15})$/i.exec(bare)?.[1]
    return number === undefined ? cut(bare, MAX_ID_CHARS) : `r${number}`
  })
  return [...new Set(ids.filter((id) => id !== ""))]
}

/**
 * One page of the answer. A single original that fits is returned verbatim, unless it looks like an answer; otherwise
 * each has a line above it, and a last line says how to get the next page. `folds` are all of the session's, by id;
 * `originals` those of the requested ids among them. `limits` are what the host passes on in full.
 */
export function answerRecall(
  request: RecallRequest,
  folds: ReadonlyMap<string, Fold>,
  originals: ReadonlyMap<string, Original>,
  limits: PageLimits = HOST_LIMITS,
): string {
  const { ids, lines, search, page } = request
  if (folds.size === 0)
    return "Nothing is folded in this session: every tool output stands in the conversation in full."
  const only = ids.length === 1 && !lines && search === undefined ? originals.get(ids[0] ?? "") : undefined
  if (only?.kind === "found" && page === 1 && fits(only.text, limits) && !LIKE_ANSWER.test(only.text)) return only.text
  const known = ids.flatMap((id) => {
    const fold = folds.get(id)
    return fold ? [blockOf(fold, originals.get(id) ?? { kind: "gone" }, request)] : []
  })
  const unknown = ids.filter((id) => !folds.has(id))
  if (unknown.length > 0) known.push({ text: "", head: () => aboutUnknown(unknown, folds) })
  const pages = paginate(known, limits, byteLength(noteOf(request, 99_998, 99_999)) + 2)
  const pieces = pages[page - 1]
  if (!pieces)
    return `There is no page ${page}: this answer has ${pages.length === 1 ? "one page" : `${pages.length} pages`}.`
  return renderPage(pages.length === 1 ? pieces : [...pieces, { head: noteOf(request, page, pages.length), text: "" }])
}

/** Whether the original is a file, whose lines have their own numbers. */
export function isFile({ parts }: Message, { side, partID }: Fold): boolean {
  const part = parts.find((one): one is ToolPart => one.type === "tool" && one.id === partID)
  return side === "output" && part !== undefined && sourceOf(part).kind === "read"
}

function blockOf(fold: Fold, original: Original, { lines, search }: RecallRequest): Block {
  const isAlike = original.kind === "found" && LIKE_ANSWER.test(original.text)
  const name = `${fold.id} · ${cut(line(fold.what), 100)}${isAlike ? " · holds lines that read like this one" : ""}`
  const says = (what: string): Block => ({ text: "", head: () => `[${name} · ${what}]` })
  if (original.kind !== "found") return says(LOST[original.kind])
  const numbering = numberingOf(original.text, original.isFile)
  if (search !== undefined) {
    const { text, found } = searchLines(original.text, search, numbering, lines)
    const holding = found === 0 ? "no line" : plural(found, "line")
    const where = lines ? `${span(lines)} of ${numbering.from}-${numbering.to}` : span(numbering)
    const told = `${holding} with ${shown(search)} in ${where}`
    return found === 0 ? says(told) : { text, head: () => `[recalled ${name} · ${told}]` }
  }
  if (lines) {
    const taken = takeLines(original.text, lines, numbering)
    if (!taken) return says(`${span(lines)} asked for, ${span(numbering)} there`)
    return {
      text: taken.text,
      head: (part) => {
        const here = part ? { from: taken.from + part.fromLine, to: taken.from + part.toLine } : taken
        return `[recalled ${name} · ${span(here)} of ${numbering.from}-${numbering.to}]`
      },
    }
  }
  // the whole output has lines around the file's content, which the file's own numbers do not cover
  const count = lineCount(original.text) - (original.text.endsWith("\n") ? 1 : 0)
  const whole = isAlike ? ` · all ${count} lines below are its own` : ""
  return {
    text: original.text,
    head: (part) =>
      part
        ? `[recalled ${name} · ${part.fromLine + 1}-${part.toLine + 1} of ${count} output lines]`
        : `[recalled ${name}${whole}]`,
  }
}

function span({ from, to }: LineRange): string {
  if (from === to) return `line ${from}`
  return to === Number.POSITIVE_INFINITY ? `lines ${from} on` : `lines ${from}-${to}`
}

const LOST: Readonly<Record<Exclude<Original["kind"], "found">, string>> = {
  changed:
    "not to be had: OpenCode now holds another content than the one folded; the call made again shows the present state",
  gone: "not to be had: its message is no longer in the session; the call made again shows the present state",
  unanswered: "not to be had at the moment: OpenCode did not answer; asked again it may",
}

/** `folds` has none of the ids, and is not empty. */
function aboutUnknown(ids: readonly string[], folds: ReadonlyMap<string, Fold>): string {
  const numberOf = (id: string) => Number(id.slice(1))
  const wanted = ids.map(numberOf).find((number) => !Number.isNaN(number)) ?? Number.POSITIVE_INFINITY
  const distance = ({ id }: Fold) =>
    wanted === Number.POSITIVE_INFINITY ? -numberOf(id) : Math.abs(numberOf(id) - wanted)
  const nearest = [...folds.values()]
    .sort((one, other) => distance(one) - distance(other))
    .slice(0, MAX_NAMED)
    .map(({ id, what }) => `${id} (${cut(line(what), 60)})`)
  const named = ids.slice(0, MAX_NAMED).map((id) => cut(line(id), 20))
  const more = ids.length > MAX_NAMED ? ` and ${ids.length - MAX_NAMED} more` : ""
  const among =
    folds.size === 1 ? "One output is:" : `${folds.size} outputs are${folds.size > MAX_NAMED ? ", among them" : ":"}`
  return `[Not folded in this session: ${named.join(", ")}${more}. ${among} ${nearest.join(", ")}. The id of a folded output stands in the line in its place.]`
}

/** The line below a page: its number, and the arguments for the next page. */
function noteOf({ ids, lines, search }: RecallRequest, page: number, of: number): string {
  if (page === of) return `[page ${page} of ${of}, the last]`
  const range = lines && { lines: `${lines.from}-${lines.to === Number.POSITIVE_INFINITY ? "" : lines.to}` }
  const next = { ids: ids.join(", "), ...range, ...(search !== undefined && { search }), page: page + 1 }
  return `[page ${page} of ${of}; the next is ${RECALL_TOOL} ${JSON.stringify(next)}]`
}

function readRange(value: unknown): LineRange | undefined {
  const given = asRecord(value)
  const pair = Array.isArray(value) ? value : given ? [given.from ?? given.start, given.to ?? given.end] : undefined
  const words = pair ? pair.join("-") : String(value)
  const found = /^\s*(?:lines?\s*)?L?(\d{1,9})(\s*(?:-|–|:|,|\.\.|to)\s*(?:L?(\d{1,9})|end)?)?\s*$/i.exec(words)
  if (!found) return
  const from = Number(found[1])
  const to = found[3] !== undefined ? Number(found[3]) : found[2] === undefined ? from : Number.POSITIVE_INFINITY
  return from <= to ? { from, to } : { from: to, to: from }
}

/** Models also pass empty values for arguments they do not need. */
function isAbsent(value: unknown): boolean {
  return value === undefined || value === null || (typeof value === "string" && value.trim() === "")
}

/** A given value as the answer repeats it. */
function shown(value: unknown): string {
  return cut(line(JSON.stringify(value) ?? String(value)), 80)
}

/** OpenCode reads descriptions from this property; `z.describe` would store them elsewhere. */
function described<T extends z.ZodMiniType>(schema: T, description: string): T {
  return Object.assign(schema, { description })
}
