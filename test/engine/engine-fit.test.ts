// Cutting documents to fit, with tokenizers of letters and of words.

import { expect, test } from "bun:test"
import fc from "fast-check"
import { fitDocument } from "../../sidecar/prompt.ts"

type Token = NonNullable<ReturnType<typeof fitDocument>>[number]

/** Splits a text by a pattern; the tokens are numbers for the pieces. */
function tokenizer(pattern: RegExp) {
  const ids = new Map<string, number>()
  const pieces: string[] = []
  return {
    tokenize(text: string) {
      return (text.match(pattern) ?? []).map((piece) => {
        const id = ids.get(piece) ?? pieces.push(piece) - 1
        ids.set(piece, id)
        return id as Token
      })
    },
    detokenize: (tokens: readonly Token[]) => tokens.map((token) => pieces[token]).join(""),
  }
}
const LETTERS = /./gsu
/** A token has several letters, as in a real tokenizer, so that a cut changes the adjacent tokens. */
const WORDS = /\s+|\w{1,6}|[^\w\s]{1,3}/gu

const fit = (text: string, room: number, pattern = LETTERS) => {
  const model = tokenizer(pattern)
  const prompt = fitDocument(text, room, (part) => model.tokenize(`[${part}]`))
  return prompt && { prompt, shown: model.detokenize(prompt) }
}
const GAP = "\n[… left out …]\n"

test("a document that fits is unchanged", () => {
  const text = "one\ntwo\n".repeat(10)
  expect(fit(text, text.length + 2)).toMatchObject({ shown: `[${text}]` })
})

test("one that does not fit keeps its head and tail, cut at line ends", () => {
  const lines = Array.from({ length: 100 }, (_, index) => `line ${index}`)
  const shown = fit(lines.join("\n"), 200)?.shown ?? ""
  const [head = [], tail = []] = shown
    .slice(1, -1)
    .split(GAP)
    .map((part) => part.split("\n"))
  expect(head).toEqual(lines.slice(0, head.length))
  expect(tail).toEqual(lines.slice(-tail.length))
  expect(shown.length).toBeGreaterThan(160)
})

test("without enough room there is no prompt", () => {
  expect(fit("x".repeat(100), GAP.length + 10)).toBeUndefined()
  expect(fit("x", 2)).toBeUndefined()
  expect(fit("x", 3)).toMatchObject({ shown: "[x]" })
})

test("every document's prompt fits and has the document's beginning and end", () => {
  const line = fc.oneof(fc.string({ unit: "binary" }), fc.lorem(), fc.constantFrom("", " ".repeat(200), "=".repeat(99)))
  const text = fc.array(line, { maxLength: 60 }).map((lines) => lines.join("\n"))
  fc.assert(
    fc.property(text, fc.integer({ min: 60, max: 400 }), fc.constantFrom(LETTERS, WORDS), (whole, room, pattern) => {
      const fitted = fit(whole, room, pattern)
      if (!fitted) throw new Error("no prompt")
      expect(fitted.prompt.length).toBeLessThanOrEqual(room)
      const shown = fitted.shown.slice(1, -1)
      if (shown === whole) return
      const at = shown.indexOf(GAP)
      expect(whole).toStartWith(shown.slice(0, at))
      expect(whole).toEndWith(shown.slice(at + GAP.length))
      expect(shown.isWellFormed() || !whole.isWellFormed()).toBe(true)
    }),
    { numRuns: 300 },
  )
}, 30_000)

test("a plain document uses at least four fifths of the room", () => {
  for (const [pattern, size] of [
    [LETTERS, 50_000],
    [WORDS, 50_000],
  ] as const) {
    const fitted = fit("the quick brown fox jumps over a lazy dog\n".repeat(size / 40), 1000, pattern)
    expect(fitted?.prompt.length).toBeGreaterThan(800)
  }
})
