// Where in a session a line stands, without reading all of it for every line: the texts are read once, into an index of
// their words; a line is looked for only in the texts that have its rarest word.

import { record, stateOf, text } from "../fields.ts"
import type { HostMessage, HostPart } from "../host/v1/message.ts"

export type Source = {
  part: HostPart
  /** of a tool call, whether the text is of its arguments or its result */
  side: "text" | "input" | "output"
  body: string
}

export type Sources = {
  /** Reads the messages that were not read yet. */
  read(messages: readonly HostMessage[]): void
  /** The texts that hold the line, newest first. */
  holding(line: string): Generator<Source>
}

/** Shorter ones are everywhere. */
const SHORTEST = 3
const WORD = /[A-Za-z0-9_]+/g

export function newSources(): Sources {
  const sources: Source[] = []
  /** by word the numbers of the texts it is in, ascending */
  const places = new Map<string, number[]>()
  const seen = new WeakSet<HostPart>()

  function add(part: HostPart, side: Source["side"], body: string): void {
    if (body === "") return
    const number = sources.push({ part, side, body }) - 1
    for (const [word] of body.matchAll(WORD)) {
      if (word.length < SHORTEST) continue
      const at = places.get(word)
      if (!at) places.set(word, [number])
      else if (at.at(-1) !== number) at.push(number)
    }
  }

  function rarest(line: string): readonly number[] | undefined {
    let found: readonly number[] | undefined
    for (const { 0: word, index } of line.matchAll(WORD)) {
      // a word at an end of the line may be a piece of a longer one in the text
      if (word.length < SHORTEST || index === 0 || index + word.length === line.length) continue
      const at = places.get(word) ?? []
      if (!found || at.length < found.length) found = at
    }
    return found
  }

  return {
    read(messages) {
      for (const { parts } of messages)
        for (const part of parts) {
          if (!part || seen.has(part)) continue
          seen.add(part)
          const state = part.type === "tool" ? stateOf(part) : undefined
          if (state) {
            add(part, "input", textsIn(record(state.input)).join("\n"))
            add(part, "output", text(state.output) ?? text(state.error) ?? "")
          } else if (!part.ignored && (part.type === "text" || part.type === "reasoning"))
            add(part, "text", text(part.text) ?? "")
        }
    },
    *holding(line) {
      const numbers = rarest(line)
      for (let at = (numbers ?? sources).length - 1; at >= 0; at--) {
        const source = sources[numbers?.[at] ?? at]
        if (source?.body.includes(line)) yield source
      }
    },
  }
}

/** Every text in a value, however deep. */
export function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value]
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : []
}
