// What a model's measured speed means: how long one request will take, and whether it is worth having here at all.

import type { Capabilities } from "./wire/messages.ts"

type Speeds = Pick<Capabilities, "prefillTokensPerSecond" | "decodeTokensPerSecond">

/** A digest as it is on the machines that are too slow for long ones: this many tokens in and out. */
const SMALLEST = { inTokens: 256, outTokens: 60 }
const LONGEST_MS = 10_000

export function predictMs(speeds: Speeds, inTokens: number, outTokens: number): number {
  const perSecond = (tokens: number, speed: number) => (tokens / Math.max(speed, 0.001)) * 1000
  return perSecond(inTokens, speeds.prefillTokensPerSecond) + perSecond(outTokens, speeds.decodeTokensPerSecond)
}

/** In a sentence why the model is of no use on this machine; undefined when it is. */
export function tooSlow({ model, gpu, ...speeds }: Capabilities): string | undefined {
  const predictedMs = predictMs(speeds, SMALLEST.inTokens, SMALLEST.outTokens)
  if (predictedMs <= LONGEST_MS) return undefined
  const seconds = (ms: number) => `${Math.round(ms / 1000)} s`
  const measured = `${speeds.prefillTokensPerSecond.toFixed(0)} tokens/s in and ${speeds.decodeTokensPerSecond.toFixed(1)} out`
  return (
    `the model ${model.name} is too slow here: ${measured} on the ${gpu === "off" ? "CPU" : gpu} make ` +
    `${seconds(predictedMs)} for a digest of ${SMALLEST.inTokens} tokens, expected at most ${seconds(LONGEST_MS)}; ` +
    "it stays off. Choose a smaller one with: hudfold model"
  )
}
