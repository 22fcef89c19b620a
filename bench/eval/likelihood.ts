// How likely a model finds each candidate after a text: one JSON line in, one out. A process of its own, since the engine's
// protocol has no likelihoods. The score is the mean logarithm of the candidate's tokens after the text, less the same after
// a text that says nothing of the task, so that names that are likely anywhere gain nothing.

import { createInterface } from "node:readline"
import { getLlama, type Token } from "../../sidecar/node_modules/node-llama-cpp/dist/index.js"

export type LikelihoodRequest = { text: string; neutral: string; candidates: readonly string[] }

/** Of a text, from its end. */
const MAX_TEXT_TOKENS = 600
/** Of a candidate, from its beginning. */
const MAX_CANDIDATE_TOKENS = 12
/** Tokens whose probability is asked for, the likeliest first: all of a vocabulary take ten times as long. */
const MAX_RANK = 4096
/** Of the others. */
const FLOOR = 1e-6

const [modelPath = "", threads = "1"] = process.argv.slice(2)
const llama = await getLlama({ gpu: false, build: "never", progressLogs: false })
const model = await llama.loadModel({ modelPath })
const context = await model.createContext({
  ...{ contextSize: 1024, batchSize: 128, threads: Number(threads) },
  // without it a model with a sliding window could not go back to the end of the text
  swaFullCache: true,
})
const sequence = context.getSequence()

for await (const line of createInterface({ input: process.stdin })) {
  const { text, neutral, candidates } = JSON.parse(line) as LikelihoodRequest
  const after = await likelihoods(text, candidates)
  const anywhere = await likelihoods(neutral, candidates)
  process.stdout.write(`${JSON.stringify(after.map((one, at) => one - (anywhere[at] ?? 0)))}\n`)
}
process.exit(0)

async function likelihoods(text: string, candidates: readonly string[]): Promise<number[]> {
  const start = model.tokens.bos === null ? [] : [model.tokens.bos]
  const whole = [...start, ...model.tokenize(text).slice(-MAX_TEXT_TOKENS)]
  const last = whole.at(-1) as Token
  await sequence.clearHistory()
  await sequence.evaluateWithoutGeneratingNewTokens(whole.slice(0, -1))
  const found: number[] = []
  for (const candidate of candidates) {
    await sequence.adaptStateToTokens(whole.slice(0, -1), false)
    const tokens = model.tokenize(candidate).slice(0, MAX_CANDIDATE_TOKENS)
    const results = await sequence.controlledEvaluate(
      [last, ...tokens.slice(0, -1)].map((token) => [
        token,
        { generateNext: { probabilities: true, options: { temperature: 1, topK: MAX_RANK } } },
      ]),
    )
    const logs = tokens.map((token, at) => Math.log(results[at]?.next.probabilities?.get(token) || FLOOR))
    found.push(logs.reduce((sum, one) => sum + one, 0) / Math.max(1, tokens.length))
  }
  return found
}
