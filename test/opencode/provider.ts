// A scripted language model on 127.0.0.1, the only fake part when the demo and the tests run OpenCode. It speaks OpenAI's
// chat completions and Responses, Anthropic's messages and Gemini's protocol, records every request and answers from a
// script. Title and compaction requests get a standard answer.

import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { asChat } from "./as-chat.ts"
import { type MarkedCache, newMarkedCache } from "./marked-cache.ts"
import {
  type Body,
  type Caller,
  canonical,
  commonPrefix,
  type ModelRequest,
  systemOf,
  type Usage,
  type Wire,
} from "./request.ts"
import { encodeError, encodeReply, type Reply, sizeOf } from "./wire.ts"

const CHARS_PER_TOKEN = 4
/** Providers cache in blocks of this size. */
const CACHE_BLOCK_TOKENS = 64
const TITLE = "A scripted session"
const SUMMARY = "## Goal\nWhat the user asked for.\n\n## Progress\nSome of it is done."

/**
 * A list is consumed in order by the agents of top-level sessions, and answers "Done." once it is empty. A function is
 * called for every request except titles; `undefined` means the standard answer for that caller.
 */
export type Script = readonly Reply[] | ((request: ModelRequest) => Reply | undefined)

export type Provider = {
  /** without a path: `http://127.0.0.1:PORT` */
  readonly url: string
  /** everything received, oldest first */
  readonly requests: readonly ModelRequest[]
  /** Replaces the script: of one session when its id is given, else of all sessions without their own script. */
  play(script: Script, session?: string): void
  /** The requests of one kind of caller, of one session when its id is given. */
  from(caller: Caller, session?: string): ModelRequest[]
  /** The first request, past or future, that matches; rejects after the deadline. */
  received(matches: (request: ModelRequest) => boolean, deadlineMs?: number): Promise<ModelRequest>
  /** Drops open connections too. */
  close(): Promise<void>
}

type Waiter = { matches: (request: ModelRequest) => boolean; resolve: (request: ModelRequest) => void }

export async function startProvider(script: Script = []): Promise<Provider> {
  const requests: ModelRequest[] = []
  const waiters = new Set<Waiter>()
  const scripts = new Map<string, Script>([["", queue(script)]])
  /** canonical text of the last request by session and caller, to compute the cached share */
  const last = new Map<string, string>()
  const cache = newMarkedCache()

  const answer = async (incoming: IncomingMessage, response: ServerResponse) => {
    const wire = wireOf(incoming.url ?? "")
    if (!wire) return void response.writeHead(404).end()
    const request = await receive(incoming, wire, requests.length, last, cache)
    requests.push(request)
    response.on("close", () => {
      request.aborted = !response.writableEnded
    })
    const reply = replyTo(request, scripts)
    for (const waiter of waiters) {
      if (!waiter.matches(request)) continue
      waiters.delete(waiter)
      waiter.resolve(request)
    }
    await send(response, request, reply)
  }

  const server = createServer((incoming, response) => {
    answer(incoming, response).catch((cause: unknown) => response.destroy(cause instanceof Error ? cause : undefined))
  })
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo

  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    play: (next, session = "") => void scripts.set(session, queue(next)),
    from: (caller, session) =>
      requests.filter((it) => it.caller === caller && (session === undefined || it.session === session)),
    received: (matches, deadlineMs = 120_000) => {
      const past = requests.find(matches)
      if (past) return Promise.resolve(past)
      return new Promise((resolve, reject) => {
        const waiter: Waiter = {
          matches,
          resolve: (request) => {
            clearTimeout(timer)
            resolve(request)
          },
        }
        const timer = setTimeout(() => {
          waiters.delete(waiter)
          reject(new Error(`no such request within ${deadlineMs} ms; got ${requests.length} others`))
        }, deadlineMs)
        waiters.add(waiter)
      })
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function wireOf(path: string): Wire | undefined {
  if (path.endsWith("/chat/completions")) return "openai"
  if (path.endsWith("/messages")) return "anthropic"
  if (path.endsWith("/responses")) return "responses"
  if (path.includes(":streamGenerateContent")) return "gemini"
  if (path.endsWith("/converse-stream")) return "bedrock"
  return undefined
}

async function receive(
  incoming: IncomingMessage,
  wire: Wire,
  index: number,
  last: Map<string, string>,
  cache: MarkedCache,
) {
  const chunks: Buffer[] = []
  for await (const chunk of incoming) chunks.push(chunk as Buffer)
  const raw = Buffer.concat(chunks).toString("utf8")
  const body = asChat(wire, JSON.parse(raw) as Body)
  const headers = Object.fromEntries(Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]))
  const session = headers["x-session-id"] ?? headers["x-session-affinity"] ?? ""
  const caller = callerOf(body, headers)
  const key = `${session} ${caller}`
  const text = canonical(body)
  const request: ModelRequest = {
    index,
    wire,
    caller,
    session,
    model: body.model ?? modelIn(incoming.url ?? ""),
    path: incoming.url ?? "",
    headers,
    body,
    raw,
    usage: wire === "anthropic" ? cache.count(body, tokensIn) : count(text, last.get(key) ?? ""),
    aborted: false,
  }
  last.set(key, text)
  return request
}

/** Gemini's protocol and Bedrock's name the model in the path. */
function modelIn(path: string): string {
  return decodeURIComponent(/models\/([^/:]+):|model\/([^/]+)\//.exec(path)?.slice(1).join("") ?? "")
}

function callerOf(body: Body, headers: Record<string, string>): Caller {
  const system = systemOf(body)
  if (system.includes("You are a title generator")) return "title"
  if (system.includes("context summarization agent")) return "compaction"
  return headers["x-parent-session-id"] ? "child" : "main"
}

/** Usage as OpenAI reports it: what equals the beginning of the last request is cached, without marks or extra cost. */
function count(text: string, before: string): Usage {
  const shared = Math.floor(commonPrefix(text, before) / CHARS_PER_TOKEN / CACHE_BLOCK_TOKENS) * CACHE_BLOCK_TOKENS
  return { input: tokensIn(text) - shared, output: 0, cacheRead: shared, cacheWrite: 0 }
}

function tokensIn(text: string): number {
  return Math.ceil(text.length / CHARS_PER_TOKEN)
}

function queue(script: Script): Script {
  return typeof script === "function" ? script : [...script]
}

function replyTo(request: ModelRequest, scripts: Map<string, Script>): Reply {
  if (request.caller === "title") return { text: TITLE }
  const script = scripts.get(request.session) ?? scripts.get("") ?? []
  if (typeof script === "function") return script(request) ?? standard(request)
  if (request.caller !== "main") return standard(request)
  // `queue` made a copy, so this does not change the caller's list
  return (script as Reply[]).shift() ?? standard(request)
}

function standard(request: ModelRequest): Reply {
  return { text: request.caller === "compaction" ? SUMMARY : "Done." }
}

const STREAM: Partial<Record<Wire, string>> = { bedrock: "application/vnd.amazon.eventstream" }

async function send(response: ServerResponse, request: ModelRequest, reply: Reply): Promise<void> {
  await reply.after?.()
  if (reply.delayMs) await new Promise((resolve) => setTimeout(resolve, reply.delayMs))
  if (reply.status !== undefined) {
    const message = reply.message ?? `scripted failure ${reply.status}`
    response.writeHead(reply.status, { "content-type": "application/json" })
    response.end(encodeError(request.wire, reply.status, message))
    return
  }
  const output = Math.ceil(sizeOf(reply) / CHARS_PER_TOKEN)
  const counted = { ...request.usage, output, ...reply.usage }
  request.usage = counted
  response.writeHead(200, { "content-type": STREAM[request.wire] ?? "text/event-stream", "cache-control": "no-cache" })
  if (reply.body !== undefined) return void response.end(reply.body)
  const id = String(request.index).padStart(4, "0")
  for (const event of encodeReply(request.wire, { ...reply, id, model: request.model, counted })) response.write(event)
  if (!reply.hang) response.end()
}
