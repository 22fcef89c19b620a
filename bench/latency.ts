// How long the messages hook delays a request. Like OpenCode, every call passes an array of new objects, one message longer
// than the last. Prints for 100, 1,000 and 10,000 tool parts the first call, and the median, the 99th percentile and the
// maximum of the calls after it, in milliseconds:
//
//   grown     the session grew call by call, and its last 100 calls are measured
//   late      the plugin meets the session at its full size
//   resumed   OpenCode was restarted, and the store knows the session
//
//   bun bench/latency.ts [--sizes 100,1000,10000] [--phases]
//   bun bench/latency.ts SESSION.json...
//
// With sessions that `opencode export` wrote, the same over the calls of each, from its first one on; the first call is the
// median of theirs.
// With --phases, of a grown session, the median and the maximum of each phase of a call: showing the array as a conversation,
// reading it, preparing the request, writing the change into the array, and accepting the new state.

import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import type { HostMessage } from "../src/host/v1/message.ts"
import { median, syntheticSession } from "./sessions.ts"

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { sizes: { type: "string", default: "100,1000,10000" }, phases: { type: "boolean", default: false } },
})
const CALLS = 100
/** Calls while a session grows to its size. Each is longer than OpenCode's, which is harder for the plugin. */
const GROWING_CALLS = 1_000
/** The time between two calls, in which the plugin prepares what the next may need. Few models answer so soon. */
const MODEL_MS = 50
/** The same where thousands of calls have little to prepare. After a longer wait the processor is slow for a moment. */
const SHORT_WAIT_MS = 5

type Transform = (input: object, output: { messages: unknown[] }) => Promise<void>

const sizes = values.sizes.split(",").map(Number)
if (!sizes.every((size) => size > 0)) {
  process.stderr.write("usage: bun bench/latency.ts [--sizes 100,1000,10000] [--phases] [SESSION.json...]\n")
  process.exit(2)
}
if (values.phases) {
  await measurePhases()
  process.exit()
}

const data = mkdtempSync(join(tmpdir(), "hud-latency-"))
process.env.HUDFOLD_DATA = data
const { default: plugin } = await import("../src/plugin.ts")
try {
  print(["tool parts", "", "first call", "median", "p99", "maximum"])
  if (positionals.length > 0) await measureRecorded(positionals)
  else
    for (const size of sizes) {
      const whole = syntheticSession(size + CALLS * 3).map((message) => JSON.stringify(message))
      const stored = whole.slice(0, -CALLS)
      const grown = stored.length - CALLS
      const step = Math.max(1, Math.ceil(grown / GROWING_CALLS))
      const lengths = Array.from({ length: Math.ceil(grown / step) }, (_, at) => Math.min(grown, (at + 1) * step))
      await measure(size, "grown", true, stored, lengths)
      await measure(size, "late", false, stored)
      // goes on where the grown session ended: what the store knows of the calls before them is not to come again
      await measure(size, "resumed", true, whole)
    }
} finally {
  rmSync(data, { recursive: true, force: true })
}

async function measure(
  size: number,
  name: string,
  hasStore: boolean,
  stored: readonly string[],
  before: number[] = [],
) {
  const options = hasStore ? { store: { path: `${size}.db` } } : { store: { enabled: false } }
  const { call, dispose } = await start(stored, options)
  for (const count of before) await call(count)
  const times: number[] = []
  for (let count = stored.length - CALLS; count <= stored.length; count++) times.push(await call(count))
  await dispose()
  const [first = 0, ...warm] = times
  printRow(size.toLocaleString("en"), name, first, warm)
}

async function measureRecorded(files: readonly string[]) {
  const firsts: number[] = []
  const warm: number[] = []
  let parts = 0
  for (const file of files) {
    const { messages } = JSON.parse(readFileSync(file, "utf8")) as { messages: HostMessage[] }
    parts += messages.flatMap((message) => message.parts.filter((part) => part?.type === "tool")).length
    const stored = messages.map((message) => JSON.stringify(message))
    const { call, dispose } = await start(stored, { store: { enabled: false } })
    const counts = messages.flatMap(({ info }, at) => (info.role === "assistant" && at > 0 ? at : []))
    for (const [at, count] of counts.entries()) (at === 0 ? firsts : warm).push(await call(count, MODEL_MS))
    await dispose()
  }
  printRow(parts.toLocaleString("en"), "recorded", median(firsts), warm)
}

/** The plugin in a session of these messages, as JSON. A call of `count` messages returns how long the hook took, in ms. */
async function start(stored: readonly string[], options: Record<string, unknown>) {
  const hooks = await plugin.server({ directory: "/", worktree: "/" } as never, options)
  const transform = hooks["experimental.chat.messages.transform"] as Transform
  const call = async (count: number, waitMs = SHORT_WAIT_MS) => {
    const output = { messages: stored.slice(0, count).map((text) => JSON.parse(text) as unknown) }
    const started = performance.now()
    await transform({}, output)
    const ms = performance.now() - started
    await new Promise((resolve) => setTimeout(resolve, waitMs))
    return ms
  }
  return { call, dispose: async () => hooks.dispose?.() }
}

function printRow(size: string, name: string, first: number, warm: number[]): void {
  warm.sort((a, b) => a - b)
  // nearest rank: of 100 calls, 99 take no longer than the 99th percentile
  const at = (share: number) => warm[Math.ceil(share * warm.length) - 1] ?? 0
  print([size, name, first, at(0.5), at(0.99), at(1)])
}

function print(cells: readonly (string | number)[]): void {
  const shown = cells.map((cell, at) =>
    (typeof cell === "number" ? cell.toFixed(2) : cell)[at === 1 ? "padEnd" : "padStart"](at === 1 ? 8 : 10),
  )
  process.stdout.write(`${shown.join("  ")}\n`)
}

async function measurePhases(): Promise<void> {
  const { accept, newSessionState, prepareRequest } = await import("../src/request/request.ts")
  const { createEnv } = await import("../src/digest/digests.ts")
  const { sourcesAhead } = await import("../src/fold/ahead.ts")
  const { applyChange } = await import("../src/host/v1/apply.ts")
  const { conversationOf } = await import("../src/host/v1/conversation.ts")
  const { readOptions, requestOptionsOf } = await import("../src/options.ts")
  const { createModels } = await import("../src/host/models.ts")
  const { options } = readOptions({})
  const models = createModels(options)
  print(["tool parts", "", "median", "maximum"])
  for (const size of sizes) {
    const stored = syntheticSession(size + CALLS * 2).map((message) => JSON.stringify(message))
    const env = createEnv("/")
    const state = newSessionState(env)
    const phases = new Map<string, number[]>()
    const grown = stored.length - CALLS
    const step = Math.max(1, Math.ceil(grown / GROWING_CALLS))
    for (let count = step; count <= stored.length; count += count < grown ? step : 1) {
      const messages = stored.slice(0, count).map((text) => JSON.parse(text) as HostMessage)
      const timed = <T>(phase: string, work: () => T): T => {
        const started = performance.now()
        const result = work()
        if (count > grown) phases.set(phase, [...(phases.get(phase) ?? []), performance.now() - started])
        return result
      }
      const conversation = timed("show", () => conversationOf(messages))
      const reading = timed("read", () => state.ledger.read(conversation))
      const circumstances = models.circumstances(reading.facts.model, Date.now())
      const source = { messages: conversation, reading, state, circumstances, options: requestOptionsOf(options), env }
      const prepared = timed("prepare", () => prepareRequest(source))
      timed("write", () => applyChange(messages, prepared.change))
      timed("accept", () => accept(state, prepared))
      const { entries } = reading
      const ahead = { entries, messages: conversation, folds: prepared.change.folds }
      for (const _ of sourcesAhead(ahead, env));
    }
    for (const [phase, times] of phases) print([size.toLocaleString("en"), phase, median(times), Math.max(...times)])
  }
}
