// A client of `opencode serve` as a program without the SDK would write it: plain fetch, Basic auth, an event stream that is
// reopened when it breaks, answered permissions, a turn that ends with idle.

import type { StoredMessage } from "../../opencode/stored.ts"
import { followStream, Refused } from "./sse.ts"

export type ServerEvent = { id?: string; type: string; properties: Record<string, unknown> }

export type ClientOptions = {
  url: string
  directory: string
  password?: string
  /** OpenCode's own default when absent */
  username?: string
}

export type Prompt = { model?: string; agent?: string }

export type HttpClient = {
  /** all events so far, over all connections */
  readonly events: readonly ServerEvent[]
  /** how often the stream was lost, and the waits before it was opened again, in ms */
  readonly waitsMs: readonly number[]
  health(): Promise<{ healthy: boolean; version: string }>
  /** Any endpoint; rejects with `HttpError` on a status of 400 and above. */
  call<T = unknown>(method: string, path: string, body?: unknown): Promise<T>
  create(title?: string): Promise<string>
  promptAsync(session: string, text: string, prompt?: Prompt): Promise<void>
  /** A prompt and all that follows until the session is idle, also when the stream broke meanwhile. */
  turn(session: string, text: string, prompt?: Prompt): Promise<void>
  /** Resolves when the session's turn is over, counted from position `from` in `events`. */
  idle(session: string, from: number): Promise<void>
  messages(session: string): Promise<StoredMessage[]>
  /** The first event from position `from` on, past or to come, that matches; rejects past the deadline. */
  event(matches: (event: ServerEvent) => boolean, from?: number, deadlineMs?: number): Promise<ServerEvent>
  /** Answers every permission asked for, in this order, until the answers are used up. */
  answer(...replies: readonly ("once" | "always" | "reject")[]): void
  close(): void
}

export class HttpError extends Error {
  constructor(
    readonly status: number,
    readonly text: string,
    what: string,
  ) {
    super(`${what} answered ${status}: ${text}`)
  }
}

const DEADLINE_MS = 120_000

/** Resolves once the stream is open; rejects with `Refused` when the server does not let this client in. */
export async function connect(options: ClientOptions): Promise<HttpClient> {
  const events: ServerEvent[] = []
  const waitsMs: number[] = []
  const replies: string[] = []
  const watchers = new Set<() => void>()
  const closing = new AbortController()
  const headers = authorization(options)

  const call = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    const response = await fetch(at(options, path), {
      method,
      headers: { ...headers, ...(body === undefined ? {} : { "content-type": "application/json" }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: closing.signal,
    })
    const text = await response.text()
    if (!response.ok) throw new HttpError(response.status, text, `${method} ${path}`)
    return (text === "" ? undefined : JSON.parse(text)) as T
  }

  const hear = (event: ServerEvent): void => {
    events.push(event)
    if (event.type === "permission.asked" && replies.length > 0)
      void call("POST", `/permission/${String(event.properties.id)}/reply`, { reply: replies.shift() }).catch(() => {})
    for (const watcher of watchers) watcher()
  }

  await new Promise<void>((resolve, reject) => {
    followStream({
      url: at(options, "/event"),
      headers,
      signal: closing.signal,
      hear: ({ data }) => {
        const event = JSON.parse(data) as ServerEvent
        hear(event)
        if (event.type === "server.connected") resolve()
      },
      lost: (waitMs) => void waitsMs.push(waitMs),
    }).catch((cause: unknown) => (cause instanceof Refused ? reject(cause) : undefined))
  })

  const event: HttpClient["event"] = (matches, from = 0, deadlineMs = DEADLINE_MS) =>
    new Promise((resolve, reject) => {
      let next = from
      const settle = (end: () => void) => {
        clearTimeout(timer)
        watchers.delete(look)
        end()
      }
      const look = () => {
        while (next < events.length) {
          const one = events[next++] as ServerEvent
          if (matches(one)) return settle(() => resolve(one))
        }
      }
      const timer = setTimeout(() => {
        const seen = [...new Set(events.slice(from).map(({ type }) => type))].join(", ")
        settle(() => reject(new Error(`no such event within ${deadlineMs} ms; seen since: ${seen}`)))
      }, deadlineMs)
      watchers.add(look)
      look()
    })

  // Events sent while the stream was down are not repeated, so after a reconnection the server is asked.
  const idle = async (session: string, from: number): Promise<void> => {
    let after = from
    for (;;) {
      const seen = await event(
        ({ type, properties }) =>
          type === "server.connected" || (type === "session.idle" && properties.sessionID === session),
        after,
      )
      if (seen.type === "session.idle") return
      const busy = await call<Record<string, unknown>>("GET", "/session/status")
      if (busy[session] === undefined) return
      after = events.indexOf(seen) + 1
    }
  }

  const promptAsync: HttpClient["promptAsync"] = (session, text, { model, agent } = {}) => {
    const [providerID, ...rest] = model?.split("/") ?? []
    return call("POST", `/session/${session}/prompt_async`, {
      parts: [{ type: "text", text }],
      ...(model ? { model: { providerID, modelID: rest.join("/") } } : {}),
      ...(agent ? { agent } : {}),
    })
  }

  return {
    events,
    waitsMs,
    call,
    event,
    idle,
    promptAsync,
    health: () => call("GET", "/global/health"),
    create: async (title) => (await call<{ id: string }>("POST", "/session", title ? { title } : {})).id,
    turn: async (session, text, prompt) => {
      const from = events.length
      await promptAsync(session, text, prompt)
      // an earlier idle belongs to the last turn: OpenCode sends it twice after an error or an abort
      const busy = await event((one) => isStatus(one, session, "busy"), from)
      await idle(session, events.indexOf(busy))
    },
    messages: (session) => call("GET", `/session/${session}/message`),
    answer: (...more) => void replies.push(...more),
    close: () => closing.abort(),
  }
}

export function isStatus({ type, properties }: ServerEvent, session: string, status: string): boolean {
  const said = properties.status as { type?: string } | undefined
  return type === "session.status" && properties.sessionID === session && said?.type === status
}

/** The header a client sends for Basic auth; none without a password. */
export function authorization({ password, username = "opencode" }: Partial<ClientOptions>): Record<string, string> {
  if (password === undefined) return {}
  return { authorization: `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}` }
}

function at({ url, directory }: ClientOptions, path: string): URL {
  const target = new URL(path, url)
  target.searchParams.set("directory", directory)
  return target
}
