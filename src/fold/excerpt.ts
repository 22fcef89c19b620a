// Parts of an original: a range of its lines, or the lines that hold a text. A file that was read is counted by the
// file's own line numbers, which its output shows and which is what a reader means.

import { cut } from "../text/sanitize.ts"
import { lineCount } from "./pages.ts"

/** From and to, both included; `to` is infinite for all that follows. */
export type Range = { from: number; to: number }

/** How the lines of a text are counted: line `i` of it, from 0, is line `i + shift`; `from` to `to` are there. */
export type Numbering = Range & { shift: number; isShown: boolean }

/** Lines around each that is found. */
const AROUND = 2
/** Characters shown of one line among what a search found. */
const LONGEST = 1_000

/** How OpenCode numbers what its read tool shows, now and before 1.0. */
const NUMBERED = /^\s*(\d{1,7})(?:: |\| ?|:$)/

/** `isFile`: the text is what a read tool showed of a file. */
export function numberingOf(text: string, isFile: boolean): Numbering {
  const numbers = isFile ? linesOf(text).map((line) => Number(NUMBERED.exec(line)?.[1] ?? Number.NaN)) : []
  const at = numbers.findIndex((number) => !Number.isNaN(number))
  const from = numbers[at]
  if (from === undefined)
    return { shift: 1, from: 1, to: lineCount(text) - (text.endsWith("\n") ? 1 : 0), isShown: false }
  // the numbered lines stand together; a last line of the tool's own does not count on
  let to = from
  while (numbers[at + to - from + 1] === to + 1) to++
  return { shift: from - at, from, to, isShown: true }
}

/** These lines as they stand, and which they are; undefined when none of them is there. */
export function takeLines(
  text: string,
  { from, to }: Range,
  numbering: Numbering,
): (Range & { text: string }) | undefined {
  const first = Math.max(from, numbering.from)
  const last = Math.min(to, numbering.to)
  if (first > last) return
  const lines = linesOf(text).slice(first - numbering.shift, last - numbering.shift + 1)
  return { text: lines.join("\n"), from: first, to: last }
}

/**
 * The lines that hold the text, whatever the case, each with its number and two lines around it, and how many hold it.
 * Of a very long line the stretch around the text is shown.
 */
export function searchLines(
  text: string,
  wanted: string,
  numbering: Numbering,
  range?: Range,
): { text: string; found: number } {
  const needle = wanted.toLowerCase()
  const lines = linesOf(text)
  const isIn = (i: number) => !range || (i + numbering.shift >= range.from && i + numbering.shift <= range.to)
  const hits = lines.flatMap((line, i) => (isIn(i) && line.toLowerCase().includes(needle) ? [i] : []))
  const shown: string[] = []
  let next = 0
  for (const hit of hits) {
    const from = Math.max(next, hit - AROUND)
    if (shown.length > 0 && from > next) shown.push("--")
    for (let i = from; i <= Math.min(hit + AROUND, lines.length - 1); i++) {
      const line = stretch(lines[i] ?? "", needle)
      shown.push(numbering.isShown ? line : `${i + numbering.shift}: ${line}`)
    }
    next = Math.max(next, Math.min(hit + AROUND, lines.length - 1) + 1)
  }
  return { text: shown.join("\n"), found: hits.length }
}

function stretch(line: string, needle: string): string {
  if (line.length <= LONGEST) return line
  const at = line.toLowerCase().indexOf(needle)
  const from = Math.max(0, at - LONGEST / 2)
  return from === 0 ? cut(line, LONGEST) : `…${cut(line.slice(from), LONGEST - 1)}`.toWellFormed()
}

/** Without the empty one behind a last end of line. */
function linesOf(text: string): string[] {
  const lines = text.split("\n")
  if (lines.length > 1 && lines.at(-1) === "") lines.pop()
  return lines
}
