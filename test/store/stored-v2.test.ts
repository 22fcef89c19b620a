import { expect, test } from "bun:test"
import { fromStored, readResult } from "../../src/store/stored-v2.ts"

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

test("a value that nests too deeply, or has no JSON, has no text", () => {
  const nested = [JSON.parse(`${"[".repeat(100_000)}1${"]".repeat(100_000)}`), 10n]
  expect(nested.map((value) => readResult({ type: "json", value }))).toEqual(
    nested.map(() => ({ text: "", failed: false })),
  )
  const compaction = { id: "msg_1", type: "compaction", status: "completed", summary: nested[0], recent: "the rest" }
  expect(fromStored([compaction], "ses_1")[1]?.parts).toEqual([{ type: "text", text: "the rest" }])
})
