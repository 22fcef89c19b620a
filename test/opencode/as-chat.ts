// Requests of OpenAI's Responses, of Gemini and of Bedrock told as OpenAI's chat protocol would tell them, so that one set of functions
// reads all of them. What only the provider's own form can show is checked in `roles.ts`, on the bytes as received.

import type { Body, Message, Wire } from "./request.ts"

type Call = { id: string; type: "function"; function: { name: string; arguments: string } }

export type ResponsesItem = {
  type?: string
  role?: string
  content?: unknown
  call_id?: string
  name?: string
  arguments?: string
  output?: unknown
}

export type GeminiContent = {
  role?: string
  parts?: {
    text?: string
    thought?: boolean
    thoughtSignature?: string
    functionCall?: { name: string; args: unknown }
    functionResponse?: { name: string; response: { content?: unknown } }
  }[]
}

export type ConverseMessage = {
  role?: string
  content?: {
    text?: string
    toolUse?: { toolUseId: string; name: string; input: unknown }
    toolResult?: { toolUseId: string; content: { text?: string }[] }
    cachePoint?: object
  }[]
}

/** The body with `messages`; those of the chat and the Anthropic protocol have them. */
export function asChat(wire: Wire, body: Body): Body {
  if (wire === "responses") return { ...body, messages: fromResponses((body.input ?? []) as ResponsesItem[]) }
  if (wire === "bedrock") {
    const system = { role: "system", content: body.system ?? [] }
    return { ...body, system: undefined, messages: [system, ...fromConverse(body.messages as ConverseMessage[])] }
  }
  if (wire !== "gemini") return body
  const system = (body.systemInstruction as GeminiContent | undefined)?.parts?.map(({ text = "" }) => text).join("\n")
  const messages = fromGemini((body.contents ?? []) as GeminiContent[])
  return { ...body, messages: [{ role: "system", content: system ?? "" }, ...messages] }
}

function fromResponses(items: readonly ResponsesItem[]): Message[] {
  const messages: Message[] = []
  for (const { type, role, content, call_id: id = "", name = "", arguments: args = "", output } of items) {
    if (type === "function_call_output") messages.push({ role: "tool", tool_call_id: id, content: output })
    else if (type === "function_call") addCall(messages, { id, type: "function", function: { name, arguments: args } })
    else if (role === "assistant") addText(messages, content)
    else if (role !== undefined)
      messages.push({ role: role === "developer" ? "system" : role, content: plain(content) })
  }
  return messages
}

/** Gemini's calls have no ids; they are numbered by their place. */
function fromGemini(contents: readonly GeminiContent[]): Message[] {
  const messages: Message[] = []
  let open: string[] = []
  contents.forEach(({ role, parts = [] }, at) => {
    const said = parts.filter(({ text, thought }) => text !== undefined && thought !== true)
    if (role === "model") {
      open = []
      if (said.length > 0) addText(messages, said)
      parts.forEach(({ functionCall }, index) => {
        if (!functionCall) return
        open.push(`${at}_${index}`)
        const made = { name: functionCall.name, arguments: JSON.stringify(functionCall.args) }
        addCall(messages, { id: `${at}_${index}`, type: "function", function: made })
      })
      return
    }
    for (const { functionResponse } of parts)
      if (functionResponse)
        messages.push({ role: "tool", tool_call_id: open.shift(), content: functionResponse.response.content })
    if (said.length > 0) messages.push({ role: "user", content: plain(said) })
  })
  return messages
}

function fromConverse(conversed: readonly ConverseMessage[]): Message[] {
  const messages: Message[] = []
  for (const { role, content = [] } of conversed) {
    if (role === "assistant") messages.push({ role, content: "" })
    for (const { text, toolUse, toolResult } of content) {
      if (toolResult)
        messages.push({ role: "tool", tool_call_id: toolResult.toolUseId, content: plain(toolResult.content) })
      if (toolUse) {
        const made = { name: toolUse.name, arguments: JSON.stringify(toolUse.input) }
        addCall(messages, { id: toolUse.toolUseId, type: "function", function: made })
      }
      if (text === undefined) continue
      if (role === "assistant") addText(messages, [{ text }])
      else messages.push({ role: "user", content: text })
    }
  }
  return messages
}

/** Texts and calls of one step are items of their own. */
function stepIn(messages: Message[]): Message & { tool_calls?: Call[] } {
  const last = messages.at(-1)
  if (last?.role === "assistant") return last
  const step = { role: "assistant", content: "" }
  messages.push(step)
  return step
}

function addText(messages: Message[], content: unknown): void {
  const step = stepIn(messages)
  const texts = ((content ?? []) as { text?: string }[]).map(({ text = "" }) => text)
  step.content = [step.content, ...texts].filter((text) => text !== "").join("\n")
}

function addCall(messages: Message[], call: Call): void {
  const step = stepIn(messages)
  step.tool_calls = [...(step.tool_calls ?? []), call]
}

function plain(content: unknown): unknown {
  if (!Array.isArray(content)) return content
  return (content as { text?: string }[]).flatMap(({ text }) => (text === undefined ? [] : [{ type: "text", text }]))
}
