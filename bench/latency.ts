// How long the messages hook delays a request, on synthetic sessions of 100, 1,000 and 10,000 tool parts. Like OpenCode, every
// call passes an array of new objects, one message longer than the last. Prints the first call (the whole session at once)
// and the median and 99th percentile of the calls after it, in milliseconds.

import plugin from "../src/plugin.ts"
import { syntheticSession } from "./sessions.ts"

const SIZES = [100, 1_000, 10_000]
const CALLS = 500

const percentile = (sorted: readonly number[], q: number) =>
  sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? 0

process.stdout.write("tool parts   first call   warm median   warm p99\n")
for (const size of SIZES) {
  const hooks = await plugin.server({ directory: "/", worktree: "/" } as never, { store: { enabled: false } })
  const transform = hooks["experimental.chat.messages.transform"] as (
    input: object,
    output: { messages: unknown[] },
  ) => Promise<void>
  const session = syntheticSession(size + CALLS * 2)
  const stored = session.map((message) => JSON.stringify(message))
  const times: number[] = []
  for (let call = 0; call <= CALLS; call++) {
    const output = {
      messages: stored.slice(0, session.length - CALLS + call).map((text) => JSON.parse(text) as unknown),
    }
    const started = performance.now()
    await transform({}, output)
    times.push(performance.now() - started)
  }
  await hooks.dispose?.()
  const [first = 0, ...warm] = times
  warm.sort((a, b) => a - b)
  const cell = (ms: number, width: number) => ms.toFixed(2).padStart(width)
  process.stdout.write(
    `${String(size).padStart(10)}   ${cell(first, 10)}   ${cell(percentile(warm, 0.5), 11)}   ${cell(percentile(warm, 0.99), 8)}\n`,
  )
}
