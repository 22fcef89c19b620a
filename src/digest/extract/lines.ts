// The lines of an output that are its content: without what the host and its tools put around them.

import type { View } from "../../output/lines.ts"

const TRUNCATION_NOTE =
  /^(?:\.\.\.\d+ \w+ truncated\.\.\.|\.\.\.output truncated\.\.\.|The tool call succeeded but the output was truncated\.|Full output saved to: |Use the Task tool to have explore agent process this file|Use Grep to search the full content|\.\.\. output truncated; full content saved to )/
const MAX_EDGE_LINES = 6

/** The view without OpenCode's note that it truncated the output. */
export function withoutTruncationNote(view: View): View {
  const { lines } = view
  const last = lines.length - MAX_EDGE_LINES
  const rest = lines.filter((text, at) => (at >= MAX_EDGE_LINES && at < last) || !TRUNCATION_NOTE.test(text))
  return rest.length === lines.length ? view : { lines: rest, cut: true }
}

/** Hosts insert reminders to the agent into outputs. They are no part of the output. */
export function withoutReminders(lines: readonly string[]): string[] {
  let inside = false
  return lines.filter((text) => {
    const opens = /^\s*<system-reminder>/.test(text)
    const closes = text.includes("</system-reminder>")
    const skipped = inside || opens
    inside = skipped && !closes
    return !skipped
  })
}

/** A line number, and not the hours of a time. */
const LINE_NUMBER = /^\s*(\d{1,6})(?:[:|](?!\d\d\b) ?|→|\t)/

/** Line numbers take a sixth of the tokens, and a small model continues the count. */
export function withoutLineNumbers(lines: readonly string[]): readonly string[] {
  const first = lines.slice(0, 60).filter((text) => text.trim() !== "")
  const numbers = first.flatMap((text) => LINE_NUMBER.exec(text)?.[1] ?? []).map(Number)
  // other numbers, such as sizes, do not rise from line to line
  const isNumbered =
    numbers.length > 3 &&
    numbers.length > 0.6 * first.length &&
    numbers.every((number, at) => at === 0 || number > (numbers[at - 1] ?? 0))
  return isNumbered ? lines.map((text) => text.replace(LINE_NUMBER, "")) : lines
}
