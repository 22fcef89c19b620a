// What a provider sees of a request: its messages as a row of pieces, in the order and the words OpenCode sends them in.
// System prompt and tool definitions are not in a recorded session and so not here.

import { record, stateOf, text } from "../fields.ts"
import type { HostMessage, HostPart, HostToolState } from "../host/v1/message.ts"
import { tokensOfLength } from "../text/tokens.ts"

/** Two pieces are the same to a cache when label and body are. */
export type Piece = {
  label: string
  body: string
  tokens: number
  /** name of the tool whose call or result it is */
  tool?: string
}

/** What OpenCode sends in the place of an output it has pruned, and of one that never came. */
const CLEARED = "[Old tool result content cleared]"
const INTERRUPTED = "[Tool execution was interrupted]"

/** A part is sent on every call that follows it: what it comes to is worked out once. */
const known = new WeakMap<HostPart, readonly Piece[]>()
const inputs = new WeakMap<object, string>()

export function piecesOf(messages: readonly HostMessage[]): Piece[] {
  return messagesOf(messages).flat()
}

/** The same, message by message as the provider gets them: what the agent said and called is one, the results another. */
export function messagesOf(messages: readonly HostMessage[]): Piece[][] {
  return messages.flatMap(({ info, parts }) => {
    const pieces = parts.flatMap((part) => (part ? piecesOfPart(info.role ?? "", part) : []))
    const said = pieces.filter((piece) => !isResult(piece))
    return [said, pieces.filter(isResult)].filter((message) => message.length > 0)
  })
}

export function isResult({ label }: Piece): boolean {
  return label.startsWith("result ")
}

export function piece(label: string, body: string): Piece {
  return { label, body, tokens: tokensOfLength(label.length + body.length) }
}

/** Tokens of the first `count` pieces. */
export function sumTokens(pieces: readonly Piece[], count = pieces.length): number {
  let sum = 0
  for (let at = 0; at < count; at++) sum += pieces[at]?.tokens ?? 0
  return sum
}

function piecesOfPart(role: string, part: HostPart): readonly Piece[] {
  const before = known.get(part)
  if (before) return before
  const pieces = readPart(role, part)
  known.set(part, pieces)
  return pieces
}

function readPart(role: string, part: HostPart): Piece[] {
  switch (part.type) {
    case "text":
      return part.ignored || !part.text ? [] : [piece(role, part.text)]
    case "reasoning":
      return part.text ? [piece("reasoning", part.text)] : []
    case "compaction":
      return [piece(role, "What did we do so far?")]
    case "file":
      return [piece(`${role} file`, text(part.filename) ?? "")]
    case "tool": {
      const state = stateOf(part)
      const name = text(part.tool) ?? text(part.name)
      if (!state || name === undefined) return []
      const id = text(part.callID) ?? text(part.id) ?? ""
      return [
        { ...piece(`call ${id} ${name}`, jsonOf(record(state.input) ?? {})), tool: name },
        { ...piece(`result ${id}`, resultOf(state)), tool: name },
      ]
    }
    default:
      return []
  }
}

function resultOf(state: HostToolState): string {
  if (state.status === "completed") return state.time?.compacted ? CLEARED : (text(state.output) ?? "")
  return state.status === "error" ? (text(state.error) ?? "") : INTERRUPTED
}

function jsonOf(input: object): string {
  const before = inputs.get(input)
  if (before !== undefined) return before
  const json = JSON.stringify(input)
  inputs.set(input, json)
  return json
}
