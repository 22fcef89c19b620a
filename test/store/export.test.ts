import { describe, expect, test } from "bun:test"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { StoreError } from "../../src/store/errors.ts"
import { parseExport, readExport } from "../../src/store/export.ts"
import { temporaryFolder } from "./support.ts"

const session = {
  info: { id: "ses_1", title: "A title", time: { created: 1, updated: 2 }, slug: "s" },
  messages: [
    { info: { id: "msg_1", role: "user" }, parts: [{ id: "prt_1", type: "text", text: 'hi {["' }] },
    { info: { id: "msg_2", role: "assistant" }, parts: [] },
  ],
}
const text = JSON.stringify(session, null, 2)

function failure(content: string): { code: string; message: string } {
  try {
    parseExport(content, "s.json")
  } catch (error) {
    if (error instanceof StoreError) return { code: error.code, message: error.message }
    throw error
  }
  throw new Error("it was read")
}

describe("what is read", () => {
  const variants: { name: string; content: string }[] = [
    { name: "an export", content: text },
    { name: "an export after the line OpenCode announces it with", content: `Exporting session: ses_1\n${text}\n` },
    {
      name: "an export with a byte order mark and Windows line ends",
      content: `\ufeff${text.replaceAll("\n", "\r\n")}`,
    },
  ]
  for (const { name, content } of variants) {
    test(name, () => {
      expect(parseExport(content, "s.json")).toEqual({ ...session, skipped: 0 })
    })
  }

  test("an export that PowerShell redirected into UTF-16", async () => {
    using folder = temporaryFolder()
    const path = join(folder.path, "s.json")
    writeFileSync(path, `\ufeff${text}`, "utf16le")
    expect((await readExport(path)).messages.length).toBe(2)
  })

  test("malformed messages and parts are skipped and counted", () => {
    const messages = [
      { info: { id: "msg_1", role: "user" }, parts: [{ type: "text" }, null, 7, { text: "no type" }] },
      { info: null, parts: [] },
    ]
    const recording = parseExport(JSON.stringify({ info: { id: "ses_1" }, messages }), "s.json")
    expect(recording.skipped).toBe(4)
    expect(recording.messages).toEqual([{ info: { id: "msg_1", role: "user" }, parts: [{ type: "text" }] }])
    expect(recording.info.title).toBe("untitled")
  })
})

describe("what is refused, and how", () => {
  const rows: { name: string; content: string; code: string; says: string }[] = [
    { name: "an empty file", content: " \n", code: "NOT_AN_EXPORT", says: "is empty" },
    { name: "other text", content: "hello", code: "NOT_AN_EXPORT", says: "is not JSON" },
    { name: "an array", content: "[]", code: "NOT_AN_EXPORT", says: "expected {info, messages} (it is another value)" },
    { name: "other JSON", content: '{"name":"x"}', code: "NOT_AN_EXPORT", says: "(info is missing" },
    {
      name: "messages that are not a list",
      content: '{"info":{"id":"a"},"messages":{}}',
      code: "NOT_AN_EXPORT",
      says: "(messages is missing or of the wrong type)",
    },
    {
      name: "no messages",
      content: '{"info":{"id":"a"},"messages":[]}',
      code: "NO_MESSAGES",
      says: "without messages",
    },
    { name: "an extra comma", content: '{"info":{},}', code: "NOT_AN_EXPORT", says: "is not JSON" },
  ]
  for (const { name, content, code, says } of rows) {
    test(`${name}: ${code}`, () => {
      const found = failure(content)
      expect(found.code).toBe(code)
      expect(found.message).toContain(says)
      expect(found.message).toMatch(/^s\.json [^\n]+$/)
    })
  }

  test("an export truncated anywhere is reported as such, with the remedy", () => {
    for (let length = 1; length < text.length; length += 7) {
      const found = failure(text.slice(0, length))
      expect(found.code).toBe("EXPORT_TRUNCATED")
      expect(found.message).toContain("redirect to a file: opencode export <session id> > session.json")
    }
  })

  test("a missing file and a folder", async () => {
    using folder = temporaryFolder()
    mkdirSync(join(folder.path, "s.json"))
    expect(readExport(join(folder.path, "none.json"))).rejects.toMatchObject({ code: "EXPORT_NOT_FOUND" })
    expect(readExport(join(folder.path, "s.json"))).rejects.toMatchObject({ code: "EXPORT_UNREADABLE" })
  })
})
