// Runs the tests and ends with one plain line, `N passed, N failed`. Arguments go to `bun test`; without any, the tests
// that run the real OpenCode run beside all others, which takes two processors little more than half the time.

import { openSync } from "node:fs"
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { bunTests } from "./bun-tests.ts"
import { classTable } from "./class-table.ts"
import { sum } from "./junit.ts"

const WITH_OPENCODE = ["./test/e2e", "./test/trust/harness", "./test/trust/neighbours"]

const given = process.argv.slice(2)
const groups = given.length ? [given] : [await others(), WITH_OPENCODE]
const folder = await mkdtemp(join(tmpdir(), "hudfold-shown-"))
const runs = await Promise.all(groups.map(run))
await rm(folder, { recursive: true, force: true })

const outcomes = runs.flatMap(({ outcomes }) => outcomes)
if (!given.length) process.stdout.write(`\n${classTable(outcomes)}`)
const { passed, failed } = sum(outcomes)
// a run that died before it could count is a failure too
const died = runs.filter((one) => !one.passed && sum(one.outcomes).failed === 0).length
process.stdout.write(`\n${passed} passed, ${failed + died} failed\n`)
process.exitCode = failed + died === 0 && passed > 0 ? 0 : 1

/** The first group's output is seen as it comes, the others' when they are done. */
async function run(args: readonly string[], index: number) {
  if (index === 0) return bunTests({ args })
  const shown = join(folder, String(index))
  const done = await bunTests({ args, shown: openSync(shown, "w") })
  process.stdout.write(await readFile(shown, "utf8"))
  return done
}

async function others(): Promise<string[]> {
  const inside = async (path: string) => (await readdir(path)).map((name) => `${path}/${name}`)
  const paths = [...(await inside("./test")), ...(await inside("./test/trust"))]
  return paths.filter((path) => !["./test/support", "./test/trust", ...WITH_OPENCODE].includes(path))
}
