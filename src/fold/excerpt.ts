// Parts of an original: a range of its lines, or the lines that contain a text. The output of a file read is addressed
// by the file's own line numbers, which the output shows.

import { cut, STACKED_MARKS } from "../text/sanitize.ts"
import { lineCount } from "./pages.ts"
import { isWithin, merged, type NumberRange } from "./ranges.ts"

/** How the lines of a text are numbered: index `i` is line `i + shift`, and lines `from` to `to` exist. */
type Numbering = NumberRange & { shift: number; isShown: boolean }

const CONTEXT_LINES = 2
/** Characters shown of each line in a search's result. */
const MAX_LINE_CHARS = 1_000

/** How OpenCode's read tool numbers lines, now and before 1.0, and how tools of others do, as `cat -n`. */
const NUMBERED = /^\s*(\d{1,7})(?:: |\| ?|→|\t|:$)/

/**
 * The text as searches compare it: without regard to case, to wide letters and blanks, and to accents that are characters of their
 * own; of thousands on a letter, only a few are read.
 */
export const comparable = (text: string) => text.replace(STACKED_MARKS, "$1").normalize("NFKC").toLowerCase()

/** Tells whether a text holds the wanted one, or what a record shows of that: one blank for each gap, and `‹` before a tag. */
export function holderOf(wanted: string): (text: string) => boolean {
  const words = comparable(wanted).trimStart().split(/\s+/)
  const escaped = words.map((word) => word.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&").replaceAll("‹", "[<‹]"))
  const pattern = new RegExp(escaped.join("[^\\S\\n]+"))
  return (text) => pattern.test(comparable(text))
}

/** The lines of a text, from 1. */
export function ownNumbering(text: string): Numbering {
  return { shift: 1, from: 1, to: lineCount(text) - (text.endsWith("\n") ? 1 : 0), isShown: false }
}

/** The lines of the file in a read tool's output; those of the output if it shows no numbers. */
export function fileNumbering(text: string): Numbering {
  const numbers = linesOf(text).map((line) => Number(NUMBERED.exec(line)?.[1]))
  // three lines stand before the first number; without numbers, a line of the file may begin like one
  const at = numbers.slice(0, 8).findIndex((number) => !Number.isNaN(number))
  const from = numbers[at]
  if (from === undefined) return ownNumbering(text)
  // the numbered lines are contiguous; a final line added by the tool does not continue the count
  let to = from
  while (numbers[at + to - from + 1] === to + 1) to++
  return { shift: from - at, from, to, isShown: true }
}

/** The lines of a range verbatim, and which of them exist; undefined when none do. */
export function takeLines(text: string, { from, to }: NumberRange, numbering: Numbering) {
  const first = Math.max(from, numbering.from)
  const last = Math.min(to, numbering.to)
  if (first > last) return
  const lines = linesOf(text).slice(first - numbering.shift, last - numbering.shift + 1)
  return { text: lines.join("\n"), from: first, to: last }
}

/**
 * The lines that contain the text, ignoring case, with their numbers and two lines of context, and how many contain it.
 * A very long line is cut to the part around the text.
 */
export function searchLines(text: string, wanted: string, numbering: Numbering, range?: NumberRange) {
  const isHit = holderOf(wanted)
  const hasStart = holderOf(wanted.slice(0, 250))
  const lines = linesOf(text)
  const isIn = (i: number) => !range || isWithin([range], i + numbering.shift)
  const hits = lines.flatMap((line, i) => (isIn(i) && isHit(line) ? [i] : []))
  const around = merged(hits.map((hit) => ({ from: Math.max(0, hit - CONTEXT_LINES), to: hit + CONTEXT_LINES })))
  const shown = around.map(({ from, to }) =>
    lines.slice(from, to + 1).map((line, at) => {
      const short = cutAround(line, hasStart)
      return numbering.isShown ? short : `${from + at + numbering.shift}: ${short}`
    }),
  )
  return { text: shown.map((block) => block.join("\n")).join("\n--\n"), found: hits.length }
}

function cutAround(line: string, hasStart: (text: string) => boolean): string {
  if (line.length <= MAX_LINE_CHARS) return line
  // in pieces, since what is compared may have more or fewer letters than the line
  let from = 0
  while (from < line.length && !hasStart(line.slice(from, from + 750))) from += 250
  return from === 0 ? cut(line, MAX_LINE_CHARS) : `…${cut(line.slice(from), MAX_LINE_CHARS - 1)}`.toWellFormed()
}

/** Lines without the empty one after a final line end. */
function linesOf(text: string): string[] {
  const lines = text.split("\n")
  if (lines.length > 1 && lines.at(-1) === "") lines.pop()
  return lines
}
