// What providers' chat templates demand of a request. A provider that finds one of these faults rejects the request, bills it
// as another kind, or answers as if the conversation were another.

import type { ConverseMessage, GeminiContent, ResponsesItem } from "./as-chat.ts"
import { type Message, type ModelRequest, messagesOf } from "./request.ts"

/**
 * `anthropic`, `responses`, `gemini` and `bedrock` are protocols. The others speak OpenAI's chat protocol: `chat` without further
 * demands; `mistral` takes no user message right after a tool's result, and its template demands that user and assistant
 * alternate where nothing is called; `gemma` demands that they always do; `copilot` bills a request whose last message is
 * the user's.
 */
export type Template = "anthropic" | "responses" | "gemini" | "bedrock" | "chat" | "mistral" | "gemma" | "copilot"

/** What OpenCode puts between a tool's result and a user message for Mistral models. */
const INSERTED = "Done."

/** What is wrong with the request, one line each. `opensTurn`: it is the first after the user's prompt. */
export function faultsOf(request: ModelRequest, template: Template, opensTurn: boolean): string[] {
  const messages = messagesOf(request)
  const faults = template === "anthropic" ? anthropicFaults(messages) : chatFaults(messages)
  const roles = messages.map(({ role }) => role ?? "")
  if (roles.at(-1) === "assistant") faults.push("the last message is the assistant's")
  if (template === "mistral") faults.push(...mistralFaults(messages))
  if (template === "gemma") faults.push(...gemmaFaults(roles))
  if (template === "responses") faults.push(...responsesFaults(JSON.parse(request.raw)))
  if (template === "gemini") faults.push(...geminiFaults(JSON.parse(request.raw)))
  if (template === "bedrock") faults.push(...converseFaults(JSON.parse(request.raw)))
  if (template === "copilot" && (roles.at(-1) === "user") !== opensTurn)
    faults.push(`the last message is the ${roles.at(-1)}'s`)
  return faults
}

function chatFaults(messages: readonly Message[]): string[] {
  const faults = messages.flatMap((message, at) => emptyTexts(message, at))
  const seen = new Set<string>()
  for (let at = 0; at < messages.length; at++) {
    const { role, tool_calls: made } = messages[at] as Message & { tool_calls?: { id: string }[] }
    if (role === "tool" && !["assistant", "tool"].includes(messages[at - 1]?.role ?? ""))
      faults.push(`message ${at} is a result after the ${messages[at - 1]?.role}'s`)
    if (role !== "assistant") continue
    const calls = made?.map(({ id }) => id) ?? []
    const results: string[] = []
    while (messages[at + 1 + results.length]?.role === "tool")
      results.push(String(messages[at + 1 + results.length]?.tool_call_id))
    faults.push(...unpaired(calls, results, seen, at))
  }
  return faults
}

type Block = { type?: string; text?: string; id?: string; tool_use_id?: string }

function anthropicFaults(messages: readonly Message[]): string[] {
  const faults = messages.flatMap((message, at) => emptyTexts(message, at))
  const seen = new Set<string>()
  messages.forEach((message, at) => {
    if (message.role !== (at % 2 === 0 ? "user" : "assistant")) faults.push(`message ${at} is the ${message.role}'s`)
    const blocks = blocksIn(message)
    const types = blocks.map(({ type }) => type)
    if (message.role !== "assistant") {
      const results = types.lastIndexOf("tool_result")
      if (types.slice(0, results + 1).some((type) => type !== "tool_result"))
        faults.push(`message ${at}: text before a result`)
      if (at === 0 && results >= 0) faults.push("message 0: a result without a call")
      return
    }
    if (types.lastIndexOf("thinking") > types.indexOf("tool_use") && types.includes("tool_use"))
      faults.push(`message ${at}: thinking after a call`)
    const calls = blocks.flatMap(({ type, id }) => (type === "tool_use" && id ? [id] : []))
    const next = messages[at + 1]
    const results = next ? blocksIn(next).flatMap(({ tool_use_id: id }) => (id ? [id] : [])) : []
    faults.push(...unpaired(calls, results, seen, at))
  })
  return faults
}

function unpaired(calls: readonly string[], results: readonly string[], seen: Set<string>, at: number): string[] {
  const faults: string[] = []
  for (const id of calls) {
    if (seen.has(id)) faults.push(`message ${at}: ${id} is called twice`)
    seen.add(id)
  }
  if (calls.join() !== results.join()) faults.push(`message ${at}: calls ${calls.join()}, results ${results.join()}`)
  return faults
}

/** Reasoning belongs to the item after it, which must be the assistant's; every text and every output is there. */
function responsesFaults({ input }: { input: readonly ResponsesItem[] }): string[] {
  return input.flatMap((item, at) => {
    const next = input[at + 1]
    const isFollowed = next?.role === "assistant" || next?.type === "function_call" || next?.type === "reasoning"
    if (item.type === "reasoning" && !isFollowed) return [`item ${at}: reasoning without what follows it`]
    if (item.type === "function_call_output" && typeof item.output !== "string") return [`item ${at}: no output`]
    return []
  })
}

/**
 * The first content is the user's; a model's content comes after a user's; its calls are answered at once, as many as there
 * are, by name and in order; and within the running turn the first call of each step has its signature.
 */
function geminiFaults({ contents }: { contents: readonly GeminiContent[] }): string[] {
  const faults = contents[0]?.role === "user" ? [] : ["content 0 is not the user's"]
  const turn = contents.findLastIndex(({ role, parts }) => role === "user" && parts?.some(({ text }) => text))
  contents.forEach(({ role, parts = [] }, at) => {
    if (parts.length === 0) faults.push(`content ${at} is empty`)
    if (role === "model" && contents[at - 1]?.role === "model")
      faults.push(`content ${at} is the second of the model's`)
    const before = contents[at - 1]?.parts?.flatMap(({ functionCall }) => functionCall?.name ?? []) ?? []
    const answers = parts.flatMap(({ functionResponse }) => functionResponse?.name ?? [])
    if (before.join() !== answers.join())
      faults.push(`content ${at}: calls ${before.join()}, answers ${answers.join()}`)
    const [call] = parts.filter(({ functionCall }) => functionCall)
    if (at > turn && call && !call.thoughtSignature) faults.push(`content ${at}: a call without its signature`)
  })
  return faults
}

/** User and assistant alternate, and most models take no text beside a result: Claude is the exception. */
function converseFaults({ messages }: { messages: readonly ConverseMessage[] }): string[] {
  return messages.flatMap(({ role, content = [] }, at) => {
    const faults = role === (at % 2 === 0 ? "user" : "assistant") ? [] : [`turn ${at} is the ${role}'s`]
    const blocks = content.filter(({ cachePoint }) => !cachePoint)
    if (blocks.length === 0) faults.push(`turn ${at} is empty`)
    if (blocks.some(({ text }) => text?.trim() === "")) faults.push(`turn ${at}: an empty text`)
    const results = blocks.filter(({ toolResult }) => toolResult).length
    if (results > 0 && results < blocks.length) faults.push(`turn ${at}: a result beside something else`)
    return faults
  })
}

/** An assistant's message on OpenAI's protocol may have an empty text beside its calls. */
function emptyTexts(message: Message, at: number): string[] {
  const beside = message.role === "tool" || message.tool_calls !== undefined
  if (typeof message.content === "string")
    return message.content.trim() === "" && !beside ? [`message ${at}: an empty text`] : []
  const isEmpty = ({ type, text }: Block) => type === "text" && (text ?? "").trim() === ""
  return blocksIn(message).some(isEmpty) ? [`message ${at}: an empty text part`] : []
}

function mistralFaults(messages: readonly Message[]): string[] {
  const spoken = messages.flatMap(({ role, tool_calls: calls }) => (role === "tool" || calls ? [] : (role ?? "")))
  const twice = spoken.flatMap((role, at) => (role === spoken[at - 1] ? [`the ${role} speaks twice in a row`] : []))
  const after = messages.flatMap((message, at) => {
    if (messages[at - 1]?.role !== "tool") return []
    if (message.role === "user") return [`message ${at} is the user's, after a result`]
    const isInserted = message.role === "assistant" && textOf(message) === INSERTED && !message.tool_calls
    return isInserted ? [`message ${at} is an answer that nobody gave, after a result`] : []
  })
  return [...twice, ...after]
}

/** The results of one step count as one message of the user. */
function gemmaFaults(roles: readonly string[]): string[] {
  const sides = roles.flatMap((role, at) => (role === "tool" ? (roles[at - 1] === "tool" ? [] : ["user"]) : [role]))
  return sides.flatMap((side, at) =>
    at > 0 && side === sides[at - 1] ? [`two messages in a row are the ${side}'s`] : [],
  )
}

function blocksIn({ content }: Message): Block[] {
  return Array.isArray(content) ? (content as Block[]) : []
}

function textOf(message: Message): string {
  if (typeof message.content === "string") return message.content
  return blocksIn(message)
    .map(({ text }) => text ?? "")
    .join("")
}
