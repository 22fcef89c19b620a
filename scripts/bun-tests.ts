// Runs `bun test` in a child process and returns the outcome of each file.

import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type FileOutcome, readJunit } from "./junit.ts"

export type TestRun = {
  args: readonly string[]
  outcomes: FileOutcome[]
  /** false when something failed, or the run died before it could report */
  passed: boolean
}

export type TestRunOptions = {
  args: readonly string[]
  env?: Readonly<Record<string, string>>
  /** where both streams go; one descriptor keeps them in order */
  shown?: "inherit" | number
}

/** Default per test: starting a process takes seconds on a busy machine. */
const TIMEOUT_MS = 60_000
/** The same under `npm run prove`, where a test may play thousands of cases. */
const PROOF_TIMEOUT_MS = 600_000

const running = new Set<Bun.Subprocess>()
/** the exit code once the user has ended the run */
let interrupted: number | undefined
for (const [signal, code] of [["SIGINT", 130] as const, ["SIGTERM", 143] as const])
  process.on(signal, () => {
    interrupted = code
    for (const one of running) one.kill(signal)
    if (running.size === 0) process.exit(code)
  })

/** After a SIGINT or SIGTERM the process ends as soon as the last child has: nothing else is run, and nothing reported. */
export async function bunTests({ args, env = {}, shown = "inherit" }: TestRunOptions): Promise<TestRun> {
  if (interrupted !== undefined) return new Promise(() => {})
  const folder = await mkdtemp(join(tmpdir(), "hudfold-test-"))
  try {
    const report = join(folder, "report.xml")
    const timeoutMs = env.HUDFOLD_PROVE === undefined ? TIMEOUT_MS : PROOF_TIMEOUT_MS
    const options = [`--timeout=${timeoutMs}`, "--reporter=junit", `--reporter-outfile=${report}`]
    const bun = Bun.spawn([process.execPath, "test", ...options, ...args], {
      stdin: "ignore",
      stdout: shown,
      stderr: shown,
      // the first keeps the plugin in the test process away from the user's store and model; the other is for what the files
      // of a run share
      env: { ...process.env, HUDFOLD_DATA: join(folder, "data"), HUDFOLD_RUN: folder, ...env },
    })
    running.add(bun)
    const exit = await bun.exited
    running.delete(bun)
    return { args, outcomes: readJunit(await readFile(report, "utf8").catch(() => "")), passed: exit === 0 }
  } finally {
    await rm(folder, { recursive: true, force: true })
    if (interrupted !== undefined && running.size === 0) process.exit(interrupted)
  }
}
