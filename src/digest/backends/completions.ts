// OpenAI's chat completions: the request bodies, and the meaning of the replies. No I/O.

import * as z from "zod/mini"
import type { WriteRequest } from "../../engine/wire/messages.ts"
import { parseAs } from "../../system/values.ts"
import { line } from "../../text/sanitize.ts"
import { BackendError } from "./backend.ts"
import type { HttpReply } from "./http.ts"

/** Set explicitly, so that the same prompt gives the same digest on every server. */
const FIXED_FIELDS = { temperature: 0, seed: 1, stream: false }

export const LAST_FORM = 3

/** The body of a request. `form` is 0 to `LAST_FORM`: ways to ask for an answer that matches the schema, best first. */
export function completionBody(model: string, prompt: WriteRequest, form: number): string {
  const schema = schemaOf(prompt.answer)
  const strict = { response_format: { type: "json_schema", json_schema: { name: "digest", strict: true, schema } } }
  // `reasoning_effort: "none"` turns thinking off in Ollama; LM Studio refuses `json_object`
  const forms = [{ ...strict, reasoning_effort: "none" }, strict, { response_format: { type: "json_object" } }, {}]
  const inPrompt = `\nThe answer is one JSON object of this JSON schema, and nothing else:\n${JSON.stringify(schema)}`
  const messages = [
    // the last two are for servers that take no schema
    { role: "system", content: form < 2 ? prompt.instruction : `${prompt.instruction}${inPrompt}` },
    { role: "user", content: prompt.text },
  ]
  return JSON.stringify({ model, messages, max_tokens: prompt.maxTokens, ...FIXED_FIELDS, ...forms[form] })
}

/** Whether to try the next form. Older llama-servers answer 500 to a schema they cannot turn into a grammar. */
export function isRefusalOfForm({ status, text }: HttpReply): boolean {
  return status === 400 || status === 422 || (status === 500 && /schema|grammar|response_format/i.test(text))
}

const completionShape = z.object({
  choices: z
    .array(
      z.object({
        message: z.object({ content: z.optional(z.nullable(z.string())) }),
        finish_reason: z.optional(z.nullable(z.string())),
      }),
    )
    .check(z.minLength(1)),
})

/** The text of an answer, without thoughts. Throws a `BackendError` BAD_ANSWER. */
export function readCompletion(json: string): string {
  const data = parseAs(completionShape, json)
  const choice = data?.choices[0]
  if (!data || !choice) throw new BackendError("BAD_ANSWER", `the answer is not a chat completion${errorDetail(json)}`)
  const text = withoutThoughts(choice.message.content ?? "")
  if (text.trim() === "" && choice.finish_reason === "length")
    throw new BackendError(
      "BAD_ANSWER",
      "the model reached its token limit while thinking; choose one that does not think in digest.openai.model",
    )
  return text
}

/** Ollama has null for an empty list. */
const modelsShape = z.object({ data: z.nullable(z.array(z.object({ id: z.string() }))) })
/** Models that servers list but that do not generate text. */
const NOT_GENERATIVE = /embed|rerank|whisper|tts|clip/i

/** The first generative model in the list; undefined if the list is empty, null if it is not a list of models. */
export function readFirstModel(json: string): string | undefined | null {
  const answer = parseAs(modelsShape, json)
  const list = answer?.data ?? []
  return answer ? (list.find(({ id }) => !NOT_GENERATIVE.test(id)) ?? list[0])?.id : null
}

/** The server's own error message in parentheses, or "" if there is none. */
export function errorDetail(text: string): string {
  const words = /"(?:message|error)"\s*:\s*"((?:[^"\\]|\\.){1,200})/.exec(text)?.[1]
  return words === undefined ? "" : ` (${line(words.replace(/\\./g, " "))})`
}

function schemaOf(answer: WriteRequest["answer"]) {
  const strings = Object.entries(answer).map(([name, maxLength]) => [name, { type: "string", maxLength }])
  const properties = Object.fromEntries(strings)
  return { type: "object", properties, required: Object.keys(answer), additionalProperties: false }
}

/**
 * Some servers leave the thoughts in front of the answer. Some templates open them in the prompt, so only the end is there.
 */
function withoutThoughts(text: string): string {
  if (/^\s*[{[]/.test(text)) return text
  const end = text.indexOf("</think>")
  return end < 0 ? (/^\s*<think>/.test(text) ? "" : text) : text.slice(end + "</think>".length)
}
