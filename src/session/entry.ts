// The entry of a message: everything the ledger keeps of it, and the fingerprint that shows whether the message has
// changed. An entry is small and bounded, and holds no reference to the message or its parts.

import { asRecord, asString, defined, jsonOf } from "../system/values.ts"
import { redact } from "../text/redact/redact.ts"
import { bothEnds, cut, line, own } from "../text/sanitize.ts"
import { tokensOfLength } from "../text/tokens.ts"
import { keyOf } from "./arguments.ts"
import { type Message, modelKey, type Part, type ToolPart } from "./conversation.ts"
import { type Env, FILE_CHARS, short, type ToolEvent, toolEventOf } from "./tool-event.ts"

export type Todo = { content: string; status: string }

export type Entry = ReturnType<typeof readEntry>

/** What plugins and other agents send in the user's name. A prompt that a user wrote may be in tags too. */
const NOTICE = /^\s*<[\w-]*(?:reminder|notification|environment_context|aborted|stdout|stderr)>.*<\/[\w-]+>\s*$/s
const MAX_REQUEST_CHARS = 300
/** How much of a long request is read. */
const MAX_PASTED_CHARS = 20_000
const MAX_TODO_CHARS = 120
const MAX_STATUS_CHARS = 20
export const MAX_TODOS = 1000
const MAX_CHANGED_FILES = 200

/**
 * A number that changes when a message changes in a way that matters to the ledger: parts added or removed, a tool's
 * status or output length, clearing, usage. The host's own text counts too: OpenCode moves its reminders of the agent to the
 * user's newest message, and what follows the message that had them is no longer cached.
 */
export function fingerprint({ error, usage, parts }: Message): number {
  let print = error ? 7 : 1
  if (usage) print = mix(mix(print, usage.input), usage.cacheRead)
  for (const part of parts) {
    if (part.type === "tool") {
      print = mix(mix(print, part.status.length), part.output.length + 11)
      if (part.clearedMs !== undefined) print = mix(print, 13)
    } else if (part.type === "text") {
      print = mix(print, part.ignored ? 17 : 19 + part.text.length)
    } else print = mix(print, part.type.length)
  }
  return print
}

function mix(hash: number, value: number): number {
  return (Math.imul(hash, 31) + value) | 0
}

/** The entry of a message. `calls` is the number of calls before it. A part that cannot be read is skipped. */
export function readEntry(message: Message, print: number, calls: number, env: Env) {
  const { kind, parts, agent, model, usage, size } = message
  const root = message.root ?? env.root
  const isStep = kind === "step"
  const place = { messageID: message.id, root, cwd: message.cwd ?? root }
  const events: ToolEvent[] = []
  let todos: Todo[] | undefined
  for (const part of parts)
    try {
      if (part.type !== "tool") continue
      const event = toolEventOf(part, place, env)
      events.push(event)
      if (event.kind === "todo" && event.status === "completed") todos = readTodos(part) ?? todos
    } catch {
      // an argument is nested too deeply, or another plugin's getter throws
    }
  const changed = parts.flatMap((part) => (part.type === "changes" ? part.files.slice(0, MAX_CHANGED_FILES) : []))
  const asked = parts.flatMap((part) =>
    kind === "user" && part.type === "text" && part.by === "user" && !part.ignored && !NOTICE.test(part.text)
      ? part.text
      : [],
  )
  const texts = parts.flatMap((part) =>
    part.type === "reasoning" || (isStep && part.type === "text" && !part.ignored) ? part.text || [] : [],
  )
  // sent to the model, or of an unknown kind
  const opaque = isStep && parts.some((part) => part.type === "other" && (part.blocks > 0 || !part.understood))
  const length = parts.reduce((sum, part) => sum + lengthOf(part), 0)
  const blocks = blocksOf(message)
  const request = parts.some(({ type }) => type === "compaction") ? "" : requestOf(asked.join(" "))
  return {
    id: message.id,
    fingerprint: print,
    /** number of parts of any kind */
    size,
    kind,
    /** number of the step, from 1; of another message, of the step before it */
    call: calls + (isStep ? 1 : 0),
    /** epoch ms by the host's clock; 0 = unknown */
    createdMs: message.createdMs,
    events,
    /** files that OpenCode saw change on disk during this step, by whatever means */
    changed: changed.map((file) => keyOf(root, file)),
    /** estimated tokens of the message as the provider gets it */
    tokens: blocks > 0 ? tokensOfLength(length) : 0,
    /** content blocks the provider gets: each text, reasoning, call, result and file is one */
    blocks,
    /** it has reasoning, which some providers bind to everything before it */
    reasoned: parts.some(({ type }) => type === "reasoning"),
    ...defined({
      agent,
      model,
      usage,
      /** the user's request, one line, redacted, at most 303 characters */
      request: request || undefined,
      /** the newest todo list this message wrote */
      todos,
      /**
       * Hash of a step's own texts and reasoning, absent when it has none. Not of the texts alone: OpenCode 2 sends the
       * reasoning of a failed or interrupted step as text, and stores it as reasoning.
       */
      textHash: texts.length > 0 ? env.hash(texts.join("\n")) : undefined,
      /** a step with content that a recall could not return, so that it is sent whole */
      opaque: opaque || undefined,
    }),
  }
}

/** The user's words on one line. Of a long text both ends are kept: the question is before or after what was pasted. */
function requestOf(asked: string): string {
  // redacted before it is cut, so that no half of a secret is left at the cut
  const shown = bothEnds(asked, MAX_PASTED_CHARS).map(redact).join(" ")
  return own(bothEnds(shown, MAX_REQUEST_CHARS).map(line).join(" … "))
}

/** The todo list that a call wrote; undefined if it is not a list. One of more than 1,000 is read as empty. */
function readTodos({ metadata, input }: ToolPart): Todo[] | undefined {
  const value = metadata.todos ?? input.todos
  if (!Array.isArray(value)) return
  // the counts of a part of it would be wrong
  if (value.length > MAX_TODOS) return []
  return value.flatMap((item) => {
    const content = short(asString(asRecord(item)?.content) ?? "", MAX_TODO_CHARS)
    const status = own(cut(line(asString(asRecord(item)?.status) ?? ""), MAX_STATUS_CHARS)) || "pending"
    return content ? [{ content, status }] : []
  })
}

/** Characters of a part that the provider gets. */
function lengthOf(part: Part): number {
  if (part.type === "text") return part.ignored ? 0 : part.text.length
  if (part.type === "reasoning") return part.text.length
  if (part.type === "file") return part.inline ? 0 : FILE_CHARS
  if (part.type !== "tool") return 0
  const { output, attached = [] } = part
  let length = (part.clearedMs === undefined ? output.length + attached.length * FILE_CHARS : 0) + CALL_OVERHEAD_CHARS
  for (const value of Object.values(part.input)) length += argumentLength(value)
  return length
}

/** Characters added around a call and its result. */
const CALL_OVERHEAD_CHARS = 40

/** Tokens of what the agent wrote: the entry's without its results. */
export function writtenTokens({ tokens, events }: Entry): number {
  return events.reduce((left, event) => left - (event.cleared ? 0 : event.outputTokens + event.fileTokens), tokens)
}

/**
 * Index of the newest step of the running turn that has thinking; -1 without one. With `model`, of that model only: OpenCode
 * sends the thinking of another one as plain text.
 */
export function newestThinking(entries: readonly Entry[], model?: string): number {
  const isOwn = (entry: Entry) => !(model && entry.model) || modelKey(entry.model) === model
  const at = entries.findLastIndex((entry) => isPrompt(entry) || (entry.reasoned && isOwn(entry)))
  return entries[at]?.reasoned ? at : -1
}

/** Whether a message begins a turn. One without content does not: other plugins put such between steps. */
const isPrompt = ({ kind, blocks }: Entry) => kind === "user" && blocks > 0

/** Content blocks of a message that the provider gets; none of a step that failed, which OpenCode does not send. */
export function blocksOf({ error, parts }: Message): number {
  return error === "failed" ? 0 : parts.reduce((sum, part) => sum + blocksOfPart(part), 0)
}

function blocksOfPart(part: Part): number {
  if (part.type === "tool") return 2
  if (part.type === "compaction") return 1
  if (part.type === "other") return part.blocks
  // of a text, reasoning or file nothing may be sent
  return lengthOf(part) > 0 ? 1 : 0
}

function argumentLength(value: unknown): number {
  if (typeof value === "string") return value.length
  return (typeof value === "object" && value !== null ? jsonOf(value)?.length : undefined) ?? 20
}
