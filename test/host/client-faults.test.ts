// Each call to OpenCode's server fails in turn: it throws, rejects, never answers, or answers nonsense. The plugin depends on no
// answer: only what the server alone knows is missing.

import { afterAll, describe, expect, test } from "bun:test"
import { rmSync } from "node:fs"
import { join } from "node:path"
import { temporaryFolder } from "../store/support.ts"
import { expectRich, expectWhole } from "../support/invariants.ts"
import { everythingOn, type Played, playSession } from "../support/one-session.ts"
import { createSeam, type Fault, wrapClient } from "../support/seam.ts"
import { sized } from "../support/size.ts"

const FAULTS: Readonly<Record<string, () => unknown>> = {
  throws: () => {
    throw new Error("the server is gone")
  },
  rejects: () => Promise.reject(new Error("the server is gone")),
  "never answers": () => new Promise(() => {}),
  "answers nothing": () => undefined,
  "answers a number": () => 42,
  "answers null": async () => ({ data: null }),
  "answers a list of rubbish": async () => ({ data: [null, 7, "x", { info: null }, { info: {}, parts: 3 }] }),
  "answers another form": async () => ({ data: { info: { id: 3 }, parts: [null, { id: "x", state: 1 }] } }),
  "answers an error": async () => ({ error: { name: "UnknownError" } }),
}

const folder = temporaryFolder()
const seam = createSeam()
afterAll(() => folder[Symbol.dispose]())

let count = 0
/** With an invalid option, so that there is something to log. */
async function play(fault?: Fault, more: object = {}): Promise<Played> {
  const directory = join(folder.path, `${++count}`)
  seam.begin(fault)
  const client = (plain: object) => wrapClient(plain, seam)
  const options = { ...everythingOn(directory), ...more }
  const played = await playSession({ directory, options, client, mend: seam.mend })
  rmSync(directory, { recursive: true })
  return played
}

const quiet = await play()
const wrongOption = { surely: "wrong" }
const plain = await play(undefined, wrongOption)
const operations = [...seam.passed]
seam.mend()

test("the session without a fault has folds, recalls and a HUD, and calls every operation of the server", () => {
  expectRich(quiet)
  expect(new Set(operations)).toEqual(
    new Set(["app.agents", "app.log", "session.message", "session.messages", "tui.showToast"]),
  )
})

const cases = Object.entries(FAULTS).flatMap(([how, fail]) =>
  [false, true].flatMap((stays) => operations.map((operation, at) => ({ how, fail, stays, operation, at: at + 1 }))),
)
const every = sized(23, 1, 11)

describe("the session is the same when", () => {
  for (const { how, fail, stays, operation, at } of cases.filter((_, n) => n % every === 0))
    test(`call ${at} (${operation}) ${how}, ${stays ? "as all after it" : "once"}`, async () => {
      const played = await play({ at, stays, fail }, wrongOption)
      expect(seam.failed).toBeGreaterThan(0)
      expect(expectWhole(played, plain)).toEqual([])
      for (const { recalled } of played.processes)
        for (const { asked, original } of recalled) if (asked !== original) expect(asked).toMatch(NOT_ANSWERED)
    }, 120_000)
})

/** The agent's answer when only the server has the original. */
const NOT_ANSWERED = /^\[r[0-9a-z]{7} · .* · not available/
