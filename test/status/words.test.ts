import { describe, expect, test } from "bun:test"
import type { Status } from "../../src/status/status.ts"
import { rowsOf } from "../../src/status/words.ts"
import { statusOf } from "../support/status.ts"

const savedRow = (changes: Partial<Status["saved"]>) =>
  rowsOf(statusOf({ saved: { tokens: 310_000, share: 0.31, usd: 1.2, calls: 42, ...changes } })).find(
    ({ name }) => name === "saved",
  )?.text

describe("what was saved", () => {
  test("is said as a share, in money where there is a price, and in tokens", () => {
    expect(savedRow({})).toBe("saved 31%, $1.20, 310k tokens")
    expect(
      rowsOf(statusOf({ saved: { tokens: 310_000, share: 0.31, calls: 42 } })).find(({ name }) => name === "saved")
        ?.text,
    ).toBe("saved 31%, 310k tokens")
  })

  test("is a loss where it is one", () => {
    expect(savedRow({ share: -0.11, usd: -0.01 })).toBe("costs 11% more so far")
  })

  test("is no money where requests are billed, or nothing", () => {
    expect(savedRow({ billing: "requests" })).toBe("310k tokens not sent")
    expect(savedRow({ billing: "nothing" })).toBe("310k tokens not sent")
    expect(savedRow({ billing: "nothing", tokens: -200 })).toBeUndefined()
    expect(savedRow({ billing: "tokens" })).toBe("saved 31%, $1.20, 310k tokens")
  })

  test("is not said before a call was reported", () => {
    expect(savedRow({ calls: 0 })).toBeUndefined()
  })
})
