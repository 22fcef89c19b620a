// The messages of an OpenCode 2 request, read in the shape of OpenCode 1's and written back. An agent's message and the
// results of its calls are one message there. OpenCode's objects are never modified: what changes is copied.

import type { ModelName } from "../../session/conversation.ts"
import { callPart, checkpoint, hostText, partID, partsOfFiles, readResult } from "../../store/stored-v2.ts"
import { asRecord, asString, defined } from "../../system/values.ts"
import { type HostMessage, type HostMessageHead, type HostPart, isOwnMessage, isOwnPart } from "../v1/message.ts"
import type { Known, KnownMessage } from "./learning.ts"
import { type ContentV2, type ContextEvent, isWireMessage, type WireMessageV2, withResultText } from "./message.ts"

/** What a request says once for all of its messages. */
type Around = { sessionID: string; path: object; agent: string | undefined; model: ModelName | undefined }

/** OpenCode's messages that were read as one message. */
type Group = {
  messages: readonly WireMessageV2[]
  /** where the result of a call is, by part id */
  results?: ReadonlyMap<string, Result>
}

/** The result of a call: `message` and `content` are its place. */
type Result = { message: number; content: number; text: string; failed: boolean }

type Contents = Map<HostPart, ContentV2>

/** In the metadata of a message of ours, by which it is known should it be given back. */
const OWN_KEY = "hudfold"

/** Undefined when the event has no array of messages, or no session. `known`: what is known of messages apart from the request. */
export function readArray(
  event: ContextEvent,
  model: ModelName | undefined,
  context: { known: Known; directory: string; cwd: string },
) {
  const { sessionID, messages: given } = event
  if (typeof sessionID !== "string" || !Array.isArray(given) || !given.every(isWireMessage)) return
  const path = { root: context.directory, cwd: context.cwd }
  const around = { sessionID, path, agent: asString(event.agent), model }
  const known = context.known.of(sessionID)
  const groups = new Map<HostMessageHead, Group>()
  // OpenCode's content of each part that was read: a record may move a part into another message
  const contents: Contents = new Map()
  const messages: HostMessage[] = []
  let last = ""
  let nameless = 0
  for (let at = 0; at < given.length; ) {
    const first = given[at++] as WireMessageV2
    if (asRecord(first.metadata)?.[OWN_KEY] === true) continue
    const own = [first]
    if (first.role === "assistant") while (given[at]?.role === "tool") own.push(given[at++] as WireMessageV2)
    nameless = typeof first.id === "string" ? 0 : nameless + 1
    // a message without an id is named by its place, which stays what it is as long as the messages before it do
    const id = typeof first.id === "string" ? first.id : `${last}+${nameless}`
    if (nameless === 0) last = id
    const isStep = first.id !== undefined || own.length > 1 || first.content.some((part) => part?.type === "tool-call")
    // before the agent's last allowed step OpenCode appends a message of it that says so
    const isNudge = at === given.length && first.role === "assistant" && !isStep && checkpointIn(first) === undefined
    const read = isNudge ? [nudge(first, id, around)] : readGroup(own, id, around, known.get(id), contents)
    for (const [message, group] of read) groups.set(message.info, group)
    const added = read.map(([message]) => message)
    // a compaction is asked for first: the user's messages that a provider kept stand before it
    if (added.length > 1) messages.unshift(...added.splice(0, 1))
    messages.push(...added)
  }
  return {
    /** in the shape of OpenCode 1; to be changed */
    messages,
    /** The changed messages as OpenCode 2 takes them. OpenCode's own are the same objects where nothing changed. */
    written: () => messages.flatMap((message) => written(message, groups.get(message.info), contents)),
  }
}

function nudge(message: WireMessageV2, id: string, { sessionID }: Around): [HostMessage, Group] {
  const parts = message.content.map((part) => hostText(asString(part?.text) ?? ""))
  return [{ info: { id, sessionID, role: "system" }, parts }, { messages: [message] }]
}

function readGroup(
  messages: readonly WireMessageV2[],
  id: string,
  { sessionID, path, agent, model }: Around,
  known: KnownMessage | undefined,
  contents: Contents,
): [HostMessage, Group][] {
  const [first] = messages as [WireMessageV2]
  const role = first.role
  const head = {
    ...defined({ agent }),
    path,
    ...(role === "user" ? defined({ model }) : model),
    ...known?.info,
    id,
    sessionID,
    role,
    // a failed message that OpenCode leaves out is not in the request
    error: undefined,
  }
  const summary = checkpointIn(first)
  if (summary) {
    // by its place alone, two compactions could have one id
    const named = first.id === undefined ? `${id}/${summary.key}` : id
    const [asked, reply] = checkpoint({ ...head, id: named }, summary.text) as unknown as [HostMessage, HostMessage]
    // like what a provider executed: sent, and known to the provider alone
    if (summary.text === "") reply.parts.push({ type: "subtask" })
    return [
      [asked, { messages: [] }],
      [reply, { messages }],
    ]
  }
  const results = resultsIn(messages, id)
  const isShellRun = asString(first.content[0]?.text)?.startsWith(SHELL_RUN) === true
  const byHost = role !== "user" || isShellRun ? Number.POSITIVE_INFINITY : (known?.byHost ?? 0)
  const step = { id, messages, results, known }
  const parts: HostPart[] = first.content.map((content, at, all) => {
    const part = role === "assistant" ? stepPart(content, step) : userPart(content, at < byHost, all[at + 1])
    contents.set(part, content)
    return part
  })
  parts.push(...partsOfFiles(messages.flatMap(({ content }) => content.map((part) => part?.result))))
  // without any part the message would look empty, and might be left out
  return [
    [
      { info: head, parts: parts.length > 0 ? parts : [{ type: "unknown" }] },
      { messages, results },
    ],
  ]
}

/** The summary in a message that a compaction left; without a text if only the provider can read it, and then without an id. */
function checkpointIn({ role, content }: WireMessageV2) {
  const [first] = content
  const text = asString(first?.text)
  if (first?.type === "compaction" && content.length === 1)
    return { text: text ?? "", key: asString(first.id) ?? asString(first.encrypted)?.slice(-MAX_KEY_CHARS) }
  return role === "user" && text?.startsWith("<conversation-checkpoint>") ? { text, key: "" } : undefined
}

/** Of what a provider encrypted, the end is a checksum. */
const MAX_KEY_CHARS = 20

const SHELL_RUN = "The following shell command was executed by the user:"
/** Attached files, and the facts and records, which a provider that compacts may keep among the user's messages. */
const ADDED = /^(?:\n\nAttached (?:file|directory): |(?:Facts about|Steps? [\d-]+ of) this session, [a-z ]+ hudfold)/

function userPart(content: ContentV2, byHost: boolean, next: ContentV2 | undefined): HostPart {
  const text = asString(content?.text)
  if (content?.type === "text" && text !== undefined) {
    const isPath = next?.type === "media" && /^Attached file: .+$/.test(text)
    return byHost || isPath || ADDED.test(text) ? hostText(text) : { type: "text", text }
  }
  if (content?.type === "media")
    return { type: "file", filename: asString(content.filename) ?? "", mime: "application/octet-stream" }
  return { type: "unknown" }
}

function resultsIn(messages: readonly WireMessageV2[], id: string) {
  const results = new Map<string, Result>()
  for (const [message, { content: parts }] of messages.entries())
    for (const [content, part] of parts.entries()) {
      // the results in the first message are those of calls that the provider ran
      if (message === 0 || part?.type !== "tool-result" || typeof part.id !== "string") continue
      const key = partID(id, part.id)
      if (!results.has(key)) results.set(key, { message, content, ...readResult(part.result) })
    }
  return results
}

type StepSource = Required<Group> & { id: string; known: KnownMessage | undefined }

function stepPart(content: ContentV2, { id, messages, results, known }: StepSource): HostPart {
  const text = asString(content?.text)
  if ((content?.type === "text" || content?.type === "reasoning") && text !== undefined)
    return { type: content.type, text }
  const isAnswer = (part: ContentV2) => part?.type === "tool-result" && part.id === content?.id
  // a call that the provider ran has its result in the same message; the provider may verify both, so they stay unchanged
  if (content?.providerExecuted === true || messages[0]?.content.some(isAnswer)) return { type: "subtask" }
  const callID = asString(content?.id)
  if (content?.type !== "tool-call" || callID === undefined) return { type: "unknown" }
  return callPart(id, callID, content, results.get(partID(id, callID)), known?.calls.get(callID))
}

function written(message: HostMessage, group: Group | undefined, contents: Contents): WireMessageV2[] {
  if (!group && isOwnMessage(message))
    return [{ role: "user", content: message.parts.map(ownContent), metadata: { [OWN_KEY]: true } }]
  const messages = [...(group?.messages ?? [])]
  for (const { id = "", state } of message.parts) {
    const place = group?.results?.get(id)
    const text = state?.status === "error" ? state.error : state?.output
    if (!place || text === undefined || text === place.text) continue
    const before = messages[place.message] as WireMessageV2
    const part = before.content[place.content] as ContentV2
    const changed = { ...part, result: withResultText(part.result, text) }
    messages[place.message] = withContent(before, before.content.with(place.content, changed))
  }
  const contentOf = (part: HostPart) => (isOwnPart(part) ? ownContent(part) : (contents.get(part) ?? []))
  const [first] = messages
  if (first && message.parts.some(isOwnPart)) messages[0] = withContent(first, message.parts.flatMap(contentOf))
  return messages
}

/** A copy with another content. `id` and `role` are copied by name, since they may be inherited properties. */
function withContent(message: WireMessageV2, content: readonly ContentV2[]): WireMessageV2 {
  return { ...message, ...defined({ id: message.id }), role: message.role, content }
}

function ownContent({ text }: HostPart): ContentV2 {
  return { type: "text", text: text ?? "" }
}

/**
 * Joins a message that begins with a text of ours to the user's message right before it, for models that require user and
 * agent to alternate. After a compaction, OpenCode 2 puts the summary into a user's message, which a record may follow.
 */
export function joinedToUser(messages: readonly WireMessageV2[], given: unknown): WireMessageV2[] {
  const theirs = new Set(Array.isArray(given) ? given.flatMap(({ content }: WireMessageV2) => content) : [])
  const joined: WireMessageV2[] = []
  for (const message of messages) {
    const before = joined.at(-1)
    const [first] = message.content
    if (before?.role === "user" && message.role === "user" && first && !theirs.has(first))
      joined[joined.length - 1] = withContent(before, [...before.content, ...message.content])
    else joined.push(message)
  }
  return joined
}

/** Whether the last text that the model gets is a HUD, or ends with one. */
export function endsWithHud(messages: readonly WireMessageV2[]): boolean {
  const last = messages.at(-1)?.content.at(-1)
  return (last?.text ?? readResult(last?.result).text).endsWith("</hud>")
}

const MAX_MARKS = 4
/** Parts that a provider accepts a cache mark on. */
const MARKABLE: ReadonlySet<string> = new Set(["text", "media", "tool-call", "tool-result"])

/**
 * Marks the part before the last message for the provider's cache, since the last message ends with a HUD that the next request
 * does not have. OpenCode 2 itself marks only the last message, if fewer than four marks are used, and keeps a plugin's mark.
 */
export function markBeforeHud(messages: readonly WireMessageV2[], system: unknown): readonly WireMessageV2[] {
  const parts = [...messages.flatMap(({ content }) => content), ...(Array.isArray(system) ? system : [])]
  if (parts.filter((part) => part?.cache !== undefined).length >= MAX_MARKS) return messages
  const at = messages.findLastIndex(({ content }, i) => i < messages.length - 1 && markPlace(content) >= 0)
  const before = messages[at]
  if (!before || before.content.some((part) => part?.cache !== undefined)) return messages
  const place = markPlace(before.content)
  const marked = { ...(before.content[place] as ContentV2), cache: { type: "ephemeral" } }
  return messages.with(at, withContent(before, before.content.with(place, marked)))
}

/** The last text, as OpenCode would mark it, or the last part that can be marked. */
function markPlace(content: readonly ContentV2[]): number {
  const text = content.findLastIndex((part) => part?.type === "text" && part.text !== "")
  return text >= 0 ? text : content.findLastIndex((part) => part?.type !== "text" && MARKABLE.has(part?.type))
}
