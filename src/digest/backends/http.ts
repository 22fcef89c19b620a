// The address of an OpenAI-compatible server, and one HTTP request to it. A request to this machine goes over a plain
// socket, because Bun's fetch sends even requests to 127.0.0.1 through HTTP_PROXY. Up to 1.3.14 (OpenCode's version) so
// does its node:http, regardless of `proxy: false` or a NO_PROXY set at run time. Redirects are not followed.

import { addAbortListener } from "node:events"
import { connect } from "node:net"
import { errorMessage } from "../../system/values.ts"
import { BackendError } from "./backend.ts"

export type Address = ReturnType<typeof readAddress>

/**
 * Reads `digest.openai.url`. Only `localhost`, 127.0.0.0/8 and ::1 over http count as local; any other name is remote,
 * whatever it resolves to. The default path is `/v1`. Throws a `BackendError` OFF.
 */
export function readAddress(text: string, allowRemote: boolean) {
  const off = (what: string) => new BackendError("OFF", `digest.openai.url: ${what}`)
  const base = URL.canParse(text) ? new URL(text) : undefined
  if (!base || (base.protocol !== "http:" && base.protocol !== "https:"))
    throw off("expected the http or https URL of a server, such as http://127.0.0.1:11434/v1")
  if (base.username || base.password) throw off("contains a user or password; put the key in digest.openai.apiKey")
  const isHere = isLoopback(base.hostname)
  // https requests use fetch, which sends them to a proxy if one is set, whatever their address
  const local = isHere && base.protocol === "http:"
  if (base.hostname === "0.0.0.0" || base.hostname === "[::]")
    throw off(`${base.hostname} is an address to listen on; to reach a server on this machine, write 127.0.0.1`)
  if (!local && !allowRemote) {
    const why = isHere
      ? `https requests go through a proxy if one is set, even to this machine; write http://${base.host}, or`
      : `${base.hostname} is not this machine's own address (localhost, 127.0.0.1, [::1]), and tool outputs would be sent there;`
    throw off(`${why} set digest.openai.allowRemote if this is intended`)
  }
  const path = base.pathname === "/" ? "/v1" : base.pathname.replace(/\/+$/, "")
  // assigned rather than resolved: a path that starts with two slashes would resolve to another host
  const below = (name: string) => Object.assign(new URL(base), { pathname: `${path}/${name}`, search: "", hash: "" })
  /** `local`: it is certainly this machine */
  return { local, chat: below("chat/completions"), models: below("models") }
}

/** `hostname` as normalized by URL: lower case, IPv4 in four decimal parts, IPv6 in its shortest form and in brackets. */
export function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(hostname)
}

/** `local`: it is http to this machine; `body`: it is a POST. */
type HttpRequest = { url: URL; local: boolean; headers: Readonly<Record<string, string>>; body?: string | undefined }

export type HttpReply = { status: number; text: string }

/** A digest takes hundreds of bytes, a list of models thousands. */
const MAX_BYTES = 1024 * 1024

/**
 * Rejects with the signal's reason or a `BackendError`: UNAVAILABLE if there is no answer, TIMEOUT if that to
 * a body ends too early, BAD_ANSWER if it is not HTTP.
 */
export async function exchange(request: HttpRequest, signal: AbortSignal): Promise<HttpReply> {
  signal.throwIfAborted()
  try {
    return await (request.local ? overSocket : overFetch)(request, signal)
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof BackendError) throw error
    throw new BackendError("UNAVAILABLE", `no server answers at ${request.url.origin} (${errorMessage(error)})`, {
      cause: error,
    })
  }
}

async function overFetch({ url, headers, body }: HttpRequest, signal: AbortSignal): Promise<HttpReply> {
  const init = { headers, signal, redirect: "manual" as const }
  const reply = await fetch(url, body === undefined ? init : { ...init, method: "POST", body })
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of reply.body ?? []) {
    size += chunk.length
    if (size > MAX_BYTES) throw tooLong(url)
    chunks.push(chunk)
  }
  return { status: reply.status, text: Buffer.concat(chunks).toString("utf8") }
}

/** `localhost` is not looked up, so that it is this machine whatever the resolver says. */
async function overSocket(request: HttpRequest, signal: AbortSignal): Promise<HttpReply> {
  const { hostname } = request.url
  if (hostname !== "localhost") return talk(request, hostname.replace(/^\[|\]$/g, ""), signal)
  try {
    return await talk(request, "127.0.0.1", signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ECONNREFUSED") throw error
    return talk(request, "::1", signal)
  }
}

async function talk({ url, headers, body }: HttpRequest, host: string, signal: AbortSignal): Promise<HttpReply> {
  const content = Buffer.from(body ?? "")
  const head = [
    `${body === undefined ? "GET" : "POST"} ${url.pathname}${url.search} HTTP/1.1`,
    `host: ${url.host}`,
    "connection: close",
    "accept-encoding: identity",
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value.replace(/[\r\n]+/g, " ")}`),
    `content-length: ${content.length}`,
  ]
  const socket = connect({ host, port: Number(url.port || 80) })
  using _ = addAbortListener(signal, () => socket.destroy(signal.reason))
  socket.write(Buffer.concat([Buffer.from(`${head.join("\r\n")}\r\n\r\n`), content]))
  let received: Buffer = Buffer.alloc(0)
  try {
    for await (const chunk of socket) {
      received = Buffer.concat([received, chunk as Buffer])
      if (received.length > MAX_BYTES) throw tooLong(url)
      const reply = readReply(received, false)
      if (reply) return reply
    }
  } finally {
    socket.destroy()
  }
  const reply = readReply(received, true)
  if (reply) return reply
  const what = `${url.origin} closed the connection before its answer was complete`
  // with a body perhaps because of the document
  throw body === undefined ? new Error(what) : new BackendError("TIMEOUT", what)
}

function tooLong(url: URL): BackendError {
  return new BackendError("BAD_ANSWER", `${url.origin} answered with more than ${MAX_BYTES / 1024} kB`)
}

/** The reply, or undefined while it is incomplete. Throws if it is malformed. */
function readReply(received: Buffer, over: boolean): HttpReply | undefined {
  const headEnd = received.indexOf("\r\n\r\n")
  if (headEnd < 0) return
  const [first = "", ...lines] = received.toString("latin1", 0, headEnd).split("\r\n")
  const status = /^HTTP\/1\.[01] (\d{3})/.exec(first)?.[1]
  if (status === undefined) throw new BackendError("BAD_ANSWER", `the answer is not HTTP: ${first.slice(0, 60)}`)
  const body = received.subarray(headEnd + 4)
  // an interim response precedes the actual one
  if (status.startsWith("1")) return readReply(body, over)
  const field = (name: string) =>
    lines.find((line) => line.toLowerCase().startsWith(`${name}:`))?.slice(name.length + 1)
  const length = field("content-length")
  let content = over ? body : undefined
  if (length !== undefined) content = body.length >= Number(length) ? body.subarray(0, Number(length)) : undefined
  if (/\bchunked\b/i.test(field("transfer-encoding") ?? "")) content = readChunks(body)
  return content && { status: Number(status), text: content.toString("utf8") }
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
