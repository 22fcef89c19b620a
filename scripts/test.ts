// Runs the tests and ends with one plain line, `N passed, N failed`. Arguments go to `bun test`.

import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"

const folder = await mkdtemp(join(tmpdir(), "opencode-hud-test-"))
const report = join(folder, "report.xml")
const bun = Bun.spawn(
  [process.execPath, "test", "--reporter=junit", `--reporter-outfile=${report}`, ...process.argv.slice(2)],
  {
    stdin: "ignore",
    stdout: "inherit",
    stderr: "inherit",
    // the plugin in the tests' own process: not the user's store, not the user's model
    env: { ...process.env, OPENCODE_HUD_DATA: join(folder, "data") },
  },
)
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => bun.kill(signal))
const exit = await bun.exited
const xml = await readFile(report, "utf8").catch(() => "")
await rm(folder, { recursive: true, force: true })
const totals = /<testsuites\b[^>]*>/.exec(xml)?.[0] ?? ""
const count = (name: string) => Number(new RegExp(`\\b${name}="(\\d+)"`).exec(totals)?.[1] ?? 0)
const failed = count("failures") + count("errors")
const passed = count("tests") - failed - count("skipped")
// a run that died before it could count is a failure too
const counted = exit !== 0 && failed === 0 ? 1 : failed
process.stdout.write(`\n${passed} passed, ${counted} failed\n`)
process.exitCode = counted === 0 && passed > 0 ? 0 : 1
