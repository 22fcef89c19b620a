// Runs the tests and ends with one plain line, `N passed, N failed`. Arguments go to `bun test`; without any, the
// end-to-end tests run beside all others, which takes two processors little more than half the time.

import { openSync } from "node:fs"
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"

type Outcome = { passed: number; failed: number }

const folder = await mkdtemp(join(tmpdir(), "opencode-hud-test-"))
const given = process.argv.slice(2)
const tests = (await readdir("test")).filter((name) => name !== "support").map((name) => `./test/${name}`)
const groups = given.length ? [given] : [tests.filter((name) => !name.endsWith("/e2e")), ["./test/e2e"]]
const running = new Set<Bun.Subprocess>()
for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.on(signal, () => {
    for (const one of running) one.kill(signal)
  })

const outcomes = await Promise.all(groups.map(run))
await rm(folder, { recursive: true, force: true })
const passed = outcomes.reduce((sum, one) => sum + one.passed, 0)
const failed = outcomes.reduce((sum, one) => sum + one.failed, 0)
process.stdout.write(`\n${passed} passed, ${failed} failed\n`)
process.exitCode = failed === 0 && passed > 0 ? 0 : 1

/** The first group's output is seen as it comes, the others' when they are done. */
async function run(args: readonly string[], index: number): Promise<Outcome> {
  const report = join(folder, `report-${index}.xml`)
  const output = join(folder, `output-${index}`)
  // one descriptor for both streams, so that they stay in order
  const shown = index === 0 ? "inherit" : openSync(output, "w")
  const bun = Bun.spawn([process.execPath, "test", "--reporter=junit", `--reporter-outfile=${report}`, ...args], {
    stdin: "ignore",
    stdout: shown,
    stderr: shown,
    // the plugin in the tests' own process: not the user's store, not the user's model
    env: { ...process.env, OPENCODE_HUD_DATA: join(folder, `data-${index}`) },
  })
  running.add(bun)
  const exit = await bun.exited
  running.delete(bun)
  if (index > 0) process.stdout.write(await readFile(output, "utf8").catch(() => ""))
  const totals = /<testsuites\b[^>]*>/.exec(await readFile(report, "utf8").catch(() => ""))?.[0] ?? ""
  const count = (name: string) => Number(new RegExp(`\\b${name}="(\\d+)"`).exec(totals)?.[1] ?? 0)
  const failed = count("failures") + count("errors")
  const passed = count("tests") - failed - count("skipped")
  // a run that died before it could count is a failure too
  return { passed, failed: exit !== 0 && failed === 0 ? 1 : failed }
}
