// OpenCode 2's terminal in the shape of OpenCode 1's, where pieces fail.

import { expect, test } from "bun:test"
import { apiOfV2, type TerminalV2 } from "../../src/tui/api-v2.ts"

const terminal = (pieces: object) =>
  ({ storage: { store: () => [{}, async () => {}] }, ...pieces }) as unknown as TerminalV2

test("a list that closes with a rejection is not chosen from, and nothing is left unhandled", async () => {
  const unhandled: unknown[] = []
  const note = (cause: unknown) => unhandled.push(cause)
  process.on("unhandledRejection", note)
  const select = async () => Promise.reject(new Error("closed"))
  const { api } = apiOfV2(terminal({ ui: { dialog: { select } } }))
  let chosen = 0
  api.showList({ title: "Folds", placeholder: "", options: [], onSelect: () => chosen++ })
  // a rejection counts as unhandled at the end of a turn of the event loop
  await new Promise((resolve) => setImmediate(resolve))
  process.off("unhandledRejection", note)
  expect([chosen, unhandled.length]).toEqual([0, 0])
})
