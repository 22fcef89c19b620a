// Messages on streams that also carry other text, with arbitrary chunks.

import { expect, test } from "bun:test"
import { PassThrough } from "node:stream"
import fc from "fast-check"
import { openPeer } from "../../../src/engine/wire/peer.ts"

type Notice = { method: string; params: unknown }

/** The notifications and the noise in these chunks. */
async function read(chunks: readonly (Buffer | string)[]) {
  const input = new PassThrough()
  const messages: Notice[] = []
  const noise: string[] = []
  const closed = new Promise<void>((resolve) => {
    openPeer(input, new PassThrough(), {
      onNotice: (method, params) => messages.push({ method, params }) > 0,
      onNoise: (text) => noise.push(text),
      onClose: resolve,
    })
  })
  for (const chunk of chunks) input.write(chunk)
  input.end()
  await closed
  return { messages, noise }
}

/** A peer that only writes, and its output. */
function openWriter() {
  const output = new PassThrough()
  const chunks: Buffer[] = []
  output.on("data", (chunk: Buffer) => chunks.push(chunk))
  let closed = false
  const peer = openPeer(new PassThrough(), output, {
    onNoise() {},
    onClose() {
      closed = true
    },
  })
  return { output, peer, written: () => Buffer.concat(chunks), isClosed: () => closed }
}

const notice = (text: string): Notice => ({ method: "test", params: { text } })
const lineOf = (one: Notice) => JSON.stringify({ jsonrpc: "2.0", ...one })

/** The bytes, split at these places. */
function cutAt(bytes: Buffer, places: readonly number[]): Buffer[] {
  const sorted = [0, ...places.map((place) => place % (bytes.length + 1)), bytes.length].sort((a, b) => a - b)
  return sorted.slice(1).map((end, n) => bytes.subarray(sorted[n], end))
}

const text = fc.string({
  unit: fc.constantFrom("a", "é", "😀", "\u2028", "\u2029", "\u0085", "\n", "\r", "\\", '"', "{"),
})
const item = fc.oneof(
  text.map((inside) => ({ message: notice(inside), noise: undefined })),
  fc
    .constantFrom(
      ...["llama_load: 42%", "{", "{}", "[1]", "null", '"2.0"', "\u2028", '{"jsonrpc":"1.0"}', "ünï😀"],
      ...['{"jsonrpc":"2.0"}', '{"jsonrpc":"2.0","id":7,"result":1}'],
    )
    .map((noise) => ({ message: undefined, noise })),
)

test("any mixture of messages and noise is read correctly from any chunks", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(item), fc.array(fc.nat(5_000), { maxLength: 40 }), async (items, places) => {
      const lines = items.map((one) => one.noise ?? `\n${lineOf(one.message as Notice)}`)
      const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(""))
      const result = await read(cutAt(bytes, places))
      expect(result.messages).toEqual(items.flatMap((one) => one.message ?? []))
      expect(result.noise).toEqual(items.flatMap((one) => (one.noise?.trim() ? [one.noise] : [])))
    }),
  )
})

test("one end reads what the other writes, byte by byte", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(text, { minLength: 1 }), async (texts) => {
      const { peer, written } = openWriter()
      for (const one of texts) peer.notify("test", { text: one })
      const { messages, noise } = await read(Array.from(written(), (byte) => Buffer.from([byte])))
      expect([messages, noise]).toEqual([texts.map(notice), []])
    }),
    { numRuns: 30 },
  )
})

test("output without a line end does not corrupt the message after it", async () => {
  const { output, peer, written } = openWriter()
  output.write("loading: 42%")
  peer.notify("test", { text: "a" })
  expect(await read([written()])).toEqual({ messages: [notice("a")], noise: ["loading: 42%"] })
})

test("a line separator inside a message does not end its line", async () => {
  const inside = notice("one\u2028two\u2029three\u0085four")
  expect((await read([`${lineOf(inside)}\n`])).messages).toEqual([inside])
})

test.each([
  ["in one piece", [8_000_000]],
  ["in pieces", [1, 3_999_999, 4_000_001, 4_000_002, 7_000_000]],
])("a line that is too long, %s, is noise, and the lines around it are read", async (_, places) => {
  const around = `${lineOf(notice("a"))}\n`
  const bytes = Buffer.from(`${around}${"x".repeat(5_000_000)}${lineOf(notice("hidden"))}\n${around}`)
  const { messages, noise } = await read(cutAt(bytes, places))
  expect(messages).toEqual([notice("a"), notice("a")])
  expect(noise).toEqual(["x".repeat(500)])
})

test("an endless line is noise once, and is not kept in memory", async () => {
  const chunk = "y".repeat(1_000_000)
  const { noise } = await read(Array.from({ length: 20 }, () => chunk))
  expect(noise).toEqual(["y".repeat(500)])
})

test("a last line without a line end is noise", async () => {
  expect(await read(["GGML_ASSERT failed"])).toEqual({ messages: [], noise: ["GGML_ASSERT failed"] })
})

test("a cancellation without parameters or of an unknown request is ignored", async () => {
  const lines = ['{"method":"$/cancelRequest"}', '{"method":"$/cancelRequest","params":{"id":9}}']
  const { messages, noise } = await read([lines.map((one) => `{"jsonrpc":"2.0",${one.slice(1)}\n`).join("")])
  expect([messages, noise]).toEqual([[], []])
})

test("when the output is closed, requests are rejected, and the end is reported", async () => {
  const { output, peer, isClosed } = openWriter()
  const never = new AbortController().signal
  output.destroy()
  const requests = [peer.request("test", {}, never), peer.request("test", {}, never)]
  expect((await Promise.allSettled(requests)).map(({ status }) => status)).toEqual(["rejected", "rejected"])
  expect(isClosed()).toBe(true)
  await expect(peer.request("test", {}, never)).rejects.toThrow("the stream has ended")
})
