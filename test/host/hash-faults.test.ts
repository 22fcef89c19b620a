// Each hash fails in turn. Only the operation that needed the hash is skipped.

import { afterAll, describe, expect, mock, test } from "bun:test"
import * as crypto from "node:crypto"
import { rmSync } from "node:fs"
import { join } from "node:path"
import { temporaryFolder } from "../store/support.ts"
import { expectRich, harmIn } from "../support/invariants.ts"
import { everythingOn, type Played, playSession } from "../support/one-session.ts"
import { createSeam, type Fault } from "../support/seam.ts"
import { sized } from "../support/size.ts"

const folder = temporaryFolder()
const seam = createSeam()
const whole = { ...crypto }
const hash = (...args: Parameters<typeof crypto.hash>) => seam.pass("hash", () => whole.hash(...args))
await mock.module("node:crypto", () => ({ ...whole, hash }))
afterAll(async () => {
  await mock.module("node:crypto", () => whole)
  folder[Symbol.dispose]()
})

let count = 0
async function play(fault?: Fault): Promise<Played> {
  const directory = join(folder.path, `${++count}`)
  seam.begin(fault)
  const played = await playSession({ directory, options: everythingOn(directory), mend: seam.mend })
  rmSync(directory, { recursive: true })
  return played
}

const plain = await play()
const total = seam.passed.length
seam.mend()

test("the session without a fault has folds, recalls and a HUD", () => {
  expectRich(plain)
  expect(total).toBeGreaterThan(50)
})

const every = sized(23, 1, 11)

describe.each(["once", "from there on"])("the session goes on when", (how) => {
  for (let at = 1; at <= total; at++)
    if (at % every === (how === "once" ? 0 : 3 % every))
      test(`hash ${at} of ${total} fails ${how}`, async () => {
        const fail = () => {
          throw new Error("no hash")
        }
        const played = await play({ at, stays: how !== "once", fail })
        expect(seam.failed).toBeGreaterThan(0)
        const harm = harmIn(played)
        // an original that cannot be verified is not returned; the agent gets an explanation
        expect(harm.filter((line) => !/did not come back: .*(not available|failed)/.test(line))).toEqual([])
      }, 120_000)
})
