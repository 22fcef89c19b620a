// Encodes a scripted reply as server-sent events of one of the protocols, for Bedrock as Amazon's binary events. Only the fields
// that OpenCode's providers read are included.

import { crc32 } from "node:zlib"
import type { Usage, Wire } from "./request.ts"

export type ToolCall = { name: string; arguments: Readonly<Record<string, unknown>>; id?: string }

/** The scripted model's answer to one request. An empty reply says "Done." */
export type Reply = {
  thinking?: string
  text?: string
  calls?: readonly ToolCall[]
  /** overrides parts of the computed usage */
  usage?: Partial<Usage>
  /** wait before the first byte */
  delayMs?: number
  /** the answer waits until this resolves, before `delayMs` */
  after?: () => Promise<unknown>
  /** answer with this HTTP status and `message` instead of a stream */
  status?: number
  message?: string
  /** answer with status 200 and this text instead of a stream of events */
  body?: string
  /** send the beginning of the answer, then nothing until the client disconnects */
  hang?: boolean
}

export type Numbered = Reply & { id: string; model: string; counted: Usage }

/** The events of an answer; with `hang`, only those before it stops. */
export function encodeReply(wire: Wire, reply: Numbered): (string | Buffer)[] {
  return ENCODERS[wire](reply)
}

export function encodeError(wire: Wire, status: number, message: string): string {
  const type = status === 429 ? "rate_limit_error" : status >= 500 ? "api_error" : "invalid_request_error"
  if (wire === "openai" || wire === "responses")
    return JSON.stringify({ error: { message, type, code: null, param: null } })
  return JSON.stringify({ type: "error", error: { type, message } })
}

/** Number of characters in the reply, from which its output tokens are estimated. */
export function sizeOf(reply: Reply): number {
  return textOf(reply).length + (reply.thinking ?? "").length + JSON.stringify(reply.calls ?? []).length
}

function textOf(reply: Reply): string {
  return reply.text ?? (reply.calls?.length ? "" : "Done.")
}

function encodeOpenai(reply: Numbered): string[] {
  const head = { id: `chatcmpl-${reply.id}`, object: "chat.completion.chunk", created: 1, model: reply.model }
  const chunk = (delta: object, finish: string | null = null, fields: object = {}) =>
    `data: ${JSON.stringify({ ...head, choices: [{ index: 0, delta, finish_reason: finish }], ...fields })}\n\n`
  const events = [chunk({ role: "assistant", content: "" })]
  if (reply.thinking) events.push(chunk({ reasoning_content: reply.thinking }))
  for (const piece of pieces(textOf(reply))) events.push(chunk({ content: piece }))
  if (reply.hang) return events
  const calls = reply.calls ?? []
  calls.forEach((call, index) => {
    const made = { name: call.name, arguments: JSON.stringify(call.arguments) }
    events.push(chunk({ tool_calls: [{ index, id: callId(reply, call, index), type: "function", function: made }] }))
  })
  const { input, output, cacheRead, cacheWrite } = reply.counted
  const prompt = input + cacheRead + cacheWrite
  const usage = {
    prompt_tokens: prompt,
    completion_tokens: output,
    total_tokens: prompt + output,
    prompt_tokens_details: { cached_tokens: cacheRead },
  }
  // OpenAI reports usage in a chunk without choices, which Mistral's client does not take; all take it in the last one
  events.push(chunk({}, calls.length > 0 ? "tool_calls" : "stop", { usage }), "data: [DONE]\n\n")
  return events
}

function encodeAnthropic(reply: Numbered): string[] {
  const event = (type: string, fields: object) => `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`
  const { input, output, cacheRead, cacheWrite } = reply.counted
  const usage = {
    input_tokens: input,
    output_tokens: 1,
    cache_read_input_tokens: cacheRead,
    cache_creation_input_tokens: cacheWrite,
  }
  const message = {
    id: `msg_${reply.id}`,
    type: "message",
    role: "assistant",
    model: reply.model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage,
  }
  const events = [event("message_start", { message })]
  let index = 0
  const block = (content: object, deltas: object[]) => {
    events.push(event("content_block_start", { index, content_block: content }))
    for (const delta of deltas) events.push(event("content_block_delta", { index, delta }))
    if (!reply.hang) events.push(event("content_block_stop", { index }))
    index++
  }
  if (reply.thinking) {
    block({ type: "thinking", thinking: "", signature: "" }, [
      { type: "thinking_delta", thinking: reply.thinking },
      { type: "signature_delta", signature: Buffer.from(`signed ${reply.id}`).toString("base64") },
    ])
  }
  const text = textOf(reply)
  if (text) {
    const deltas = pieces(text).map((piece) => ({ type: "text_delta", text: piece }))
    block({ type: "text", text: "" }, deltas)
  }
  if (reply.hang) return events
  const calls = reply.calls ?? []
  calls.forEach((call, at) => {
    const json = { type: "input_json_delta", partial_json: JSON.stringify(call.arguments) }
    block({ type: "tool_use", id: callId(reply, call, at), name: call.name, input: {} }, [json])
  })
  const stop = calls.length > 0 ? "tool_use" : "end_turn"
  events.push(
    event("message_delta", { delta: { stop_reason: stop, stop_sequence: null }, usage: { output_tokens: output } }),
  )
  events.push(event("message_stop", {}))
  return events
}

function encodeResponses(reply: Numbered): string[] {
  const { id, counted } = reply
  const events: string[] = []
  const event = (type: string, fields: object) =>
    void events.push(`data: ${JSON.stringify({ type, sequence_number: events.length, ...fields })}\n\n`)
  let index = 0
  const item = (given: { id: string; type: string }, done: object, deltas: () => void) => {
    event("response.output_item.added", { output_index: index, item: given })
    deltas()
    if (!reply.hang) event("response.output_item.done", { output_index: index, item: { ...given, ...done } })
    index++
  }
  event("response.created", { response: { id: `resp_${id}`, created_at: 1, model: reply.model } })
  if (reply.thinking) {
    const [item_id, encrypted_content] = [`rs_${id}`, Buffer.from(`sealed ${id}`).toString("base64")]
    const summary = [{ type: "summary_text", text: reply.thinking }]
    item({ id: item_id, type: "reasoning" }, { encrypted_content, summary }, () => {
      event("response.reasoning_summary_part.added", { item_id, summary_index: 0 })
      event("response.reasoning_summary_text.delta", { item_id, summary_index: 0, delta: reply.thinking })
    })
  }
  const text = textOf(reply)
  if (text) {
    const content = [{ type: "output_text", text, annotations: [] }]
    item({ id: `msg_${id}`, type: "message" }, { role: "assistant", content }, () => {
      for (const delta of pieces(text)) event("response.output_text.delta", { item_id: `msg_${id}`, delta })
    })
  }
  if (reply.hang) return events
  const calls = reply.calls ?? []
  calls.forEach((call, at) => {
    const [item_id, args] = [`fc_${id}_${at}`, JSON.stringify(call.arguments)]
    const made = {
      id: item_id,
      type: "function_call",
      call_id: callId(reply, call, at),
      name: call.name,
      arguments: "",
    }
    item(made, { arguments: args, status: "completed" }, () =>
      event("response.function_call_arguments.delta", { item_id, output_index: index, delta: args }),
    )
  })
  const input = counted.input + counted.cacheRead + counted.cacheWrite
  const usage = {
    input_tokens: input,
    input_tokens_details: { cached_tokens: counted.cacheRead },
    output_tokens: counted.output,
    output_tokens_details: { reasoning_tokens: 0 },
  }
  event("response.completed", { response: { incomplete_details: null, usage } })
  return events
}

function encodeGemini(reply: Numbered): string[] {
  const event = (parts: object[], fields: object = {}) =>
    `data: ${JSON.stringify({ candidates: [{ content: { role: "model", parts }, ...fields }] })}\n\n`
  const signature = { thoughtSignature: Buffer.from(`signed ${reply.id}`).toString("base64") }
  const events = reply.thinking ? [event([{ text: reply.thinking, thought: true }])] : []
  for (const text of pieces(textOf(reply))) events.push(event([{ text }]))
  if (reply.hang) return events
  // the first call of a step carries the signature
  reply.calls?.forEach(({ name, arguments: args }, at) => {
    events.push(event([{ functionCall: { name, args }, ...(at === 0 ? signature : {}) }]))
  })
  const { input, output, cacheRead, cacheWrite } = reply.counted
  const prompt = input + cacheRead + cacheWrite
  const usageMetadata = {
    promptTokenCount: prompt,
    cachedContentTokenCount: cacheRead,
    candidatesTokenCount: output,
    totalTokenCount: prompt + output,
  }
  const end = { candidates: [{ content: { role: "model", parts: [] }, finishReason: "STOP" }], usageMetadata }
  return [...events, `data: ${JSON.stringify(end)}\n\n`]
}

function encodeConverse(reply: Numbered): Buffer[] {
  const events = [amazonEvent("messageStart", { role: "assistant" })]
  let contentBlockIndex = 0
  const block = (start: object | undefined, deltas: readonly object[]) => {
    if (start) events.push(amazonEvent("contentBlockStart", { contentBlockIndex, start }))
    for (const delta of deltas) events.push(amazonEvent("contentBlockDelta", { contentBlockIndex, delta }))
    if (!reply.hang) events.push(amazonEvent("contentBlockStop", { contentBlockIndex }))
    contentBlockIndex++
  }
  const text = textOf(reply)
  if (text)
    block(
      undefined,
      pieces(text).map((text) => ({ text })),
    )
  if (reply.hang) return events
  reply.calls?.forEach((call, at) => {
    const toolUse = { toolUseId: callId(reply, call, at), name: call.name }
    block({ toolUse }, [{ toolUse: { input: JSON.stringify(call.arguments) } }])
  })
  const { input, output, cacheRead, cacheWrite } = reply.counted
  const usage = {
    inputTokens: input,
    outputTokens: output,
    totalTokens: input + output + cacheRead + cacheWrite,
    cacheReadInputTokens: cacheRead,
    cacheWriteInputTokens: cacheWrite,
  }
  events.push(amazonEvent("messageStop", { stopReason: reply.calls?.length ? "tool_use" : "end_turn" }))
  events.push(amazonEvent("metadata", { usage }))
  return events
}

/** One message of Amazon's event stream: lengths, headers, payload, and a checksum of each. */
function amazonEvent(type: string, fields: object): Buffer {
  const named = { ":event-type": type, ":content-type": "application/json", ":message-type": "event" }
  const headers = Buffer.concat(
    Object.entries(named).map(([name, value]) => {
      const length = Buffer.alloc(2)
      length.writeUInt16BE(value.length)
      // 7: a string follows
      return Buffer.concat([
        Buffer.from([name.length]),
        Buffer.from(name),
        Buffer.from([7]),
        length,
        Buffer.from(value),
      ])
    }),
  )
  const payload = Buffer.from(JSON.stringify(fields))
  const event = Buffer.alloc(headers.length + payload.length + 16)
  event.writeUInt32BE(event.length, 0)
  event.writeUInt32BE(headers.length, 4)
  event.writeUInt32BE(crc32(event.subarray(0, 8)), 8)
  event.set(headers, 12)
  event.set(payload, 12 + headers.length)
  event.writeUInt32BE(crc32(event.subarray(0, -4)), event.length - 4)
  return event
}

const ENCODERS: Readonly<Record<Wire, (reply: Numbered) => (string | Buffer)[]>> = {
  openai: encodeOpenai,
  responses: encodeResponses,
  anthropic: encodeAnthropic,
  gemini: encodeGemini,
  bedrock: encodeConverse,
}

function callId(reply: Numbered, call: ToolCall, index: number): string {
  return call.id ?? `call_${reply.id}_${index}`
}

/** Several pieces rather than one, so that the client has to join deltas. */
function pieces(text: string): string[] {
  const size = Math.max(1, Math.ceil(text.length / 3))
  const out: string[] = []
  for (let at = 0; at < text.length; at += size) out.push(text.slice(at, at + size))
  return out
}
