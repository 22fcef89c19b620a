// The golden corpus: all messages as they go over the wire. What the client and a connection like the sidecar's write is
// compared with it byte for byte, so that the wire cannot change unless these files do.

import { describe, expect, test } from "bun:test"
import { SidecarError } from "../../../src/engine/errors.ts"
import {
  ERROR_CODES,
  errorDataSchema,
  NOTIFICATIONS,
  REQUESTS,
  type RequestName,
} from "../../../src/engine/wire/messages.ts"
import { ReplyError } from "../../../src/engine/wire/peer.ts"
import { until } from "../../store/support.ts"
import { type Golden, goldens, openWire, type WireMessage } from "./wire.ts"

const all = goldens.flatMap((golden) => golden.messages)
const requests = goldens.flatMap(({ messages }) =>
  messages.flatMap((message) =>
    message.method !== undefined && message.id !== undefined
      ? [{ ...message, name: message.method as RequestName, reply: replyTo(message.id, messages) }]
      : [],
  ),
)
const notices = all.filter(({ id, method }) => id === undefined && method !== "$/cancelRequest")

function replyTo(id: number, messages: readonly WireMessage[]): WireMessage | undefined {
  return messages.find((message) => message.id === id && message.method === undefined)
}

describe("the corpus", () => {
  test.each(Object.keys(REQUESTS))("has a %s and its reply", (name) => {
    expect(requests.some((request) => request.name === name && request.reply?.result !== undefined)).toBe(true)
  })

  test.each(Object.keys(NOTIFICATIONS))("has a %s", (name) => {
    expect(notices.some(({ method }) => method === name)).toBe(true)
  })

  test.each([...ERROR_CODES])("has an error with the code %s", (code) => {
    expect(all.some(({ error }) => errorDataSchema.safeParse(error?.data).data?.code === code)).toBe(true)
  })

  test("conforms to the schemas", () => {
    for (const { name, params, reply } of requests) {
      expect(REQUESTS[name].params.parse(params)).toEqual(params as never)
      if (reply?.result !== undefined) expect(REQUESTS[name].result.parse(reply.result)).toEqual(reply.result as never)
    }
    for (const { method, params } of notices)
      expect(NOTIFICATIONS[method as keyof typeof NOTIFICATIONS].parse(params)).toEqual(params as never)
  })
})

test.each(goldens.map((golden) => [golden.file, golden] as const))(
  "%s is what goes over the wire",
  async (_, golden) => {
    const wire = openWire(answersOf(golden))
    const outcomes = await play(golden, wire)
    const fromClient = (message: WireMessage) => message.method !== undefined
    const linesOf = (claim: (message: WireMessage) => boolean) =>
      golden.lines.filter((_, n) => claim(golden.messages[n] as WireMessage))
    expect(wire.sent.byClient).toEqual(linesOf(fromClient))
    expect(wire.sent.byPeer).toEqual(linesOf((message) => !fromClient(message)))
    const replies = golden.messages.filter(({ method, id }) => method === undefined && id !== undefined)
    expect(outcomes).toEqual(replies.map(outcomeOf))
    expect(wire.paused).toEqual(
      golden.messages.flatMap(({ method, params }) => (method === "engine/pause" ? [(params as Paused).paused] : [])),
    )
    expect(wire.noise).toEqual([])
  },
)

type Paused = { paused: boolean }

/** Answers the requests of the file as it does, in their order. */
function answersOf({ messages }: Golden): Parameters<typeof openWire>[0] {
  const asked = messages.filter(({ id, method }) => id !== undefined && method !== undefined)
  let answered = 0
  return async (_params, signal) => {
    const reply = replyTo(asked[answered++]?.id ?? -1, messages)
    if (isCancelled(messages)) await new Promise((resolve) => signal.addEventListener("abort", resolve))
    if (!reply?.error) return reply?.result
    throw new ReplyError(reply.error.code, reply.error.message, reply.error.data)
  }
}

const isCancelled = (messages: readonly WireMessage[]) => messages.some(({ method }) => method === "$/cancelRequest")

/** Sends the messages of the file from both ends, and returns the outcomes of the client's requests. */
async function play({ messages }: Golden, { client, sent }: ReturnType<typeof openWire>): Promise<unknown[]> {
  const outcomes: unknown[] = []
  for (const { method, id, params } of messages) {
    if (method === undefined || method === "$/cancelRequest") continue
    if (id !== undefined) {
      const abort = new AbortController()
      const outcome = client.request(method as RequestName, params as never, abort.signal).then(
        (result) => ({ result }),
        (error: unknown) => (error instanceof SidecarError ? { code: error.code, wire: error.wire } : error),
      )
      if (isCancelled(messages)) abort.abort("given up")
      outcomes.push(await outcome)
    } else client.pause((params as Paused).paused)
  }
  await client.quiet()
  await until(() => sent.byClient.length + sent.byPeer.length >= messages.length)
  return outcomes
}

function outcomeOf({ result, error }: WireMessage): unknown {
  if (error === undefined) return { result }
  const data = errorDataSchema.safeParse(error.data)
  // for the client a cancelled request ends before it is answered
  return data.success ? { code: "REFUSED", wire: data.data.code } : "given up"
}
