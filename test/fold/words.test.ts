// The line sent instead of a folded output.

import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { createEnv } from "../../src/digest/digests.ts"
import { NEEDS, type NeedKind } from "../../src/fold/need.ts"
import { foldTokens, inputWords, outputWords } from "../../src/fold/words.ts"
import type { DigestSource } from "../../src/output/digest.ts"
import type { ToolEvent } from "../../src/session/event.ts"
import { estimateTokens } from "../../src/text/tokens.ts"

const ACCOUNTS = Object.keys(NEEDS) as NeedKind[]
const env = createEnv("/p")

const source = (tool: string, kind: DigestSource["kind"], input: object, output: string): DigestSource => ({
  tool,
  kind,
  input: { ...input },
  output,
  failed: false,
})

function words(one: DigestSource, needKind: NeedKind = "other", by?: ToolEvent, id = "r12"): string {
  const tokens = Math.ceil(one.output.length / 4)
  const digest = env.digest(`${one.tool} ${one.output}`, one)
  return outputWords(id, { needKind, tokens, ...(by ? { by } : {}) }, one, digest)
}

const CODE = Array.from({ length: 120 }, (_, i) => `export function open${i}(path: string) { return path }`).join("\n")
const code = source("read", "read", { filePath: "/p/store.ts" }, `<content>\n${CODE}\n</content>`)
const rows = (text: string) => Array.from({ length: 200 }, (_, i) => `${text} ${i}`).join("\n")

describe("a folded output", () => {
  test("says in one line that it is folded, its id, the tool, and what was there", () => {
    const text = words(code, "file")
    expect(text).toStartWith("folded r12 · read · ")
    expect(text).toContain("lines")
    expect(text).not.toContain("\n")
  })

  test("of an output that is elsewhere in the context says where, and little else", () => {
    const by = { tool: "apply_patch" } as ToolEvent
    expect(words(code, "superseded", by)).toStartWith(
      "folded r12 · read · superseded by a later apply_patch of the file · ",
    )
    expect(words(code, "superseded")).toStartWith("folded r12 · read · superseded by a later read of the file · ")
    expect(words(code, "repeated")).toStartWith(
      "folded r12 · read · same output as the later call with these arguments · ",
    )
    expect(words(code, "duplicate")).toStartWith(
      "folded r12 · read · same output as the earlier call with these arguments · ",
    )
    expect(estimateTokens(words(code, "duplicate"))).toBeLessThan(60)
  })

  test("has the same wording for every kind of need: only id and digest differ", () => {
    const plain = ACCOUNTS.filter((needKind) => !["superseded", "repeated", "duplicate"].includes(needKind))
    for (const needKind of plain) expect(words(code, needKind)).toMatch(/^folded r12 · read · [^\n<>]+$/)
    expect(words(code, "file", undefined, "r3")).toBe(words(code, "file").replace("r12", "r3"))
  })

  test("contains no secret", () => {
    const token = `${"sk-"}ant-${"api03-"}${"a1B2".repeat(10)}`
    const password = ["hunter", "2hunter", "2"].join("")
    const secrets = [
      source("bash", "command", { command: "env" }, `API_KEY=${token}\nDB_PASSWORD=${password}\n${rows("LINE")}`),
      source("read", "read", { filePath: "/p/.env" }, `DB_PASSWORD=${password}\n${token}\n${rows("A=1")}`),
      source("webfetch", "web", { url: "https://x.y" }, `# ${token}\n\npassword: ${password}\n\n${rows("Text.")}`),
      source(
        "grep",
        "search",
        { pattern: "KEY" },
        `/p/a.ts:\n  Line 1: ${token}\n/p/b.ts:\n  Line 2: password = "${password}"`,
      ),
      source(
        "websearch",
        "web",
        { query: "keys" },
        `1. [Keys](https://u:${password}@x.y/${token})\n   ${token}\n2. [b](https://b.c)`,
      ),
      source("mcp_x", "other", {}, JSON.stringify({ apiKey: token, password, list: [token] })),
    ]
    for (const one of secrets)
      for (const needKind of ACCOUNTS) {
        expect(words(one, needKind)).not.toContain(token)
        expect(words(one, needKind)).not.toContain(`=${password}`)
        expect(words(one, needKind)).not.toContain(`:${password}`)
      }
  })

  test("is one line without control characters or tags for any output, and of the expected size", () => {
    const hostile = fc.constantFrom(
      "\u001b[31m",
      "\u0000",
      "\u202e",
      "\u2028",
      "\r",
      "</hud>",
      "<|im_end|>",
      "\ud800",
      "a b",
      "x",
    )
    const line = fc.oneof(
      hostile,
      fc.string({ unit: "binary", maxLength: 40 }),
      fc.constantFrom("src/a.ts:3: no", "FAIL a.test.ts"),
    )
    const kinds = fc.constantFrom<DigestSource["kind"]>("read", "command", "search", "list", "web", "other")
    fc.assert(
      fc.property(
        fc.array(line, { minLength: 1, maxLength: 60 }),
        kinds,
        fc.constantFrom(...ACCOUNTS),
        fc.constantFrom("\n", "\r\n", ""),
        (lines, kind, needKind, between) => {
          const one = source("tool", kind, { command: "x" }, lines.join(between).toWellFormed())
          const text = words(one, needKind)
          expect(text).toStartWith("folded r12 · tool · ")
          expect(text).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/)
          expect(text).not.toMatch(/<[a-z/|!?]/i)
          expect(text.isWellFormed()).toBe(true)
          expect(estimateTokens(text)).toBeLessThan(2 * foldTokens(one.output.length / 4, needKind) + 30)
        },
      ),
      { numRuns: 400 },
    )
  })

  test("of a tool with an odd name is one line all the same", () => {
    const odd = words(source("mcp\n<b>tool\u001b[1m", "other", {}, rows("x")))
    expect(odd).not.toMatch(/[\n\u001b]|<b/)
  })
})

describe("the expected size of a fold", () => {
  test("grows with the output, up to a short paragraph", () => {
    for (const needKind of ACCOUNTS) {
      const sizes = [100, 1_000, 10_000, 100_000, 10_000_000].map((tokens) => foldTokens(tokens, needKind))
      expect(sizes).toEqual(sizes.toSorted((a, b) => a - b))
      expect(sizes.at(-1)).toBeLessThan(250)
      expect(sizes[0]).toBeGreaterThan(0)
    }
  })
})

describe("the arguments of a failed call", () => {
  const long = "old line of code\n".repeat(200)
  const words = (input: object, id = "r3") => {
    const text = inputWords(id, { ...input })
    return text === undefined ? undefined : (JSON.parse(text) as Record<string, unknown>)
  }

  test("keep names, short values, and the beginning of long texts", () => {
    const short = words({ filePath: "/p/a.ts", oldString: long, replaceAll: true, at: 3, none: null })
    expect(short).toMatchObject({ filePath: "/p/a.ts", replaceAll: true, at: 3, none: null })
    expect(Object.keys(short ?? {})).toEqual(["filePath", "oldString", "replaceAll", "at", "none"])
    const said = String(short?.oldString)
    expect(said).toStartWith("old line of code\nold line of code\n")
    expect(said).toMatch(/ \[folded r3: \d+ more characters of a call that failed\]$/)
    expect(said.length).toBeLessThan(300)
  })

  test("are cut at any depth", () => {
    const short = words({
      edits: [
        { old: long, new: "b" },
        { old: "a", new: long },
      ],
    }) as { edits: Record<string, string>[] }
    expect(short.edits[0]).toEqual({ old: expect.stringContaining("[folded r3: "), new: "b" })
    expect(short.edits[1]).toEqual({ old: "a", new: expect.stringContaining("[folded r3: ") })
  })

  test("stay as they are when there is no long text among them", () => {
    expect(words({ filePath: "/p/a.ts", list: Array.from({ length: 100 }, (_, i) => `item ${i}`) })).toBeUndefined()
    expect(words({})).toBeUndefined()
  })

  test("contain no secret, not even half of one", () => {
    const token = `${"gh"}p_${"a1B2".repeat(9)}`
    expect(JSON.stringify(words({ header: token, oldString: long }))).not.toContain(token)
    expect(JSON.stringify(words({ content: `token: ${token}\n${long}` }))).not.toContain(token)
    const named = { headers: { "x-api-key": "0a1b2c3d4e5f" }, passwords: ["hunter2-hunter2"], oldString: long }
    expect(JSON.stringify(words(named))).not.toMatch(/0a1b2c|hunter2/)
    const key = `-----BEGIN RSA PRIVATE${" KEY"}-----\nMIIEowIBAAKCAQEA\n${long}`
    expect(JSON.stringify(words({ content: key }))).not.toContain("MIIE")
    const across = `${"x ".repeat(52)}${token} ${long}`
    expect(JSON.stringify(words({ content: across }))).not.toContain(token.slice(0, 12))
  })

  test("can be read back whatever they are", () => {
    fc.assert(
      fc.property(
        fc.object({ maxDepth: 3, values: [fc.string(), fc.double(), fc.boolean(), fc.constant(long)] }),
        (input) => {
          const text = inputWords("r3", input as Record<string, unknown>)
          if (text === undefined) return
          expect(Object.keys(JSON.parse(text) as object).length).toBe(Object.keys(input).length)
        },
      ),
    )
  })
})
