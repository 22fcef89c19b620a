// What OpenCode hands to a plugin, as far as the core reads it. Every field may be missing or of another type:
// sessions are as old as the user's database, and forks, imports and other plugins write into the same array.
// Nothing here is trusted; `conversation.ts` is where these become types that are.

import { asRecord } from "../../system/values.ts"

/** One message of the array given to `experimental.chat.messages.transform`. */
export type HostMessage = {
  info: HostMessageHead
  parts: HostPart[]
}

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
  tokens?: HostUsage
  cost?: number
  error?: unknown
  finish?: string
  time?: { created?: number; completed?: number }
  [key: string]: unknown
}

/** Tokens of one call as the provider reported them. `input` excludes what was read from or written to the cache. */
export type HostUsage = {
  total?: number
  input?: number
  output?: number
  reasoning?: number
  cache?: { read?: number; write?: number }
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
  metadata?: Record<string, unknown>
  tool?: string
  callID?: string
  state?: HostToolState
  files?: unknown
  [key: string]: unknown
}

export type HostToolState = {
  status?: "pending" | "running" | "completed" | "error" | (string & {})
  input?: Record<string, unknown>
  output?: string
  error?: string
  title?: string
  metadata?: Record<string, unknown>
  time?: { start?: number; end?: number; compacted?: number }
  [key: string]: unknown
}

/** Before 1.0 a tool part carried `status`, `input` and `output` itself. */
export function stateOf(part: HostPart): HostToolState | undefined {
  return (asRecord(part.state) ?? (part.status === undefined ? undefined : part)) as HostToolState | undefined
}
