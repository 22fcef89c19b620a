// A real instruct model, small enough for two CPU cores, writes digests of real tool outputs through the real sidecar.
// Their quality may be poor, but they must be well-formed and bounded.

import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { existsSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { isTestModelWanted, TEST_MODEL } from "../../scripts/test-model.ts"
import type { Backend, Written } from "../../src/digest/backends/backend.ts"
import { extract } from "../../src/digest/extract/extract.ts"
import { ground } from "../../src/digest/ground/ground.ts"
import { promptFor } from "../../src/digest/prompt.ts"
import { optionsSchema } from "../../src/options.ts"
import type { DigestSource } from "../../src/output/digest.ts"
import { eslintFail, jestFail, npmInstall, tscFail, viteFail } from "../digest/extract/fixtures/javascript.ts"
import { goFail, surefireFail } from "../digest/extract/fixtures/systems.ts"
import { readCode, readMarkdown, readOld } from "../digest/extract/fixtures/tools.ts"
import { LARGE, testLarge } from "../support/large.ts"
import { openLlama } from "../support/llama.ts"
import { plantSidecar } from "../support/sidecar.ts"

const present = existsSync(TEST_MODEL)
const why = present ? "" : " (skipped: the model is missing; run: npm run test-model)"

const command = (command: string, output: string, exit: number): DigestSource => ({
  ...{ tool: "bash", kind: "command", input: { command }, output, failed: false, exit },
})
const read = (filePath: string, output: string): DigestSource => ({
  ...{ tool: "read", kind: "read", input: { filePath }, output, failed: false },
})

const OUTPUTS: readonly [string, DigestSource][] = [
  ["a file of code", read("src/session.ts", readCode)],
  ["an old read", read("load.py", readOld)],
  ["a page of documentation", read("docs/guide.md", readMarkdown)],
  ["a failing jest run", command("npx jest", jestFail, 1)],
  ["a failing Go test", command("go test ./...", goFail, 1)],
  ["a failing Maven build", command("mvn test", surefireFail, 1)],
  ["type errors", command("npx tsc", tscFail, 2)],
  ["lint findings", command("npx eslint .", eslintFail, 1)],
  ["an install", command("npm install", npmInstall, 0)],
  ["a failing bundle", command("npx vite build", viteFail, 1)],
]

/** The others are further cases of what these show. */
const SMALL = ["a file of code", "a failing jest run", "type errors", "an install"]
const DIGESTED = OUTPUTS.filter(([name]) => LARGE || SMALL.includes(name))

test("the model is present if this run requires it", () => {
  if (isTestModelWanted) expect(existsSync(TEST_MODEL)).toBe(true)
})

describe.skipIf(!present)(`a real model${why}`, () => {
  let folder: string
  let backend: Backend
  const written = new Map<string, Written>()

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "opencode-hudfold-model-"))
    const { digest: options } = optionsSchema.parse({ digest: { gpu: "off" } })
    const planted = plantSidecar(folder, { model: TEST_MODEL })
    const opened = await openLlama({ dataFolder: planted.folder, options, report: () => {} })
    if ("off" in opened) throw new Error(opened.off)
    backend = opened
    for (const [name, source] of DIGESTED) written.set(name, await write(source))
  }, 600_000)
  afterAll(async () => {
    await backend?.close()
    rmSync(folder, { recursive: true, force: true })
  })

  const write = (source: DigestSource) =>
    backend.write(promptFor(source, { budgetTokens: 400 }), new AbortController().signal)

  for (const [name, source] of OUTPUTS) {
    const one = SMALL.includes(name) ? test : testLarge

    one(`answers ${name} in the requested form`, async () => {
      const answer = written.get(name) as Written
      expect(answer.structured).not.toBeNull()
    })

    one(`the digest of ${name} is one line of at most 160 characters`, async () => {
      const digest = ground((written.get(name) as Written).structured?.summary, source, extract(source).digest)
      expect(digest ?? "refused").toMatch(/^[^\n\r]{1,160}$/)
    })
  }

  test("the same output gives the same answer again, after others in between", async () => {
    const [name, source] = OUTPUTS[0] as [string, DigestSource]
    const again = await write(source)
    expect(again.structured).toEqual((written.get(name) as Written).structured)
  }, 120_000)
})
