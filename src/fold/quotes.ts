// Which outputs were just quoted: a line that the user or the agent wrote stands in them. What is quoted is being worked
// with, whatever it shows and however long ago it came.

import type { Message, Part } from "../session/conversation.ts"

/** Lines shorter than this stand in outputs by chance; longer ones are data. In characters. */
const SHORTEST = 24
const LONGEST = 400
/** Lines looked for, and outputs looked in, newest first: what keeps a call short. */
const MOST_LINES = 24
const MOST_OUTPUTS = 40

/** Ids of the parts in `messages` quoted by those of them from index `from` on. `isOpen`: worth looking in. */
export function quotedParts(messages: readonly Message[], from: number, isOpen: (partID: string) => boolean): string[] {
  const lines = linesOf(messages.slice(from))
  if (lines.length === 0) return []
  const found: string[] = []
  let left = MOST_OUTPUTS
  for (let i = from - 1; i >= 0 && left > 0; i--)
    for (const part of messages[i]?.parts ?? []) {
      if (left === 0 || part.type !== "tool" || part.status !== "completed" || !isOpen(part.id)) continue
      if (part.output.length < SHORTEST) continue
      left--
      if (lines.some((line) => part.output.includes(line))) found.push(part.id)
    }
  return found
}

function linesOf(messages: readonly Message[]): string[] {
  const lines = new Set<string>()
  for (const { parts } of messages) for (const part of parts) for (const said of textsOf(part)) addLines(said, lines)
  return [...lines]
}

function addLines(said: string, lines: Set<string>): void {
  for (const one of said.slice(0, LONGEST * MOST_LINES).split("\n")) {
    if (lines.size >= MOST_LINES) return
    const line = one.trim()
    if (line.length >= SHORTEST && line.length <= LONGEST) lines.add(line)
  }
}

/** What somebody said in a part; a reminder of the host's is nobody's. */
function textsOf(part: Part): string[] {
  return part.type === "text" && part.by !== "host" ? [part.text] : []
}
