// How likely an output is needed again verbatim, judged by what it shows, when it was last touched, and whether a newer
// output replaces it. The rates come from recorded sessions; `scripts/need.ts` computes them from any sessions.

import type { Shows } from "../output/shows.ts"
import type { FileUse } from "../output/tools.ts"
import type { Message } from "../session/conversation.ts"
import type { ToolEvent } from "../session/event.ts"
import type { Facts } from "../session/facts.ts"

/** What an output shows, or why it is needed less than that suggests. */
export type NeedKind = Shows | "failed" | "attempt" | "superseded" | "repeated" | "duplicate"

export type Need = {
  /**
   * Chance that the call right after the last touch copies one of its lines; s calls later it is this divided by s. In
   * recorded sessions it falls like that: 5 % after one call, 1 % after ten, under 0.1 % after a hundred.
   */
  rate: number
  /** calls after the last touch during which the output stays, whatever it costs */
  hold: number
}

export const NEEDS: Readonly<Record<NeedKind, Need>> = {
  // read whole and edited within three calls: the most common need by far
  file: { rate: 0.03, hold: 2 },
  excerpt: { rate: 0.025, hold: 0 },
  document: { rate: 0.01, hold: 0 },
  matches: { rate: 0.02, hold: 0 },
  listing: { rate: 0.02, hold: 1 },
  run: { rate: 0.002, hold: 0 },
  // the agent works on an open failure with its output at hand
  failed: { rate: 0.005, hold: 1 },
  page: { rate: 0.01, hold: 0 },
  // requested by id: it stays while the agent works with it
  recalled: { rate: 0.1, hold: 12 },
  answer: { rate: 1, hold: Number.POSITIVE_INFINITY },
  change: { rate: 0.005, hold: 1 },
  // a failed attempt is retried with other arguments within a call or two
  attempt: { rate: 0.02, hold: 1 },
  other: { rate: 0.02, hold: 0 },
  // the context has a newer version of it, or the same text
  superseded: { rate: 0.004, hold: 0 },
  repeated: { rate: 0.002, hold: 0 },
  duplicate: { rate: 0.002, hold: 0 },
}

/** Output tokens of a call that recalls an output. */
export const ASKING_TOKENS = 80

/** A file the agent has edited is edited again more often than one it has only read. */
const EDITED_FACTOR = 1.5

/**
 * How often an output is expected to be needed verbatim from now on: the sum of the chances over the `remaining` calls.
 * `calls` is the number of calls since it was last touched.
 */
export function expectedNeeds(needKind: NeedKind, calls: number, remaining: number, edited: boolean): number {
  const since = Math.max(1, calls)
  return NEEDS[needKind].rate * (edited ? EDITED_FACTOR : 1) * Math.log((since + remaining) / since)
}

/** Calls a session is expected to go on for after `calls` calls: the longer it has lasted, the longer it will last. */
export function remainingCalls(calls: number): number {
  return 0.4 * calls
}

/** The call in which an output, or the file it shows, was last used. `quotedAt`: the calls of quotes, by part id. */
export function touchedAt(event: ToolEvent, facts: Facts, quotedAt: ReadonlyMap<string, number>): number {
  let at = Math.max(event.call, quotedAt.get(event.partID) ?? 0)
  for (const { path } of event.files) {
    const file = facts.files.get(path)
    if (file) at = Math.max(at, file.readAt, file.editedAt)
  }
  const result = facts.results.get(event.inputHash)
  return result?.outputHash === event.outputHash ? Math.max(at, result?.last ?? 0) : at
}

/** Shorter lines match outputs by chance; longer ones are data. In characters. */
const MIN_QUOTE_CHARS = 24
const MAX_QUOTE_CHARS = 400
/** Lines searched for, and outputs searched, newest first: they bound the time a call takes. */
const MAX_QUOTE_LINES = 24
const MAX_QUOTE_OUTPUTS = 40

/**
 * Ids of the parts before index `from` that a message from there on quotes: a line the user or the agent wrote occurs
 * in them. Such an output is in use, whatever it shows and however old it is. Only parts with `isOpen` are searched.
 */
export function quotedParts(messages: readonly Message[], from: number, isOpen: (partID: string) => boolean): string[] {
  const lines = writtenLines(messages.slice(from))
  if (lines.length === 0) return []
  const found: string[] = []
  let left = MAX_QUOTE_OUTPUTS
  for (let i = from - 1; i >= 0 && left > 0; i--)
    for (const part of messages[i]?.parts ?? []) {
      if (left === 0 || part.type !== "tool" || part.status !== "completed" || !isOpen(part.id)) continue
      if (part.output.length < MIN_QUOTE_CHARS) continue
      left--
      if (lines.some((line) => part.output.includes(line))) found.push(part.id)
    }
  return found
}

/** Lines that the user or the agent wrote; text inserted by the host is neither's. */
function writtenLines(messages: readonly Message[]): string[] {
  const lines = new Set<string>()
  for (const { parts } of messages)
    for (const part of parts) if (part.type === "text" && part.by !== "host") addLines(part.text, lines)
  return [...lines]
}

function addLines(text: string, lines: Set<string>): void {
  for (const one of text.slice(0, MAX_QUOTE_CHARS * MAX_QUOTE_LINES).split("\n")) {
    if (lines.size >= MAX_QUOTE_LINES) return
    const line = one.trim()
    if (line.length >= MIN_QUOTE_CHARS && line.length <= MAX_QUOTE_CHARS) lines.add(line)
  }
}

/** The newer event that makes an output needless. */
export type Successor = {
  /** the file was read or written later, or the same output came again */
  needKind: "superseded" | "repeated"
  by: ToolEvent
}

/** Finds successors while a session's events are walked from the newest back. */
export type Successors = {
  of(event: ToolEvent): Successor | undefined
  /** Records an event. `folded`: its output is no longer in the context. */
  add(event: ToolEvent, folded: boolean): void
}

/** Partial reads remembered per file; few files are read in more parts. */
const MAX_PARTIAL_READS = 20

export function newSuccessors(): Successors {
  const files = new Map<string, { file: FileUse; event: ToolEvent }[]>()
  const outputs = new Map<string, ToolEvent>()
  return {
    of(event) {
      const same = outputs.get(event.inputHash)
      if (same && same.outputHash === event.outputHash) return { needKind: "repeated", by: same }
      const [file] = event.files
      if (event.kind !== "read" || !file) return
      const newer = files.get(file.path)?.find((one) => covers(one.file, file))
      return newer && { needKind: "superseded", by: newer.event }
    },
    add(event, folded) {
      if (event.status !== "completed") return
      if (!folded && event.outputHash !== undefined) outputs.set(event.inputHash, event)
      for (const file of event.files) {
        // a write has the whole file in its arguments; a search shows single lines only
        const shown = file.use === "write" || file.use === "delete" || (event.kind === "read" && !folded)
        if (!shown) continue
        const seen = files.get(file.path)
        if (!seen) files.set(file.path, [{ file, event }])
        // a whole file already covers every read
        else if (seen.length < MAX_PARTIAL_READS && !seen.some((one) => !one.file.range)) seen.push({ file, event })
      }
    },
  }
}

function covers(newer: FileUse, older: FileUse): boolean {
  if (!newer.range) return true
  return older.range !== undefined && newer.range[0] <= older.range[0] && older.range[1] <= newer.range[1]
}
