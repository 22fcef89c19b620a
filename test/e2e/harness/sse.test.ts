// Tests the reader of event streams, so that failures in the other tests of this folder are OpenCode's or the plugin's.

import { afterEach, expect, test } from "bun:test"
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import fc from "fast-check"
import { createParser, followStream, type Message, Refused } from "./sse.ts"

const STREAM =
  "\ufeff: a comment\r\nid: 1\r\nevent: one\r\ndata: naïve 試験 🙂\r\ndata: second line\r\n\r\n" +
  "data:no space\nretry: 70\n\ndata: \u2028 is no line end\rdata\r\rid: 2\ndata: last\n\nevent: nothing to say\n\ndata: cut off"

const MESSAGES: Message[] = [
  { id: "1", event: "one", data: "naïve 試験 🙂\nsecond line" },
  { id: "1", event: "message", data: "no space" },
  { id: "1", event: "message", data: "\u2028 is no line end\n" },
  { id: "2", event: "message", data: "last" },
]

function parse(chunks: Iterable<Uint8Array>): Message[] {
  const heard: Message[] = []
  const feed = createParser((message) => heard.push(message))
  for (const chunk of chunks) feed(chunk)
  return heard
}

test("a stream in one piece is read as its messages", () => {
  expect(parse([new TextEncoder().encode(STREAM)])).toEqual(MESSAGES)
})

test("the messages are the same wherever it is cut, even inside characters and line ends", () => {
  const bytes = new TextEncoder().encode(STREAM)
  fc.assert(
    fc.property(fc.array(fc.nat(bytes.length), { maxLength: 40 }), (cuts) => {
      const at = [0, ...cuts.toSorted((a, b) => a - b), bytes.length]
      expect(parse(at.slice(1).map((end, i) => bytes.subarray(at[i], end)))).toEqual(MESSAGES)
    }),
  )
  expect(parse(Array.from(bytes, (byte) => Uint8Array.of(byte)))).toEqual(MESSAGES)
})

let server: Server | undefined
afterEach(() => {
  server?.closeAllConnections()
  server?.close()
})

/** Answers each connection with the next of these: a status, or a stream that then ends. */
async function answering(answers: (number | string)[], lastIDs: unknown[] = []): Promise<string> {
  const made = createServer(({ headers }, response) => {
    lastIDs.push(headers["last-event-id"])
    const answer = answers.shift() ?? 200
    if (typeof answer === "number") return void response.writeHead(answer).end()
    response.writeHead(200, { "content-type": "text/event-stream" }).end(answer)
  })
  server = made
  await new Promise<void>((resolve) => made.listen(0, "127.0.0.1", resolve))
  return `http://127.0.0.1:${(made.address() as AddressInfo).port}`
}

test("a stream that ends is reopened with the last id; the wait doubles and is reset after a message", async () => {
  const lastIDs: unknown[] = []
  const url = await answering(["id: 7\ndata: a\n\n", 503, 503, "data: b\n\n", 503, "data: c\n\n"], lastIDs)
  const heard: string[] = []
  const waits: number[] = []
  const done = new AbortController()
  await followStream({
    url,
    signal: done.signal,
    hear: ({ data }) => {
      heard.push(data)
      if (data === "c") done.abort()
    },
    lost: (waitMs) => waits.push(waitMs),
    backoffMs: [1, 8],
  })
  expect(heard).toEqual(["a", "b", "c"])
  expect(waits).toEqual([1, 2, 4, 1, 2])
  expect(lastIDs).toEqual([undefined, "7", "7", "7", "7", "7"])
})

test("a server that refuses the client is not asked again", async () => {
  const url = await answering([401, "data: a\n\n"])
  const refused = followStream({ url, signal: new AbortController().signal, hear: () => {}, backoffMs: [1, 1] })
  const cause = await refused.catch((failure: unknown) => failure)
  expect(cause).toBeInstanceOf(Refused)
  expect((cause as Refused).status).toBe(401)
})
