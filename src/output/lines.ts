// An output as lines without escape sequences: the head and the tail only, each line short enough to run a pattern over safely.

import { cut, edgeAt, line } from "../text/sanitize.ts"

/** The lines of an output, each cut at `MAX_LINE_CHARS`. `cut`: its middle was left out, so counts are lower bounds. */
export type View = { readonly lines: readonly string[]; readonly cut: boolean }

const MAX_SIDE_CHARS = 64 * 1024
const MAX_LINE_CHARS = 1000
/** Lines of the head and of the tail. OpenCode cuts an output at 2000 lines; only tools that cut their own return more. */
const MAX_SIDE_LINES = 2000

/** Unlike `ESCAPE_SEQUENCE` of text/sanitize also incomplete sequences, since lines and outputs are cut. */
const ESCAPE = /[\x1b\x9b](?:\[[0-9;:?<=>]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_a-z])/g

/** The first and the last 64 kB of an output, 2000 lines of each. A line that the cut splits is dropped, except the only one. */
export function viewOf(output: string): View {
  if (output.length <= 2 * MAX_SIDE_CHARS) {
    const lines = toLines(output)
    if (lines.length <= 2 * MAX_SIDE_LINES) return { lines, cut: false }
    return { lines: lines.slice(0, MAX_SIDE_LINES).concat(lines.slice(-MAX_SIDE_LINES)), cut: true }
  }
  const head = output.slice(0, MAX_SIDE_CHARS)
  const first = toLines(head.slice(0, head.lastIndexOf("\n") + 1) || head).slice(0, MAX_SIDE_LINES)
  return { lines: first.concat(lastLines(output, MAX_SIDE_CHARS)), cut: true }
}

/** The lines in the last `chars` of an output. One that the cut splits is dropped unless it is the only one. */
export function lastLines(output: string, chars: number): string[] {
  if (output.length <= chars) return toLines(output)
  const tail = output.slice(-chars)
  const start = tail.indexOf("\n")
  return toLines(start < 0 || start === tail.length - 1 ? tail : tail.slice(start + 1)).slice(-MAX_SIDE_LINES)
}

/** The lines of a text without escape sequences. Of progress overwritten by `\r` only the last state is kept. */
export function toLines(output: string): string[] {
  const lines = output.split("\n").map(visibleText)
  if (lines.at(-1) === "") lines.pop()
  return lines
}

/** A text as one line, at most `max` characters, ending in an ellipsis when cut. */
export function clip(text: string, max = 160): string {
  return cut(line(text), max)
}

function visibleText(raw: string): string {
  const text = raw.replace(ESCAPE, "").replace(/(?<!\r)\r+$/, "")
  const last = text.slice(text.lastIndexOf("\r") + 1)
  return last.length > MAX_LINE_CHARS ? last.slice(0, edgeAt(last, MAX_LINE_CHARS, -1)) : last
}
