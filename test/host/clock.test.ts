// The clock jumps at every call of Date.now: back, far ahead, to NaN. A wrong time may make a figure wrong; it must not lose
// stored data, delay a request, or report to the model what did not happen.

import { afterAll, describe, expect, test } from "bun:test"
import { readdirSync, rmSync } from "node:fs"
import { join } from "node:path"
import { temporaryFolder } from "../store/support.ts"
import { expectRich, expectWhole } from "../support/invariants.ts"
import { everythingOn, type Played, playSession } from "../support/one-session.ts"
import { createSeam, type Fault } from "../support/seam.ts"
import { sized } from "../support/size.ts"

const HOUR = 3_600_000
const YEAR = 365 * 24 * HOUR
const JUMPS: Readonly<Record<string, (now: number) => number>> = {
  "an hour back": (now) => now - HOUR,
  "to 1970": () => 0,
  "ten years ahead": (now) => now + 10 * YEAR,
  "to no number": () => Number.NaN,
}

const folder = temporaryFolder()
const data = process.env.HUDFOLD_DATA
const wall = Date.now
const seam = createSeam()
afterAll(() => {
  if (data === undefined) delete process.env.HUDFOLD_DATA
  else process.env.HUDFOLD_DATA = data
  folder[Symbol.dispose]()
})

let count = 0
async function play(fault?: Fault, jump: (now: number) => number = (now) => now): Promise<Played & { place: string }> {
  const place = join(folder.path, `${++count}`)
  process.env.HUDFOLD_DATA = place
  seam.begin(fault && { ...fault, fail: () => jump(wall()) })
  Date.now = () => seam.pass("Date.now", wall)
  try {
    const played = await playSession({ directory: place, options: everythingOn(place), mend: seam.mend })
    return { ...played, place }
  } finally {
    Date.now = wall
  }
}

const plain = await play()
const looks = seam.passed.length
seam.mend()

test("the session under a steady clock has folds, recalls and a HUD", () => {
  expectRich(plain)
  expect(looks).toBeGreaterThan(20)
})

const cases = Object.entries(JUMPS).flatMap(([where, jump]) =>
  [false, true].flatMap((stays) => Array.from({ length: looks }, (_, at) => ({ where, jump, stays, at: at + 1 }))),
)
const every = sized(61, 1, 29)

describe("nothing is lost when", () => {
  for (const { where, jump, stays, at } of cases.filter((_, n) => n % every === 0))
    test(`the clock jumps ${where} at look ${at} of ${looks}${stays ? "" : ", and back at the next"}`, async () => {
      const played = await play({ at, stays, fail: () => 0 }, jump)
      expect(seam.failed).toBeGreaterThan(0)
      const said = expectWhole(played, plain)
      // the store refuses a time of NaN, and logs it
      if (!Number.isNaN(jump(0))) expect(said).toEqual([])
      expect(readdirSync(join(played.place, "sessions"))).toEqual(["ses_test.status.json"])
      rmSync(played.place, { recursive: true })
    }, 120_000)
})
