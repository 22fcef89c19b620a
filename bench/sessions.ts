// Synthetic sessions for the benchmarks, with a realistic mix of tools and output sizes, and identical in every run.

import type { HostMessage, HostPart } from "../src/host/v1/message.ts"
import { bash, edit, ROOT, read, SessionBuilder, tool, usage } from "../test/support/session.ts"

const MAX_READ_TOKENS = 80_000

/** A session with at least `toolParts` tool parts, two per call, and a user message every 20 calls. */
export function syntheticSession(toolParts: number): HostMessage[] {
  const random = generator(42)
  const session = new SessionBuilder()
  for (let parts = 0, call = 0; parts < toolParts; call++) {
    if (call % 20 === 0) session.user(`make part ${call} of the shop work and keep its tests passing`)
    // with folding, what providers report stops growing; far less than what is sent would count as a cache that does not hold
    session.assistant([part(random), part(random)], usage(2000, Math.min(20_000 + parts * 100, MAX_READ_TOKENS), 1000))
    parts += 2
  }
  return session.messages
}

function part(random: () => number): HostPart {
  const file = `src/${["cart", "login", "stock", "mail"][Math.floor(random() * 4)]}/file-${Math.floor(random() * 60)}.ts`
  const lines = (count: number) =>
    Array.from({ length: count }, (_, i) => `${i + 1}: const value${i} = compute(${Math.floor(random() * 1e6)})`).join(
      "\n",
    )
  const kind = random()
  if (kind < 0.35) return read(file, lines(40 + Math.floor(random() * 160)))
  if (kind < 0.6) return edit(file)
  if (kind < 0.7)
    return tool("grep", { pattern: `value${Math.floor(random() * 50)}`, path: ROOT }, `Found 12 matches\n${lines(12)}`)
  if (kind < 0.85) return bash("npm test", `${lines(30)}\nTests: 2 failed, 40 passed, 42 total`, 1)
  return bash(`git log -${Math.floor(random() * 20)}`, lines(25))
}

/** A seeded generator of numbers in [0, 1), so that every run uses the same session (mulberry32). */
export function generator(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}

/** The numbers of the command line, in place of those given. With anything else the program ends, and says how it is used. */
export function numbersGiven<T extends readonly number[]>(usage: string, defaults: T): T {
  const given = process.argv.slice(2)
  const numbers = defaults.map((one, at) => (given[at] === undefined ? one : Number(given[at])))
  if (given.length <= defaults.length && numbers.every((one) => one > 0)) return numbers as unknown as T
  process.stderr.write(`usage: ${usage}\n`)
  process.exit(2)
}

export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0
}
