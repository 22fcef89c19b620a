// The engine without the sidecar, as the baseline of `bench/digest.ts`: evaluates a number of a text's tokens, writes a number
// of tokens after them, and reports how long it took. One JSON line in, one out.

import { createInterface } from "node:readline"
import { getLlama } from "../sidecar/node_modules/node-llama-cpp/dist/index.js"

type RawRequest = { text: string; promptTokens: number; outputTokens: number }

const [modelPath = "", threads = "1"] = process.argv.slice(2)
const llama = await getLlama({ gpu: false, build: "never", progressLogs: false })
const model = await llama.loadModel({ modelPath })
const context = await model.createContext({ contextSize: 4096, batchSize: 128, threads: Number(threads) })
const sequence = context.getSequence()

for await (const line of createInterface({ input: process.stdin })) {
  const { text, promptTokens, outputTokens } = JSON.parse(line) as RawRequest
  const tokens = model.tokenize(text).slice(0, promptTokens)
  await sequence.clearHistory()
  const start = performance.now()
  let written = 0
  for await (const _token of sequence.evaluate(tokens, { temperature: 0, yieldEogToken: true })) {
    if (++written >= outputTokens) break
  }
  process.stdout.write(`${JSON.stringify({ ms: performance.now() - start })}\n`)
}
process.exit(0)
