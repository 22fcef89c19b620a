// OpenCode cuts long outputs and says where the whole is kept: its note is no part of the output, the place is a fact.

import type { Fact } from "../../output/digest.ts"
import type { View } from "../../output/lines.ts"
import { cite } from "./draft.ts"

const NOTE =
  /^(?:\.\.\.\d+ \w+ truncated\.\.\.|\.\.\.output truncated\.\.\.|The tool call succeeded but the output was truncated\.|Full output saved to: |Use the Task tool to have explore agent process this file|Use Grep to search the full content|\.\.\. output truncated; full content saved to )/
const SAVED = /(?:Full output saved to: |full content saved to )(\/\S+|[A-Za-z]:\\\S+)/
const EDGE_LINES = 6

/** The view without the note, marked as cut where there was one, and where the whole output is kept. */
export function withoutNote(view: View): { view: View; saved?: Fact | undefined } {
  const { lines } = view
  const last = lines.length - EDGE_LINES
  const notes = lines.filter(({ text }, at) => (at < EDGE_LINES || at >= last) && NOTE.test(text))
  if (notes.length === 0) return { view }
  const rest = lines.filter((line) => !notes.includes(line))
  const place = notes.find(({ text }) => SAVED.test(text))
  return { view: { lines: rest, cut: true }, saved: place && cite("path", place, SAVED.exec(place.text)?.[1]) }
}
