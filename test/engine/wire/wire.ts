// The golden corpus, one file per message, and a pair of pipes with the real client at one end that records both
// directions.

import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { PassThrough } from "node:stream"
import { connectEngine } from "../../../src/engine/client.ts"
import { REQUESTS } from "../../../src/engine/wire/messages.ts"
import { openPeer } from "../../../src/engine/wire/peer.ts"

export type WireMessage = {
  jsonrpc: "2.0"
  id?: number
  method?: string
  params?: unknown
  result?: unknown
  error?: { code: number; message: string; data?: unknown }
}

export type Golden = { file: string; lines: string[]; messages: WireMessage[] }

const folder = join(import.meta.dir, "golden")

/** In the order on the wire; a message with `id` but without `method` is a reply. */
export const goldens: Golden[] = readdirSync(folder).map((file) => {
  const lines = readFileSync(join(folder, file), "utf8").trimEnd().split("\n")
  return { file, lines, messages: lines.map((line) => JSON.parse(line) as WireMessage) }
})

type Answer = (params: unknown, signal: AbortSignal) => Promise<unknown>

/** `answer`: how the sidecar's end answers every request. */
export function openWire(answer: Answer = () => new Promise(() => {}), onClose = () => {}) {
  const up = new PassThrough()
  const down = new PassThrough()
  /** the non-empty lines sent so far */
  const sent = { byClient: [] as string[], byPeer: [] as string[] }
  const noise: string[] = []
  const client = connectEngine(keep(down, sent.byPeer), up, (text) => noise.push(text), onClose)
  const paused: boolean[] = []
  const answers = Object.fromEntries(Object.keys(REQUESTS).map((name) => [name, answer]))
  const onNotice = (_: string, params: unknown) => paused.push((params as { paused: boolean }).paused) > 0
  const peer = openPeer(keep(up, sent.byClient), down, { answers, onNotice, onNoise() {}, onClose() {} })
  return {
    client,
    /** the sidecar's end */
    peer,
    /** what the sidecar's end was told of pauses */
    paused,
    /** lines that the client did not expect */
    noise,
    sent,
    /** for writing arbitrary bytes to the client */
    raw: down,
  }
}

function keep(stream: PassThrough, lines: string[]): PassThrough {
  const through = new PassThrough()
  let rest = ""
  stream.on("data", (chunk: Buffer) => {
    const pieces = (rest + chunk.toString("utf8")).split("\n")
    rest = pieces.pop() ?? ""
    lines.push(...pieces.filter((piece) => piece !== ""))
    through.write(chunk)
  })
  stream.on("end", () => through.end())
  return through
}
