// Where in a session a line stands, without reading all of it for every line: the texts are read once, into an index of
// their words; a line is looked for only in the texts that have its rarest word.

import type { Message, Part } from "../session/conversation.ts"

export type Source = {
  part: Part
  /** of a tool call, whether the text is of its arguments or its result */
  side: "text" | "input" | "output"
  body: string
}

export type Sources = {
  /** Reads the messages that were not read yet. */
  read(messages: readonly Message[]): void
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
  const seen = new WeakSet<Part>()

  function add(part: Part, side: Source["side"], body: string): void {
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
          if (seen.has(part)) continue
          seen.add(part)
          if (part.type === "tool") {
            add(part, "input", textsIn(part.input).join("\n"))
            add(part, "output", part.output)
          } else if (part.type === "reasoning" || (part.type === "text" && !part.ignored)) add(part, "text", part.text)
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
