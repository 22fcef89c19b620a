// The adapter from OpenCode 1's messages to the host-neutral conversation. Fields are read when they are asked for, and texts
// are not copied. A message that this plugin replaced is read from its originals. A part that cannot be read becomes one that
// is not understood.

import type { AttachedFile, Message, ModelName, Part, ToolStatus, Usage } from "../../session/conversation.ts"
import { asNumber, asRecord, asString, defined, lazy } from "../../system/values.ts"
import { unfolded } from "./copies.ts"
import { DCP_PART, type HostMessage, type HostPart, isRemoved, resultOf, withoutMark } from "./message.ts"

const STATUSES: readonly string[] = ["pending", "running", "completed", "error"] satisfies ToolStatus[]

/** Part types that OpenCode does not send to the model: its own, and one that oh-my-openagent puts after every step. */
const NOT_SENT: ReadonlySet<string> = new Set("agent step-start step-finish snapshot retry tool_result".split(" "))

/** The messages of an array as a conversation, without those that this plugin added. */
export function conversationOf(messages: readonly HostMessage[]): Message[] {
  const whole = unfolded(messages)
  const isRequest = ({ info, parts }: HostMessage) =>
    info.role === "user" && parts.some((part) => partOf(part).type === "compaction")
  const requests = lazy(() => new Set(whole.filter(isRequest).map(({ info }) => info.id)))
  return whole.map((message) => new V1Message(message, (id) => requests().has(id)))
}

/** One of OpenCode's messages. */
export function messageOf(message: HostMessage): Message {
  return new V1Message(message)
}

/** Lazy, because a request in a long session reads only a few messages. */
class V1Message implements Message {
  private read: readonly Part[] | undefined

  constructor(
    private readonly host: HostMessage,
    private readonly isCompaction = (_id: string | undefined) => true,
  ) {}

  get id(): string {
    return asString(this.host.info.id) ?? ""
  }

  get sessionID(): string | undefined {
    return asString(this.host.info.sessionID)
  }

  get kind(): Message["kind"] {
    const { role, summary, error, finish, parentID } = this.host.info
    if (role !== "assistant") return "user"
    if (summary !== true) return "step"
    // After a compaction that was aborted or killed, OpenCode has the next prompt answered by a summary that removes nothing.
    return error || !finish || !this.isCompaction(asString(parentID)) ? "failed summary" : "summary"
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
    return Math.max(0, asNumber(this.host.info.cost) ?? 0)
  }

  get createdMs(): number {
    return asNumber(this.host.info.time?.created) ?? 0
  }

  get completedMs(): number | undefined {
    return asNumber(this.host.info.time?.completed)
  }

  get error(): Message["error"] {
    const { error, role } = this.host.info
    if (!error || role !== "assistant") return undefined
    const isAborted = asRecord(error)?.name === "MessageAbortedError"
    const hasContent = this.host.parts.some((part) => part?.type !== "step-start" && part?.type !== "reasoning")
    return isAborted && hasContent ? "aborted" : "failed"
  }

  get root(): string | undefined {
    const path = asRecord(this.host.info.path)
    return [asString(path?.root), asString(path?.cwd)].find((folder) => folder && folder !== "/")
  }

  get cwd(): string | undefined {
    return asString(asRecord(this.host.info.path)?.cwd)
  }

  get size(): number {
    return this.host.parts.length
  }

  get parts(): readonly Part[] {
    this.read ??= this.host.parts
      .filter((part) => typeof part === "object" && part !== null)
      .map((part, at, all) => partOf(part, all[at + 1]))
    return this.read
  }
}

const OTHER: Part = { type: "other", blocks: 0, understood: true }
const UNREADABLE: Part = { type: "other", blocks: 0, understood: false }

export function partOf(part: HostPart, next?: HostPart): Part {
  try {
    return readPart(part, next)
  } catch {
    // another plugin's getter or proxy threw
    return UNREADABLE
  }
}

function readPart(part: HostPart, next?: HostPart): Part {
  const { type = "" } = part
  if (type === "tool") return toolPart(part)
  if (type === "text") {
    const id = asString(part.id)
    // plugins such as superpowers put a copy of the user's part before it, with their text and the same id
    const isPlugins = id && (id.startsWith(DCP_PART) || id === next?.id)
    const by = isPlugins ? "plugin" : part.synthetic ? "host" : "user"
    return { type, text: withoutMark(asString(part.text) ?? ""), by, ignored: Boolean(part.ignored) }
  }
  if (type === "reasoning") return { type, text: asString(part.text) ?? "" }
  if (type === "file") {
    const inline = /^(?:text\/plain|application\/x-directory)$/.test(asString(part.mime) ?? "")
    return { type, name: asString(part.filename) ?? "", inline }
  }
  if (type === "patch") {
    const files = Array.isArray(part.files) ? part.files.filter((file) => typeof file === "string") : []
    return { type: "changes", files }
  }
  if (type === "compaction") return { type, automatic: part.auto !== false, tailStartID: asString(part.tail_start_id) }
  if (type === "subtask") return { type: "other", blocks: 1, understood: true }
  return NOT_SENT.has(type) ? OTHER : UNREADABLE
}

function toolPart(part: HostPart): Part {
  const state = asRecord(part.state)
  const tool = asString(part.tool)
  const status = asString(state?.status) ?? ""
  if (!state || !tool || !STATUSES.includes(status)) return { type: "other", blocks: state ? 1 : 0, understood: false }
  const output = withoutMark(resultOf(state) ?? "")
  const { end, compacted } = asRecord(state.time) ?? {}
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
    attached: attachedTo(state.attachments),
    endMs: asNumber(end),
    clearedMs: compacted === undefined || typeof compacted === "number" ? compacted : 0,
    removed: isRemoved(output),
  }
}

/** The files of a result, without the ids that OpenCode stores with them. */
function attachedTo(attachments: unknown): AttachedFile[] {
  if (!Array.isArray(attachments)) return []
  return attachments.flatMap((one) => {
    const { mime, url, filename } = asRecord(one) ?? {}
    if (typeof mime !== "string" || typeof url !== "string") return []
    return [{ type: "file" as const, mime, url, ...defined({ filename: asString(filename) }) }]
  })
}

/** Tokens of one call at most. More are no count, and their sums would be infinite. */
const MAX_REPORTED_TOKENS = 1e9

/** The usage in a message, in whole tokens; undefined until OpenCode reports it. */
export function readUsage(value: unknown): Usage | undefined {
  const tokens = asRecord(value)
  const cache = asRecord(tokens?.cache)
  const count = (one: unknown) =>
    typeof one === "number" && one > 0 && one <= MAX_REPORTED_TOKENS ? Math.round(one) : 0
  const usage = {
    input: count(tokens?.input),
    cacheRead: count(cache?.read),
    cacheWrite: count(cache?.write),
    // OpenCode counts reasoning apart and charges it as output
    output: count(tokens?.output) + count(tokens?.reasoning),
  }
  return usage.input + usage.cacheRead + usage.cacheWrite > 0 ? usage : undefined
}
