// `opencode serve` and a client for the part of its HTTP interface that the demo and the tests use.

import { type ChildProcess, spawn } from "node:child_process"
import type { AddressInfo } from "node:net"
import { createServer } from "node:net"
import { killChild, ownChild, stopChild } from "./owned.ts"
import type { StoredMessage } from "./stored.ts"

const READY_MS = 120_000
const START_ATTEMPTS = 3

export type Asked = {
  /** `provider/model`; the configured default when absent */
  model?: string
  agent?: string
  signal?: AbortSignal
}

export type HostEvent = { directory: string; type: string; properties: Record<string, unknown> }

export type Call = {
  body?: unknown
  /** the project; by default the one the server was started in */
  directory?: string | undefined
  signal?: AbortSignal | undefined
}

export type Client = {
  readonly url: string
  /** stdout and stderr together */
  printed(): string
  /** every event since the start, of all directories, oldest first */
  readonly events: readonly HostEvent[]
  /** Any endpoint. Rejects on an HTTP error, with the response's text. */
  call<T = unknown>(method: string, path: string, call?: Call): Promise<T>
  /** Creates a session and resolves with its id. The client remembers the session's directory. */
  create(options?: { directory?: string; title?: string }): Promise<string>
  /** Sends a prompt and resolves with the last assistant message when the turn is over. */
  prompt(session: string, text: string, asked?: Asked): Promise<StoredMessage>
  /** Sends a prompt without waiting for the turn. */
  promptAsync(session: string, text: string, asked?: Asked): Promise<void>
  messages(session: string): Promise<StoredMessage[]>
  title(session: string): Promise<string>
  abort(session: string): Promise<void>
  /** Compacts a session with a model, and resolves when it is done. */
  summarize(session: string, model: string): Promise<void>
  children(session: string): Promise<string[]>
  /** Reverts everything from this message on. */
  revert(session: string, message: string): Promise<void>
  /** A copy of the session, up to this message when given; resolves with its id. */
  fork(session: string, message?: string): Promise<string>
  remove(session: string): Promise<void>
  /** The first matching event, past or future, from position `from` in `events`; rejects after the deadline. */
  event(matches: (event: HostEvent) => boolean, options?: { from?: number; deadlineMs?: number }): Promise<HostEvent>
  /** Resolves when the session's turn is over, counted from position `from` in `events`. */
  idle(session: string, from?: number): Promise<void>
  /** Kills the server, which can save nothing; what was called and is not answered rejects. */
  kill(): Promise<void>
  close(): Promise<void>
}

/** Starts a server, with a password if `env` has one, and waits until it is ready. Rejects with its output when it is not. */
export async function startServer(opencode: string, directory: string, env: Record<string, string>): Promise<Client> {
  for (let attempt = 1; ; attempt++) {
    const port = await freePort()
    const child = ownChild(
      spawn(opencode, ["serve", "--port", String(port), "--hostname", "127.0.0.1"], {
        cwd: directory,
        env,
        stdio: ["ignore", "pipe", "pipe"],
        detached: process.platform !== "win32",
      }),
    )
    try {
      const printed = await ready(child)
      return await connect(`http://127.0.0.1:${port}`, child, printed, authorization(env))
    } catch (cause) {
      await stopChild(child)
      if (attempt === START_ATTEMPTS) throw cause
    }
  }
}

/** The header a client sends for Basic auth; none without a password. */
function authorization(env: Record<string, string>): Record<string, string> {
  const { OPENCODE_SERVER_PASSWORD: password, OPENCODE_SERVER_USERNAME: username } = env
  if (password === undefined) return {}
  return { authorization: `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}` }
}

async function connect(
  url: string,
  child: ChildProcess,
  printed: () => string,
  authorized: Record<string, string>,
): Promise<Client> {
  const events: HostEvent[] = []
  const watchers = new Set<() => void>()
  const directories = new Map<string, string>()
  const closing = new AbortController()
  await listen(`${url}/global/event`, { signal: closing.signal, headers: authorized }, (event) => {
    events.push(event)
    for (const watcher of watchers) watcher()
  })

  const call = async <T>(method: string, path: string, { body, directory, signal }: Call = {}): Promise<T> => {
    const target = new URL(path, url)
    if (directory) target.searchParams.set("directory", directory)
    const response = await fetch(target, {
      method,
      headers: { ...authorized, ...(body === undefined ? {} : { "content-type": "application/json" }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: signal ? AbortSignal.any([signal, closing.signal]) : closing.signal,
      // a prompt is answered when its turn ends, on a busy machine after more than Bun's five minutes
      timeout: false,
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`)
    return (text === "" ? undefined : JSON.parse(text)) as T
  }
  const of = <T>(method: string, session: string, path = "", rest: Call = {}) =>
    call<T>(method, `/session/${session}${path}`, { directory: directories.get(session), ...rest })
  const asking = (text: string, { model, agent, signal }: Asked): Call => ({
    body: {
      parts: [{ type: "text", text }],
      ...(model ? { model: modelOf(model) } : {}),
      ...(agent ? { agent } : {}),
    },
    signal,
  })
  const event: Client["event"] = (matches, { from = 0, deadlineMs = 120_000 } = {}) =>
    new Promise((resolve, reject) => {
      let at = from
      const look = () => {
        for (; at < events.length; at++) {
          const candidate = events[at] as HostEvent
          if (matches(candidate)) return settle(() => resolve(candidate))
        }
      }
      const settle = (end: () => void) => {
        clearTimeout(timer)
        watchers.delete(look)
        end()
      }
      const timer = setTimeout(() => {
        const seen = [...new Set(events.slice(from).map((it) => it.type))].join(", ")
        settle(() => reject(new Error(`no such event within ${deadlineMs} ms; seen since: ${seen}`)))
      }, deadlineMs)
      watchers.add(look)
      look()
    })

  return {
    url,
    printed,
    events,
    call,
    event,
    create: async ({ directory, title } = {}) => {
      const { id } = await call<{ id: string }>("POST", "/session", { body: title ? { title } : {}, directory })
      if (directory) directories.set(id, directory)
      return id
    },
    prompt: (session, text, asked = {}) => of("POST", session, "/message", asking(text, asked)),
    promptAsync: (session, text, asked = {}) => of("POST", session, "/prompt_async", asking(text, asked)),
    messages: (session) => of("GET", session, "/message"),
    title: async (session) => (await of<{ title: string }>("GET", session)).title,
    abort: (session) => of("POST", session, "/abort"),
    summarize: (session, model) => of("POST", session, "/summarize", { body: modelOf(model) }),
    children: async (session) => (await of<{ id: string }[]>("GET", session, "/children")).map((child) => child.id),
    revert: (session, messageID) => of("POST", session, "/revert", { body: { messageID } }),
    fork: async (session, messageID) => {
      const { id } = await of<{ id: string }>("POST", session, "/fork", { body: messageID ? { messageID } : {} })
      const directory = directories.get(session)
      if (directory) directories.set(id, directory)
      return id
    },
    remove: (session) => of("DELETE", session),
    idle: async (session, from = 0) => {
      await event((it) => it.type === "session.idle" && it.properties.sessionID === session, { from })
    },
    kill: async () => {
      closing.abort()
      await killChild(child)
    },
    close: async () => {
      closing.abort()
      await stopChild(child)
    },
  }
}

function modelOf(model: string): { providerID: string; modelID: string } {
  const slash = model.indexOf("/")
  return { providerID: model.slice(0, slash), modelID: model.slice(slash + 1) }
}

/** A free port. OpenCode takes port 0 for "4096 if free", on which two servers would collide. */
function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once("error", reject).listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })
}

/**
 * Resolves when `opencode serve` says that it listens, with a function that returns its output; rejects with that when it exits
 * or times out before.
 */
function ready(child: ChildProcess): Promise<() => string> {
  return new Promise((resolve, reject) => {
    let printed = ""
    const fail = (reason: string) => reject(new Error(`opencode serve ${reason}; it printed: ${printed.trim()}`))
    const timer = setTimeout(() => fail(`was not ready within ${READY_MS} ms`), READY_MS)
    const read = (chunk: Buffer) => {
      printed += chunk.toString("utf8")
      if (!printed.includes("listening on")) return
      clearTimeout(timer)
      resolve(() => printed)
    }
    // Both are read to the end: a full pipe would block the server.
    child.stdout?.on("data", read)
    child.stderr?.on("data", read)
    child.once("error", reject)
    child.once("exit", (code) => {
      clearTimeout(timer)
      fail(`ended with ${code}`)
    })
  })
}

/** Reads the event stream until aborted; resolves with the first event, when the connection is established. */
async function listen(
  url: string,
  request: { signal: AbortSignal; headers: Record<string, string> },
  onEvent: (event: HostEvent) => void,
): Promise<void> {
  const response = await fetch(url, request)
  if (!response.body) throw new Error(`GET ${url} answered ${response.status} without a body`)
  const body = response.body
  await new Promise<void>((resolve, reject) => {
    const follow = async () => {
      const decoder = new TextDecoder()
      let rest = ""
      for await (const chunk of body) {
        const lines = (rest + decoder.decode(chunk as Uint8Array, { stream: true })).split("\n")
        rest = lines.pop() ?? ""
        for (const line of lines) {
          if (!line.startsWith("data:")) continue
          const { directory = "", payload } = JSON.parse(line.slice(5)) as { directory?: string; payload: HostEvent }
          onEvent({ directory, type: payload.type, properties: payload.properties ?? {} })
          resolve()
        }
      }
    }
    follow().catch((cause: unknown) => (request.signal.aborted ? resolve() : reject(cause)))
  })
}
