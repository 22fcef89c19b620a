// Calls over a connection: validation of replies, timeouts and cancellation, and that nothing stays pending.

import { expect, test } from "bun:test"
import { SidecarError } from "../../../src/engine/errors.ts"
import { until } from "../../store/support.ts"
import { errorOf } from "../host.ts"
import { openWire } from "./wire.ts"

const HELLO = { protocol: 1, version: "0.1.0" }
const REPLY = { protocol: 1, version: "0.1.0", runtime: "bun 1.3.14", pid: 4242 }

const answering = (reply: unknown) =>
  openWire(
    {},
    () => {},
    async () => reply,
  )

test.each([
  ["of another type", { ...REPLY, pid: "4242" }],
  ["with something missing", { protocol: 1 }],
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

test("a request without an answer in time is rejected and cancelled", async () => {
  const { client, sent } = openWire()
  const error = await errorOf(client.request("engine/hello", HELLO, { timeoutMs: 20 }))
  expect([error.code, error.message]).toEqual(["TIMEOUT", "engine/hello: no answer within 20 ms"])
  await until(() => sent.byClient.length === 2)
  expect(sent.byClient[1]).toBe('{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":0}}')
  expect(client.unanswered()).toBe(1)
})

test("an aborted request rejects with the signal's reason, and is not sent if it was aborted before", async () => {
  const { client, sent } = openWire()
  const abort = new AbortController()
  const failed = errorOf(client.request("engine/hello", HELLO, { signal: abort.signal }))
  abort.abort(new Error("reverted"))
  expect((await failed).message).toBe("reverted")
  await until(() => sent.byClient.length === 2)
  expect((await errorOf(client.request("engine/hello", HELLO, { signal: abort.signal }))).message).toBe("reverted")
  expect([sent.byClient.length, client.unanswered()]).toEqual([2, 1])
})

test("it is quiet when requests that timed out have been answered too", async () => {
  const { client, raw } = openWire()
  await errorOf(client.request("engine/hello", HELLO, { timeoutMs: 1 }))
  let quiet = false
  const settled = client.quiet().then(() => {
    quiet = true
  })
  await Promise.resolve()
  expect(quiet).toBe(false)
  raw.write(`${JSON.stringify({ jsonrpc: "2.0", id: 0, result: REPLY })}\n`)
  await settled
  expect(client.unanswered()).toBe(0)
})

test("closing rejects all pending and later requests with the reason", async () => {
  const { client } = openWire()
  const failed = [1, 2, 3].map(() => errorOf(client.request("engine/hello", HELLO)))
  client.close(new SidecarError("CLOSED", "it is gone"))
  client.close(new SidecarError("CLOSED", "another reason"))
  failed.push(errorOf(client.request("engine/hello", HELLO)))
  expect((await Promise.all(failed)).map(({ message }) => message)).toEqual(Array(4).fill("it is gone"))
  client.notify("engine/pause", { paused: true })
  await client.quiet()
})

test("the end of the stream is reported, and nothing throws before the client is closed", async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const { client, raw } = openWire({}, resolve)
  raw.end()
  await promise
  client.notify("engine/pause", { paused: true })
  expect((await errorOf(client.request("engine/hello", HELLO))).code).toBe("ENDED")
})

test("malformed, unknown and unhandled notifications are noise, and the first is kept", async () => {
  const heard: unknown[] = []
  const { client, peer } = openWire({ "engine/alive": (notice) => heard.push(notice) })
  const alive = { busy: true, rssBytes: 1 }
  for (const [name, params] of [
    ["engine/alive", { busy: "yes" }],
    ["engine/alive", [alive]],
    ["engine/alive", { ...alive, since: 1 }],
    ["engine/unheard-of", {}],
    ["engine/log", { level: "shout", message: "x" }],
    ["engine/log", { level: "info", message: "x" }],
  ] as const)
    peer.notify(name, params)
  await until(() => client.noise.lines === 4)
  expect(heard).toEqual([alive])
  expect(client.noise.first).toBe('{"jsonrpc":"2.0","method":"engine/alive","params":{"busy":"yes"}}')
})

test("a request from the sidecar is answered with an error", async () => {
  const { peer } = openWire()
  const error = await errorOf(peer.request("engine/hello", HELLO, new AbortController().signal))
  expect(error.message).toContain("unknown request engine/hello")
})
