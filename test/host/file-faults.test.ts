// Each operation on the plugin's own files fails in turn: the store, the status files, the switches. The session goes on, and
// every loss is logged.

import { describe, expect, test } from "bun:test"
import { join } from "node:path"
import { spawnChild, temporaryFolder } from "../store/support.ts"
import { sized } from "../support/size.ts"
import type { FileCase, FileOutcome } from "./fixtures/faulty-files.ts"

const CODES = ["ENOSPC", "EACCES", "EMFILE"] as const

async function play(cases: readonly (FileCase | null)[]): Promise<FileOutcome[]> {
  using folder = temporaryFolder()
  const script = join(import.meta.dir, "fixtures/faulty-files.ts")
  using child = spawnChild([process.execPath, script, folder.path, JSON.stringify(cases)])
  const { code, stdout, stderr } = await child.finish()
  if (code !== 0 || stderr !== "") throw new Error(`the session could not be played: ${stderr}`)
  return stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line))
}

const [plain] = await play([null])
const operations = plain?.operations ?? []
const all = CODES.flatMap((code) =>
  [false, true].flatMap((stays) => operations.map((_, at): FileCase => ({ at: at + 1, stays, code }))),
)
const every = sized(59, 1, 29)
const cases = all.filter((_, n) => n % every === 0)
const outcomes = await play(cases)

test("the session without a fault performs enough file operations", () => {
  expect(plain?.harm).toEqual([])
  expect(new Set(operations)).toContain("writeFileSync")
  expect(operations.length).toBeGreaterThan(20)
})

describe("the session goes on, and every loss is logged, when", () => {
  for (const [number, { at, stays, code }] of cases.entries())
    test(`operation ${at} (${operations[at - 1]}) fails with ${code}, ${stays ? "as all after it" : "once"}`, () => {
      const { failed = 0, harm, loss, operations: performed = [] } = outcomes[number] ?? {}
      expect(harm).toEqual([])
      expect(loss).toEqual([])
      // a status is written some time after a change, so the number of operations differs by a few
      if (performed.length >= at) expect(failed).toBeGreaterThan(0)
      else expect(operations.length - performed.length).toBeLessThan(20)
    })
})
