import { describe, expect, test } from "bun:test"
import type { Status } from "../../src/status/status.ts"
import { type StatusRow, statusRows } from "../../src/status/words.ts"
import { statusOf } from "../support/status.ts"

const savedRow = (changes: Partial<Status["saved"]>) =>
  statusRows(
    statusOf({ saved: { tokens: 310_000, share: 0.31, usd: 1.2, calls: 42, billing: "tokens", ...changes } }),
  ).find(({ name }) => name === "saved")?.text

const rowNamed = (name: StatusRow["name"], folding: Partial<Status["folding"]>) =>
  statusRows(statusOf({ folding: { ...statusOf().folding, ...folding } })).find((row) => row.name === name)

describe("what is folded", () => {
  const text = (folding: Partial<Status["folding"]>) => rowNamed("folds", folding)?.text

  test("is a number of steps, of outputs, and the tokens that saves", () => {
    expect(text({})).toBe("39 steps, 12 outputs folded, 31k less")
    expect(text({ outputs: 0 })).toBe("39 steps folded, 31k less a call")
    expect(text({ steps: 0, outputs: 1 })).toBe("1 output folded, 31k less a call")
    expect(text({ steps: 1, outputs: 0, savedTokens: -2 })).toBe("1 step folded")
    expect(text({ activity: "paused" })).toBe("folding paused: 39 steps, 12 outputs")
  })

  test("is absent when nothing is, unless folding is paused or stopped", () => {
    const none = { steps: 0, outputs: 0, savedTokens: 0 }
    expect(text(none)).toBeUndefined()
    expect(text({ ...none, activity: "paused" })).toBe("folding paused: nothing folded")
    expect(text({ ...none, activity: "off" })).toBeUndefined()
    expect(rowNamed("folds", { ...none, stopped: "it did not pay" })?.details[0]).toBe("it did not pay")
  })
})

test("where folding is paused or has stopped, or never pays, nothing is said to wait for it", () => {
  const byRequest = statusOf({ saved: { ...statusOf().saved, billing: "requests" } })
  expect(statusRows(byRequest).find(({ name }) => name === "open")?.text).toBe("8 steps open, 2 settled")
  const none = { steps: 0, outputs: 0, savedTokens: 0 }
  for (const how of [{ activity: "paused" as const }, { stopped: "it did not pay" }]) {
    expect(rowNamed("open", how)?.text).toBe("8 steps open, 2 settled")
    const status = statusOf({ folding: { ...statusOf().folding, ...none, ...how } })
    status.saved = { tokens: 0, share: -0.004, calls: 42, billing: "tokens" }
    expect(statusRows(status)[0]?.text).toBe("cost 0.4% more so far")
  }
})

describe("what is still open", () => {
  test("is counted by reason, with the newest steps", () => {
    expect(rowNamed("open", {})).toMatchObject({
      name: "open",
      text: "8 steps open, 2 settled and waiting until folding pays",
      tone: "muted",
      details: [
        "5 steps: among the newest",
        "3 steps: its file was edited lately",
        "step 42 npm test: among the newest",
      ],
    })
  })

  test("is absent without steps, and when folding is off", () => {
    expect(
      rowNamed("open", { kept: { open: 0, settled: 0, outputs: 0, tokens: 0, reasons: [], newest: [] } }),
    ).toBeUndefined()
    expect(rowNamed("open", { activity: "off" })).toBeUndefined()
  })
})

describe("the savings", () => {
  test("are a share, an amount of money if there is a price, and tokens", () => {
    expect(savedRow({})).toBe("saved 31%, $1.20, 310k tokens")
  })

  test("are tokens where OpenCode has no price, and shows a bill of $0", () => {
    const row = (share: number, tokens = 310_000) =>
      statusRows(statusOf({ saved: { tokens, share, calls: 42, billing: "tokens" } }))[0]
    expect(row(0.31)).toMatchObject({
      text: "310k tokens not sent",
      details: ["saved 31%, counted in fresh input tokens: OpenCode has no price for the model"],
      short: "310k tokens not sent",
    })
    expect(row(0.31, -9)?.text).toBe("saved 31%")
  })

  test("are shown as extra cost if negative", () => {
    expect(savedRow({ share: -0.11, usd: -0.01 })).toBe("cost 11% more so far")
    expect(savedRow({ share: -0.002 })).toBe("cost 0.2% more so far")
    expect(rowNamed("saved", {})?.details).toEqual(["paid $2.67 of $3.87"])
  })

  test("say that what was paid is not OpenCode's sum where that counts cached tokens as free", () => {
    const status = statusOf({ saved: { ...statusOf().saved, freeReads: true } })
    expect(statusRows(status)[0]?.details).toEqual([
      "paid $2.67 of $3.87",
      "OpenCode has no price for cached tokens and counts them as free",
    ])
  })

  test("are no extra cost, and no money, where none shows", () => {
    expect(savedRow({ share: -0.0002, usd: -0.0004 })).toBe("saved 0%, 310k tokens")
    expect(savedRow({ share: 0.05, usd: -0.5 })).toBe("saved 5%, 310k tokens")
  })

  test("are not expected before the first fold, and nothing is said to be lost", () => {
    const nothing = { ...statusOf().folding, steps: 0, outputs: 0 }
    // the figures also cover the calls of subagents, or only those since the plugin was installed
    const saved = { tokens: -200, calls: 20, billing: "tokens" } as const
    const row = (calls: number, share: number) =>
      statusRows(statusOf({ calls, saved: { ...saved, share }, folding: nothing })).find(({ name }) => name === "saved")
    expect(row(3, -0.02)).toMatchObject({
      name: "saved",
      text: "watching; nothing folded yet",
      tone: "muted",
      details: ["usually begins at call 10 to 30", "its own text has cost 2% so far"],
    })
    expect(row(40, 0)?.details).toEqual(["a cut would not pay yet"])
    expect(row(40, -0.002)?.details.at(-1)).toBe("its own text has cost 0.2% so far")
    expect(row(40, -0.0002)?.details).toEqual(["a cut would not pay yet"])
  })

  test("give the reason when a cut has cost more than it saved so far", () => {
    const saved: Status["saved"] = { tokens: 9_000, share: -0.03, calls: 42, billing: "tokens" }
    expect(statusRows(statusOf({ saved })).find(({ name }) => name === "saved")).toMatchObject({
      text: "cost 3% more so far",
      details: ["cuts have not paid back yet"],
      short: "cost 3% more",
    })
  })

  test("are only tokens if requests are billed, or nothing", () => {
    expect(savedRow({ billing: "requests" })).toBe("310k tokens not sent")
    expect(savedRow({ billing: "nothing" })).toBe("310k tokens not sent")
    expect(savedRow({ billing: "nothing", tokens: -200 })).toBeUndefined()
    expect(savedRow({ billing: "requests", tokens: -200 })).toBe("billed by requests, nothing to save")
    expect(savedRow({ billing: "tokens" })).toBe("saved 31%, $1.20, 310k tokens")
  })

  test("are absent before a call was reported", () => {
    expect(savedRow({ calls: 0 })).toBeUndefined()
  })
})

test("files that the agent edited itself are no warning, those that others changed are", () => {
  const stale: Status["stale"] = [
    { path: "src/a.ts", why: "edited since read" },
    { path: "src/b.ts", why: "changed on disk since read" },
    { path: "src/c.ts", why: "edited since read" },
  ]
  const rows = statusRows(statusOf({ stale })).filter(({ name }) => name === "changed" || name === "edited")
  expect(rows).toMatchObject([
    { name: "changed", text: "1 file changed on disk", tone: "warn", details: ["src/b.ts"] },
    { name: "edited", text: "2 files edited since read", tone: "muted", details: ["src/a.ts", "src/c.ts"] },
  ])
})

test("digests without a model are said to be so", () => {
  const writer: Status["writer"] = { backend: "extract", state: "ready", waiting: 0, working: false, written: 0 }
  expect(statusRows(statusOf({ writer })).at(-1)?.text).toBe("digests without a model")
})
