// Message → entry: everything the ledger keeps of one message, and the fingerprint that tells whether a message seen
// before is still the same. Small and bounded; no reference to the message or its parts is kept.

import { record, stateOf, text } from "../fields.ts"
import type { HostMessage, HostPart } from "../host/v1/message.ts"
import { redact } from "../text/redact/redact.ts"
import { cut, line, own } from "../text/text.ts"
import { tokensOfLength } from "../text/tokens.ts"
import type { ToolEvent } from "./event.ts"
import { isForeign, withoutMark } from "./neighbours.ts"
import { type Env, keyOf, normalize, type Place, todosOf } from "./normalize.ts"

export type Todo = { content: string; status: string }

/** Tokens the provider reported for one call: `input` without what came from or went to the cache. */
export type Usage = { input: number; cacheRead: number; cacheWrite: number; output: number }

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
  model?: { providerID: string; modelID: string }
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

/** Part types OpenCode writes; any other is counted as skipped. */
const PARTS: ReadonlySet<string> = new Set([
  "text",
  "reasoning",
  "tool",
  "file",
  "agent",
  "subtask",
  "step-start",
  "step-finish",
  "snapshot",
  "patch",
  "retry",
  "compaction",
])

/**
 * A number that changes when a message changes in a way the ledger cares about: parts coming and going, a tool's
 * status or output length, pruning, usage. Synthetic text is left out: OpenCode adds reminders to the newest user
 * message in memory and takes them away again.
 */
export function fingerprint(message: HostMessage): number {
  const { info, parts } = message
  let print = info.error ? 7 : 1
  const usage = info.tokens
  if (usage) print = mix(mix(print, usage.input ?? 0), usage.cache?.read ?? 0)
  if (!Array.isArray(parts)) return print
  for (let i = 0; i < parts.length; i++) {
    const part = parts[i]
    if (!part) continue
    if (part.type === "tool") {
      const state = part.state
      if (!state) print = mix(print, 3)
      else {
        const body = state.output ?? state.error
        print = mix(mix(print, state.status?.length ?? 0), typeof body === "string" ? body.length + 11 : 5)
        if (state.time?.compacted) print = mix(print, 13)
      }
    } else if (part.type === "text") {
      if (!part.synthetic) print = mix(print, part.ignored ? 17 : 19 + (part.text?.length ?? 0))
    } else print = mix(print, part.type?.length ?? 2)
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
  message: HostMessage,
  print: number,
  calls: number,
  wantsGist: Place["wantsGist"],
  env: Env,
): Entry {
  const { info } = message
  const parts = Array.isArray(message.parts) ? message.parts.filter((part) => part && typeof part === "object") : []
  const assistant = info.role === "assistant"
  const summary = assistant && info.summary === true && !info.error
  const path = record(info.path)
  const root = [text(path?.root), text(path?.cwd)].find((folder) => folder && folder !== "/") ?? env.root
  const place = {
    messageID: text(info.id) ?? "",
    call: calls + (assistant && info.summary !== true ? 1 : 0),
    root,
    wantsGist,
  }
  const entry: Entry = {
    id: place.messageID,
    fingerprint: print,
    parts: Array.isArray(message.parts) ? message.parts.length : 0,
    role: assistant ? "assistant" : "user",
    call: assistant && info.summary !== true,
    summary,
    compaction: false,
    created: typeof info.time?.created === "number" ? info.time.created : 0,
    events: [],
    changed: [],
    tokens: 0,
    blocks: 0,
    skipped: 0,
  }
  const agent = text(info.agent)
  if (agent) entry.agent = agent
  const model = modelOf(message)
  if (model) entry.model = model
  const usage = assistant ? readUsage(info.tokens) : undefined
  if (usage) entry.usage = usage
  const asked: string[] = []
  let length = 0
  for (const part of parts) {
    length += lengthOf(part)
    try {
      if (part.type === "tool") {
        const event = normalize(part, place, env)
        if (event) entry.events.push(event)
        else entry.skipped++
        if (event?.kind === "todo" && event.status === "completed") {
          const todos = readTodos(todosOf(part))
          if (todos) entry.todos = todos
        }
      } else if (part.type === "compaction") entry.compaction = true
      else if (part.type === "patch") entry.changed.push(...filesOf(part, root))
      else if (part.type === "text" && !assistant && !part.synthetic && !part.ignored && !isForeign(text(part.id)))
        asked.push(withoutMark(text(part.text) ?? ""))
      else if (!PARTS.has(part.type ?? "")) entry.skipped++
    } catch {
      // a getter or proxy of another plugin: the part is as good as absent
      entry.skipped++
    }
  }
  entry.tokens = tokensOfLength(length)
  entry.blocks = isLeftOut(message) ? 0 : parts.reduce((sum, part) => sum + blocksOf(part), 0)
  const request = entry.compaction ? "" : requestOf(asked.join(" "))
  if (request) entry.request = request
  return entry
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
    const content = own(cut(redact(line(text(record(item)?.content) ?? "")), TODO))
    const status = own(cut(line(text(record(item)?.status) ?? ""), STATUS)) || "pending"
    return content ? [{ content, status }] : []
  })
}

function modelOf({ info }: HostMessage): Entry["model"] {
  const providerID = text(info.providerID) ?? text(info.model?.providerID)
  const modelID = text(info.modelID) ?? text(info.model?.modelID)
  return providerID && modelID ? { providerID, modelID } : undefined
}

/** Usage as OpenCode reports it in a message; undefined while nothing is reported. */
export function readUsage(value: unknown): Usage | undefined {
  const tokens = record(value)
  const cache = record(tokens?.cache)
  const count = (value: unknown) => (typeof value === "number" && value > 0 && Number.isFinite(value) ? value : 0)
  const usage = {
    input: count(tokens?.input),
    cacheRead: count(cache?.read),
    cacheWrite: count(cache?.write),
    output: count(tokens?.output),
  }
  return usage.input + usage.cacheRead + usage.cacheWrite > 0 ? usage : undefined
}

function filesOf(part: HostPart, root: string | undefined): string[] {
  if (!Array.isArray(part.files)) return []
  return part.files.slice(0, CHANGED).flatMap((file) => (typeof file === "string" ? [keyOf(root, file)] : []))
}

/** Characters a provider sees of a part. */
function lengthOf(part: HostPart): number {
  if (part.type === "text") return part.ignored ? 0 : (text(part.text)?.length ?? 0)
  if (part.type === "reasoning") return text(part.text)?.length ?? 0
  if (part.type !== "tool") return 0
  const state = stateOf(part)
  const body = state?.time?.compacted ? "" : (text(state?.output) ?? text(state?.error) ?? "")
  let length = body.length + 40
  for (const value of Object.values(record(state?.input) ?? {})) length += argumentLength(value)
  return length
}

/** OpenCode does not send what a call wrote that failed, unless the user stopped it in the middle of something. */
function isLeftOut({ info, parts }: HostMessage): boolean {
  if (info.role !== "assistant" || !info.error) return false
  const isAborted = record(info.error)?.name === "MessageAbortedError"
  return !isAborted || parts.every((part) => part?.type === "step-start" || part?.type === "reasoning")
}

/** Content blocks a provider sees of a part. A text file and a folder that the user attached go out as texts. */
function blocksOf(part: HostPart): number {
  if (part.type === "tool") return stateOf(part) ? 2 : 0
  if (part.type === "text") return part.ignored || !part.text ? 0 : 1
  if (part.type === "reasoning") return part.text ? 1 : 0
  if (part.type === "file") return /^(?:text\/plain|application\/x-directory)$/.test(text(part.mime) ?? "") ? 0 : 1
  return part.type === "compaction" || part.type === "subtask" ? 1 : 0
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
