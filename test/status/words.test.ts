import { describe, expect, test } from "bun:test"
import type { Status } from "../../src/status/status.ts"
import { statusRows } from "../../src/status/words.ts"
import { statusOf } from "../support/status.ts"

const savedRow = (changes: Partial<Status["saved"]>) =>
  statusRows(statusOf({ saved: { tokens: 310_000, share: 0.31, usd: 1.2, calls: 42, ...changes } })).find(
    ({ name }) => name === "saved",
  )?.text

describe("the savings", () => {
  test("are a share, an amount of money if there is a price, and tokens", () => {
    expect(savedRow({})).toBe("saved 31%, $1.20, 310k tokens")
    expect(
      statusRows(statusOf({ saved: { tokens: 310_000, share: 0.31, calls: 42 } })).find(({ name }) => name === "saved")
        ?.text,
    ).toBe("saved 31%, 310k tokens")
  })

  test("are shown as extra cost if negative", () => {
    expect(savedRow({ share: -0.11, usd: -0.01 })).toBe("costs 11% more so far")
  })

  test("are only tokens if requests are billed, or nothing", () => {
    expect(savedRow({ billing: "requests" })).toBe("310k tokens not sent")
    expect(savedRow({ billing: "nothing" })).toBe("310k tokens not sent")
    expect(savedRow({ billing: "nothing", tokens: -200 })).toBeUndefined()
    expect(savedRow({ billing: "tokens" })).toBe("saved 31%, $1.20, 310k tokens")
  })

  test("are absent before a call was reported", () => {
    expect(savedRow({ calls: 0 })).toBeUndefined()
  })
})
