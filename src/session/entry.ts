// Message → entry: everything the ledger keeps of one message, and the fingerprint that tells whether a message seen
// before is still the same. Small and bounded; no reference to the message or its parts is kept.

import { asRecord, asString } from "../system/values.ts"
import { redact } from "../text/redact/redact.ts"
import { cut, line, own } from "../text/sanitize.ts"
import { tokensOfLength } from "../text/tokens.ts"
import type { Message, ModelName, Part, ToolPart, Usage } from "./conversation.ts"
import type { ToolEvent } from "./event.ts"
import { type Env, keyOf, normalize, type Place, todosOf } from "./normalize.ts"

export type Todo = { content: string; status: string }

export type Entry = {
  id: string
  fingerprint: number
  /** number of parts of any kind */
  parts: number
  role: "user" | "assistant"
  /** assistant messages that are calls of the agent; a compaction's summary is none */
  call: boolean
  summary: boolean
  /** a user message that asked for a compaction */
  compaction: boolean
  /** epoch ms by the host's clock; 0 = unknown */
  created: number
  agent?: string
  model?: ModelName
  /** what the user asked, one line, redacted, at most 303 characters */
  request?: string
  events: ToolEvent[]
  /** the newest todo list this message wrote */
  todos?: Todo[]
  /** files OpenCode saw change on disk during this step, by whatever means */
  changed: string[]
  usage?: Usage
  /** estimated tokens of what a provider sees of this message */
  tokens: number
  /** content blocks that a provider sees of it: a text, a thought, a call, a result and a file are one each */
  blocks: number
  /** parts left out because their type or shape is unknown */
  skipped: number
}

const REQUEST = 300
/** Of what was pasted, looked at from either end, in characters. */
const PASTED = 10_000
const TODO = 120
const STATUS = 20
const TODOS = 100
const CHANGED = 200

/**
 * A number that changes when a message changes in a way the ledger cares about: parts coming and going, a tool's
 * status or output length, clearing, usage. Text of the host's own is left out: OpenCode adds reminders to the newest
 * user message in memory and takes them away again.
 */
export function fingerprint({ error, usage, parts }: Message): number {
  let print = error ? 7 : 1
  if (usage) print = mix(mix(print, usage.input), usage.cacheRead)
  for (const part of parts) {
    if (part.type === "tool") {
      print = mix(mix(print, part.status.length), part.output.length + 11)
      if (part.clearedMs !== undefined) print = mix(print, 13)
    } else if (part.type === "text") {
      if (part.by !== "host") print = mix(print, part.ignored ? 17 : 19 + part.text.length)
    } else print = mix(print, part.type.length)
  }
  return print
}

function mix(hash: number, value: number): number {
  return (Math.imul(hash, 31) + value) | 0
}

/**
 * What the ledger keeps of a message. `calls` is the number of calls before it; `wantsGist` as in `Place`.
 * Never throws on a part.
 */
export function readEntry(
  message: Message,
  print: number,
  calls: number,
  wantsGist: Place["wantsGist"],
  env: Env,
): Entry {
  const { kind, parts, agent, model, usage, size } = message
  const root = message.root ?? env.root
  const isStep = kind === "step"
  const place = { messageID: message.id, call: calls + (isStep ? 1 : 0), root, wantsGist }
  const entry: Entry = {
    id: message.id,
    fingerprint: print,
    parts: size,
    role: kind === "user" ? "user" : "assistant",
    call: isStep,
    summary: kind === "summary",
    compaction: false,
    created: message.createdMs,
    ...(agent === undefined ? {} : { agent }),
    ...(model === undefined ? {} : { model }),
    ...(usage === undefined ? {} : { usage }),
    events: [],
    changed: [],
    tokens: 0,
    blocks: 0,
    skipped: 0,
  }
  const asked: string[] = []
  let length = 0
  for (const part of parts) {
    length += lengthOf(part)
    // OpenCode does not send a step that failed
    if (message.error !== "failed") entry.blocks += blocksOf(part)
    switch (part.type) {
      case "tool":
        addEvent(entry, part, place, env)
        break
      case "compaction":
        entry.compaction = true
        break
      case "changes":
        entry.changed.push(...part.files.slice(0, CHANGED).map((file) => keyOf(root, file)))
        break
      case "text":
        if (kind === "user" && part.by === "user" && !part.ignored) asked.push(part.text)
        break
      case "other":
        if (!part.understood) entry.skipped++
    }
  }
  entry.tokens = tokensOfLength(length)
  const request = entry.compaction ? "" : requestOf(asked.join(" "))
  if (request) entry.request = request
  return entry
}

function addEvent(entry: Entry, part: ToolPart, place: Place, env: Env): void {
  try {
    const event = normalize(part, place, env)
    entry.events.push(event)
    const todos = event.kind === "todo" && event.status === "completed" ? readTodos(todosOf(part)) : undefined
    if (todos) entry.todos = todos
  } catch {
    // an argument nested too deep, or a getter of another plugin's
    entry.skipped++
  }
}

/** The user's words on one line. Of a long text both ends: pasted material stands before the question or after it. */
function requestOf(asked: string): string {
  // redacted before it is cut: of a secret that lies across a cut no half is left
  const shown =
    asked.length <= 2 * PASTED ? redact(asked) : `${redact(asked.slice(0, PASTED))} ${redact(asked.slice(-PASTED))}`
  if (shown.length <= REQUEST) return own(line(shown))
  const half = Math.floor(REQUEST / 2)
  return own(cut(`${line(shown.slice(0, half))} … ${line(shown.slice(-half))}`, REQUEST + 3))
}

/** A todo list in any of the shapes OpenCode writes and announces it; undefined when it is none. */
export function readTodos(value: unknown): Todo[] | undefined {
  if (!Array.isArray(value)) return
  return value.slice(0, TODOS).flatMap((item) => {
    const content = own(cut(redact(line(asString(asRecord(item)?.content) ?? "")), TODO))
    const status = own(cut(line(asString(asRecord(item)?.status) ?? ""), STATUS)) || "pending"
    return content ? [{ content, status }] : []
  })
}

/** Characters a provider sees of a part. */
function lengthOf(part: Part): number {
  if (part.type === "text") return part.ignored ? 0 : part.text.length
  if (part.type === "reasoning") return part.text.length
  if (part.type !== "tool") return 0
  let length = (part.clearedMs === undefined ? part.output.length : 0) + FRAME
  for (const value of Object.values(part.input)) length += argumentLength(value)
  return length
}

/** Characters around a call and its result. */
const FRAME = 40

/** Content blocks a provider sees of a part. */
function blocksOf(part: Part): number {
  switch (part.type) {
    case "tool":
      return 2
    case "text":
      return part.ignored || part.text === "" ? 0 : 1
    case "reasoning":
      return part.text === "" ? 0 : 1
    case "file":
      return part.inline ? 0 : 1
    case "compaction":
      return 1
    case "other":
      return part.blocks
    case "changes":
      return 0
  }
}

function argumentLength(value: unknown): number {
  if (typeof value === "string") return value.length
  try {
    return typeof value === "object" && value !== null ? JSON.stringify(value).length : 20
  } catch {
    // a circle, a number without end: no argument that a provider is sent
    return 20
  }
}
