// What the panel shows as the original of a fold.

import { expect, test } from "bun:test"
import { fetchOriginal } from "../../src/tui/recall.ts"
import { edit, read, SessionBuilder } from "../support/session.ts"

const { messages } = new SessionBuilder().assistant([{ type: "text", text: "Reading." }, read("a.ts"), edit("a.ts")])
const [message] = messages
const part = message?.parts[2]
const messageID = message?.info.id ?? ""

const fold = {
  id: "r0000001",
  step: 1,
  what: "",
  reason: "pays",
  because: "",
  cutBecause: "",
  call: 1,
  tokens: 9,
  textTokens: 1,
} as const
const output = { ...fold, kind: "output", partID: part?.id ?? "", messageID } as const
const step = { ...fold, kind: "step", partID: messageID, messageID } as const

/** OpenCode's client, with one answer. */
const client = (answer: unknown) => ({ session: { message: async () => answer } }) as never

test("of an output it is the output, of a step its texts and calls", async () => {
  expect(await fetchOriginal(client({ data: message }), "ses_test", output)).toBe(String(part?.state?.output))
  expect(await fetchOriginal(client({ data: message }), "ses_test", step)).toMatch(
    /^said in 1 line:\nReading\.\n\ncalled read\nfilePath: [\s\S]*called edit\n[\s\S]*oldString: a\nnewString: b\nreturned 1 line:\n/,
  )
})

test("there is none when the message or the part is gone, and an error when OpenCode does not answer", async () => {
  const gone = client({ error: {}, response: { status: 404 } })
  expect(await fetchOriginal(gone, "ses_test", step)).toBeUndefined()
  expect(await fetchOriginal(client({ data: message }), "ses_test", { ...output, partID: "prt_other" })).toBeUndefined()
  const broken = fetchOriginal(client({ error: {}, response: { status: 500 } }), "ses_test", step)
  expect(broken).rejects.toThrow(`OpenCode was asked for message ${messageID} and answered 500`)
})
