// HTTP servers with the peculiarities of Ollama, LM Studio and llama-server, and a scripted language model. Sockets,
// requests and replies are real.

import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"

export type Seen = { method: string; path: string; headers: IncomingMessage["headers"]; body: Body }
type Body = {
  model?: string
  max_tokens?: number
  temperature?: number
  seed?: number
  reasoning_effort?: string
  response_format?: { type: string; json_schema?: { strict: boolean; schema: object } }
  messages?: { role: string; content: string }[]
}

export type Served = {
  /** without a path */
  origin: string
  /** base URL for the options */
  url: string
  seen: Seen[]
  /** requests in progress */
  readonly open: number
  readonly mostOpen: number
  [Symbol.asyncDispose](): Promise<void>
}

/** How a server handles a request; a returned value is sent as JSON with status 200. */
export type Behaviour = (request: Seen, response: ServerResponse) => unknown

/** A server on 127.0.0.1, by default on a free port. */
export async function serve(behaviour: Behaviour, { port = 0, host = "127.0.0.1" } = {}): Promise<Served> {
  const seen: Seen[] = []
  let open = 0
  let mostOpen = 0
  const server = createServer(async (request, response) => {
    mostOpen = Math.max(mostOpen, ++open)
    response.once("close", () => open--)
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const text = Buffer.concat(chunks).toString("utf8")
    const { method = "", url: path = "", headers } = request
    const one: Seen = { method, path, headers, body: text ? JSON.parse(text) : {} }
    seen.push(one)
    const value = await behaviour(one, response)
    if (value !== undefined) reply(response, 200, value)
  })
  await new Promise<void>((resolve) => server.listen(port, host, resolve))
  const { port: bound } = server.address() as AddressInfo
  const origin = `http://${host.includes(":") ? `[${host}]` : host}:${bound}`
  return {
    origin,
    url: `${origin}/v1`,
    seen,
    get open() {
      return open
    },
    get mostOpen() {
      return mostOpen
    },
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}

export function reply(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { "content-type": "application/json" })
  response.end(typeof value === "string" ? value : JSON.stringify(value))
}

export const modelList = (...ids: string[]) => ({ object: "list", data: ids.map((id) => ({ id, object: "model" })) })

export function completion(content: string | null, over: object = {}): object {
  return {
    id: "chatcmpl-1",
    object: "chat.completion",
    choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }],
    usage: { prompt_tokens: 120, completion_tokens: 30, total_tokens: 150 },
    ...over,
  }
}

export const ANSWER = { gist: "the build went well", fact: "src/a.ts" }

/** Has the given models, accepts a schema, and can turn thinking off. */
export function ollama(...models: string[]): Behaviour {
  return ({ path, body }, response) => {
    if (path === "/v1/models") return modelList(...models)
    if (!models.includes(body.model ?? ""))
      return reply(response, 404, {
        error: { message: `model "${body.model}" not found, try pulling it first`, type: "api_error" },
      })
    return completion(JSON.stringify(ANSWER))
  }
}

/** Accepts a schema, refuses `json_object`, and refuses `reasoning_effort` for a model that cannot think. */
export const lmStudio: Behaviour = ({ path, body }, response) => {
  if (path === "/v1/models") return modelList("text-embedding-nomic-embed-text-v1.5", "qwen2.5-0.5b-instruct")
  if (body.reasoning_effort !== undefined)
    return reply(response, 400, { error: "'reasoning_effort' is not supported by this model" })
  if (body.response_format && body.response_format.type !== "json_schema")
    return reply(response, 400, { error: "'response_format.type' must be 'json_schema' or 'text'" })
  return completion(JSON.stringify(ANSWER, null, 2))
}

/** Reports its speed, and answers 503 while it loads. */
export function llamaServer(isLoading: () => boolean = () => false): Behaviour {
  return ({ path }, response) => {
    if (isLoading())
      return reply(response, 503, { error: { message: "Loading model", type: "unavailable_error", code: 503 } })
    if (path === "/v1/models") return modelList("tiny.gguf")
    return completion(JSON.stringify(ANSWER))
  }
}

/** Has no response formats, and its model wraps the answer in prose. */
export const ancient: Behaviour = ({ path, body }, response) => {
  if (path === "/v1/models") return modelList("old")
  if (body.response_format) return reply(response, 422, { detail: "extra fields not permitted" })
  return completion(`Sure! Here it is:\n\`\`\`json\n${JSON.stringify(ANSWER)}\n\`\`\``)
}
