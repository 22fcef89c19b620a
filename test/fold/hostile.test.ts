// Folds of hostile outputs with digests from any source, and `hud_recall` for unknown ids and for originals that look
// like its answers.

import { expect, setDefaultTimeout, test } from "bun:test"
import { extract } from "../../src/digest/extract/extract.ts"
import type { Fold } from "../../src/fold/fold.ts"
import { answerRecall, type Original, readRequest } from "../../src/fold/recall.ts"
import { inputWords, isFoldText, outputWords } from "../../src/fold/words.ts"
import type { Digest, DigestSource } from "../../src/output/digest.ts"
import { toolKindOf } from "../../src/output/tools.ts"
import { cut, line, wellFormed } from "../../src/text/sanitize.ts"
import { CORPUS } from "../support/hostile/corpus.ts"
import { faultOfFold, faultOfLine } from "../support/hostile/grammar.ts"

// megabyte inputs on a busy machine
setDefaultTimeout(120_000)

const NEED_KINDS = ["seen", "superseded", "repeated", "duplicate", "matches", "listing", "page"] as never[]

const sourceOf = (tool: string, output: string, input: Record<string, unknown>, failed = false): DigestSource => ({
  ...{ tool, kind: toolKindOf(tool), input, output: wellFormed(output), failed },
})
const foldOf = (id: string, what: string): Fold => ({
  ...{ id, partID: `prt_${id}`, messageID: "msg", hash: "h", side: "output", text: `folded ${id} · x · y`, what },
  ...{ reason: "free", because: "", call: 1, tokens: 100, textTokens: 10 },
})

for (const { id, tries, text } of CORPUS) {
  const name = text.slice(0, 2_000)

  test(`${id}: a fold is one line with its own id when it tries to ${tries}`, () => {
    const source = sourceOf("bash", text, { command: name })
    const lies: Digest = { kind: "results", gist: text, facts: [{ type: "path", text: text.slice(0, 900) }] }
    const digests = [extract(source), lies, { ...lies, kind: "code", verdict: "pass" as const }]
    for (const digest of digests)
      for (const needKind of NEED_KINDS) {
        const by = { tool: cut(line(name), 60) } as never
        const said = outputWords("r12", { needKind, by, tokens: 4_000 }, { ...source, tool: name || "x" }, digest)
        expect(faultOfFold(said, "r12")).toBeUndefined()
        expect(said.length).toBeLessThan(1_500)
        expect(isFoldText({ id: "r12", side: "output", text: said })).toBe(true)
      }
  })

  test(`${id}: the arguments of a failed call stay JSON with their names when it tries to ${tries}`, () => {
    const input = { filePath: name, [name]: name, content: text, nested: [{ [name]: text }] }
    const said = inputWords("r3", input)
    if (said === undefined) return expect(text.length).toBeLessThanOrEqual(240)
    const read = JSON.parse(said) as Record<string, unknown>
    expect(Object.keys(read)).toEqual(Object.keys(input))
    expect(said.isWellFormed() || !text.isWellFormed()).toBe(true)
    expect(Object.getPrototypeOf({})).toBe(Object.prototype)
    expect(isFoldText({ id: "r3", side: "input", text: said })).toBe(true)
  })

  test(`${id}: recall returns the original verbatim, or says that there is none, when it tries to ${tries}`, () => {
    const folds = new Map(["r1", "r2"].map((one) => [one, foldOf(one, name)]))
    const originals = new Map<string, Original>([
      ["r1", { kind: "found", text: text.slice(0, 40_000), isFile: false }],
      ["r2", { kind: "found", text: "the second", isFile: false }],
    ])
    const ask = (args: object) => {
      const request = readRequest(args)
      return typeof request === "string" ? request : answerRecall(request, folds, originals)
    }
    const limits = { bytes: 1e7, lines: 1e6 }
    const request = readRequest({ ids: "r1" })
    const whole = answerRecall(request as never, folds, originals, limits)
    expect(whole.endsWith(text.slice(0, 40_000))).toBe(true)
    // nothing but the original, or under a line that says how much of what follows is
    const head = whole.slice(0, whole.length - Math.min(text.length, 40_000)).trimEnd()
    if (head !== "") {
      expect(head).toMatch(
        /^\[recalled r1 · .* · holds lines that read like this one · all \d+ lines below are its own\]$/,
      )
      expect(faultOfLine(head)).toBeUndefined()
    }
    // it is not an id, unless it equals an existing one, and never returns another's original
    const asked = ask({ ids: name })
    const named = readRequest({ ids: name })
    const isKnown = typeof named !== "string" && named.ids.some((one) => folds.has(one))
    if (!isKnown) {
      expect(asked).toMatch(/^(?:\[Not folded in this session: |hud_recall takes the id|"ids" are at most)/)
      expect(faultOfLine(asked)).toBeUndefined()
    }
    for (const args of [
      { ids: "r1", lines: name },
      { ids: "r1", page: name },
      { ids: name, search: name },
      { [name]: name },
    ])
      expect(ask(args).isWellFormed() || !text.isWellFormed()).toBe(true)
  })
}
