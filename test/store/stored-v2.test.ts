import { expect, test } from "bun:test"
import { createEnv } from "../../src/digest/digests.ts"
import { conversationOf } from "../../src/host/v1/conversation.ts"
import { readArray } from "../../src/host/v2/array.ts"
import { createKnown } from "../../src/host/v2/learning.ts"
import type { Message } from "../../src/session/conversation.ts"
import { readEntry } from "../../src/session/entry.ts"
import { callPart, fromStored, readResult } from "../../src/store/stored-v2.ts"

// it is merged with what was announced, which a field without a value would erase
test("a message that is stored while its step runs has no field for what is not yet known", () => {
  const call = { type: "tool", id: "call_1", name: "read", state: { status: "running" }, time: { created: 1 } }
  const [message] = fromStored([{ id: "msg_1", type: "assistant", time: { created: 1 }, content: [call] }], "ses_1")
  if (!message) throw new Error("there is no message")
  expect(Object.keys(message.info).sort()).toEqual(["id", "role", "sessionID", "time"])
  expect(Object.keys(message.info.time as object)).toEqual(["created"])
  expect(message.parts.map(({ state }) => (state as { time: object }).time)).toEqual([{ start: 1 }])
})

test.each([
  ["in an object", { output: "a.ts\nb.ts", cursor: 9, size: 9, truncated: false }],
  ["as a text", "a.ts\nb.ts"],
])("the output of a command that the user ran is read %s", (_, output) => {
  const shell = { id: "msg_1", type: "shell", command: "ls", status: "exited", output, time: { created: 1 } }
  expect(fromStored([shell], "ses_1")[0]?.parts).toEqual([{ type: "text", text: "a.ts\nb.ts", synthetic: true }])
})

test("a command's exit code is the one that is stored, or else the one below its output", () => {
  const exitOf = (text: string, metadata?: Record<string, unknown>) =>
    callPart("msg_1", "call_1", { name: "shell" }, { text, failed: false }, { metadata }).state.metadata.exit
  const said = "no such file\n\nCommand exited with code 2."
  expect([exitOf(said), exitOf(said, { exit: 0 }), exitOf("fine")]).toEqual([2, 0, undefined])
})

test("a value that nests too deeply, or has no JSON, has no text", () => {
  const nested = [JSON.parse(`${"[".repeat(100_000)}1${"]".repeat(100_000)}`), 10n]
  expect(nested.map((value) => readResult({ type: "json", value }))).toEqual(
    nested.map(() => ({ text: "", failed: false })),
  )
  const compaction = { id: "msg_1", type: "compaction", status: "completed", summary: nested[0], recent: "the rest" }
  expect(fromStored([compaction], "ses_1")[1]?.parts).toEqual([{ type: "text", text: "the rest" }])
})

test("an image in a result counts, in a request and where it is stored, and keeps its step whole", () => {
  const image = { type: "file", uri: "data:image/png;base64,AAAA", mime: "image/png" }
  const entryOf = ([step]: Message[]) => readEntry(step as Message, 0, 0, createEnv("/home/dev/shop"))
  const both = (...files: object[]) => {
    const content = [{ type: "text", text: "taken" }, ...files]
    const state = { status: "completed", input: {}, content }
    const stored = { id: "msg_1", type: "assistant", content: [{ type: "tool", id: "call_1", name: "shot", state }] }
    const messages = [
      { id: "msg_1", role: "assistant", content: [{ type: "tool-call", id: "call_1", name: "shot", input: {} }] },
      { role: "tool", content: [{ type: "tool-result", id: "call_1", result: { type: "content", value: content } }] },
    ]
    const context = { known: createKnown(), directory: "/home/dev/shop", cwd: "/home/dev/shop" }
    const request = readArray({ sessionID: "ses_1", system: [], messages }, undefined, context)
    return [fromStored([stored], "ses_1"), request?.messages ?? []].map((one) => entryOf(conversationOf(one)))
  }
  const with2 = both(image, image)
  expect(with2.map(({ opaque }) => opaque)).toEqual([true, true])
  expect(with2.map(({ tokens }, at) => tokens - (both()[at]?.tokens ?? 0))).toEqual([3_000, 3_000])
})
