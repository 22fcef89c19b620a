// Runs the tests, lists those that failed, and ends with one plain line, `N passed, N failed`. Arguments go to `bun test`.
// Without any, each file in test/e2e and each room is a separate run. There are two more workers than processors, since many
// tests wait for processes and deadlines. Each takes the slowest remaining run next, so that all finish at about the same time.
// The rooms whose tests compute with a real model come last, one by one: beside other runs a model takes many times as long.

import { closeSync, openSync } from "node:fs"
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises"
import { availableParallelism, tmpdir } from "node:os"
import { join } from "node:path"
import { bunTests, type TestRun } from "./bun-tests.ts"
import { classTable } from "./class-table.ts"
import { type FileOutcome, sum } from "./junit.ts"

const OPENCODE = "test/e2e"
/** Of test/engine, by the beginning of their names, the files that compute; the others have imitations of the engine. */
const COMPUTING = ["engine", "host-engine", "hostile"]
const ALONE = [COMPUTING.map((name) => `test/engine/${name}`), ["./test/model/"]]
/** Folders without tests; test/e2e, each file of which is a run; and the one that runs alone. */
const NO_ROOM = ["e2e", "opencode", "support", "model"]
/** The longest runs, slowest first; the order of the others does not matter. */
const SLOWEST = [
  ...["host", "e2e/first-use", "cli", "e2e/panel", "e2e/prompt-cache", "digest", "e2e/store-faults"],
  ...["e2e/random-sessions", "e2e/demo", "e2e/harness/run", "e2e/dcp"],
  ...["store", "e2e/harness/http", "e2e/faults", "e2e/shared-store", "e2e/episodes", "e2e/install", "e2e/recall"],
  ...["setup", "e2e/two-processes", "e2e/sidecar-faults", "package", "e2e/wires"],
  ...["report", "fold", "e2e/orphans", "doctor", "hud", "engine", "secrets"],
]

const given = process.argv.slice(2)
const messages: string[] = []
const folder = await mkdtemp(join(tmpdir(), "hudfold-shown-"))
const runs = given.length
  ? [await bunTests({ args: given })]
  : [...(await runAll(await groups(), availableParallelism() + 2)), ...(await runAll([...ALONE], 1))]
await rm(folder, { recursive: true, force: true })

const outcomes = runs.flatMap(({ outcomes }) => outcomes)
if (!given.length) process.stdout.write(`\n${slowest(outcomes)}\n${classTable(outcomes)}`)
const { passed, failed } = sum(outcomes)
// a run that died before it could report is a failure too
const died = runs.filter((one) => !one.passed && sum(one.outcomes).failed === 0).map(({ args }) => args.join(" "))
const failures = [
  ...outcomes.flatMap(({ file, failures }) => failures.map((one) => `failed: ${file}:${one}\n`)),
  ...died.map((one) => `failed: ${one} ended before it could report\n`),
]
process.stdout.write(`\n${[...messages, ...failures].join("")}${passed} passed, ${failed + died.length} failed\n`)
process.exitCode = failed + died.length === 0 && passed > 0 ? 0 : 1

/** Prints each run's output when it ends, so that outputs do not mix. */
async function runAll(waiting: string[][], workers: number): Promise<TestRun[]> {
  const done: TestRun[] = []
  const work = async () => {
    for (let args = waiting.shift(); args; args = waiting.shift()) {
      const path = join(folder, String(waiting.length))
      const shown = openSync(path, "w")
      done.push(await bunTests({ args, shown }))
      closeSync(shown)
      const text = await readFile(path, "utf8")
      process.stdout.write(text)
      messages.push(...messagesIn(text))
    }
  }
  await Promise.all(Array.from({ length: workers }, work))
  return done
}

/** What failed tests said, repeated at the end, where it is found: at most 50 lines of each, with the test's own line. */
function messagesIn(text: string): string[] {
  const lines = text.split("\n")
  return lines.flatMap((line, at) => {
    if (!line.startsWith("(fail) ")) return []
    const before = lines.slice(0, at).findLastIndex((one) => /^\((pass|fail|skip|todo)\) |\.test\.tsx?:$/.test(one))
    return `${lines.slice(Math.max(before + 1, at - 49), at + 1).join("\n")}\n\n`
  })
}

/** The paths of each run, the slowest run first. */
async function groups(): Promise<string[][]> {
  const top = await readdir("test", { withFileTypes: true })
  const rooms = top.filter((entry) => entry.isDirectory() && !NO_ROOM.includes(entry.name)).map(({ name }) => [name])
  const single = (await readdir(OPENCODE, { recursive: true, encoding: "utf8" }))
    .filter((name) => name.endsWith(".test.ts"))
    .map((name) => [`e2e/${name.replaceAll("\\", "/")}`])
  const loose = top.filter(({ name }) => name.endsWith(".test.ts")).map(({ name }) => name)
  const place = ([path = ""]: readonly string[]) => {
    const at = SLOWEST.indexOf(path.replace(/\.test\.ts$/, ""))
    // files that start OpenCode take longer than rooms
    return at >= 0 ? at : SLOWEST.length + (path.startsWith("e2e/") ? 0 : 1)
  }
  return [...single, ...rooms, loose]
    .sort((one, other) => place(one) - place(other))
    .map((paths) => [
      ...paths.map((path) => (path.endsWith(".ts") ? `./test/${path}` : `./test/${path}/`)),
      ...(paths[0] === "engine" ? [`--path-ignore-patterns=**/engine/{${COMPUTING}}*`] : []),
    ])
}

function slowest(outcomes: readonly FileOutcome[]): string {
  const [...files] = outcomes
  const lines = files
    .sort((one, other) => other.seconds - one.seconds)
    .slice(0, 10)
    .map(({ file, seconds }) => `${`${Math.round(seconds)} s`.padStart(6)}  ${file}\n`)
  return `slowest files\n${lines.join("")}`
}
