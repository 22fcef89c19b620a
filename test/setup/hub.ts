// A fake model hub: a server that describes files and redirects downloads to a storage on another host. Tests can inject
// faults. Records all requests.

import { createHash } from "node:crypto"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"

export type Faults = {
  /** the storage ignores range headers */
  ignoresRanges?: boolean
  /** status and reason of every answer of the hub */
  refuses?: { status: number; reason?: string }
  /** the hub sends a web page, with status 200, instead of a file */
  sendsPage?: boolean
  /** the storage sends these bytes instead of the file's */
  sendsInstead?: Buffer
  /** the hub does not report size and checksum */
  saysNothing?: boolean
  /** the storage waits for this after the first half */
  halfway?: Promise<void>
}

export type Asked = { server: "hub" | "storage"; method: string; path: string; authorization?: string; range?: string }

export type Hub = {
  url: string
  faults: Faults
  asked: Asked[]
  /** Cuts every connection to the storage. */
  cut(): void
  close(): Promise<void>
}

/** The keys of `files` are `owner/repository/file`. */
export async function startHub(files: Readonly<Record<string, Buffer>>, faults: Faults = {}): Promise<Hub> {
  const asked: Asked[] = []
  const hub: Hub = { url: "", faults, asked, cut: () => storage.closeAllConnections(), close: async () => {} }
  const note = (server: Asked["server"], { method = "", url = "", headers }: IncomingMessage) => {
    const { authorization, range } = headers
    asked.push({ server, method, path: url, ...(authorization ? { authorization } : {}), ...(range ? { range } : {}) })
  }
  const storage = createServer((request, response) => {
    note("storage", request)
    const file = hub.faults.sendsInstead ?? files[decodeURIComponent(request.url ?? "").slice(1)]
    if (!file) return void response.writeHead(404).end()
    void send(file, request, response, hub.faults)
  })
  // on another host than the hub, as in reality
  const storageUrl = `http://localhost:${await listen(storage, "localhost")}`
  const front = createServer((request, response) => {
    note("hub", request)
    answer(request, response, files, hub.faults, storageUrl)
  })
  hub.url = `http://127.0.0.1:${await listen(front, "127.0.0.1")}`
  hub.close = async () => {
    for (const server of [front, storage]) {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    }
  }
  return hub
}

function answer(
  { url = "", method }: IncomingMessage,
  response: ServerResponse,
  files: Readonly<Record<string, Buffer>>,
  faults: Faults,
  storageUrl: string,
): void {
  const { refuses, sendsPage, saysNothing } = faults
  if (refuses) {
    return void response.writeHead(refuses.status, refuses.reason ? { "x-error-code": refuses.reason } : {}).end()
  }
  const [, repository, file] = /^\/([^/]+\/[^/]+)\/resolve\/[^/]+\/(.+)$/.exec(url) ?? []
  const listed = /^\/api\/models\/([^/]+\/[^/]+)\/tree\//.exec(url)?.[1]
  if (listed) {
    const tree = Object.keys(files)
      .filter((name) => name.startsWith(`${listed}/`))
      .map((name) => ({ type: "file", path: name.slice(listed.length + 1), size: files[name]?.length }))
    return void response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(tree))
  }
  const key = `${repository}/${decodeURIComponent(file ?? "")}`
  const content = files[key]
  if (!content) return void response.writeHead(404, { "x-error-code": "EntryNotFound" }).end()
  if (sendsPage && method === "GET") {
    return void response.writeHead(200, { "content-type": "text/html" }).end("<!doctype html><title>Log in</title>")
  }
  const linked = { "x-linked-size": `${content.length}`, "x-linked-etag": `"${sha256(content)}"` }
  response.writeHead(302, { location: `${storageUrl}/${key}`, ...(saysNothing ? {} : linked) }).end()
}

async function send(file: Buffer, request: IncomingMessage, response: ServerResponse, faults: Faults): Promise<void> {
  const from = faults.ignoresRanges ? 0 : Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? "")?.[1] ?? 0)
  if (from >= file.length) return void response.writeHead(416).end()
  const rest = file.subarray(from)
  const range = { "content-range": `bytes ${from}-${file.length - 1}/${file.length}` }
  response.writeHead(from > 0 ? 206 : 200, {
    "content-length": rest.length,
    "content-type": "application/octet-stream",
    ...(from > 0 ? range : {}),
  })
  if (!faults.halfway) return void response.end(rest)
  const half = Math.floor(rest.length / 2)
  response.write(rest.subarray(0, half))
  await faults.halfway
  response.end(rest.subarray(half))
}

async function listen(server: ReturnType<typeof createServer>, host: string): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, host, resolve))
  return (server.address() as AddressInfo).port
}

export function sha256(content: Buffer): string {
  return createHash("sha256").update(content).digest("hex")
}

/** Bytes that begin like a model; unique for each seed. */
export function modelBytes(sizeBytes: number, seed = 1): Buffer {
  const bytes = Buffer.alloc(sizeBytes)
  let state = seed
  for (let at = 0; at < sizeBytes; at++) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    bytes[at] = state >>> 24
  }
  bytes.write("GGUF", 0, "latin1")
  bytes.writeUInt32LE(3, 4)
  return bytes
}
