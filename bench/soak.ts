// Time and memory in the long run: 20,000 calls, fifty sessions at once, one session of 20,000 tool parts, outputs of 10 MB.
// Prints each measurement and whether it is within its limit, with `--json` as JSON lines, and exits with 1 when a limit is
// exceeded. `bun bench/soak.ts [--json] [CALLS]`, by default 20,000 calls, which take about four minutes.

import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { HostMessage } from "../src/host/v1/message.ts"
import { DrivenSession, openDirectory } from "../test/support/driver.ts"
import { bash, SessionBuilder, tool, usage } from "../test/support/session.ts"
import { SHAPES } from "../test/support/shapes.ts"
import { soak } from "../test/support/soak.ts"
import { median, syntheticSession } from "./sessions.ts"

type Case = { case: string; passed: boolean; figure: string }

const given = process.argv.slice(2).filter((argument) => argument !== "--json")
const CALLS = Number(given[0] ?? 20_000)
if (given.length > 1 || !(CALLS > 0)) {
  process.stderr.write("usage: bun bench/soak.ts [--json] [CALLS]\n")
  process.exit(2)
}
/** After this many calls the state kept per session has nearly reached its bounds. */
const EARLY_CALLS = Math.min(2_000, CALLS / 4)
const TOOL_PARTS = 20_000
const LARGE_CHARS = 10_000_000

/**
 * Limits for the long run: how much the heap may grow until the state of all sessions that are kept has reached its bounds (after
 * 40,000 calls it is as large as after 20,000), and how much slower the last calls may be.
 */
const MAX_GROWTH_MB = 25
const MAX_SLOWDOWN = 1.25
/** Limits for the hook, which blocks the request: the first call of a session of 20,000 parts, and each call after it. */
const MAX_FIRST_MS = 5_000
const MAX_NEXT_MS = 150
/** Limit for reading or folding an output of 10 MB, and for returning one page of it. */
const MAX_LARGE_MS = 3_000

const asJson = process.argv.includes("--json")
const folder = mkdtempSync(join(tmpdir(), "hud-soak-"))
// instead of the user's store and model
process.env.HUDFOLD_DATA = folder
let broken = false
try {
  for (const measure of [longRun, manySessions, longSession, largeOutputs]) for (const one of await measure()) show(one)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
process.exit(broken ? 1 : 0)

function show(one: Case): void {
  broken ||= !one.passed
  const text = asJson ? JSON.stringify(one) : `${one.passed ? "within" : "BROKEN"}  ${one.case}: ${one.figure}`
  process.stdout.write(`${text}\n`)
}

async function longRun(): Promise<Case[]> {
  const { calls, before, after, slower, medianMs, sessions } = await soak(CALLS, EARLY_CALLS)
  const [few, many] = [before.heap / 1e6, after.heap / 1e6]
  const rss = [before.rss, after.rss].map((bytes) => (bytes / 1e6).toFixed(0)).join(" and ")
  const heap = `${few.toFixed(1)} MB after ${EARLY_CALLS} calls, ${many.toFixed(1)} MB after ${calls} (resident: ${rss} MB)`
  const times = `${slower.toFixed(2)} times the first fifth's, the median call ${medianMs.toFixed(1)} ms`
  return [
    { case: `heap over ${calls} calls in ${sessions} sessions`, passed: many - few < MAX_GROWTH_MB, figure: heap },
    { case: "the hook's time in the last fifth of the calls", passed: slower < MAX_SLOWDOWN, figure: times },
  ]
}

async function manySessions(): Promise<Case[]> {
  const times: number[] = []
  const options = { digest: { backend: "extract" } }
  const directories = await Promise.all(Array.from({ length: 5 }, (_, n) => openDirectory(options, `/home/dev/p${n}`)))
  const sessions = directories.flatMap((directory, n) =>
    Array.from({ length: 10 }, (_, at) => {
      return new DrivenSession(directory, `ses_${n}_${at}`, `word${n}x${at}`, (_, __, ms) => void times.push(ms))
    }),
  )
  await Promise.all(
    sessions.map(async (session) => {
      await session.create()
      for (let turn = 0; turn < 5; turn++) await session.turn(20)
    }),
  )
  const failed = directories.flatMap(({ logged }) => logged.filter((line) => /failed;|not done|gave up/.test(line)))
  await Promise.all(directories.map((directory) => directory.dispose()))
  const figure = `median ${median(times).toFixed(1)} ms, slowest ${Math.max(...times).toFixed(0)} ms, ${failed.length} failed`
  return [{ case: `${times.length} calls of 50 sessions at once`, passed: failed.length === 0, figure }]
}

async function longSession(): Promise<Case[]> {
  const later = 40
  const stored = syntheticSession(TOOL_PARTS + 2 * later).map((message) => JSON.stringify(message))
  const directory = await openDirectory({ digest: { backend: "extract" } })
  const times: number[] = []
  for (let call = 0; call <= later; call++) {
    const messages = stored.slice(0, stored.length - later + call).map((text) => JSON.parse(text) as HostMessage)
    times.push(await timed(() => directory.transform({}, { messages })))
  }
  await directory.dispose()
  const [first = 0, ...next] = times
  const figure = `${median(next).toFixed(1)} ms in the median, ${Math.max(...next).toFixed(0)} ms at most`
  return [
    {
      case: `first call of a session of ${TOOL_PARTS} tool parts`,
      passed: first < MAX_FIRST_MS,
      figure: `${first.toFixed(0)} ms, once`,
    },
    { case: `each call after it, for ${later} calls`, passed: median(next) < MAX_NEXT_MS, figure },
  ]
}

async function largeOutputs(): Promise<Case[]> {
  let slowest = { what: "", ms: 0 }
  let page = { what: "", ms: 0 }
  for (const [shape, shapeOf] of Object.entries(SHAPES)) {
    const id = `ses_${shape.replaceAll(" ", "_")}`
    const directory = await openDirectory({ digest: { backend: "extract" }, fold: { price: { read: 1, write: 1 } } })
    const session = new SessionBuilder(id)
      .user("look at the large output")
      .assistant([bash("npm test", shapeOf(LARGE_CHARS), 1)])
    session.assistant([tool("docs_search", { query: "x" }, shapeOf(LARGE_CHARS))])
    for (let call = 0; call < 8; call++) {
      session.assistant([bash(`ls ${call}`, "ok")], usage(300, 90_000))
      const messages = session.fresh()
      const ms = await timed(() => directory.transform({}, { messages }))
      if (ms > slowest.ms) slowest = { what: shape, ms }
    }
    let answer = ""
    const recalled = await timed(async () => {
      answer = await directory.recall(id, session.messages, { steps: "1", page: 2 })
    })
    if (!answer.startsWith("[recalled ")) throw new Error(`no page of the output was recalled: ${answer.slice(0, 200)}`)
    if (recalled > page.ms) page = { what: shape, ms: recalled }
    await directory.dispose()
  }
  const figureOf = ({ what, ms }: typeof page) => `${ms.toFixed(0)} ms at most (${what})`
  return [
    { case: "a call with outputs of 10 MB", passed: slowest.ms < MAX_LARGE_MS, figure: figureOf(slowest) },
    { case: "a page of an output of 10 MB", passed: page.ms < MAX_LARGE_MS, figure: figureOf(page) },
  ]
}

async function timed(action: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await action()
  return performance.now() - started
}
