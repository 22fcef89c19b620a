// The classes of `npm run prove` name the files that prove them.

import { expect, test } from "bun:test"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { CLASSES } from "../scripts/classes.ts"

const root = fileURLToPath(new URL("..", import.meta.url))
const named = CLASSES.flatMap(({ tests }) => tests)
const tests = [...new Bun.Glob("test/**/*.test.ts").scanSync(root)]

/** What only a proof uses: a size of its own for `npm run prove`, faults at every step, planted secrets, hostile text. */
const PROOF = /from "[./]*(?:support\/)?(?:size|seam|planted|secret-session|hostile\/corpus|small-disk)\.ts"/

test("every file that a class names exists", () => {
  expect(named.filter((path) => !existsSync(join(root, path)))).toEqual([])
})

test("a run that is ended goes on with nothing, and reports nothing", async () => {
  const script = join(root, "scripts/test.ts")
  const run = Bun.spawn([process.execPath, script, "./test/host"], { cwd: root, stdout: "pipe", stderr: "pipe" })
  const errors = run.stderr.getReader()
  // the child has begun
  await errors.read()
  run.kill("SIGTERM")
  expect(await run.exited).toBe(143)
  expect(await new Response(run.stdout).text()).not.toMatch(/\d+ passed/)
}, 60_000)

test("no file belongs to two classes", () => {
  expect(named.filter((path, at) => named.indexOf(path) !== at)).toEqual([])
})

test("every proof belongs to a class", () => {
  const proofs = tests.filter((path) => PROOF.test(readFileSync(join(root, path), "utf8")))
  expect(proofs.length).toBeGreaterThan(20)
  expect(proofs.filter((path) => !named.includes(path))).toEqual([])
})
