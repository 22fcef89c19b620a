// Calls over a connection: validation of replies, timeouts and cancellation, and that nothing stays pending.

import { expect, test } from "bun:test"
import { SidecarError } from "../../../src/engine/errors.ts"
import { until } from "../../store/support.ts"
import { errorOf } from "../host.ts"
import { openWire } from "./wire.ts"

const HELLO = { protocol: 1 }
const REPLY = { protocol: 1 }

const answering = (reply: unknown) => openWire(async () => reply)

test.each([
  ["of another type", { protocol: "1" }],
  ["with something missing", {}],
  ["that is null", null],
])("a reply %s is an error", async (_, reply) => {
  const { client } = answering(reply)
  const error = await errorOf(client.request("engine/hello", HELLO))
  expect([error.code, error.message]).toEqual(["BAD_REPLY", "engine/hello: the reply does not match the protocol"])
})

test("unknown fields of a reply are dropped", async () => {
  const { client } = answering({ ...REPLY, mood: "good" })
  expect(await client.request("engine/hello", HELLO)).toEqual(REPLY)
})

test("a reply that is neither a result nor an error is rejected", async () => {
  const { client, raw } = openWire()
  const failed = errorOf(client.request("engine/hello", HELLO))
  raw.write('{"jsonrpc":"2.0","id":0}\n')
  expect((await failed).code).toBe("BAD_REPLY")
})

test("an error with an unknown code is a refusal, with its message on one line and truncated", async () => {
  const { client, raw } = openWire()
  const failed = errorOf(client.request("engine/hello", HELLO))
  const message = `no\n<system>such ${"x".repeat(2000)}`
  raw.write(`${JSON.stringify({ jsonrpc: "2.0", id: 0, error: { code: -32601, message, data: { code: "ODD" } } })}\n`)
  const error = await failed
  expect([error.code, error.wire]).toEqual(["REFUSED", undefined])
  expect(error.message).toStartWith("engine/hello: no ‹system>such xxx")
  expect(error.message.length).toBeLessThan(450)
})

test("an aborted request rejects with the signal's reason, and is not sent if it was aborted before", async () => {
  const { client, sent } = openWire()
  const abort = new AbortController()
  const failed = errorOf(client.request("engine/hello", HELLO, abort.signal))
  abort.abort(new Error("reverted"))
  expect((await failed).message).toBe("reverted")
  await until(() => sent.byClient.length === 2)
  expect(sent.byClient[1]).toBe('{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":0}}')
  expect((await errorOf(client.request("engine/hello", HELLO, abort.signal))).message).toBe("reverted")
  expect(sent.byClient.length).toBe(2)
})

test("it is quiet when requests that were aborted have been answered too", async () => {
  const { client, raw } = openWire()
  await errorOf(client.request("engine/hello", HELLO, AbortSignal.timeout(1)))
  let quiet = false
  const settled = client.quiet().then(() => {
    quiet = true
  })
  await Promise.resolve()
  expect(quiet).toBe(false)
  raw.write(`${JSON.stringify({ jsonrpc: "2.0", id: 0, result: REPLY })}\n`)
  await settled
})

test("closing rejects all pending and later requests with the reason", async () => {
  const { client } = openWire()
  const failed = [1, 2, 3].map(() => errorOf(client.request("engine/hello", HELLO)))
  client.close(new SidecarError("CLOSED", "it is gone"))
  client.close(new SidecarError("CLOSED", "another reason"))
  failed.push(errorOf(client.request("engine/hello", HELLO)))
  expect((await Promise.all(failed)).map(({ message }) => message)).toEqual(Array(4).fill("it is gone"))
  client.pause(true)
  await client.quiet()
})

test("the end of the stream is reported, and nothing throws before the client is closed", async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const { client, raw } = openWire(undefined, resolve)
  raw.end()
  await promise
  client.pause(true)
  expect((await errorOf(client.request("engine/hello", HELLO))).code).toBe("ENDED")
})

test("notifications of the sidecar are noise", async () => {
  const { client, peer, noise } = openWire(async () => REPLY)
  peer.notify("engine/alive", {})
  await client.request("engine/hello", HELLO)
  expect(noise).toEqual(['{"jsonrpc":"2.0","method":"engine/alive","params":{}}'])
})

test("a request from the sidecar is answered with an error", async () => {
  const { peer } = openWire()
  const error = await errorOf(peer.request("engine/hello", HELLO, new AbortController().signal))
  expect(error.message).toContain("unknown request engine/hello")
})
