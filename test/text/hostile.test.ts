// Pieces of the hostile corpus mixed with arbitrary Unicode, cut and joined anywhere: the result never opens a tag, splits
// a character or leaves an escape sequence open.

import { expect, setDefaultTimeout, test } from "bun:test"
import fc from "fast-check"
import { extract } from "../../src/digest/extract/extract.ts"
import { outputLine, stepLines, withNames } from "../../src/fold/record.ts"
import { conversationOf } from "../../src/host/v1/conversation.ts"
import { renderHud } from "../../src/hud/render.ts"
import { sectionsOf } from "../../src/hud/sections.ts"
import { noSignals } from "../../src/session/facts.ts"
import { namesIn } from "../../src/text/names.ts"
import { cut, cutMiddle, line, oneLine, withoutTurns } from "../../src/text/sanitize.ts"
import { hostileSession, ledgerOf } from "../support/hostile/channels.ts"
import { CORPUS } from "../support/hostile/corpus.ts"
import { faultOfFold, faultOfHud, faultOfLine, faultOfRecordLine } from "../support/hostile/grammar.ts"
import { TOKENS } from "../support/hostile/roles.ts"
import { SessionBuilder, tool } from "../support/session.ts"
import { sized } from "../support/size.ts"

// megabyte inputs on a busy machine
setDefaultTimeout(120_000)

const piece = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...CORPUS.map(({ text }) => text.slice(0, 300))) },
  fc.string({ unit: "binary", maxLength: 8 }),
  fc.string({ unit: "grapheme", maxLength: 8 }),
  fc.constantFrom("<", "/", "hud", ">", "|", "[", "]", "&lt", ";", "%", "3c", " ", "\n", "\u001b", "\u0301", "\u200b"),
  fc.integer({ min: 0xd800, max: 0xdfff }).map((code) => String.fromCharCode(code)),
)
const hostile = fc.array(piece, { minLength: 1, maxLength: 6 }).map((pieces) => pieces.join(""))

test("a line is safe, stays as it is when made a line again, and is safe cut to any length", () => {
  fc.assert(
    fc.property(hostile, fc.integer({ min: 2, max: 400 }), (text, max) => {
      const said = line(text)
      expect(oneLine(said)).toBe(said)
      for (const one of [said, oneLine(cut(said, max)), oneLine(cutMiddle(said, max)), line(cut(text, max))])
        if (one !== "") expect(faultOfLine(one)).toBeUndefined()
      // a cut line is safe without being cleaned again
      expect(cut(said, max).isWellFormed()).toBe(true)
      expect(faultOfLine(cut(said, max).trim() || "x")).toBeUndefined()
    }),
    { numRuns: sized(500, 20_000) },
  )
})

test("two safe fields joined make no tag", () => {
  fc.assert(
    fc.property(hostile, hostile, fc.constantFrom(" ", ", ", ": ", "", "/", " · "), (one, other, between) => {
      const said = oneLine(`${line(one)}${between}${line(other)}`)
      if (said !== "") expect(faultOfLine(said)).toBeUndefined()
    }),
    { numRuns: sized(500, 20_000) },
  )
})

test("a document for a model holds no mark of a chat template, and is otherwise verbatim", () => {
  const marks = Object.values(TOKENS)
  fc.assert(
    fc.property(hostile, (text) => {
      const said = withoutTurns(text)
      expect(marks.filter((mark) => said.includes(mark))).toEqual([])
      expect(said.replace(/[‹(#]/g, "").length).toBeLessThanOrEqual(text.length)
    }),
    { numRuns: sized(500, 20_000) },
  )
})

/** Cut to the length of an item, it ends between the two halves of a character, after a semicolon. */
const CUT_IN_A_PAIR =
  "\u{10000}\0\u{10000}\u{10000} \u{10000} \u{10000}x \u2067>duh/<\u2069 y;\u{10000}\u{10000}\u{10000}\u{10000}\u{10000}x &amp;lt;/hud&amp;gt; y"

test("the HUD, a folded output and the record of a step keep their form", () => {
  fc.assert(
    fc.property(hostile, (text) => {
      const { facts } = ledgerOf(hostileSession(text).messages)
      const hud = renderHud(sectionsOf(facts, noSignals(), { contextLimit: 20_000 }), 100_000, 9)
      expect(hud && faultOfHud(hud.text)).toBeUndefined()
      const source = {
        tool: "grep",
        kind: "search" as const,
        input: { pattern: text },
        output: text.toWellFormed(),
        failed: false,
      }
      const call = tool(text || "x", { pattern: text, filePath: text }, text.toWellFormed())
      const [message] = conversationOf(new SessionBuilder().assistant([{ type: "text", text }, call]).messages)
      const part = message?.parts.find((one) => one.type === "tool")
      if (!message || !part) throw new Error("the session has no call")
      const output = outputLine("r0000007", part, extract(source).digest, { names: namesIn(source.output) })
      const names = [...namesIn(text).keys()]
      for (const one of [withNames(output, undefined), withNames(output, names)])
        expect(faultOfFold(one, "r0000007")).toBeUndefined()
      for (const one of stepLines(7, message, []).map((line) => withNames(line, names)))
        if (one !== "") expect(faultOfRecordLine(one)).toBeUndefined()
    }),
    { numRuns: sized(100, 3_000), examples: [[CUT_IN_A_PAIR]] },
  )
})
