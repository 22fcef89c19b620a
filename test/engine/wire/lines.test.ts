// The framing on streams that also carry other text, with arbitrary chunks.

import { expect, test } from "bun:test"
import { PassThrough } from "node:stream"
import fc from "fast-check"
import type { Message } from "vscode-jsonrpc"
import { LineReader, LineWriter } from "../../../src/engine/wire/lines.ts"

/** The messages and the noise in these chunks. */
async function read(chunks: readonly (Buffer | string)[], onMessage = (_: Message) => {}) {
  const input = new PassThrough()
  const messages: Message[] = []
  const noise: string[] = []
  const reader = new LineReader(input, (line) => noise.push(line))
  reader.listen((message) => {
    messages.push(message)
    onMessage(message)
  })
  const closed = new Promise((resolve) => reader.onClose(resolve))
  for (const chunk of chunks) input.write(chunk)
  input.end()
  await closed
  return { messages, noise }
}

/** A writer and its output. */
function openWriter() {
  const output = new PassThrough()
  const chunks: Buffer[] = []
  output.on("data", (chunk: Buffer) => chunks.push(chunk))
  return { output, writer: new LineWriter(output), written: () => Buffer.concat(chunks) }
}

const message = (text: string): Message => ({ jsonrpc: "2.0", method: "test", params: { text } }) as Message

/** The bytes, split at these places. */
function cutAt(bytes: Buffer, places: readonly number[]): Buffer[] {
  const sorted = [0, ...places.map((place) => place % (bytes.length + 1)), bytes.length].sort((a, b) => a - b)
  return sorted.slice(1).map((end, n) => bytes.subarray(sorted[n], end))
}

const text = fc.string({
  unit: fc.constantFrom("a", "é", "😀", "\u2028", "\u2029", "\u0085", "\n", "\r", "\\", '"', "{"),
})
const item = fc.oneof(
  text.map((inside) => ({ message: message(inside), noise: undefined })),
  fc
    .constantFrom("llama_load: 42%", "{", "{}", "[1]", "null", '"2.0"', "\u2028", '{"jsonrpc":"1.0"}', "ünï😀")
    .map((noise) => ({ message: undefined, noise })),
)

test("any mixture of messages and noise is read correctly from any chunks", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(item), fc.array(fc.nat(5_000), { maxLength: 40 }), async (items, places) => {
      const lines = items.map((one) => one.noise ?? `\n${JSON.stringify(one.message)}`)
      const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(""))
      const result = await read(cutAt(bytes, places))
      expect(result.messages).toEqual(items.flatMap((one) => one.message ?? []))
      expect(result.noise).toEqual(items.flatMap((one) => (one.noise?.trim() ? [one.noise] : [])))
    }),
  )
})

test("the reader reads what the writer writes, byte by byte", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(text, { minLength: 1 }), async (texts) => {
      const { writer, written } = openWriter()
      for (const one of texts) await writer.write(message(one))
      const { messages, noise } = await read(Array.from(written(), (byte) => Buffer.from([byte])))
      expect([messages, noise]).toEqual([texts.map(message), []])
    }),
    { numRuns: 30 },
  )
})

test("output without a line end does not corrupt the message after it", async () => {
  const { output, writer, written } = openWriter()
  output.write("loading: 42%")
  await writer.write(message("a"))
  expect(await read([written()])).toEqual({ messages: [message("a")], noise: ["loading: 42%"] })
})

test("a line separator inside a message does not end its line", async () => {
  const inside = message("one\u2028two\u2029three\u0085four")
  expect((await read([`${JSON.stringify(inside)}\n`])).messages).toEqual([inside])
})

test.each([
  ["in one piece", [8_000_000]],
  ["in pieces", [1, 3_999_999, 4_000_001, 4_000_002, 7_000_000]],
])("a line that is too long, %s, is noise, and the lines around it are read", async (_, places) => {
  const around = `${JSON.stringify(message("a"))}\n`
  const bytes = Buffer.from(`${around}${"x".repeat(5_000_000)}${JSON.stringify(message("hidden"))}\n${around}`)
  const { messages, noise } = await read(cutAt(bytes, places))
  expect(messages).toEqual([message("a"), message("a")])
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

test("a message that makes its receiver throw is noise, and the next one is read", async () => {
  const lines = [message("bad"), message("good")].map((one) => JSON.stringify(one))
  let first = true
  const { messages, noise } = await read([`${lines.join("\n")}\n`], () => {
    if (!first) return
    first = false
    throw new TypeError("no id")
  })
  expect(messages).toHaveLength(2)
  expect(noise).toEqual([lines[0] ?? ""])
})

test("a writer whose stream is closed rejects and reports an error", async () => {
  const { output, writer } = openWriter()
  const errors: string[] = []
  writer.onError(([error]) => errors.push(error.message))
  const closed = new Promise<void>((resolve) => writer.onClose(resolve))
  output.destroy()
  await closed
  await expect(writer.write(message("a"))).rejects.toThrow("destroyed")
  expect(errors.length).toBeGreaterThan(0)
})
