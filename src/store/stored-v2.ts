// OpenCode 2's stored messages, from its server or its database, in the shape of OpenCode 1's, which all readers know.

import { asNumber, asRecord, asString, defined, jsonOf } from "../system/values.ts"
import type { RecordedMessage } from "./recording.ts"

type Head = Record<string, unknown> & { id: string; sessionID: string }
type RecordedPart = RecordedMessage["parts"][number]

/** Types of stored messages that the model gets as the user's, although the user did not write them. */
const BY_HOST: ReadonlySet<string> = new Set(["synthetic", "skill", "system", "shell", "location-switched"])

/** Stored messages, each `{id, type, ...}`. Those that no model gets are left out. */
export function fromStored(stored: readonly unknown[], sessionID: string): RecordedMessage[] {
  return stored.flatMap((one) => fromOne(asRecord(one), sessionID))
}

function fromOne(stored: Record<string, unknown> | undefined, sessionID: string): RecordedMessage[] {
  const id = asString(stored?.id)
  const type = asString(stored?.type) ?? ""
  if (!stored || id === undefined) return []
  const time = asRecord(stored.time)
  const when = defined({ created: asNumber(time?.created), completed: asNumber(time?.completed) })
  const head = { id, sessionID, time: when }
  if (type === "user") return [{ info: { ...head, role: "user" }, parts: userParts(stored) }]
  if (type === "assistant") return [assistantMessage(stored, head)]
  if (type === "compaction")
    return stored.status === "completed"
      ? checkpoint(head, [stored.summary, stored.recent].map(textIn).filter(Boolean).join("\n"))
      : []
  // of a command in the background, the model gets only the message that tells of its end
  if (!BY_HOST.has(type) || (type === "shell" && asRecord(stored.metadata)?.background === true)) return []
  const output = asRecord(stored.output)?.output ?? stored.output
  const text = asString(stored.text) ?? asString(output) ?? joined(stored.content ?? "")
  return [{ info: { ...head, role: "user" }, parts: [hostText(text)] }]
}

/** A compaction as OpenCode 1 stores it: the request for one, and a message with the summary. */
export function checkpoint(head: Head, summary: string): RecordedMessage[] {
  const done = { parentID: head.id, summary: true, finish: "stop" }
  const reply = { ...head, ...done, id: `${head.id}/summary`, role: "assistant" }
  return [
    { info: { ...head, role: "user" }, parts: [{ type: "compaction", auto: true }] },
    { info: reply, parts: [{ type: "text", text: summary }] },
  ]
}

/** A text that the user did not write. */
export function hostText(text: string): RecordedPart {
  return { type: "text", text, synthetic: true }
}

function userParts({ text, files, skills }: Record<string, unknown>): RecordedPart[] {
  const attached = Array.isArray(files) ? files.map(asRecord) : []
  const named = Array.isArray(skills) ? skills.flatMap((skill) => asString(asRecord(skill)?.text) ?? []) : []
  return [
    ...named.map(hostText),
    { type: "text", text: asString(text) ?? "" },
    ...attached.map((file) => ({
      type: "file",
      filename: asString(file?.name) ?? asString(file?.filename) ?? "",
      mime: asString(file?.mime) ?? asString(file?.mediaType) ?? "",
    })),
  ]
}

function assistantMessage(stored: Record<string, unknown>, head: Head): RecordedMessage {
  const model = asRecord(stored.model)
  const contents = Array.isArray(stored.content) ? stored.content.map(asRecord) : []
  const info: Record<string, unknown> = {
    ...head,
    role: "assistant",
    ...defined({
      agent: asString(stored.agent),
      providerID: asString(model?.providerID),
      modelID: asString(model?.id),
      cost: asNumber(stored.cost),
      tokens: asRecord(stored.tokens),
    }),
    // a failed step is sent if it has content
    ...(stored.error === undefined || contents.length > 0 ? {} : { error: stored.error }),
  }
  const parts = contents.map((content) => storedPart(content, head.id))
  return { info, parts: [...parts, ...partsOfFiles(contents.map(resultOf))] }
}

/** The result of a call as a request has it; undefined while there is none. */
function resultOf(content: Record<string, unknown> | undefined) {
  const { status, error, content: value } = asRecord(content?.state) ?? {}
  if (status === "error") return { type: "error", value: { error, content: value } }
  return status === "completed" ? { type: "content", value } : undefined
}

function storedPart(content: Record<string, unknown> | undefined, messageID: string): RecordedPart {
  if (content?.type === "text" || content?.type === "reasoning")
    return { type: content.type, text: asString(content.text) ?? "" }
  const callID = asString(content?.id)
  const state = asRecord(content?.state)
  if (content?.type !== "tool" || callID === undefined || !state) return { type: "unknown" }
  // a tool that the provider ran itself
  if (content.executed === true) return { type: "subtask" }
  const returned = resultOf(content)
  const time = asRecord(content.time)
  return callPart(messageID, callID, { ...content, input: state.input }, returned && readResult(returned), {
    metadata: asRecord(state.metadata),
    time: defined({ start: asNumber(time?.ran) ?? asNumber(time?.created), end: asNumber(time?.completed) }),
  })
}

/** The part of a call, as OpenCode 1 has it. `known`: what is known of it apart from the call and its result. */
export function callPart(
  messageID: string,
  callID: string,
  { name, input }: { name?: unknown; input?: unknown },
  result: { text: string; failed: boolean } | undefined,
  known: { metadata?: Record<string, unknown> | undefined; time?: object | undefined } | undefined,
) {
  const { text = "", failed = false } = result ?? {}
  return {
    type: "tool",
    id: partID(messageID, callID),
    callID,
    tool: asString(name) ?? "",
    state: {
      status: !result ? "running" : failed ? "error" : "completed",
      input: asRecord(input) ?? {},
      ...(result ? { [failed ? "error" : "output"]: text } : {}),
      metadata: metadataOf(known?.metadata, text),
      ...defined({ time: known?.time }),
    },
  }
}

/** A call's metadata, with the exit code, which OpenCode 2 may write below the output instead. */
function metadataOf(given: Record<string, unknown> = {}, text: string): Record<string, unknown> {
  if (typeof given.exit === "number") return given
  const stated = /Command exited with code (\d{1,9})\.?\s*$/.exec(text.slice(-80))?.[1]
  return stated === undefined ? given : { ...given, exit: Number(stated) }
}

/** The text of a call's result, in any of its forms, as the model gets it, and whether it is an error. */
export function readResult(result: unknown): { text: string; failed: boolean } {
  const { type, value } = asRecord(result) ?? {}
  if (type === "error") {
    // beside an error stands what the tool had returned until then
    const { error = value, content } = asRecord(value) ?? {}
    return {
      text: [textIn(asRecord(error)?.message ?? error), joined(content)].filter(Boolean).join("\n"),
      failed: true,
    }
  }
  return { text: type === "content" ? joined(value) : textIn(value), failed: false }
}

/** What a result contains beside texts: files. */
export function resultFiles(result: unknown): unknown[] {
  const { type, value } = asRecord(result) ?? {}
  const contents = type === "error" ? asRecord(value)?.content : type === "content" ? value : undefined
  return Array.isArray(contents) ? contents.filter((one) => asRecord(one)?.type !== "text") : []
}

/** Parts that stand for the files in a step's results: one for each, for its size, and one that no recall could return. */
export function partsOfFiles(results: readonly unknown[]): RecordedPart[] {
  const files = results.flatMap(resultFiles).map(() => ({ type: "file" }))
  return files.length > 0 ? [...files, { type: "unknown" }] : []
}

/** The texts of a list of contents, one below the other. */
function joined(contents: unknown): string {
  if (!Array.isArray(contents)) return textIn(contents)
  return contents.flatMap((one) => (asRecord(one)?.type === "text" ? [textIn(asRecord(one)?.text)] : [])).join("\n")
}

/** A text, or anything else as JSON, if it has one. */
function textIn(value: unknown): string {
  if (typeof value === "string") return value
  return value === undefined || value === null ? "" : (jsonOf(value) ?? "")
}

/** The id of a call's part within a session: providers' call ids may repeat. */
export function partID(messageID: string, callID: string): string {
  return `${messageID}/${callID}`
}
