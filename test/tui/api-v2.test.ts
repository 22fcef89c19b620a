// OpenCode 2's terminal in the shape of OpenCode 1's, where pieces are missing or fail.

import { expect, test } from "bun:test"
import { apiOfV2, type TerminalV2 } from "../../src/tui/api-v2.ts"

const terminal = (pieces: object) => ({ ui: { slot: () => () => {} }, ...pieces }) as unknown as TerminalV2

test("without a storage, what is kept is kept until exit", () => {
  const { api } = apiOfV2(terminal({}))
  expect(api.kv.get("open", true)).toBe(true)
  api.kv.set("open", false)
  expect(api.kv.get("open", true)).toBe(false)
})

test("a list that closes with a rejection is not chosen from, and nothing is left unhandled", async () => {
  const unhandled: unknown[] = []
  const note = (cause: unknown) => unhandled.push(cause)
  process.on("unhandledRejection", note)
  const select = async () => Promise.reject(new Error("closed"))
  const { api } = apiOfV2(terminal({ ui: { dialog: { select } } }))
  let chosen = 0
  api.showList({ title: "Folds", placeholder: "", options: [], onSelect: () => chosen++ })
  await new Promise((resolve) => setTimeout(resolve, 5))
  process.off("unhandledRejection", note)
  expect([chosen, unhandled.length]).toEqual([0, 0])
})
