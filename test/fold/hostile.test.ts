// Folds of hostile texts with digests from any source, and `hud_recall` for unknown ids and for originals that look like its
// answers. Nothing of a tool's output, a command, a file's name or a text can open a tag or a turn, look like a fold, or
// break a line.

import { expect, setDefaultTimeout, test } from "bun:test"
import { createEnv } from "../../src/digest/digests.ts"
import { extract } from "../../src/digest/extract/extract.ts"
import type { Fold } from "../../src/fold/fold.ts"
import { chooseNames } from "../../src/fold/names.ts"
import { readRecallRequest } from "../../src/fold/recall.ts"
import { isFoldText, outputLine, type RecordLine, recordOf, stepLines, withNames } from "../../src/fold/record.ts"
import type { Original } from "../../src/fold/select.ts"
import type { Message, Part, ToolPart } from "../../src/session/conversation.ts"
import { sourceOf, withoutSecrets } from "../../src/session/source.ts"
import { toolEventOf } from "../../src/session/tool-event.ts"
import { namesIn } from "../../src/text/names.ts"
import { CORPUS } from "../support/hostile/corpus.ts"
import { faultOfCodeLine, faultOfFold, faultOfLine, faultOfRecordLine } from "../support/hostile/grammar.ts"
import { TOKENS } from "../support/hostile/roles.ts"
import { recallAnswer } from "../support/recall.ts"

// megabyte inputs on a busy machine
setDefaultTimeout(120_000)

const ID = "r4k2x9db"
const ENV = createEnv("/")

const toolPart = (tool: string, input: Record<string, unknown>, output: string, isError = false): ToolPart => ({
  ...{ type: "tool", id: "prt", callID: "call", tool, status: isError ? "error" : "completed" },
  ...{ input, output, metadata: {}, removed: false },
})
const messageOf = (parts: readonly Part[]) => ({ parts }) as unknown as Message
const said = (text: string): Part => ({ type: "text", text, by: "user", ignored: false })
const foldOf = (id: string, what: string): Fold => ({
  ...{
    id,
    partID: `prt_${id}`,
    messageID: "msg",
    hash: "h",
    kind: "output",
    step: 987_654,
    text: `folded ${id} · x · y`,
    what,
  },
  ...{ reason: "free", because: "", cutBecause: "", call: 1, tokens: 100, textTokens: 10 },
})

/** The lines as they are sent: with names, of which there is room for many. */
function named(lines: readonly RecordLine[]): string[] {
  const names = chooseNames(lines, 20_000, { kept: [], used: new Map() })
  return lines.map((line) => withNames(line, names.get(line)))
}

/** Steps with a hostile text in every place that a record shows. */
function hostileSteps(text: string): Message[] {
  const name = text.slice(0, 2_000)
  return [
    messageOf([said(text)]),
    messageOf([said(`Let me look at it. ${name}`), toolPart("bash", { command: name, description: "" }, text)]),
    messageOf([toolPart(name || "x", { [name]: name }, name.slice(0, 60))]),
    messageOf([toolPart("read", { filePath: name }, text), toolPart("grep", { pattern: name, path: name }, name)]),
    messageOf([toolPart("webfetch", { url: name }, name.slice(0, 70)), toolPart("task", { prompt: text }, text)]),
    messageOf([toolPart("bash", { command: "make" }, text, true), toolPart("edit", { filePath: name }, text, true)]),
    messageOf([toolPart("apply_patch", { patchText: `*** Begin Patch\n*** Update File: ${name}\n${text}` }, "ok")]),
  ]
}

for (const { id, tries, text } of CORPUS) {
  const name = text.slice(0, 2_000)

  test(`${id}: a folded output is one line with its own id when it tries to ${tries}`, () => {
    for (const part of [toolPart("bash", { command: name }, text), toolPart(name || "x", { command: name }, text)]) {
      const source = withoutSecrets(sourceOf(part))
      for (const digest of [extract(source).digest, text]) {
        const line = outputLine(ID, part, digest, { names: namesIn(source.output) })
        expect(faultOfFold(line.first, ID)).toBeUndefined()
        for (const text of named([line])) {
          expect(faultOfFold(text, ID)).toBeUndefined()
          expect(isFoldText({ id: ID, kind: "output", text, step: 3 })).toBe(true)
        }
        expect(line.first.length).toBeLessThan(500)
      }
    }
  })

  test(`${id}: a step's record is plain lines when it tries to ${tries}`, () => {
    for (const message of hostileSteps(text)) {
      const lines = stepLines(12, message, [])
      for (const { first } of lines) {
        expect(first === "" || first.startsWith("12 ")).toBe(true)
        expect(first.length).toBeLessThan(1_500)
      }
      const shown = named(lines).filter((one) => one !== "")
      for (const one of shown) expect(faultOfRecordLine(one)).toBeUndefined()
      const fold = { ...foldOf(ID, ""), kind: "step" as const, step: 12, text: shown.join("\n") }
      expect(isFoldText(fold)).toBe(true)
      const [head, ...rest] = recordOf([fold]).split("\n")
      expect(head).toStartWith("Step 12 of this session, kept by hudfold as a record ")
      expect(rest).toEqual(shown)
    }
  })

  test(`${id}: the lines of an edit stay lines of one record when it tries to ${tries}`, () => {
    const patch = `*** Begin Patch\n*** Update File: a.ts\n${text.replace(/^/gm, "+")}`
    for (const part of [
      toolPart("edit", { filePath: "a.ts", oldString: "old", newString: text }, "ok"),
      toolPart("apply_patch", { patchText: patch }, "ok"),
    ]) {
      const lines = stepLines(12, messageOf([part]), [toolEventOf(part, { messageID: "msg" }, ENV)])
      const below = lines.flatMap((line) => line.below ?? [])
      for (const one of below) expect(faultOfCodeLine(one)).toBeUndefined()
      expect(Object.values(TOKENS).filter((mark) => below.some((one) => one.includes(mark)))).toEqual([])
      const fold = { ...foldOf(ID, ""), kind: "step" as const, step: 12, text: named(lines).join("\n") }
      expect(isFoldText(fold)).toBe(true)
    }
  })

  test(`${id}: recall returns the original verbatim, or says that there is none, when it tries to ${tries}`, () => {
    const folds = new Map(["r0000001", "r0000002"].map((one) => [one, foldOf(one, name)]))
    const originals = new Map<string, Original>([
      ["r0000001", { kind: "found", text: text.slice(0, 40_000), isFile: false }],
      ["r0000002", { kind: "found", text: "the second", isFile: false }],
    ])
    const ask = (args: object) => {
      const request = readRecallRequest(args)
      return typeof request === "string" ? request : recallAnswer(request, folds, originals)
    }
    const limits = { bytes: 1e7, lines: 1e6 }
    const request = readRecallRequest({ ids: "r0000001" })
    const whole = recallAnswer(request as never, folds, originals, limits)
    expect(whole.endsWith(text.slice(0, 40_000))).toBe(true)
    // nothing but the original, or under a line that says how much of what follows is
    const head = whole.slice(0, whole.length - Math.min(text.length, 40_000)).trimEnd()
    if (head !== "") {
      expect(head).toMatch(
        /^\[recalled r0000001 · .* · holds lines that read like this one · all \d+ lines below are its own\]$/,
      )
      expect(faultOfLine(head)).toBeUndefined()
    }
    // it is not an id, unless it equals an existing one, and never returns another's original
    const asked = ask({ ids: name })
    const named = readRecallRequest({ ids: name })
    const isKnown = typeof named !== "string" && named.ids.some((one) => folds.has(one))
    if (!isKnown) {
      expect(asked).toMatch(
        /^(?:\[Not folded in this session: |hud_recall needs to know what to return|"ids" are at most)/,
      )
      for (const line of asked.split("\n").filter((one) => one !== "")) expect(faultOfLine(line)).toBeUndefined()
    }
    for (const args of [
      { ids: "r0000001", lines: name },
      { ids: "r0000001", page: name },
      { ids: name, search: name },
      { [name]: name },
    ])
      expect(ask(args).isWellFormed() || !text.isWellFormed()).toBe(true)
  })
}
