// OpenCode 1's messages shown as a conversation. An adapter: each message reads its parts from OpenCode's when it is asked for
// them, and holds no copy of a text. Where a part was replaced by a copy of this plugin's, its original is shown.
//
// Every field of OpenCode's may be missing or of another type: sessions are as old as the user's database, and forks,
// imports and other plugins write into the same array. What cannot be read becomes a part that is not understood.

import { asRecord, asString } from "../../system/values.ts"
import type { Message, ModelName, Part, ToolStatus, Usage } from "../../session/conversation.ts"
import { originalOf } from "../copies.ts"
import { isForeign, isRemoved, withoutMark } from "./neighbours.ts"
import { isOwnMessage, isOwnPart } from "./own.ts"
import { type HostMessage, type HostPart, stateOf } from "./message.ts"

const STATUSES: readonly string[] = ["pending", "running", "completed", "error"] satisfies ToolStatus[]

/** Part types that OpenCode writes and a model sees nothing of. */
const UNSEEN: ReadonlySet<string> = new Set(["agent", "step-start", "step-finish", "snapshot", "retry"])

/** The messages of an array as a conversation, without those this plugin has put in. */
export function conversationOf(messages: readonly HostMessage[]): Message[] {
  return messages.filter(({ info }) => !isOwnMessage(info.id)).map(messageOf)
}

/** One message, whoever put it in. */
export function messageOf(message: HostMessage): Message {
  return new V1Message(message)
}

/** Its fields are read when they are asked for: of a long session a request looks at few. */
class V1Message implements Message {
  private read: readonly Part[] | undefined

  constructor(private readonly host: HostMessage) {}

  get id(): string {
    return asString(this.host.info.id) ?? ""
  }

  get sessionID(): string | undefined {
    return asString(this.host.info.sessionID)
  }

  get kind(): Message["kind"] {
    const { role, summary, error } = this.host.info
    if (role !== "assistant") return "user"
    return summary !== true ? "step" : error ? "failed summary" : "summary"
  }

  get agent(): string | undefined {
    return asString(this.host.info.agent) || undefined
  }

  get model(): ModelName | undefined {
    const { providerID, modelID, model } = this.host.info
    const provider = asString(providerID) ?? asString(model?.providerID)
    const name = asString(modelID) ?? asString(model?.modelID)
    return provider && name ? { providerID: provider, modelID: name } : undefined
  }

  get usage(): Usage | undefined {
    return this.kind === "user" ? undefined : readUsage(this.host.info.tokens)
  }

  get cost(): number {
    const { cost } = this.host.info
    return typeof cost === "number" && cost > 0 && Number.isFinite(cost) ? cost : 0
  }

  get createdMs(): number {
    const created = this.host.info.time?.created
    return typeof created === "number" ? created : 0
  }

  get completedMs(): number | undefined {
    const completed = this.host.info.time?.completed
    return typeof completed === "number" ? completed : undefined
  }

  get error(): Message["error"] {
    const { error, role } = this.host.info
    if (!error || role !== "assistant") return
    const isAborted = asRecord(error)?.name === "MessageAbortedError"
    const hasContent = this.host.parts.some((part) => part?.type !== "step-start" && part?.type !== "reasoning")
    return isAborted && hasContent ? "aborted" : "failed"
  }

  get root(): string | undefined {
    const path = asRecord(this.host.info.path)
    return [asString(path?.root), asString(path?.cwd)].find((folder) => folder && folder !== "/")
  }

  get size(): number {
    return Array.isArray(this.host.parts) ? this.host.parts.length : 0
  }

  get parts(): readonly Part[] {
    this.read ??= Array.isArray(this.host.parts) ? this.host.parts.filter(isPart).map(partOf) : []
    return this.read
  }
}

function isPart(part: HostPart | undefined): part is HostPart {
  return typeof part === "object" && part !== null && !isOwnPart(part)
}

const OTHER: Part = { type: "other", blocks: 0, understood: true }
const UNREADABLE: Part = { type: "other", blocks: 0, understood: false }

export function partOf(hostPart: HostPart): Part {
  try {
    return readPart(originalOf(hostPart))
  } catch {
    // a getter or a proxy of another plugin
    return UNREADABLE
  }
}

function readPart(part: HostPart): Part {
  switch (part.type) {
    case "text": {
      const by = isForeign(asString(part.id)) ? "plugin" : part.synthetic ? "host" : "user"
      return { type: "text", text: withoutMark(asString(part.text) ?? ""), by, ignored: Boolean(part.ignored) }
    }
    case "reasoning":
      return { type: "reasoning", text: asString(part.text) ?? "" }
    case "tool":
      return toolPart(part)
    case "file":
      return {
        type: "file",
        name: asString(part.filename) ?? "",
        inline: /^(?:text\/plain|application\/x-directory)$/.test(asString(part.mime) ?? ""),
      }
    case "patch":
      return {
        type: "changes",
        files: Array.isArray(part.files) ? part.files.filter((file) => typeof file === "string") : [],
      }
    case "compaction": {
      const tailStartID = asString(part.tail_start_id)
      return { type: "compaction", automatic: part.auto !== false, ...(tailStartID === undefined ? {} : { tailStartID }) }
    }
    case "subtask":
      return { type: "other", blocks: 1, understood: true }
    default:
      return UNSEEN.has(part.type ?? "") ? OTHER : UNREADABLE
  }
}

function toolPart(part: HostPart): Part {
  const state = stateOf(part)
  const tool = asString(part.tool) ?? asString(part.name)
  const status = asString(state?.status) ?? ""
  if (!state || !tool || !STATUSES.includes(status)) return { type: "other", blocks: state ? 1 : 0, understood: false }
  const returned = status === "error" ? asString(state.error) : status === "completed" ? asString(state.output) : undefined
  const output = withoutMark(returned ?? "")
  const { start, end, compacted } = asRecord(state.time) ?? {}
  const id = asString(part.id) ?? ""
  return {
    type: "tool",
    id,
    callID: asString(part.callID) ?? id,
    tool,
    status: status as ToolStatus,
    input: asRecord(state.input) ?? {},
    output,
    metadata: asRecord(state.metadata) ?? {},
    ...(typeof start === "number" ? { startMs: start } : {}),
    ...(typeof end === "number" ? { endMs: end } : {}),
    ...(compacted === undefined ? {} : { clearedMs: typeof compacted === "number" ? compacted : 0 }),
    removed: isRemoved(output),
  }
}

/** Usage as OpenCode reports it in a message; undefined while nothing is reported. */
export function readUsage(value: unknown): Usage | undefined {
  const tokens = asRecord(value)
  const cache = asRecord(tokens?.cache)
  const count = (value: unknown) => (typeof value === "number" && value > 0 && Number.isFinite(value) ? value : 0)
  const usage = {
    input: count(tokens?.input),
    cacheRead: count(cache?.read),
    cacheWrite: count(cache?.write),
    output: count(tokens?.output),
  }
  return usage.input + usage.cacheRead + usage.cacheWrite > 0 ? usage : undefined
}
