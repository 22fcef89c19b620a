// The terminal: stdout, stderr and signals. Text from sessions and arguments is escaped before it is printed.

import widthOf from "string-width"
import { ACTIVE, cutMiddle, escapeControls } from "../text/sanitize.ts"

/** As `escapeControls`, with all white space collapsed. */
export function escapedLine(text: string): string {
  return escapeControls(text.replace(/\s+/g, " ").trim())
}

/** JSON in which the same characters are escaped; parsed, it is the same value. */
export function escapedJson(value: unknown, indent = 2): string {
  const escaped = (char: string) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`
  return JSON.stringify(value, null, indent).replace(ACTIVE, escaped)
}

/** The first column, which has names, keeps as many, however narrow the terminal is: the widest rows fit in 60. */
const MIN_NAME_COLUMNS = 8

/** A bold head and rows as lines in columns. The first has names; the others are aligned to the right. */
export function columns(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  stream: Stream = process.stdout,
): string[] {
  const widest = (of: typeof rows, at: number) => Math.max(...[head, ...of].map((row) => widthOf(row[at] ?? "")))
  const available = (stream.isTTY && stream.columns) || Number.POSITIVE_INFINITY
  const others = head.slice(1).reduce((sum, _, at) => sum + 2 + widest(rows, at + 1), 0)
  const limit = Math.max(MIN_NAME_COLUMNS, available - others)
  const fitted = (name: string) => {
    let text = name
    // characters that take two columns make it wider than it is long
    for (let chars = limit; widthOf(text) > limit; chars--) text = cutMiddle(name, chars)
    return text
  }
  const shown = rows.map(([name = "", ...rest]) => [fitted(name), ...rest])
  const widths = head.map((_, at) => widest(shown, at))
  const padded = (cell: string, at: number) =>
    cell[at > 0 ? "padStart" : "padEnd"](cell.length + (widths[at] ?? 0) - widthOf(cell))
  const lineOf = (row: readonly string[]) => row.map(padded).join("  ").trimEnd()
  return [coloured(lineOf(head), BOLD), ...shown.map(lineOf)]
}

export function print(text: string): void {
  process.stdout.write(text.endsWith("\n") ? text : `${text}\n`)
}

/** Whether it is a terminal that acts on escape sequences. */
export const isScreen = ({ isTTY }: Pick<Stream, "isTTY">) => isTTY && process.env.TERM !== "dumb"

/** In an ANSI colour when stdout is a terminal that shows them and the user has not turned them off. */
export function coloured(text: string, colour: number | undefined): string {
  const isShown = isScreen(process.stdout) && !process.env.NO_COLOR
  return isShown && colour !== undefined ? `\u001b[${colour}m${text}\u001b[0m` : text
}

export const BOLD = 1

/** The most important sentence: wrapped, and bold on a terminal. */
export function strong(text: string): string {
  return wrapped(text).replace(/.+/g, (line) => coloured(line, BOLD))
}

/** Wider text is hard to read. */
const MAX_LINE_COLUMNS = 120

type Stream = Pick<NodeJS.WriteStream, "isTTY" | "columns">

/**
 * The text as it is printed to `stream`. On a terminal it is broken at spaces to fit the width, and all lines but the first are
 * indented by `indent` columns; elsewhere it stays one line, since programs read lines. `before`: columns that precede the first
 * line.
 */
export function wrapped(text: string, indent = 0, before = indent, stream: Stream = process.stdout): string {
  if (!stream.isTTY || !(stream.columns > 0)) return text
  const columns = Math.min(stream.columns, MAX_LINE_COLUMNS)
  const lines: string[] = []
  let line = ""
  for (const word of text.split(" ")) {
    const room = columns - (lines.length > 0 ? indent : before)
    if (line !== "" && widthOf(line) + 1 + widthOf(word) > room) {
      lines.push(line)
      line = word
    } else line = line === "" ? word : `${line} ${word}`
  }
  return [...lines, line].join(`\n${" ".repeat(indent)}`)
}

export function complain(text: string): void {
  process.stderr.write(`${wrapped(`hudfold: ${escapedLine(text)}`, 2, 0, process.stderr)}\n`)
}

export const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const

/**
 * Runs `work` until it ends or a signal aborts it; a second signal ends the process at once. Returns the exit code of
 * `work`, or 130 with a line that says what to do `next`.
 */
export async function untilInterrupted(work: (signal: AbortSignal) => Promise<number>, next: string): Promise<number> {
  const stop = new AbortController()
  const abort = () => stop.abort()
  for (const signal of SIGNALS) process.once(signal, abort)
  try {
    return await work(stop.signal)
  } catch (error) {
    if (!stop.signal.aborted) throw error
    complain(`interrupted; ${next}`)
    return 130
  } finally {
    for (const signal of SIGNALS) process.off(signal, abort)
  }
}

/** Ends the process with 0 when a reader closes the pipe early (`| head -1`), and with 2 when output cannot be written. */
export function endWhenOutputFails(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "EPIPE") process.exit(0)
      if (stream === process.stdout) complain(`the output cannot be written (${error.message})`)
      process.exit(2)
    })
  }
}
