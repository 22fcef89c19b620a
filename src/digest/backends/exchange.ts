// One HTTP request and its reply. What is sent to this machine goes over a socket of its own: the fetch of Bun hands
// requests to 127.0.0.1 to HTTP_PROXY like any other, and so does its node:http up to 1.3.14 (OpenCode's), where neither
// `proxy: false` nor a NO_PROXY set while it runs has an effect. No redirect is followed.

import { connect } from "node:net"
import { BackendError } from "./backend.ts"

export type Request = {
  url: URL
  /** local: http on this machine */
  local: boolean
  method: "GET" | "POST"
  headers: Readonly<Record<string, string>>
  body?: string
}

export type Reply = { status: number; text: string }

/** A digest is some hundred bytes, a list of models some thousand. */
const MOST_BYTES = 1024 * 1024

/** Rejects with the signal's reason, or a `BackendError`: UNAVAILABLE when unreachable, BAD_ANSWER when it is no HTTP. */
export async function exchange(request: Request, signal: AbortSignal): Promise<Reply> {
  signal.throwIfAborted()
  try {
    return await (request.local && request.url.protocol === "http:" ? overSocket : overFetch)(request, signal)
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof BackendError) throw error
    const reason = error instanceof Error ? error.message : String(error)
    throw new BackendError("UNAVAILABLE", `no server answers at ${request.url.origin} (${reason})`, { cause: error })
  }
}

async function overFetch({ url, method, headers, body }: Request, signal: AbortSignal): Promise<Reply> {
  const init = { method, headers, signal, redirect: "manual" as const }
  const reply = await fetch(url, body === undefined ? init : { ...init, body })
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of reply.body ?? []) {
    size += chunk.length
    if (size > MOST_BYTES) throw tooLong(url)
    chunks.push(chunk)
  }
  return { status: reply.status, text: Buffer.concat(chunks).toString("utf8") }
}

/** `localhost` is not looked up, so that it is this machine whatever a resolver says. */
async function overSocket(request: Request, signal: AbortSignal): Promise<Reply> {
  const { hostname } = request.url
  if (hostname !== "localhost") return talk(request, hostname.replace(/^\[|\]$/g, ""), signal)
  try {
    return await talk(request, "127.0.0.1", signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ECONNREFUSED") throw error
    return talk(request, "::1", signal)
  }
}

function talk({ url, method, headers, body = "" }: Request, host: string, signal: AbortSignal): Promise<Reply> {
  const content = Buffer.from(body)
  const head = [
    `${method} ${url.pathname}${url.search} HTTP/1.1`,
    `host: ${url.host}`,
    "connection: close",
    "accept-encoding: identity",
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value.replace(/[\r\n]+/g, " ")}`),
    `content-length: ${content.length}`,
  ]
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port: Number(url.port || 80) })
    let received: Buffer = Buffer.alloc(0)
    const end = (settle: () => void) => {
      signal.removeEventListener("abort", onAbort)
      socket.destroy()
      settle()
    }
    const fail = (error: unknown) => end(() => reject(error))
    const onAbort = () => fail(signal.reason)
    /** `over`: nothing more will come. */
    const read = (over: boolean) => {
      try {
        const reply = readReply(received, over)
        if (reply) end(() => resolve(reply))
        else if (over) fail(new Error("the connection was closed before the answer was complete"))
      } catch (error) {
        fail(error)
      }
    }
    signal.addEventListener("abort", onAbort, { once: true })
    socket.on("connect", () => socket.write(Buffer.concat([Buffer.from(`${head.join("\r\n")}\r\n\r\n`), content])))
    socket.on("data", (chunk: Buffer) => {
      received = Buffer.concat([received, chunk])
      if (received.length > MOST_BYTES) fail(tooLong(url))
      else read(false)
    })
    socket.on("end", () => read(true))
    socket.on("close", () => read(true))
    socket.on("error", fail)
  })
}

function tooLong(url: URL): BackendError {
  return new BackendError("BAD_ANSWER", `${url.origin} answered with more than ${MOST_BYTES / 1024} kB`)
}

/** The reply, `undefined` while it is not complete. Throws when it cannot become one. */
function readReply(received: Buffer, over: boolean): Reply | undefined {
  const headEnd = received.indexOf("\r\n\r\n")
  if (headEnd < 0) return
  const [first = "", ...lines] = received.toString("latin1", 0, headEnd).split("\r\n")
  const status = /^HTTP\/1\.[01] (\d{3})/.exec(first)?.[1]
  if (status === undefined)
    throw new BackendError("BAD_ANSWER", `what answers is no HTTP server: ${first.slice(0, 60)}`)
  const body = received.subarray(headEnd + 4)
  // a reply of this sort comes before the one that is meant
  if (status.startsWith("1")) return readReply(body, over)
  const field = (name: string) =>
    lines.find((line) => line.toLowerCase().startsWith(`${name}:`))?.slice(name.length + 1)
  const length = field("content-length")
  const content = /\bchunked\b/i.test(field("transfer-encoding") ?? "")
    ? readChunks(body)
    : length !== undefined
      ? body.length >= Number(length) && body.subarray(0, Number(length))
      : over && body
  return content ? { status: Number(status), text: content.toString("utf8") } : undefined
}

function readChunks(body: Buffer): Buffer | undefined {
  const chunks: Buffer[] = []
  for (let at = 0; ; ) {
    const lineEnd = body.indexOf("\r\n", at)
    if (lineEnd < 0) return
    const size = Number.parseInt(body.toString("latin1", at, lineEnd), 16)
    if (!(size >= 0)) throw new BackendError("BAD_ANSWER", "the server's answer is broken: a chunk without a size")
    if (size === 0) return Buffer.concat(chunks)
    at = lineEnd + 2 + size + 2
    if (at > body.length) return
    chunks.push(body.subarray(lineEnd + 2, lineEnd + 2 + size))
  }
}
