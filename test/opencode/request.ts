// A request as the scripted provider received it, and functions to read it whatever its protocol. Nothing here depends on
// the plugin: a HUD is found by its tags.

/** OpenAI's chat completions, which others speak too, and its Responses; Anthropic's messages; Gemini's streamGenerateContent; Bedrock's converse-stream. */
export type Wire = "openai" | "responses" | "anthropic" | "gemini" | "bedrock"

/** Who sent it: the agent of a session, an agent started by the task tool, or one of OpenCode's own helpers. */
export type Caller = "main" | "child" | "title" | "compaction"

export type ModelRequest = {
  /** order of arrival, from 0, over all sessions */
  index: number
  wire: Wire
  caller: Caller
  /** OpenCode's session id, from its `X-Session-Id` header; empty when it was not sent */
  session: string
  /** the requested model id */
  model: string
  path: string
  headers: Readonly<Record<string, string>>
  /** with the conversation in `messages`, see `asChat` */
  body: Body
  /** the body's bytes as received */
  raw: string
  /** what the provider reports, unless the reply overrides it */
  usage: Usage
  /** the client disconnected before the answer was complete */
  aborted: boolean
}

/** Tokens as providers count them. `input` excludes what was read from or written to the cache. */
export type Usage = { input: number; output: number; cacheRead: number; cacheWrite: number }

export type Body = {
  model?: string
  stream?: boolean
  system?: unknown
  messages?: unknown[]
  tools?: unknown[]
  [key: string]: unknown
}

export type Message = { role?: string; content?: unknown; [key: string]: unknown }

/** A HUD, with the empty line that separates it from a tool's output before it. */
const HUD = /(?:\n\n)?<hud>[\s\S]*?<\/hud>/g

/** The system prompt's text, all blocks of it. */
export function systemOf(body: Body): string {
  const system = body.system ?? messagesIn(body).filter((message) => message.role === "system")
  return textsIn(system).join("\n")
}

/** The conversation without the system prompt, and without cache marks, which move from call to call. */
export function messagesOf(request: { body: Body }): Message[] {
  return withoutMarks(messagesIn(request.body).filter((message) => message.role !== "system")) as Message[]
}

/** Every HUD in the conversation, tags included, in the order it was sent. */
export function hudsOf(request: { body: Body }): string[] {
  return textsIn(messagesOf(request)).flatMap((text) => [...text.matchAll(HUD)].map((match) => match[0].trim()))
}

/** The conversation as it would have been sent without any HUD, one serialised message each. */
export function withoutHud(request: { body: Body }): string[] {
  return messagesOf(request)
    .map((message) => ({ ...message, content: stripped(message.content) }))
    .filter((message) => message.content !== undefined)
    .map((message) => JSON.stringify(message))
}

/** The text of the user's newest message, without HUDs. */
export function promptOf(request: { body: Body }): string {
  const users = messagesOf(request).filter((message) => message.role === "user")
  const texts = users.map((message) => ownText(message.content).replace(HUD, "").trim())
  return texts.findLast((text) => text !== "") ?? ""
}

/** The result of each tool call by the call's id, in the order of the conversation, without HUDs. */
export function resultsOf(request: { body: Body }): Map<string, string> {
  const found = new Map<string, string>()
  for (const message of messagesOf(request)) {
    const blocks = message.role === "tool" ? [message] : Array.isArray(message.content) ? message.content : []
    for (const block of blocks.filter(isRecord)) {
      const id = block.tool_call_id ?? block.tool_use_id
      if (typeof id === "string") found.set(id, textsIn(block.content).join("\n").replace(HUD, ""))
    }
  }
  return found
}

/** What is compared from call to call to compute the cached share: tools, system and messages, without cache marks. */
export function canonical(body: Body): string {
  const { tools, system, messages } = body
  return JSON.stringify(withoutMarks([tools ?? [], system ?? [], messages ?? []]))
}

export function commonPrefix(one: string, other: string): number {
  const length = Math.min(one.length, other.length)
  let at = 0
  while (at < length && one.charCodeAt(at) === other.charCodeAt(at)) at++
  return at
}

function messagesIn(body: Body): Message[] {
  return (body.messages ?? []) as Message[]
}

function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value]
  if (Array.isArray(value)) return value.flatMap(textsIn)
  if (!isRecord(value)) return []
  return Object.entries(value).flatMap(([key, inner]) => (key === "role" || key === "type" ? [] : textsIn(inner)))
}

/** Text the user typed, as opposed to tool results, which the Anthropic protocol sends in the same message. */
function ownText(content: unknown): string {
  if (typeof content === "string") return content
  if (!Array.isArray(content)) return ""
  return content
    .filter((block) => isRecord(block) && block.type === "text")
    .map((block) => String(block.text))
    .join("\n")
}

/** A body or a part of it without cache marks. */
export function withoutMarks(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutMarks)
  if (!isRecord(value)) return value
  const entries = Object.entries(value).filter(([key]) => key !== "cache_control")
  return Object.fromEntries(entries.map(([key, inner]) => [key, withoutMarks(inner)]))
}

/**
 * Content without HUDs; a block or message with nothing else disappears. A single text is returned as a string even when
 * the request has it as a list of blocks because of the HUD.
 */
function stripped(content: unknown): unknown {
  if (typeof content === "string") {
    const rest = content.replace(HUD, "")
    return rest === "" && content !== "" ? undefined : rest
  }
  if (!Array.isArray(content)) return content
  const kept = content.flatMap((block) => {
    if (!isRecord(block)) return [block]
    const key = typeof block.text === "string" ? "text" : "content"
    const inner = stripped(block[key])
    return inner === undefined && block[key] !== undefined ? [] : [{ ...block, [key]: inner }]
  })
  if (kept.length === 0 && content.length > 0) return undefined
  const [only] = kept
  return kept.length === 1 && isRecord(only) && only.type === "text" ? only.text : kept
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}
