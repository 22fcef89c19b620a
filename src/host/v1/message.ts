// OpenCode 1's messages and parts, limited to the fields that are read, and how to recognise what this plugin and others
// have put among them. Every field may be missing or of another type: sessions are as old as the user's database, and
// forks, imports and other plugins write into the same array. `conversation.ts` turns them into types that can be trusted.

import { asRecord, asString } from "../../system/values.ts"

/** One message of the array given to `experimental.chat.messages.transform`. */
export type HostMessage = { info: HostMessageHead; parts: HostPart[] }

export type HostMessageHead = {
  id?: string
  sessionID?: string
  role?: "user" | "assistant" | (string & {})
  agent?: string
  /** assistant only: this message is a compaction's summary */
  summary?: unknown
  /** user messages: the model asked for */
  model?: { providerID?: string; modelID?: string; variant?: string }
  /** assistant messages: the model that answered */
  providerID?: string
  modelID?: string
  /** as the provider reported them; `input` excludes what was read from or written to the cache */
  tokens?: Record<string, unknown>
  cost?: number
  error?: unknown
  time?: { created?: number; completed?: number }
  [key: string]: unknown
}

/** A part of any type; which fields are there depends on `type`. */
export type HostPart = {
  id?: string
  type?: string
  messageID?: string
  sessionID?: string
  text?: string
  synthetic?: boolean
  ignored?: boolean
  tool?: string
  callID?: string
  state?: HostToolState
  [key: string]: unknown
}

export type HostToolState = {
  status?: "pending" | "running" | "completed" | "error" | (string & {})
  input?: Record<string, unknown>
  output?: string
  error?: string
  metadata?: Record<string, unknown>
  time?: { start?: number; end?: number; compacted?: number }
  [key: string]: unknown
}

/** Whether OpenCode sends what the call had printed when it was interrupted, in place of the error. */
function isPrinted(state: HostToolState): boolean {
  const { interrupted, output } = (state.status === "error" && asRecord(state.metadata)) || {}
  return interrupted === true && typeof output === "string"
}

/** The text that the model gets as the result of a call; undefined while there is none. */
export function resultOf(state: HostToolState): string | undefined {
  if (isPrinted(state)) return asString(state.metadata?.output)
  return asString(state.status === "error" ? state.error : state.status === "completed" ? state.output : undefined)
}

/** A copy with another text as the result. */
export function withResultOf(state: HostToolState, text: string): HostToolState {
  if (isPrinted(state)) return { ...state, metadata: { ...state.metadata, output: text } }
  return { ...state, [state.status === "error" ? "error" : "output"]: text }
}

/** Whether a value has the outline of a message. Its fields are still not to be trusted. */
export function isMessage(value: unknown): value is HostMessage {
  const message = value as Partial<HostMessage> | null | undefined
  return typeof message?.info === "object" && message.info !== null && Array.isArray(message.parts)
}

/** The ids of what this plugin adds, or how they begin. They are few because other plugins count the ids they meet. */
export const OWN_MESSAGE = "msg_hudfold"
export const OWN_PART = "prt_hudfold"

/** In the head of each message that this plugin adds. A client can choose the id of a user's message, but not add a field. */
export const OWN_MARK = { addedBy: "hudfold" } as const

export function isOwnMessage({ info }: HostMessage): boolean {
  return info.addedBy === OWN_MARK.addedBy
}

export function isOwnPart(part: HostPart | undefined): boolean {
  return part?.id === OWN_PART && part.type === "text" && part.synthetic === true
}

// DCP (@tarquinen/opencode-dcp) is a plugin that users run together with this one. The marks below are those of DCP 3.1.14.

/** The message id that DCP appends to texts and tool outputs, by which the agent tells it what to compress. */
const MARK = /\n?<dcp-message-id>[mb]\d{1,6}<\/dcp-message-id>$/
const MARK_END = "</dcp-message-id>"
const MAX_MARK_CHARS = 60
/** DCP's placeholder for an output it removed, with the reason in varying words. */
const REMOVED = /^\[Output removed\b[^\n\]]{0,160}\]$/
/** Start of the ids of DCP's own parts: summaries and reminders that the user did not write. */
export const DCP_PART = "prt_dcp_"

/** The mark at a text's end, with the line feed before it; empty when there is none. */
export function markOf(text: string): string {
  return text.endsWith(MARK_END) ? (MARK.exec(text.slice(-MAX_MARK_CHARS))?.[0] ?? "") : ""
}

export function withoutMark(text: string): string {
  const mark = markOf(text)
  return mark === "" ? text : text.slice(0, -mark.length)
}

/** Whether an output, without its mark, is a placeholder, so that there is nothing to fold, count or show. */
export function isRemoved(output: string): boolean {
  return REMOVED.test(output)
}
