// The answers of `hud_recall`: the original verbatim, in pages that OpenCode passes on in full, or a sentence that says
// why not.

import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { type Fold, originalText } from "../../src/fold/fold.ts"
import { byteLength, HOST_LIMITS, lineCount, type PageLimits } from "../../src/fold/pages.ts"
import { answerRecall, type Original, readIDs, readRequest } from "../../src/fold/recall.ts"
import { toolPart } from "../support/conversation.ts"

const fold = (id: string, what = "bash npm test"): Fold => ({
  id,
  partID: `prt_${id}`,
  messageID: `msg_${id}`,
  hash: "",
  side: "output",
  text: `folded ${id}`,
  what,
  reason: "pays",
  because: "",
  call: 1,
  tokens: 1000,
  textTokens: 20,
})

const found = (text: string, isFile = false): Original => ({ kind: "found", text, isFile })

function ask(
  args: object,
  texts: Readonly<Record<string, string | Original>>,
  limits: PageLimits = HOST_LIMITS,
): string {
  const request = readRequest(args)
  if (typeof request === "string") return request
  const folds = new Map(Object.keys(texts).map((id) => [id, fold(id)]))
  const originals = new Map(Object.entries(texts).map(([id, one]) => [id, typeof one === "string" ? found(one) : one]))
  return answerRecall(request, folds, originals, limits)
}

/** All pages of an answer about one original, and the text between the line above and the line below each. */
function turn(args: object, text: string, limits: PageLimits): { pages: string[]; text: string } {
  const pages: string[] = []
  let next: object | undefined = args
  while (next && pages.length < 1000) {
    const page = ask(next, { r1: text }, limits)
    pages.push(page)
    const note = /\n\n\[page \d+ of \d+; the next is hud_recall (\{.*\})\]$/.exec(page)?.[1]
    next = note === undefined ? undefined : (JSON.parse(note) as object)
  }
  if (pages.length === 1) return { pages, text: pages[0] ?? "" }
  const texts = pages.map((page) => page.slice(page.indexOf("\n") + 1, page.lastIndexOf("\n\n[page ")))
  return { pages, text: texts.join("") }
}

const numbers = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, i) => `${from + i}: line ${from + i}`).join("\n")

const FILE = `<path>/p/a.ts</path>\n<type>file</type>\n<content>\n${numbers(100, 180)}\n\n(End of file - total 180 lines)\n</content>`

describe("the original", () => {
  test("is returned alone and verbatim when there is one and it fits", () => {
    for (const text of ["one\ntwo\n", "", " [page 1 of 2]\r\n\u0000\ud800 日本 \n\n", "x".repeat(HOST_LIMITS.bytes)])
      expect(ask({ ids: "r1" }, { r1: text })).toBe(text)
  })

  test("too long for one answer comes in pages that add up to it, each within OpenCode's limits", () => {
    const line = fc.oneof(
      fc.constantFrom("", "\r", "short", "日本語".repeat(40), "🙂".repeat(900), "x".repeat(5000), "[page 1 of 2]"),
      fc.string({ unit: "binary", maxLength: 60 }),
    )
    fc.assert(
      fc.property(
        fc.array(line, { minLength: 1, maxLength: 60 }),
        fc.record({ bytes: fc.integer({ min: 2000, max: 4000 }), lines: fc.integer({ min: 20, max: 40 }) }),
        (lines, limits) => {
          const text = lines.join("\n")
          const answer = turn({ ids: "r1" }, text, limits)
          expect(answer.text).toBe(text)
          for (const page of answer.pages) {
            expect(byteLength(page)).toBeLessThanOrEqual(limits.bytes)
            expect(lineCount(page)).toBeLessThanOrEqual(limits.lines)
            expect(page.isWellFormed()).toBe(true)
          }
        },
      ),
    )
  })

  test("is cut at line ends, and a single huge line between code points", () => {
    const { pages } = turn({ ids: "r1" }, numbers(1, 5000), HOST_LIMITS)
    expect(pages.map((page) => page.split("\n").slice(0, 2))).toEqual([
      ["[recalled r1 · bash npm test · 1-1996 of 5000 output lines]", "1: line 1"],
      ["[recalled r1 · bash npm test · 1997-3992 of 5000 output lines]", "1997: line 1997"],
      ["[recalled r1 · bash npm test · 3993-5000 of 5000 output lines]", "3993: line 3993"],
    ])
    expect(pages[2]?.split("\n").slice(-3)).toEqual(["5000: line 5000", "", "[page 3 of 3, the last]"])
    const huge = turn({ ids: "r1" }, "🙂".repeat(30_000), HOST_LIMITS)
    expect(huge.pages.length).toBe(3)
    for (const page of huge.pages) expect(page.isWellFormed()).toBe(true)
  })

  test("of several ids has a line above each, and one that fits is not split", () => {
    expect(ask({ ids: "r1, r2" }, { r1: "one\n", r2: "two" })).toBe(
      "[recalled r1 · bash npm test]\none\n\n\n[recalled r2 · bash npm test]\ntwo",
    )
    const first = ask({ ids: ["r1", "r2"] }, { r1: "a\n".repeat(1500), r2: "b\n".repeat(1500) })
    expect(first).not.toContain("b\n")
    expect(first).toEndWith('[page 1 of 2; the next is hud_recall {"ids":"r1, r2","page":2}]')
  })

  test("of a failed call's arguments is their JSON, readable", () => {
    const part = {
      type: "tool",
      tool: "edit",
      state: { status: "error", input: { filePath: "a.ts", n: 1 }, error: "no" },
    }
    expect(originalText(toolPart(part), "input")).toBe('{\n  "filePath": "a.ts",\n  "n": 1\n}')
    expect(originalText(toolPart(part), "output")).toBe("no")
  })
})

describe("lines", () => {
  test("are those of the output, verbatim", () => {
    expect(ask({ ids: "r1", lines: "2-3" }, { r1: "a\nb\nc\nd\n" })).toBe(
      "[recalled r1 · bash npm test · lines 2-3 of 1-4]\nb\nc",
    )
  })

  test("of a file that was read are the file's own", () => {
    expect(ask({ ids: "r1", lines: "120-121" }, { r1: found(FILE, true) })).toBe(
      "[recalled r1 · bash npm test · lines 120-121 of 100-180]\n120: line 120\n121: line 121",
    )
    // OpenCode before 1.0 numbered in another way
    const old = `<file>\n${[7, 8, 9].map((n) => `0000${n}| line ${n}`).join("\n")}\n</file>`
    expect(ask({ ids: "r1", lines: "8" }, { r1: found(old, true) })).toEndWith("line 8 of 7-9]\n00008| line 8")
  })

  test("beyond the end are reported, with the lines that exist", () => {
    expect(ask({ ids: "r1", lines: "1-20" }, { r1: found(FILE, true) })).toBe(
      "[r1 · bash npm test · lines 1-20 asked for, lines 100-180 there]",
    )
    expect(ask({ ids: "r1", lines: "179-500" }, { r1: found(FILE, true) })).toStartWith(
      "[recalled r1 · bash npm test · lines 179-180 of 100-180]",
    )
  })

  test.each([
    ["120-180", { from: 120, to: 180 }],
    ["120", { from: 120, to: 120 }],
    [120, { from: 120, to: 120 }],
    ["L120-L180", { from: 120, to: 180 }],
    ["lines 120 to 180", { from: 120, to: 180 }],
    ["180-120", { from: 120, to: 180 }],
    ["120-", { from: 120, to: Number.POSITIVE_INFINITY }],
    [[120, 180], { from: 120, to: 180 }],
    [
      { from: 120, to: 180 },
      { from: 120, to: 180 },
    ],
  ])("given as %j are understood", (lines, range) => {
    expect(readRequest({ ids: "r1", lines })).toEqual({ ids: ["r1"], lines: range, page: 1 })
  })
})

describe("a search", () => {
  const text = Array.from({ length: 40 }, (_, i) => (i === 9 || i === 11 || i === 30 ? `Found ${i}` : `row ${i}`)).join(
    "\n",
  )

  test("shows the lines that contain the text, ignoring case, numbered, with two around each", () => {
    expect(ask({ ids: "r1", search: "fOUND" }, { r1: text })).toBe(
      `[recalled r1 · bash npm test · 3 lines with "fOUND" in lines 1-40]
8: row 7
9: row 8
10: Found 9
11: row 10
12: Found 11
13: row 12
14: row 13
--
29: row 28
30: row 29
31: Found 30
32: row 31
33: row 32`,
    )
  })

  test("of a file that was read keeps the file's line numbers and the requested lines", () => {
    expect(ask({ ids: "r1", search: "line 15", lines: "155-158" }, { r1: found(FILE, true) })).toStartWith(
      '[recalled r1 · bash npm test · 4 lines with "line 15" in lines 155-158 of 100-180]\n153: line 153\n',
    )
  })

  test("that finds nothing says where it looked", () => {
    expect(ask({ ids: "r1", search: "absent" }, { r1: text })).toBe(
      '[r1 · bash npm test · no line with "absent" in lines 1-40]',
    )
  })

  test("shows the part of a huge line around the text", () => {
    const answer = ask({ ids: "r1", search: "needle" }, { r1: `${"x".repeat(90_000)}needle${"y".repeat(90_000)}` })
    expect(answer.length).toBeLessThan(1200)
    expect(answer).toContain("xneedley")
  })
})

describe("an id", () => {
  test.each([
    ["r12", ["r12"]],
    ["R12", ["r12"]],
    ["12", ["r12"]],
    [12, ["r12"]],
    ["[r12]", ["r12"]],
    ['"r12".', ["r12"]],
    ["r12,r15, r012", ["r12", "r15"]],
    ["[r12, r15]", ["r12", "r15"]],
    [
      ["r12", 15, "#16"],
      ["r12", "r15", "r16"],
    ],
    ['["r12", "r15"]', ["r12", "r15"]],
    ["alpha.txt", ["alpha.txt"]],
    [undefined, []],
    [{}, []],
  ])("given as %j is understood", (given, ids) => {
    expect(readIDs(given)).toEqual(ids)
  })

  test("that is unknown is answered with the nearest known ones", () => {
    const texts = Object.fromEntries([1, 2, 3, 40, 41, 42].map((n) => [`r${n}`, "text"]))
    expect(ask({ ids: "r39" }, texts)).toBe(
      "[Not folded in this session: r39. 6 outputs are, among them r40 (bash npm test), r41 (bash npm test), r42 (bash npm test). The id of a folded output stands in the line in its place.]",
    )
    expect(ask({ ids: "alpha.txt" }, { r1: "text" })).toContain("alpha.txt. One output is: r1 (bash npm test).")
  })

  test("that is unknown does not prevent the answer for known ones", () => {
    expect(ask({ ids: "r9, r1" }, { r1: "the text" })).toMatch(
      /^\[recalled r1 · bash npm test\]\nthe text\n\n\[Not folded in this session: r9\. /,
    )
  })

  test("requested where nothing is folded says so", () => {
    expect(ask({ ids: "r1" }, {})).toStartWith("Nothing is folded in this session")
  })

  test.each(["changed", "gone", "unanswered"] as const)("whose original is %s gets one line that says so", (kind) => {
    expect(ask({ ids: "r1" }, { r1: { kind } })).toMatch(/^\[r1 · bash npm test · not to be had[^\n]+\]$/)
  })
})

describe("arguments", () => {
  test("left empty are absent ones", () => {
    expect(readRequest({ ids: "r1", lines: "", search: " ", page: null })).toEqual({ ids: ["r1"], page: 1 })
    expect(readRequest({ ids: "r1", page: "2" })).toEqual({ ids: ["r1"], page: 2 })
    expect(readRequest({ ids: "r1", page: 0 })).toEqual({ ids: ["r1"], page: 1 })
  })

  test.each([
    [undefined, 'takes the id of a folded output as "ids"'],
    [{ ids: "" }, 'takes the id of a folded output as "ids"'],
    [{ ids: "r1", lines: "the first" }, '"lines" is a line or a range, as "120" or "120-180"; got "the first".'],
    [{ ids: "r1", lines: "-50" }, '"lines" is a line or a range'],
    [{ ids: "r1", search: "one\ntwo" }, '"search" is a text within one line'],
    [{ ids: "r1", page: "last" }, '"page" is a whole number from 1 on; got "last".'],
  ])("that cannot be meant, as %j, get a sentence", (args, sentence) => {
    expect(readRequest(args)).toContain(sentence)
  })

  test("for many ids at once says how many are allowed, and shortens what is not an id", () => {
    const ids = Array.from({ length: 101 }, (_, i) => `r${i + 1}`)
    expect(ask({ ids }, { r1: "one" })).toContain("at most 100 at once; got 101")
    expect(readIDs(`r1 ${"x".repeat(5_000)}`).join("").length).toBeLessThan(50)
  })

  test("for a page that does not exist says how many there are", () => {
    expect(ask({ ids: "r1", page: 9 }, { r1: "short" })).toBe("There is no page 9: this answer has one page.")
  })

  test("of any kind never throw", () => {
    fc.assert(
      fc.property(fc.object({ key: fc.constantFrom("ids", "lines", "search", "page") }), (args) => {
        expect(typeof ask(args, { r1: "text" })).toBe("string")
      }),
    )
  })
})
