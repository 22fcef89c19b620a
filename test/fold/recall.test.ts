// The answers of `hud_recall`: the originals verbatim, in pages that OpenCode passes on in full, what a search finds in them,
// or a sentence that says why not.

import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import type { Fold } from "../../src/fold/fold.ts"
import { HOST_LIMITS, lineCount, type PageLimits } from "../../src/fold/pages.ts"
import type { NumberRange } from "../../src/fold/ranges.ts"
import {
  RECALL_ARGS,
  RECALL_DEFINITION,
  RECALL_DESCRIPTION,
  RECALL_SCHEMA,
  readIDs,
  readRecallRequest,
} from "../../src/fold/recall.ts"
import type { Original } from "../../src/fold/select.ts"
import { oneLine } from "../../src/text/sanitize.ts"
import { estimateTokens } from "../../src/text/tokens.ts"
import { processorMs } from "../support/processor.ts"
import { recallAnswer } from "../support/recall.ts"

const fold = (id: string, what = "bash npm test"): Fold => ({
  id,
  partID: `prt_${id}`,
  messageID: `msg_${id}`,
  hash: "",
  kind: "output",
  step: Number(id.replace(/\D/g, "")),
  text: `folded ${id}`,
  what,
  reason: "pays",
  because: "",
  cutBecause: "",
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
  const request = readRecallRequest(args)
  if (typeof request === "string") return request
  const folds = new Map(Object.keys(texts).map((id) => [id, fold(id)]))
  const originals = new Map(Object.entries(texts).map(([id, one]) => [id, typeof one === "string" ? found(one) : one]))
  return recallAnswer(request, folds, originals, limits)
}

/** All pages of an answer about one original, and the text between the line above and the line below each. */
function turn(args: object, text: string, limits: PageLimits): { pages: string[]; text: string } {
  const pages: string[] = []
  let next: object | undefined = args
  while (next && pages.length < 1000) {
    const page = ask(next, { r0000001: text }, limits)
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
      expect(ask({ ids: "r0000001" }, { r0000001: text })).toBe(text)
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
          const answer = turn({ ids: "r0000001" }, text, limits)
          expect(answer.text).toBe(text)
          for (const page of answer.pages) {
            expect(Buffer.byteLength(page)).toBeLessThanOrEqual(limits.bytes)
            expect(lineCount(page)).toBeLessThanOrEqual(limits.lines)
            expect(page.isWellFormed()).toBe(true)
          }
        },
      ),
    )
  })

  test("is cut at line ends, and a single huge line between code points", () => {
    const { pages } = turn({ ids: "r0000001" }, numbers(1, 5000), HOST_LIMITS)
    expect(pages.map((page) => page.split("\n").slice(0, 2))).toEqual([
      ["[recalled r0000001 · step 1 · bash npm test · 1-1996 of 5000 output lines]", "1: line 1"],
      ["[recalled r0000001 · step 1 · bash npm test · 1997-3992 of 5000 output lines]", "1997: line 1997"],
      ["[recalled r0000001 · step 1 · bash npm test · 3993-5000 of 5000 output lines]", "3993: line 3993"],
    ])
    expect(pages[2]?.split("\n").slice(-3)).toEqual(["5000: line 5000", "", "[page 3 of 3, the last]"])
    const huge = turn({ ids: "r0000001" }, "🙂".repeat(30_000), HOST_LIMITS)
    expect(huge.pages.length).toBe(3)
    for (const page of huge.pages) expect(page.isWellFormed()).toBe(true)
  })

  test("of several ids has a line above each, and one that fits is not split", () => {
    expect(ask({ ids: "r0000001, r0000002" }, { r0000001: "one\n", r0000002: "two" })).toBe(
      "[recalled r0000001 · step 1 · bash npm test]\none\n\n\n[recalled r0000002 · step 2 · bash npm test]\ntwo",
    )
    const first = ask({ ids: ["r0000001", "r0000002"] }, { r0000001: "a\n".repeat(1500), r0000002: "b\n".repeat(1500) })
    expect(first).not.toContain("b\n")
    expect(first).toEndWith('[page 1 of 2; the next is hud_recall {"ids":"r0000001, r0000002","page":2}]')
  })
})

describe("lines", () => {
  test("are those of the output, verbatim", () => {
    expect(ask({ ids: "r0000001", lines: "2-3" }, { r0000001: "a\nb\nc\nd\n" })).toBe(
      "[recalled r0000001 · step 1 · bash npm test · lines 2-3 of 1-4]\nb\nc",
    )
  })

  test("of a file that was read are the file's own", () => {
    expect(ask({ ids: "r0000001", lines: "120-121" }, { r0000001: found(FILE, true) })).toBe(
      "[recalled r0000001 · step 1 · bash npm test · lines 120-121 of 100-180]\n120: line 120\n121: line 121",
    )
    // OpenCode before 1.0 numbered in another way
    const old = `<file>\n${[7, 8, 9].map((n) => `0000${n}| line ${n}`).join("\n")}\n</file>`
    expect(ask({ ids: "r0000001", lines: "8" }, { r0000001: found(old, true) })).toEndWith(
      "line 8 of 7-9]\n00008| line 8",
    )
  })

  test.each(["→", "\t"])("numbered as in `cat -n`, with %j, are the file's own", (sign) => {
    const text = [118, 119, 120, 121].map((n) => `   ${n}${sign}row ${n}`).join("\n")
    expect(ask({ ids: "r0000001", lines: "120" }, { r0000001: found(text, true) })).toEndWith(
      `line 120 of 118-121]\n   120${sign}row 120`,
    )
  })

  test("of a file that was read without numbers are counted, whatever its own lines begin with", () => {
    const text = `${"  - a row\n".repeat(20)}404: not found\n405:\n${"  - b row\n".repeat(20)}`
    expect(ask({ ids: "r0000001", lines: "20-21" }, { r0000001: found(text, true) })).toBe(
      "[recalled r0000001 · step 1 · bash npm test · lines 20-21 of 1-42]\n  - a row\n404: not found",
    )
  })

  test("beyond the end are reported, with the lines that exist", () => {
    expect(ask({ ids: "r0000001", lines: "1-20" }, { r0000001: found(FILE, true) })).toBe(
      "[r0000001 · step 1 · bash npm test · lines 1-20 asked for, lines 100-180 there]",
    )
    expect(ask({ ids: "r0000001", lines: "179-500" }, { r0000001: found(FILE, true) })).toStartWith(
      "[recalled r0000001 · step 1 · bash npm test · lines 179-180 of 100-180]",
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
  ])("given as %j are understood", (lines, range) => {
    expect(readRecallRequest({ ids: "r0000001", lines })).toEqual({
      ids: ["r0000001"],
      steps: [],
      lines: range,
      page: 1,
    })
  })
})

describe("a search", () => {
  const text = Array.from({ length: 40 }, (_, i) => (i === 9 || i === 11 || i === 30 ? `Found ${i}` : `row ${i}`)).join(
    "\n",
  )

  test("shows the lines that contain the text, ignoring case, numbered, with two around each", () => {
    expect(ask({ ids: "r0000001", search: "fOUND" }, { r0000001: text })).toBe(
      `[recalled r0000001 · step 1 · bash npm test · 3 lines with "fOUND" in lines 1-40]
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
    expect(ask({ ids: "r0000001", search: "line 15", lines: "155-158" }, { r0000001: found(FILE, true) })).toStartWith(
      '[recalled r0000001 · step 1 · bash npm test · 4 lines with "line 15" in lines 155-158 of 100-180]\n153: line 153\n',
    )
  })

  test("that finds nothing says where it looked", () => {
    expect(ask({ ids: "r0000001", search: "absent" }, { r0000001: text })).toBe(
      '[r0000001 · step 1 · bash npm test · no line with "absent" in lines 1-40]',
    )
  })

  test("shows the part of a huge line around the text", () => {
    const answer = ask(
      { ids: "r0000001", search: "needle" },
      { r0000001: `${"x".repeat(90_000)}needle${"y".repeat(90_000)}` },
    )
    expect(answer.length).toBeLessThan(1200)
    expect(answer).toContain("xneedley")
  })
})

describe("an id", () => {
  test.each([
    ["r4k2x9db", ["r4k2x9db"]],
    ["R4K2X9DB", ["r4k2x9db"]],
    ["4k2x9db", ["4k2x9db"]],
    ["[r4k2x9db]", ["r4k2x9db"]],
    ['"r4k2x9db".', ["r4k2x9db"]],
    ["r4k2x9db,r0000015, R4K2x9db", ["r4k2x9db", "r0000015"]],
    ["[r4k2x9db, r0000015]", ["r4k2x9db", "r0000015"]],
    [
      ["r4k2x9db", "#r0000016"],
      ["r4k2x9db", "r0000016"],
    ],
    ['["r4k2x9db", "r0000015"]', ["r4k2x9db", "r0000015"]],
    ["folded r4k2x9db ·", ["r4k2x9db"]],
    ["folded r4k2x9db · read · 12 lines: a, b · c\nfolded r0000015 · bash · 7-9", ["r4k2x9db", "r0000015"]],
    ["r4k2x9db · R0000015|r0000016", ["r4k2x9db", "r0000015", "r0000016"]],
    ["alpha.txt", ["alpha.txt"]],
    [undefined, []],
    [{}, []],
  ])("given as %j is understood", (given, ids) => {
    expect(readIDs(given)).toEqual(ids)
  })

  test("without its r names the same fold", () => {
    expect(ask({ ids: "0000001" }, { r0000001: "the text" })).toBe("the text")
    expect(ask({ ids: "4K2X9DB" }, { r4k2x9db: "the text" })).toBe("the text")
  })

  test("that is the number of a step is taken as one", () => {
    expect(readRecallRequest({ ids: "12, 7-9, r4k2x9db", steps: 10 })).toEqual({
      ids: ["r4k2x9db"],
      steps: [
        { from: 7, to: 10 },
        { from: 12, to: 12 },
      ],
      page: 1,
    })
  })

  test("that is unknown is answered with known ones, alike or the newest", () => {
    const texts = Object.fromEntries(["r7abcdef", "r0000002", "r0000003", "r0000004"].map((id) => [id, "text"]))
    expect(ask({ ids: "r7abcdxf" }, texts)).toBe(
      '[Not folded in this session: r7abcdxf. There are 4 folded steps and outputs, among them r7abcdef (bash npm test), r0000004 (bash npm test), r0000003 (bash npm test). The id of a folded output stands in the line in its place; a step in a record has a number, for "steps"; a path goes into "file"]',
    )
    expect(ask({ ids: "alpha.txt" }, { r0000001: "text" })).toContain(
      "alpha.txt. There is 1 folded step or output: r0000001 (bash npm test).",
    )
  })

  test("that is unknown does not prevent the answer for known ones", () => {
    expect(ask({ ids: "r0000009, r0000001" }, { r0000001: "the text" })).toMatch(
      /^\[recalled r0000001 · step 1 · bash npm test\]\nthe text\n\n\[Not folded in this session: r0000009\. /,
    )
  })

  test("requested where nothing is folded says so", () => {
    // a model also asks for what OpenCode compacted or cleared
    expect(ask({ ids: "r0000001" }, {})).toBe(
      "Nothing is folded in this session; what is not folded, compacted or cleared stands in the conversation in full.",
    )
  })

  test.each(["changed", "gone", "unanswered"] as const)("whose original is %s gets one line that says so", (kind) => {
    expect(ask({ ids: "r0000001" }, { r0000001: { kind } })).toMatch(
      // it may have been an edit, or a command that must not run twice
      /^\[r0000001 · step 1 · bash npm test · not available(?:(?!repeat)[^\n])+\]$/,
    )
  })
})

test("an original that reads like an answer has a line above it that says so", () => {
  const two = { r0000001: { step: 1, text: "one\ntwo" }, r0000002: { step: 2, text: { kind: "gone" } } } as const
  const answers = [
    ...[{ ids: "r0000002" }, { steps: "7" }, { steps: "1", lines: "9" }, { steps: "1", search: "two" }],
    ...[{ ids: "rzzzzzzz" }, { steps: "1-2", search: "none" }, { file: "c.ts" }, { search: "one" }, { search: "none" }],
  ].map((args) => askSession(args, two, { from: 1, to: 8 }))
  for (const answer of [...answers, ask({ ids: "r0000001" }, {})])
    expect(ask({ ids: "r0000001" }, { r0000001: answer }), answer).toMatch(
      /^\[recalled r0000001 .* lines below are its own\]\n/,
    )
})

type Folded = { step: number; kind?: Fold["kind"]; message?: string; text: string | Original; files?: string[] }

/** The answer in a session with these folds, whose conversation has the steps given. */
function askSession(
  args: object,
  session: Readonly<Record<string, Folded>>,
  steps?: NumberRange & { unsent?: readonly number[] },
): string {
  const request = readRecallRequest(args)
  if (typeof request === "string") return request
  const all = Object.entries(session)
  const folds = all.map(([id, { step, kind = "output", message = `msg_${step}` }]): [string, Fold] => [
    id,
    { ...fold(id, `call ${step}`), step, kind, messageID: message, partID: kind === "step" ? message : `prt_${id}` },
  ])
  const originals = all.map(([id, { text, files }]): [string, Original] => [
    id,
    typeof text === "string" ? { kind: "found", text, isFile: false, ...(files && { files }) } : text,
  ])
  const { from = 1, to = 0, unsent = [] } = steps ?? {}
  const numbers = Array.from({ length: to - from + 1 }, (_, at) => from + at)
  const inConversation = numbers.map((call) => ({ call, blocks: unsent.includes(call) ? 0 : 1 }))
  return recallAnswer(request, new Map(folds), new Map(originals), HOST_LIMITS, steps && inConversation)
}

test("a step that is gone is left out where its number now names another, unless its id is asked for", () => {
  const session: Record<string, Folded> = {
    raaaaaaa: { step: 1, kind: "step", message: "msg_old", text: { kind: "gone" } },
    rbbbbbbb: { step: 1, kind: "step", message: "msg_new", text: "the step of now" },
    rccccccc: { step: 2, kind: "step", text: { kind: "gone" } },
  }
  expect(askSession({ steps: "1" }, session)).toBe("the step of now")
  expect(askSession({ steps: "1", ids: "raaaaaaa" }, session)).toContain("[raaaaaaa · step 1 · call 1 · not available")
  expect(askSession({ steps: "2" }, session)).toStartWith("[rccccccc · step 2 · call 2 · not available")
})

test("an output that is gone is not left out for another of its step", () => {
  const session: Record<string, Folded> = {
    raaaaaaa: { step: 1, text: { kind: "gone" } },
    rbbbbbbb: { step: 1, text: "the other output" },
  }
  expect(askSession({ steps: "1" }, session)).toContain("[raaaaaaa · step 1 · call 1 · not available")
})

const SESSION: Readonly<Record<string, Folded>> = {
  rbbbbbbb: { step: 4, text: "an output of step 4\nwith Needle", files: ["/p/src/b.ts"] },
  raaaaaaa: { step: 2, kind: "step", text: "all of step 2", files: ["/p/src/a.ts", "/p/lib/A.ts"] },
  raaaaaa1: { step: 2, text: "its output, folded before it", files: ["/p/src/a.ts"] },
  rccccccc: { step: 7, kind: "step", text: "all of step 7\nneedle\nend", files: ["/p/src/a.ts"] },
}

describe("steps", () => {
  test("are returned oldest first, an output of a step that is there as a whole once", () => {
    expect(askSession({ steps: "1-7" }, SESSION, { from: 1, to: 9 })).toBe(
      `[recalled raaaaaaa · step 2 · call 2]
all of step 2

[recalled rbbbbbbb · step 4 · call 4]
an output of step 4
with Needle

[recalled rccccccc · step 7 · call 7]
all of step 7
needle
end

[Not folded: steps 1, 3, 5-6; what is not folded, compacted or cleared stands in the conversation in full]`,
    )
    expect(askSession({ ids: "raaaaaa1" }, SESSION)).toBe("its output, folded before it")
  })

  test("whose original is lost leave the output that is there", () => {
    const session = { ...SESSION, raaaaaaa: { step: 2, kind: "step", text: { kind: "changed" } } } as const
    expect(askSession({ steps: 2 }, session)).toContain("its output, folded before it")
  })

  test("whose fold was dropped are said to be in the conversation, unless they were folded again", () => {
    const dropped = { ...SESSION, rccccccc: { step: 7, kind: "step", text: { kind: "changed" } } } as const
    expect(askSession({ steps: "7" }, dropped, { from: 1, to: 9 })).toBe(
      "[Not folded: step 7; what is not folded, compacted or cleared stands in the conversation in full]",
    )
    const again = { ...dropped, rddddddd: { step: 7, kind: "step", text: "step 7 as it is now" } } as const
    expect(askSession({ steps: "7" }, again, { from: 1, to: 9 })).toBe("step 7 as it is now")
    expect(askSession({ ids: "rccccccc" }, dropped)).toContain("its content has changed")
  })

  test("of one number are returned alone", () => {
    expect(askSession({ steps: 2 }, SESSION)).toBe("all of step 2")
    expect(askSession({ steps: "7-" }, SESSION, { from: 1, to: 7 })).toBe("all of step 7\nneedle\nend")
  })

  test("and ids add up", () => {
    const answer = askSession({ steps: "2", ids: "rccccccc, raaaaaaa" }, SESSION)
    expect(answer.match(/\[recalled \w+/g)).toEqual(["[recalled rccccccc", "[recalled raaaaaaa"])
  })

  test("that are not folded are named, with what to do", () => {
    const around = { from: 3, to: 12 }
    expect(askSession({ steps: "5" }, SESSION, around)).toBe(
      "[Not folded: step 5; what is not folded, compacted or cleared stands in the conversation in full]",
    )
    expect(askSession({ steps: "1" }, SESSION, around)).toBe(
      "[Not folded: step 1, from before a compaction; only its summary is left; look again to see the present state]",
    )
    expect(askSession({ steps: "40-41" }, SESSION, around)).toBe("[No steps 40-41: the newest is 12]")
    expect(askSession({ steps: "40-" }, SESSION, around)).toBe("[No step 40: the newest is 12]")
  })

  test("whose call failed are not said to be in the conversation", () => {
    const answer = askSession({ steps: "2-4" }, SESSION, { from: 1, to: 9, unsent: [3, 8] })
    expect(answer.match(/\[.*/g)).toEqual([
      "[recalled raaaaaaa · step 2 · call 2]",
      "[recalled rbbbbbbb · step 4 · call 4]",
      "[Not folded: step 3; the call failed or was empty, and OpenCode sends nothing of it]",
    ])
    expect(askSession({ steps: "8-9" }, SESSION, { from: 1, to: 9, unsent: [3, 8] }).match(/\[.*/g)).toEqual([
      "[Not folded: step 8; the call failed or was empty, and OpenCode sends nothing of it]",
      "[Not folded: step 9; what is not folded, compacted or cleared stands in the conversation in full]",
    ])
  })

  test("are searched, and only those that hold the text are shown", () => {
    expect(askSession({ steps: "1-9", search: "needle" }, SESSION, { from: 1, to: 9 }).match(/\[.*/g)).toEqual([
      '[recalled rbbbbbbb · step 4 · call 4 · 1 line with "needle" in lines 1-2]',
      '[recalled rccccccc · step 7 · call 7 · 1 line with "needle" in lines 1-3]',
      "[Not folded: steps 1, 3, 5-6, 8-9; what is not folded, compacted or cleared stands in the conversation in full]",
    ])
    expect(askSession({ steps: "2", search: "needle" }, SESSION)).toBe(
      '[Nothing among the 2 folded steps and outputs asked for has a line with "needle"]',
    )
  })
})

describe("a file", () => {
  const shownOf = (args: object): string[] => [...(askSession(args, SESSION).match(/(?<=\[recalled )\w+/g) ?? [])]

  test.each<[string, string[]]>([
    ["/p/src/a.ts", ["rccccccc", "raaaaaaa"]],
    ["src/a.ts", ["rccccccc", "raaaaaaa"]],
    ["a.ts", ["rccccccc", "raaaaaaa"]],
    ["./src/a.ts", ["rccccccc", "raaaaaaa"]],
    ["src\\b.ts", ["rbbbbbbb"]],
    ["A.ts", ["rccccccc", "raaaaaaa"]],
    ["SRC/B.TS", ["rbbbbbbb"]],
    ["'src/b.ts'", ["rbbbbbbb"]],
    ["src/b.ts:12", ["rbbbbbbb"]],
    ["src/b.ts:120-199", ["rbbbbbbb"]],
    ["src/b.ts:120-", ["rbbbbbbb"]],
    ["file:///p/src/b.ts:12:5", ["rbbbbbbb"]],
    [".ts", []],
    ["c/a.ts", []],
  ])("given as %j selects what names it, newest first", (file, ids) => {
    expect(shownOf({ file })).toEqual(ids)
  })

  test("narrows steps and ids", () => {
    expect(shownOf({ file: "a.ts", steps: "3-9" })).toEqual(["rccccccc"])
    expect(shownOf({ file: "a.ts", ids: "rbbbbbbb, rccccccc" })).toEqual(["rccccccc"])
    expect(shownOf({ file: "a.ts", search: "NEEDLE" })).toEqual(["rccccccc"])
  })

  test("that nothing names is answered with what to do", () => {
    expect(askSession({ file: "c.ts" }, SESSION)).toBe(
      '[Nothing among the 4 folded steps and outputs names a file whose path ends with "c.ts"; what is not folded, compacted or cleared stands in the conversation in full, and reading the file shows its present state]',
    )
  })

  test("says what could not be looked through", () => {
    const session = { ...SESSION, rbbbbbbb: { step: 4, text: { kind: "unanswered" } } } as const
    expect(askSession({ file: "a.ts" }, session)).toEndWith(
      "[Not searched: 1 folded step or output that OpenCode did not return; ask again]",
    )
  })
})

test("an accent that is a character of its own, as in names on macOS, is found as the letter it makes", () => {
  const listing = "src\nÜbersicht.md\n".normalize("NFD")
  const texts = { r0000001: { ...found(listing), files: ["docs/Größe.md".normalize("NFD")] }, r0000002: "other" }
  expect(ask({ search: "übersicht" }, texts)).toContain("Übersicht.md".normalize("NFD"))
  expect(ask({ file: "Größe.md" }, texts)).toContain(listing)
})

test("wide letters are found as plain ones, and the blank in the name of a screenshot on macOS as a blank", () => {
  const texts = { r0000001: { ...found("合計：１２３ＡＢＣ\n"), files: ["9.41\u202fAM.png"] }, r0000002: "other" }
  expect(ask({ search: "123abc" }, texts)).toContain("合計：１２３ＡＢＣ")
  expect(ask({ file: "9.41 AM.png" }, texts)).toContain("合計：１２３ＡＢＣ")
})

test("a line is found by what its record shows of it: one blank for each gap, another sign before a tag, a cut end", () => {
  const texts = { r0000001: found("ok  \tshop/price\t0.3s\r\n\tif (a)\u00a0{\n"), r0000002: "other" }
  expect(ask({ search: "ok shop/price 0.3s" }, texts)).toContain("1: ok  \tshop/price\t0.3s\r\n")
  expect(ask({ search: "    if (a) {" }, texts)).toContain("2: \tif (a)\u00a0{")
  const component = "export default () => <Button onClick={save}>Save</Button>\n"
  const edited = { r0000001: component, r0000002: "other" }
  for (const search of [`${oneLine(component).slice(0, 40)}…`, "‹/Button>", "<button"])
    expect(ask({ search }, edited)).toContain("1: export default () => <Button")
  expect(ask({ search: "…" }, edited)).toStartWith('[no line with "…"')
  // of two lines, no piece is a line
  expect(ask({ search: "0.3s if" }, texts)).toStartWith('[no line with "0.3s if"')
})

test.each(["é ".normalize("NFD"), "… ", "ﬃ "])(
  "a hit in a very long line is shown behind many letters like %j",
  (letters) => {
    const line = `${letters.repeat(600)}the needle lies here, ${"and more ".repeat(300)}`
    expect(ask({ search: "needle" }, { r0000001: found(line), r0000002: "other" })).toContain(
      "the needle lies here, and more",
    )
  },
)

test("a search in a letter with thousands of accents takes no time to speak of", () => {
  const texts = { r0000001: found(`a${"\u0301\u0316".repeat(50_000)}\nneedle\n`) }
  expect(ask({ ids: "r0000001", search: "needle" }, texts)).toContain("2: needle")
})

describe("a search of everything", () => {
  test("shows the lines with the text under the head of each fold, newest first", () => {
    expect(askSession({ search: "needle" }, SESSION)).toBe(
      `[2 lines with "needle" in 2 of 4 folded steps and outputs, newest first]

[recalled rccccccc · step 7 · call 7 · 1 line with "needle" in lines 1-3]
1: all of step 7
2: needle
3: end

[recalled rbbbbbbb · step 4 · call 4 · 1 line with "needle" in lines 1-2]
1: an output of step 4
2: with Needle`,
    )
  })

  test("that finds nothing says so", () => {
    expect(askSession({ search: "absent" }, SESSION)).toBe(
      '[no line with "absent" in 4 folded steps and outputs; what is not folded, compacted or cleared stands in the conversation in full]',
    )
  })

  test.each(["needle|pin", "need.*", "where is the needle?"])(
    "for %j, which is no plain text, says that it takes one",
    (search) => {
      const advice = "; a search takes plain text, so try one word of it"
      expect(askSession({ search }, SESSION)).toContain(` in 4 folded steps and outputs${advice}`)
      expect(askSession({ steps: "4", search }, SESSION)).toEndWith(`${advice}]`)
      expect(askSession({ ids: "rbbbbbbb", search }, SESSION)).toEndWith(`in lines 1-2${advice}]`)
      expect(askSession({ search: "absent" }, SESSION)).not.toContain("plain text")
    },
  )

  test("comes in small pages", () => {
    const many = Object.fromEntries(
      Array.from({ length: 300 }, (_, at) => [
        `r${String(at).padStart(7, "0")}`,
        { step: at + 1, text: numbers(1, 60).replaceAll("line", "row").replace("row 30", "the needle").repeat(2) },
      ]),
    )
    const pages: string[] = []
    let next: object | undefined = { search: "needle" }
    while (next) {
      const page = askSession(next, many)
      pages.push(page)
      expect(Buffer.byteLength(page)).toBeLessThanOrEqual(16_000)
      const note = /the next is hud_recall (\{.*\})\]$/.exec(page)?.[1]
      next = note === undefined ? undefined : (JSON.parse(note) as object)
    }
    expect(pages[0]).toStartWith(
      '[600 lines with "needle" in 300 of 300 folded steps and outputs, newest first]\n\n[recalled r0000299 ',
    )
    expect(pages.join("\n").match(/the needle/g)?.length).toBe(600)
  })
})

describe("everything folded", () => {
  const word = fc.string({ unit: fc.constantFrom(..."abcxyz"), minLength: 6, maxLength: 9 })
  const text = fc.array(fc.array(word, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 6 })
  const folds = fc.uniqueArray(
    fc.record({ id: fc.stringMatching(/^r[0-9a-z]{7}$/), kind: fc.constantFrom("output", "step"), text }),
    { minLength: 1, maxLength: 12, selector: ({ id }) => id },
  )

  test("is found by its id, its step, its file and a word of its content", () => {
    fc.assert(
      fc.property(folds, fc.nat(), (all, which) => {
        const session = Object.fromEntries(
          all.map(({ id, kind, text }, at): [string, Folded] => [
            id,
            { step: at + 1, kind, text: text.map((line) => line.join(" ")).join("\n"), files: [`/p/${id}.ts`] },
          ]),
        )
        const at = which % all.length
        const { id, text } = all[at] ?? { id: "", text: [] }
        const whole = text.map((line) => line.join(" ")).join("\n")
        expect(askSession({ ids: id }, session)).toBe(whole)
        expect(askSession({ ids: id.slice(1).toUpperCase(), steps: at + 1 }, session)).toBe(whole)
        expect(askSession({ steps: `${at + 1}` }, session)).toBe(whole)
        expect(askSession({ file: `p\\${id}.ts` }, session)).toEndWith(`\n${whole}`)
        const line = text[which % text.length] ?? []
        const found = askSession({ search: line[which % line.length] }, session)
        expect(found).toContain(`[recalled ${id} · `)
        expect(found).toContain(line.join(" "))
      }),
    )
  })

  test("of a range, page by page, adds up to the originals", () => {
    fc.assert(
      fc.property(
        fc.array(fc.array(fc.string({ maxLength: 60 }), { minLength: 1, maxLength: 30 }), {
          minLength: 2,
          maxLength: 6,
        }),
        (all) => {
          const texts = all.map((lines) => lines.join("\n").replaceAll("[", "("))
          const ids = texts.map((_, at) => `r${String(at).padStart(7, "0")}`)
          const request = readRecallRequest({ steps: `1-${texts.length}` })
          if (typeof request === "string") throw new Error(request)
          const session = new Map(ids.map((id, at) => [id, { ...fold(id), step: at + 1 }]))
          const originals = new Map(ids.map((id, at) => [id, found(texts[at] ?? "")]))
          const given = new Map(ids.map((id) => [id, ""]))
          for (let page = 1, of = 1; page <= of; page++) {
            const answer = recallAnswer({ ...request, page }, session, originals, { bytes: 2000, lines: 20 })
            of = Number(/\n\n\[page \d+ of (\d+)[^\n]*\]$/.exec(answer)?.[1] ?? 1)
            const body = of === 1 ? answer : answer.slice(0, answer.lastIndexOf("\n\n[page "))
            for (const piece of body.split(/(?:^|\n\n)(?=\[recalled )/).filter((one) => one !== "")) {
              const [, id = "", text = ""] = /^\[recalled (\w+) [^\n]*\](?:\n([\s\S]*))?$/.exec(piece) ?? []
              given.set(id, `${given.get(id)}${text}`)
            }
          }
          expect([...given.values()]).toEqual(texts)
        },
      ),
    )
  })
})

describe("arguments", () => {
  test("left empty are absent ones", () => {
    expect(readRecallRequest({ ids: "r0000001", lines: "", search: " ", page: null })).toEqual({
      ids: ["r0000001"],
      steps: [],
      page: 1,
    })
    for (const ids of ["none", "null", "undefined", "N/A"])
      expect(readRecallRequest({ ids, search: "null" })).toEqual({ ids: [], steps: [], search: "null", page: 1 })
    expect(readRecallRequest({ ids: "r0000001", page: "2" })).toEqual({ ids: ["r0000001"], steps: [], page: 2 })
    expect(readRecallRequest({ ids: "", id: "r0000001" })).toEqual({ ids: ["r0000001"], steps: [], page: 1 })
    expect(readRecallRequest({ ids: "r0000001", page: 0 })).toEqual({ ids: ["r0000001"], steps: [], page: 1 })
  })

  test("named as in OpenCode's own tools are understood", () => {
    expect(readRecallRequest({ filePath: "a.ts", pattern: "x" })).toMatchObject({ file: "a.ts", search: "x" })
    expect(readRecallRequest({ path: "a.ts", query: "x" })).toMatchObject({ file: "a.ts", search: "x" })
  })

  test.each([
    [undefined, "needs to know what to return"],
    [{ ids: "" }, "needs to know what to return"],
    [{ ids: "r0000001", lines: "the first" }, '"lines" is a line or a range, as "120" or "120-180"; got "the first".'],
    [{ ids: "r0000001", lines: "-50" }, '"lines" is a line or a range'],
    [{ ids: "r0000001", search: "one\ntwo" }, '"search" is a text within one line'],
    [
      { steps: "the first" },
      '"steps" are numbers from 1 on or ranges of them, as "12", "3-41" or "3,7-9"; ids go into "ids"; got "the first".',
    ],
    [{ steps: 0 }, '"steps" are numbers from 1 on'],
    [{ file: "a\nb" }, '"file" is the path of one file'],
    [{ ids: "r0000001", page: "last" }, '"page" is a whole number from 1 on; got "last".'],
  ])("that cannot be meant, as %j, get a sentence", (args, sentence) => {
    expect(readRecallRequest(args)).toContain(sentence)
  })

  test("for many ids at once says how many are allowed, and shortens what is not an id", () => {
    const ids = Array.from({ length: 101 }, (_, i) => `r${String(i).padStart(7, "0")}`)
    expect(ask({ ids }, { r0000001: "one" })).toContain(
      "At most 100 ids and 100 ranges of steps are returned at once; got 101 and 0.",
    )
    expect(readIDs(`r0000001 ${"x".repeat(5_000)}`).join("").length).toBeLessThan(50)
  })

  test("for a page that does not exist says how many there are", () => {
    expect(ask({ ids: "r0000001", page: 9 }, { r0000001: "short" })).toBe(
      "There is no page 9: this answer has one page.",
    )
  })

  test("of any kind never throw, and are answered", () => {
    const said = fc.oneof(
      fc.anything({ withNullPrototype: true, withBigInt: true, withDate: true, withMap: true }),
      fc.constantFrom("r0000001", "1", "1-3", "2,4-", "r9999999", "a.ts", "text", 1, 7),
    )
    const args = fc.dictionary(fc.constantFrom("ids", "steps", "file", "lines", "search", "page"), said)
    fc.assert(
      fc.property(fc.oneof(args, fc.anything()), fc.boolean(), (args, isLost) => {
        const answer = ask(args as object, { r0000001: isLost ? { kind: "gone" } : "text" })
        expect(answer).not.toBe("")
      }),
      { numRuns: 1000 },
    )
  })
})

test("an output is returned as fast after a million steps as after one", () => {
  const ms = processorMs(() => {
    for (let n = 0; n < 100; n++) ask({ ids: "r0999999" }, { r0999999: "text" })
  })
  expect(ms).toBeLessThan(200)
})

describe("what every request carries", () => {
  test("is short", () => {
    const described = Object.entries(RECALL_ARGS).map(([name, arg]) => `${name} ${arg._zod.def.innerType.description}`)
    expect(estimateTokens([RECALL_DESCRIPTION, ...described].join("\n"))).toBeLessThan(150)
    expect(estimateTokens(RECALL_DEFINITION)).toBeLessThan(250)
  })

  test("describes every argument alike in zod and as JSON Schema", () => {
    const described = Object.entries(RECALL_ARGS).map(([name, { _zod }]) => {
      const { innerType } = _zod.def
      return [name, { type: innerType._zod.def.type, description: innerType.description }]
    })
    expect(Object.fromEntries(described)).toEqual(RECALL_SCHEMA.properties)
  })
})
