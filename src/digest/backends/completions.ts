// What is said to a server that speaks OpenAI's chat completions, and what its replies mean. No I/O.

import * as z from "zod/mini"
import { line } from "../../text/text.ts"
import { BackendError, type Prompt } from "./backend.ts"
import type { Reply } from "./exchange.ts"
import type { Timings } from "./speed.ts"

/** What no server may be left to guess: the same prompt gives the same digest. */
const FIXED = { temperature: 0, seed: 1, stream: false }

/**
 * Ways to ask for an answer of the schema's form, best first. Ollama turns thinking off at `reasoning_effort: "none"`; LM
 * Studio refuses `json_object`; what knows none of them is told in the prompt.
 */
const FORMS: readonly Form[] = [
  (schema) => ({ fields: { ...schemaFormat(schema), reasoning_effort: "none" }, inPrompt: false }),
  (schema) => ({ fields: schemaFormat(schema), inPrompt: false }),
  () => ({ fields: { response_format: { type: "json_object" } }, inPrompt: true }),
  plainly,
]
export const LAST_FORM = FORMS.length - 1

type Form = (schema: Prompt["schema"]) => { fields: object; inPrompt: boolean }

function plainly() {
  return { fields: {}, inPrompt: true }
}

/** The body of a request in the given form, 0 to `LAST_FORM`. */
export function completionBody(model: string, prompt: Prompt, form: number): string {
  const { fields, inPrompt } = (FORMS[form] ?? plainly)(prompt.schema)
  const system = inPrompt
    ? `${prompt.instruction}\nThe answer is one JSON object of this JSON schema, and nothing else:\n${JSON.stringify(prompt.schema)}`
    : prompt.instruction
  const messages = [
    { role: "system", content: system },
    { role: "user", content: prompt.text },
  ]
  return JSON.stringify({ model, messages, max_tokens: prompt.maxTokens, ...FIXED, ...fields })
}

/** Whether the next form is worth a try. 500 is what older llama-servers say to a schema they make no grammar of. */
export function isRefusalOfForm({ status, text }: Reply): boolean {
  return status === 400 || status === 422 || (status === 500 && /schema|grammar|response_format/i.test(text))
}

const figure = z.catch(z.optional(z.number()), undefined)
const completionShape = z.object({
  choices: z
    .array(
      z.object({
        message: z.object({ content: z.optional(z.nullable(z.string())) }),
        finish_reason: z.optional(z.nullable(z.string())),
      }),
    )
    .check(z.minLength(1)),
  usage: z.catch(z.optional(z.object({ prompt_tokens: figure, completion_tokens: figure })), undefined),
  /** llama-server's own */
  timings: z.catch(z.optional(z.object({ prompt_per_second: figure, predicted_per_second: figure })), undefined),
})

/** The text of an answer, without thoughts, and what it took. Throws a `BackendError` BAD_ANSWER. */
export function readCompletion(json: string, elapsedMs: number): { text: string; timings: Timings } {
  const { data } = completionShape.safeParse(parse(json))
  const choice = data?.choices[0]
  if (!data || !choice) throw new BackendError("BAD_ANSWER", `no chat completion came back${saidIn(json)}`)
  const text = withoutThoughts(choice.message.content ?? "")
  if (text.trim() === "" && choice.finish_reason === "length")
    throw new BackendError(
      "BAD_ANSWER",
      "the model thought until its answer had to end; choose one that does not think in digest.openai.model",
    )
  const timings: Timings = {
    promptTokens: data.usage?.prompt_tokens ?? 0,
    outputTokens: data.usage?.completion_tokens ?? 0,
    elapsedMs,
    prefill: data.timings?.prompt_per_second,
    decode: data.timings?.predicted_per_second,
  }
  return { text, timings }
}

const modelsShape = z.object({ data: z.array(z.object({ id: z.string() })) })
/** Models that a server lists and that write nothing. */
const NO_WRITER = /embed|rerank|whisper|tts|clip/i

/** The first model listed that writes; undefined when none is listed, null when it is no list. */
export function readFirstModel(json: string): string | undefined | null {
  const { data } = modelsShape.safeParse(parse(json))
  if (!data) return null
  return (data.data.find(({ id }) => !NO_WRITER.test(id)) ?? data.data[0])?.id
}

/** The server's own words about an error in brackets, "" when it says none. */
export function saidIn(text: string): string {
  const words = /"(?:message|error)"\s*:\s*"((?:[^"\\]|\\.){1,200})/.exec(text)?.[1]
  return words === undefined ? "" : ` (${line(words.replace(/\\./g, " "))})`
}

const schemaFormat = (schema: Prompt["schema"]) => ({
  response_format: { type: "json_schema", json_schema: { name: "digest", strict: true, schema } },
})

/** Thoughts come first where the server does not take them out; some templates open them in the prompt. */
function withoutThoughts(text: string): string {
  if (/^\s*[{[]/.test(text)) return text
  const end = text.indexOf("</think>")
  return end < 0 ? (/^\s*<think>/.test(text) ? "" : text) : text.slice(end + "</think>".length)
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}
