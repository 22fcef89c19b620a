// Whether a session stays below `fold.maxContextTokens`: grown step by step like a real one, with two tool calls a step.
// Prints the largest request, and how long the messages hook took.
//
//   bun bench/ceiling.ts [STEPS] [MAX_CONTEXT_TOKENS]      2,500 steps and 60,000 tokens by default

import plugin from "../src/plugin.ts"
import { tokensOfLength } from "../src/text/tokens.ts"
import { numbersGiven, syntheticSession } from "./sessions.ts"

const [steps, maxContextTokens] = numbersGiven("bun bench/ceiling.ts [STEPS] [MAX_CONTEXT_TOKENS]", [2500, 60_000])

type Part = { text?: string; state?: { input: unknown; output?: string; error?: string } }
type Hook = (input: object, output: { messages: { parts: Part[] }[] }) => Promise<void>

const hooks = await plugin.server({ directory: "/", worktree: "/" } as never, {
  store: { enabled: false },
  fold: { maxContextTokens },
})
const transform = hooks["experimental.chat.messages.transform"] as Hook
// the reports in it are of requests without the plugin
const stored = syntheticSession(steps * 2).map(({ info: { tokens: _, ...info }, parts }) =>
  JSON.stringify({ info, parts }),
)
let largest = 0
let slowest = 0
let spent = 0
for (let count = 1; count <= stored.length; count++) {
  const output = { messages: stored.slice(0, count).map((text) => JSON.parse(text) as { parts: Part[] }) }
  const started = performance.now()
  await transform({}, output)
  const ms = performance.now() - started
  spent += ms
  slowest = Math.max(slowest, ms)
  largest = Math.max(largest, tokensOfLength(charsOf(output.messages)))
}
await hooks.dispose?.()
process.stdout.write(
  `${stored.length} messages: largest request ${largest} of ${maxContextTokens} tokens; ${(spent / stored.length).toFixed(1)} ms a call, ${slowest.toFixed(0)} at most\n`,
)
process.exitCode = largest <= maxContextTokens ? 0 : 1

/** Characters of the messages as the provider gets them. */
function charsOf(messages: readonly { parts: readonly Part[] }[]): number {
  let chars = 0
  for (const { parts } of messages)
    for (const { text = "", state } of parts) {
      chars += text.length
      if (state) chars += JSON.stringify(state.input).length + (state.output ?? state.error ?? "").length
    }
  return chars
}
