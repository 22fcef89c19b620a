// OpenCode 2's shapes, limited to the fields that are read: the messages of a request, what `setup` is given, and events.
// Every field may be missing or of another type; nothing here is trusted before it is read.

import { resultFiles } from "../../store/stored-v2.ts"
import { asRecord } from "../../system/values.ts"

/** One message of a request. The results of an agent's calls are messages of their own, with role `tool` and no id. */
export type WireMessageV2 = {
  id?: string
  role: "system" | "user" | "assistant" | "tool"
  content: readonly ContentV2[]
  metadata?: Record<string, unknown>
}

/** A part of a message; which fields are there depends on `type`. */
export type ContentV2 = {
  type: string
  text?: string
  /** tool-call, tool-result: the call's id */
  id?: string
  name?: string
  input?: unknown
  result?: unknown
  providerExecuted?: boolean
  encrypted?: unknown
  filename?: unknown
  cache?: unknown
}

/** What the hooks `context` and `compaction` are called with. They change it in place. */
export type ContextEvent = {
  sessionID: string
  agent?: string
  model?: { providerID?: string; id?: string }
  system: unknown
  messages: unknown
  tools?: unknown
  /** compaction only: a summary in place of the model's */
  result?: unknown
}

/** What `setup` uses of its argument. OpenCode 1 calls `setup` too, with an argument that has no `session`. */
export type SetupContext = {
  location?: { directory?: string; project?: { directory?: string } }
  options?: unknown
  session?: {
    hook?: (name: string, callback: (event: ContextEvent) => unknown) => Promise<unknown>
    context?: (input: { sessionID: string }) => Promise<unknown>
  }
  tool?: { transform?: (edit: (editor: { add(tool: object): void }) => void) => Promise<unknown> }
  model?: { list?: () => Promise<unknown> }
  event?: { subscribe?: (options: { signal: AbortSignal }) => AsyncIterable<unknown> }
}

/** Whether a value has the outline of a message. */
export function isWireMessage(value: unknown): value is WireMessageV2 {
  const message = asRecord(value)
  return typeof message?.role === "string" && Array.isArray(message.content)
}

/** The list in an answer of OpenCode's, which is the list itself or `{data}`. */
export function listOf(answer: unknown): readonly unknown[] | undefined {
  const list = Array.isArray(answer) ? answer : asRecord(answer)?.data
  return Array.isArray(list) ? list : undefined
}

/** A result with another text. Attached files stay. */
export function withResultText(result: unknown, text: string): unknown {
  const { type, value } = asRecord(result) ?? {}
  const files = resultFiles(result)
  if (type === "error") {
    const error = asRecord(asRecord(value)?.error)
    const said = error ? { ...asRecord(value), error: { ...error, message: text }, content: files } : text
    return { type: "error", value: said }
  }
  return files.length > 0
    ? { type: "content", value: [{ type: "text", text }, ...files] }
    : { type: "text", value: text }
}
