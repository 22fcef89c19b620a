// What the sidebar and the line beside the prompt say about a session.

import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { ALL_ON, type Status, type Switches } from "../../src/status/status.ts"
import { PANEL_ROWS, type PanelRow, readPanelRows, withSwitches } from "../../src/status/words.ts"
import {
  episodeRows,
  fitRow,
  foldActions,
  foldRows,
  hudDialog,
  keptActions,
  keptRows,
  listTitle,
  originalDialog,
  panelLines,
  recordDialog,
  type StyledLine,
  statusDialog,
  summaryOf,
  titleOf,
  whyNoFolds,
} from "../../src/tui/view.ts"
import type { SessionSnapshot } from "../../src/tui/watch.ts"
import { episode, fold, statusOf } from "../support/status.ts"

const NOTHING_IS_FOLDED: Status["folding"] = {
  ...{ activity: "on", outputs: 0, steps: 0, savedTokens: 0, recalls: 0, newest: [], episodes: [] },
  kept: { open: 0, settled: 0, outputs: 0, tokens: 0, reasons: [], newest: [] },
}
const seen = (changes: Partial<Status> = {}, switches: Switches = ALL_ON) => ({
  status: withSwitches(statusOf(changes), switches),
  switches,
})
const NOTHING = { status: undefined, switches: ALL_ON }
const QUIET: Partial<Status> = {
  failures: [],
  stale: [],
  folding: { ...NOTHING_IS_FOLDED, kept: { open: 9, settled: 0, outputs: 0, tokens: 0, reasons: [], newest: [] } },
  writer: { backend: "extract", state: "idle", waiting: 0, working: false, written: 0 },
}
const textOf = (line: StyledLine) => line.map(({ text }) => text).join("")
const panel = (state: SessionSnapshot, width: number, rows: readonly PanelRow[] = PANEL_ROWS) =>
  panelLines(state, width, rows).map(textOf)
const tonesOf = (lines: readonly StyledLine[]) => new Set(lines.flat().map(({ tone }) => tone))

describe("the panel", () => {
  test("shows everything in lines that fit", () => {
    expect(panel(seen(), 37)).toEqual([
      "saved 31%, $1.20, 310k tokens",
      "compacts at 168k",
      "96% of the last call cached",
      "39 steps, 12 outputs folded, 31k less",
      "  1 recall",
      "• 1 open failure",
      "  npm test 2x: login.test.ts:42",
      "  expected 200, got 401",
      "• 1 file changed on disk",
      "  src/auth/login.ts",
      "qwen3-0.6b on CPU, 2 waiting",
      "  reads 212, writes 31 tokens/s",
    ])
  })

  test("is a few muted lines while nothing is wrong", () => {
    const lines = panelLines(seen(QUIET), 37, PANEL_ROWS)
    expect(lines.map(textOf)).toEqual([
      "saved 31%, $1.20, 310k tokens",
      "compacts at 168k",
      "96% of the last call cached",
    ])
    expect([...tonesOf(lines)]).toEqual(["muted"])
  })

  test("without a status, points to /hud-status", () => {
    expect(panel(NOTHING, 37)).toEqual(["nothing known yet, see /hud-status"])
  })

  test("warns near the compaction threshold, not near the end of the window", () => {
    const { context } = statusOf()
    const near = seen({ ...QUIET, context: { ...context, tokens: 140_000 } })
    expect(tonesOf(panelLines(near, 37, PANEL_ROWS))).toContain("warn")
    expect(panel(near, 37).slice(1, 3)).toEqual(["• context 140k of 200k (70%)", "  compacts at 168k"])
    expect(textOf(summaryOf(near, 120))).toBe("hudfold saved 31% · context 70%")
    const far = seen({ ...QUIET, context: { ...context, tokens: 140_000, compactsAt: 195_000 } })
    expect(tonesOf(panelLines(far, 37, PANEL_ROWS))).not.toContain("warn")
    expect(textOf(summaryOf(far, 120))).not.toContain("context")
  })

  test("does not say the size before the provider has reported a size", () => {
    const context = { ...statusOf().context, tokens: 4_000, estimated: true, cachedShare: undefined }
    expect(panel(seen({ ...QUIET, context }), 37)).toEqual(["saved 31%, $1.20, 310k tokens"])
    expect(textOf(summaryOf(seen({ ...QUIET, context }), 120))).toBe("hudfold saved 31%")
  })

  test("without a known window, says nothing of the context, which OpenCode says itself", () => {
    const context: Status["context"] = { tokens: 900, estimated: false, compactions: 0 }
    expect(panel(seen({ ...QUIET, context }), 37)).toEqual(["saved 31%, $1.20, 310k tokens"])
  })

  test("has the rows that the option names, in the panel's order", () => {
    const { rows, problem } = readPanelRows({ rows: ["failing", "saved"] })
    expect(problem).toBeUndefined()
    expect(panel(seen(), 37, rows)).toEqual([
      "saved 31%, $1.20, 310k tokens",
      "• 1 open failure",
      "  npm test 2x: login.test.ts:42",
      "  expected 200, got 401",
    ])
    expect(readPanelRows(undefined)).toEqual({ rows: PANEL_ROWS })
    expect(readPanelRows({ rows: ["saved", "contex", 1, "saved"] })).toEqual({
      rows: ["saved"],
      problem: `rows: expected a list of ${PANEL_ROWS.join(", ")}; ignored: "contex", 1`,
    })
    expect(readPanelRows({ rows: "saved" })).toEqual({
      rows: [...PANEL_ROWS],
      problem: `rows: expected a list of ${PANEL_ROWS.join(", ")}; all are shown`,
    })
  })

  test("names two of several failures, one line each; a single failure gets two lines", () => {
    const failures = ["npm test", "npm run lint", "npm run build"].map((what) => ({
      ...{ what, detail: "it is a long story that needs more than one line", since: 3, times: 1 },
    }))
    expect(panel(seen({ ...QUIET, failures }), 37).slice(3, 6)).toEqual([
      "• 3 open failures",
      "  npm test: it is a long story that…",
      "  npm run lint: it is a long story t…",
    ])
    expect(panel(seen({ ...QUIET, failures: failures.slice(0, 1) }), 37).slice(3, 6)).toEqual([
      "• 1 open failure",
      "  npm test: it is a long story that",
      "  needs more than one line",
    ])
  })

  test.each<[string, Partial<Status["writer"]>, string[]]>([
    ["idle", { state: "idle", speed: undefined, waiting: 0, working: false, written: 0 }, ["qwen3-0.6b idle"]],
    ["at work", { waiting: 0, speed: undefined, written: 0 }, ["qwen3-0.6b on CPU, writing"]],
    [
      "degraded",
      { state: "degraded", why: "the sidecar went away (exit code 3); trying again", waiting: 0 },
      ["• qwen3-0.6b degraded, writing", "  the sidecar went away (exit code", "  3); trying again"],
    ],
    [
      "off",
      { state: "off", why: "the model is too slow", working: false, waiting: 0 },
      ["• qwen3-0.6b off", "  the model is too slow"],
    ],
  ])("shows the state of a local model that is %s", (_, changes, expected) => {
    const writer = Object.fromEntries(
      Object.entries({ ...statusOf().writer, ...changes }).filter(([, value]) => value !== undefined),
    ) as Status["writer"]
    expect(panel(seen({ ...QUIET, writer }), 37).slice(3)).toEqual(expected)
  })

  test("never has a line wider than the panel, for any text and width", () => {
    const word = fc.string({ unit: "grapheme", maxLength: 60 })
    fc.assert(
      fc.property(word, word, word, fc.integer({ min: 12, max: 60 }), (what, detail, model, width) => {
        const status = seen({
          failures: [{ what, detail, since: 1, times: 2 }],
          stale: [{ path: detail, why: "changed on disk since read" }],
          folding: { ...NOTHING_IS_FOLDED, outputs: 9, savedTokens: 5, newest: [fold({ what })] },
          writer: { ...statusOf().writer, state: "off", why: what, model },
        })
        for (const line of panel(status, width)) expect(Bun.stringWidth(line)).toBeLessThanOrEqual(width)
      }),
    )
  })
})

describe("the panel's title", () => {
  const paused: Switches = { hud: "paused", folding: "on" }
  const asPaused: Partial<Status> = { hud: { ...statusOf().hud, activity: "paused" } }
  test.each<[string, Parameters<typeof titleOf>[0], string]>([
    ["before the first call", NOTHING, ""],
    ["with a HUD", seen(), "132 tokens"],
    ["with nothing to say", seen({ hud: { activity: "on", tokens: 0 } }), "nothing to say yet"],
    ["just paused", seen({}, paused), "paused"],
    ["paused for a while", seen(asPaused, paused), "paused"],
    ["just resumed", seen(asPaused), "132 tokens"],
    ["switched off by an option", seen({ hud: { activity: "off", tokens: 0 } }, paused), "off"],
  ])("%s", (_, state, expected) => {
    expect(titleOf(state).text).toBe(expected)
  })
})

describe("the prompt's line", () => {
  test("summarizes the panel", () => {
    expect(textOf(summaryOf(seen(), 127))).toBe(
      "hudfold saved 31% · 39 steps, 12 outputs folded · 1 command failed · 1 file changed",
    )
  })

  test("on a narrow terminal, shows only what needs attention", () => {
    expect(textOf(summaryOf(seen(), 80))).toBe("hudfold 1 command failed · 1 file changed")
    expect(summaryOf(seen(QUIET), 80)).toEqual([])
  })

  test("on a very narrow terminal, shows nothing", () => {
    expect(textOf(summaryOf(seen(), 60))).toBe("hudfold 1 command failed")
    expect(summaryOf(seen(), 59)).toEqual([])
  })

  test("leaves room for OpenCode's own text, and shows what needs attention first", () => {
    const much = seen(
      {
        context: { ...statusOf().context, tokens: 190_000, limit: 200_000 },
        stale: [{ path: "a.ts", why: "changed on disk since read" }],
      },
      { hud: "paused", folding: "paused" },
    )
    const warnings = "context 95% · folding paused · 1 command failed · 1 file changed · HUD paused"
    expect(textOf(summaryOf(much, 160))).toBe(`hudfold saved 31% · ${warnings}`)
    const all = "hudfold saved 31% · 39 steps, 12 outputs folded · 1 command failed"
    expect(textOf(summaryOf(seen({ stale: [] }), all.length + 44))).toBe(all)
    expect(textOf(summaryOf(seen({ stale: [] }), all.length + 43))).toBe("hudfold 1 command failed")
    expect(textOf(summaryOf(much, 110))).toBe(`hudfold ${warnings}`)
    expect(textOf(summaryOf(much, 100))).toBe(`hudfold ${warnings.replace(" · HUD paused", "")}`)
    expect(textOf(summaryOf(much, 80))).toBe("hudfold context 95% · folding paused · 1 command failed")
    expect(textOf(summaryOf(much, 60))).toBe("hudfold context 95%")
  })

  test("is empty before the first call and while there is nothing to say", () => {
    expect(summaryOf(NOTHING, 120)).toEqual([])
    const context: Status["context"] = { tokens: 12, estimated: true, limit: 200_000, compactions: 0 }
    expect(
      summaryOf(seen({ ...QUIET, context, saved: { tokens: 0, share: 0, calls: 0, billing: "tokens" } }), 120),
    ).toEqual([])
  })

  test("shows what is paused", () => {
    const line = textOf(summaryOf(seen(QUIET, { hud: "paused", folding: "paused" }), 80))
    expect(line).toBe("hudfold folding paused · HUD paused")
  })
})

describe("the list of folds", () => {
  const { folding } = statusOf()
  const list = (changes: Partial<Status["folding"]>) => foldRows({ ...folding, ...changes })

  test("has a row for each episode and each output, those folded last first", () => {
    const rows = list({
      newest: [fold({ call: 41 }), fold({ id: "r0000002", call: 39, because: "an older call", cutBecause: "" })],
    })
    expect(rows.map(({ title }) => title)).toEqual([
      "r0000001 read src/db.ts",
      "steps 3-41 · 39 steps",
      "r0000002 read src/db.ts",
    ])
    expect(rows.map(({ footer }) => footer)).toEqual(["4.0k less", "21k less", "4.0k less"])
    expect(rows[1]?.description).toBe("to save: it pays over the calls to come")
    expect(rows[2]?.description).toBe("an older call")
  })

  test("says how many there are, and whether all are listed", () => {
    expect(listTitle(folding)).toBe("Folded: 39 steps, 12 outputs (the newest)")
    expect(listTitle({ ...folding, outputs: 2 })).toBe("Folded: 39 steps, 2 outputs")
    expect(listTitle(NOTHING_IS_FOLDED)).toBe("Folds")
  })

  test("an episode opens to its record and its steps, each with its reason", () => {
    const rows = episodeRows(episode())
    expect(rows.map(({ title, footer }) => [title, footer])).toEqual([
      ["The record", "24 tokens"],
      ["Unfold 2 steps", "8.0k more"],
      ["Pin 2 steps", "8.0k more"],
      ["40 read src/db.ts", "4.0k less"],
      ["41 npm test", "4.0k less"],
    ])
    expect(rows[0]?.description).toBe("what is sent instead; the first 37 are not listed here")
    expect(rows[3]?.description).toStartWith("a file that was read; it pays")
    expect(recordDialog(episode({ record: "Steps 3-41\n40 a\u001b[31m" }))).toEqual({
      title: "Record of steps 3-41",
      note: "sent instead of 39 steps; saves 21k tokens a call",
      text: "Steps 3-41\n40 a\\x1b[31m",
    })
  })

  test("of an old episode, whose steps are not listed, only what is known is offered", () => {
    const old = episode({ steps: [], record: "" })
    expect(episodeRows(old).map(({ title, description }) => `${title}: ${description}`)).toEqual([
      "The record: what is sent instead; the first 39 are not listed here",
    ])
    const { note, text } = recordDialog(old)
    expect([note, text]).toEqual([
      "sent instead of 39 steps; saves 21k tokens a call; too old to be kept here, `hudfold inspect --request` prints it",
      "",
    ])
  })

  test("one step is an episode too", () => {
    const one = episode({ from: 5, to: 5, count: 1 })
    expect(list({ newest: [], episodes: [one] })[0]?.title).toBe("step 5 · 1 step")
  })

  test("an original is shown with what was folded, since when and why", () => {
    const step = fold({ kind: "step", step: 7 })
    expect(originalDialog(step, "as it was")).toEqual({
      title: "step 7 read src/db.ts",
      note: `step r0000001 folded since call 40, to save: ${step.because}; ${step.cutBecause}`,
      text: "as it was",
      isVerbatim: true,
    })
    expect(originalDialog(fold(), "").note).toBe(
      `output folded since call 40, to save: ${fold().because}; ${fold().cutBecause}; it is empty`,
    )
    expect(originalDialog(fold(), undefined)).toEqual({
      title: "r0000001 read src/db.ts",
      note: "The original no longer exists: it was reverted or removed.",
    })
  })

  test("no word of the HUD, the status or a record is broken, as code of an original may be", () => {
    const dialogs = [
      hudDialog(seen()),
      statusDialog(seen()),
      recordDialog(episode()),
      originalDialog(fold(), "as it was"),
    ]
    expect(dialogs.map(({ isVerbatim = false }) => isVerbatim)).toEqual([false, false, false, true])
  })

  test("there is no list where nothing can be folded, or nothing is known, and a note says why", () => {
    const { folding } = statusOf()
    expect(whyNoFolds(statusOf())).toBeUndefined()
    expect(whyNoFolds(statusOf({ folding: { ...folding, activity: "off" } }))).toStartWith("Folding is off")
    expect(whyNoFolds(statusOf({ folding: NOTHING_IS_FOLDED }))).toBe("There is nothing to fold yet.")
    expect(whyNoFolds(undefined)).toStartWith("Nothing is known about this session")
  })

  test("a fold can be opened, unfolded and pinned", () => {
    const why = { because: "a file that was read", cutBecause: "carrying what is settled has cost 41k tokens; it pays" }
    const rows = foldActions(fold({ ...why, tokens: 4000, textTokens: 50 }))
    expect(rows.map(({ title, description }) => `${title}: ${description}`)).toEqual([
      "Open: the original, 4.0k tokens, and why it was folded",
      "Unfold: whole in the next 12 calls, 4.0k tokens more",
      "Pin: whole for the rest of the session, 4.0k tokens more",
    ])
  })

  test("steps that are not folded stand below, with the reason or as settled", () => {
    const newest = [
      { step: 9, messageID: "msg_9", what: "npm test", tokens: 950, why: "among the newest" },
      { step: 3, messageID: "msg_3", what: "read src/a.ts", tokens: 8700 },
      // its output is folded
      { step: 2, messageID: fold().messageID, what: "ls", tokens: 950 },
    ]
    const rows = keptRows({ ...folding, newest: [fold()], kept: { ...folding.kept, newest } })
    expect(rows.map(({ title, description, footer, category }) => [title, description, footer, category])).toEqual([
      ["step 9 npm test", "among the newest", "950 tokens", "Not folded"],
      ["step 3 read src/a.ts", "settled", "8.7k tokens", "Not folded"],
    ])
    expect(keptActions(false).map(({ title }) => title)).toEqual(["Fold now", "Pin"])
    expect(keptActions(true).map(({ title }) => title)).toEqual(["Fold now", "Release"])
  })

  test("has descriptions that fit, for any text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 90 }), fc.integer({ min: 30, max: 80 }), (words, room) => {
        const newest = [fold({ because: words, cutBecause: words })]
        const kept = {
          ...folding.kept,
          newest: [{ step: 9, messageID: "msg_9", what: "npm test", tokens: 950, why: words }],
        }
        const all = { ...folding, newest, kept, episodes: [episode()] }
        const rows = [...foldRows(all), ...keptRows(all)].map((row) => fitRow(row, room))
        for (const { title, description, footer = "" } of rows)
          if (Bun.stringWidth(title) + Bun.stringWidth(footer) < room)
            expect(Bun.stringWidth(title) + Bun.stringWidth(description) + Bun.stringWidth(footer)).toBeLessThanOrEqual(
              room,
            )
      }),
    )
  })
})
