// Writes a request's change into OpenCode's array: folds in place of outputs, records in place of steps, and the HUD. No
// other file writes to it.

import type { Fold, Folds } from "../../fold/fold.ts"
import { recordOf } from "../../fold/record.ts"
import { type Anchor, NO_HUD, type Placement } from "../../hud/slots.ts"
import type { Change, RecordPlace } from "../../request/request.ts"
import { CLEARED } from "../../session/conversation.ts"
import { blocksOf } from "../../session/entry.ts"
import { defined } from "../../system/values.ts"
import { messageOf } from "./conversation.ts"
import { standIn, unfolded } from "./copies.ts"
import {
  type HostMessage,
  type HostPart,
  isOwnMessage,
  isRemoved,
  markOf,
  OWN_MARK,
  OWN_MESSAGE,
  OWN_PART,
  resultOf,
  withoutMark,
  withResultOf,
} from "./message.ts"

export function applyChange(messages: HostMessage[], { folds, steps, hud, records }: Change): void {
  const whole = unfolded(messages)
  const anchored = new Set<unknown>(hud.slot === "sticky" ? hud.anchors.map(({ after }) => after) : [])
  const sent = withRecords({ messages: withOutputs(whole, folds, steps), steps, place: records, anchored })
  placeHud(sent, hud)
  // nothing is written before all copies are made, so that a failure changes nothing
  messages.splice(0, messages.length, ...sent)
}

/** The request as OpenCode made it. */
export const NO_CHANGE: Change = { folds: new Map(), steps: [], hud: NO_HUD, records: "message" }

/** The messages with folded outputs. */
function withOutputs(messages: readonly HostMessage[], folds: Folds, steps: readonly unknown[]): HostMessage[] {
  return messages.map((message, index) => {
    if (folds.size === 0 || steps[index]) return message
    const parts = message.parts.map((part) => {
      const fold = part?.type === "tool" && part.id !== undefined ? folds.get(part.id) : undefined
      // forks and other plugins make messages whose parts share an id
      return fold?.kind === "output" && fold.messageID === message.info.id ? withOutput(part, fold) : part
    })
    return parts.some((part, at) => part !== message.parts[at]) ? standIn({ ...message, parts }, [message]) : message
  })
}

type RecordSource = {
  messages: readonly HostMessage[]
  /** the folds of the messages' steps, by index */
  steps: readonly (Fold | undefined)[]
  place: RecordPlace
  /** ids of messages that a HUD text follows; the text stays where it was sent */
  anchored: ReadonlySet<unknown>
}

/** Adjacent steps that one record stands for, with the messages among and around them that OpenCode does not send. */
type Episode = { record: string; gone: readonly HostMessage[] }
type Piece = HostMessage | Episode

/**
 * The messages with records in place of folded steps. Some models require user and agent to alternate, so a record becomes
 * part of the user's message before or after it; between two user messages, all three become one.
 */
function withRecords(source: RecordSource): HostMessage[] {
  const { messages, place, anchored } = source
  const pieces = piecesOf(source)
  const out: Built[] = []
  for (let at = 0; at < pieces.length; at++) {
    const piece = pieces[at] as Piece
    if (!isEpisode(piece)) {
      out.push({ message: piece })
      continue
    }
    const { record, gone } = piece
    const last = out.at(-1)
    // the HUD text of an anchored message goes between it and the record
    const before = last && !anchored.has(last.message.info.id) ? last : undefined
    const user = before?.message.info.role === "user" ? out.pop() : undefined
    const next = pieces[at + 1]
    const result = place === "result" && before ? lastResult(before.message) : -1
    if (next && !isEpisode(next) && next.info.role === "user") {
      out.push(joined(next, user, [ownPart(next, record), ...next.parts], [...gone, next]))
      at++
    } else if (user) out.push(joined(user.message, user, [ownPart(user.message, record)], gone))
    else if (before && result >= 0)
      out[out.length - 1] = {
        message: withResult(before.message, result, record),
        from: [...(before.from ?? [before.message]), ...gone],
      }
    else out.push({ message: ownMessage(messages, record, `${OWN_MESSAGE}_${out.length}`), from: [...gone] })
  }
  return out.map(({ message, from }) => (from ? standIn(message, from) : message))
}

/** A message of the new array. `from`: the messages it replaces, if it is a copy of ours; then parts may still be added. */
type Built = { message: HostMessage; from?: HostMessage[] }

/** A copy of `head` with the parts of the user's message before it, if any, and then `parts`. Adds to an earlier copy. */
function joined(head: HostMessage, user: Built | undefined, parts: readonly HostPart[], from: readonly HostMessage[]) {
  // one array grows with each record: copying it would take quadratic time in a session that is all records
  const all = user?.from ? user.message.parts : [...(user?.message.parts ?? [])]
  const replaces = user?.from ?? (user ? [user.message] : [])
  all.push(...parts)
  replaces.push(...from)
  return { message: { ...head, parts: all }, from: replaces }
}

function isEpisode(piece: Piece): piece is Episode {
  return "record" in piece
}

/** The messages in order, those of each episode together. */
function piecesOf({ messages, steps, place, anchored }: RecordSource): Piece[] {
  const pieces: Piece[] = []
  let gone: HostMessage[] = []
  let folded: Fold[] = []
  /** index in `gone` */
  let lastFoldedAt = -1
  const close = (next?: HostMessage) => {
    const before = pieces.at(-1)
    const isKept =
      place === "result" &&
      next?.info.role === "user" &&
      hasCall(before) &&
      folded.length > 0 &&
      !hasCall(gone[lastFoldedAt])
    // no user's message may follow a result, so the answer between them stays
    const kept = isKept ? gone.splice(lastFoldedAt) : []
    if (isKept) folded.pop()
    if (folded.length > 0) pieces.push({ record: recordOf(folded), gone })
    else pieces.push(...gone)
    pieces.push(...kept)
    gone = []
    folded = []
  }
  for (const [index, message] of messages.entries()) {
    const fold = steps[index]
    if (fold) {
      folded.push(fold)
      lastFoldedAt = gone.push(message) - 1
    } else if (!anchored.has(message.info.id) && isUnsent(message)) gone.push(message)
    else {
      close(message)
      pieces.push(message)
    }
  }
  close()
  return pieces
}

/** Whether OpenCode certainly leaves the message out: a failed step, or one without content. */
function isUnsent(host: HostMessage): boolean {
  // most have a call, and reading all parts of thousands takes long
  if (!host.info.error && hasCall(host)) return false
  const message = messageOf(host)
  const isUnknown = message.parts.some((part) => part.type === "other" && !part.understood)
  return message.error === "failed" || (!isUnknown && blocksOf(message) === 0)
}

function hasCall(piece: Piece | undefined): piece is HostMessage {
  if (!piece || isEpisode(piece)) return false
  return piece.info.role === "assistant" && piece.parts.some((part) => part?.type === "tool")
}

/** The part with the fold in place of its output. An output that OpenCode or another plugin cleared stays. */
function withOutput(part: HostPart, fold: Fold): HostPart {
  const { state } = part
  if (!state || state.time?.compacted !== undefined) return part
  const output = resultOf(state) ?? ""
  if (isRemoved(withoutMark(output))) return part
  const sent = withResultOf(state, fold.text + markOf(output))
  // OpenCode adds a folder's AGENTS.md to the first file read there, and to no other while the metadata names it as loaded
  if (sent.metadata?.loaded) sent.metadata = { ...sent.metadata, loaded: [] }
  return { ...part, state: sent }
}

/**
 * In the tool slot the HUD goes after the last tool result when what is sent ends with one, and at the start of a turn, when it
 * ends with the user's message, into that message. After anything else there is none: Copilot would bill a message of its own.
 */
function placeHud(messages: HostMessage[], placement: Placement): void {
  if (placement.slot === "sticky") {
    placeSticky(messages, placement.anchors)
    return
  }
  const { slot, text } = placement
  if (text === undefined) return
  if (slot === "tail") {
    messages.push(ownMessage(messages, text, OWN_MESSAGE))
    return
  }
  const at = messages.findLastIndex((message) => !isUnsent(message))
  const last = messages[at]
  const result = last?.info.role === "assistant" ? lastResult(last) : -1
  if (last && result >= 0) messages[at] = standIn(withResult(last, result, text), [last])
  else if (last?.info.role === "user")
    messages[at] = standIn({ ...last, parts: [...last.parts, ownPart(last, text)] }, [last])
}

/** Sticky slot: every text after the message it was first sent after, in the order they were sent. */
function placeSticky(messages: HostMessage[], anchors: readonly Anchor[]): void {
  for (const [i, { after, text }] of [...anchors.entries()].reverse()) {
    const at = messages.findLastIndex(({ info }) => info.id === after)
    if (at >= 0) messages.splice(at + 1, 0, ownMessage(messages, text, `${OWN_MESSAGE}_hud_${i}`))
  }
}

/** Where the last tool result is that the provider gets as text: an output or an error; -1 when there is none. */
function lastResult({ parts }: HostMessage): number {
  return parts.findLastIndex((part) => part?.type === "tool" && part.state && resultOf(part.state) !== undefined)
}

/** Separates a tool's result from the text after it. */
const GAP = "\n\n"

/** A copy of the message with a text at the end of one of its results. */
function withResult(message: HostMessage, at: number, text: string): HostMessage {
  const part = message.parts[at] as HostPart
  const { state = {} } = part
  const { compacted, ...time } = state.time ?? {}
  const changed = compacted
    ? // OpenCode would send only its placeholder
      { ...state, time, attachments: [], output: CLEARED + GAP + text }
    : withResultOf(state, resultOf(state) + GAP + text)
  return { ...message, parts: message.parts.with(at, { ...part, state: changed }) }
}

/** A user message like OpenCode's own. It is `synthetic`, or title generation would use it as the user's words. */
function ownMessage(messages: readonly HostMessage[], text: string, id: string): HostMessage {
  const user = messages.findLast((message) => message.info.role === "user" && !isOwnMessage(message))
  const { sessionID, agent, model } = user?.info ?? messages.at(-1)?.info ?? {}
  const info = {
    ...OWN_MARK,
    id,
    role: "user",
    time: { created: user?.info.time?.created ?? 0 },
    ...defined({ sessionID, agent, model }),
  }
  return { info, parts: [ownPart({ info, parts: [] }, text)] }
}

function ownPart({ info }: HostMessage, text: string): HostPart {
  return {
    id: OWN_PART,
    type: "text",
    text,
    synthetic: true,
    ...defined({ messageID: info.id, sessionID: info.sessionID }),
  }
}
