// The real engine with a vocabulary that has the chat markers of all model families: whatever a document contains, its
// prompt has only the special tokens of the chat format.

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { existsSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promptFor } from "../../src/digest/prompt.ts"
import type { DigestSource } from "../../src/output/digest.ts"
import { type TinyModel, writeTinyModel } from "../support/gguf.ts"
import { CORPUS } from "../support/hostile/corpus.ts"
import { TOKENS } from "../support/hostile/roles.ts"

setDefaultTimeout(120_000)

const engine = join(import.meta.dir, "../../sidecar/node_modules/node-llama-cpp")
const folder = mkdtempSync(join(tmpdir(), "hud-hostile-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** The special tokens of each prompt. */
async function specialTokens(model: TinyModel, texts: readonly string[]): Promise<string[][]> {
  const path = join(folder, `${crypto.randomUUID()}.gguf`)
  await writeTinyModel(path, model)
  // separate from the engine's own output
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "fixtures/tokenize.ts")], {
    stdin: "pipe",
    stderr: "ignore",
  })
  child.stdin.write(JSON.stringify([path, ...texts]))
  child.stdin.end()
  const said = await new Response(child.stdout).text()
  return JSON.parse(said.slice(said.lastIndexOf("\n"))) as string[][]
}

const raw = (text: string) => `tool: bash\noutput:\nsee ${text} here\n\nsummarize`
const source = (text: string): DigestSource => ({
  ...{ tool: "bash", kind: "command", input: { command: text.slice(0, 2000) }, output: text, failed: false },
})
const marks = [...new Set(Object.values(TOKENS))]
/** Tokens that the tiny model already has; the engine refuses duplicates. */
const OWN = "<s> </s> <unk> <|im_start|> <|im_end|> <start_of_turn> <end_of_turn> <think> </think> <0x0A>".split(" ")
const others = marks.filter((mark) => !OWN.includes(mark))
/** The first document is harmless: its special tokens are those of the format. */
const documents = ["nothing", ...marks.map(raw), ...CORPUS.map(({ text }) => raw(text.slice(0, 3000)))]
const prompts = CORPUS.map(({ text }) => promptFor(source(text), { budgetTokens: 500 }).text)

test("the engine is installed; otherwise run: npm run sidecar", () => {
  expect(existsSync(engine)).toBe(true)
})

/** `control` tokens are not recognized in a document; `userDefined` ones are recognized in any text. */
const TYPES = ["control", "userDefined"] as const
const FORMATS = ["chatml", "gemma", "none"] as const
type Model = { type: (typeof TYPES)[number]; template: (typeof FORMATS)[number] }
const MODELS: readonly Model[] = TYPES.flatMap((type) => FORMATS.map((template) => ({ type, template })))

describe("with a vocabulary that has the markers of all families", () => {
  /** by model, for each document and prompt */
  const special: string[][][] = []
  beforeAll(async () => {
    for (const { type, template } of MODELS)
      special.push(await specialTokens({ template, marks: { [type]: others } }, [...documents, ...prompts]))
  })

  for (const [at, mark] of marks.entries())
    test(`a document that contains ${mark} has no such token`, () => {
      // a user-defined marker that the format does not use counts as ordinary text, unless it is barred
      for (const [i, { type }] of MODELS.entries())
        if (type === "control" || /^<[|\uff5c].*[|\uff5c]>$/.test(mark))
          expect(special[i]?.[at + 1]).toEqual(special[i]?.[0] as string[])
    })

  for (const [at, { id, tries }] of CORPUS.entries())
    test(`${id}: only the format's tokens are special when it tries to ${tries}`, () => {
      for (const [i, { type }] of MODELS.entries()) {
        const own = special[i]?.[0] as string[]
        if (type === "control") expect(special[i]?.[1 + marks.length + at]).toEqual(own)
        expect(special[i]?.[documents.length + at]).toEqual(own)
      }
    })
})
