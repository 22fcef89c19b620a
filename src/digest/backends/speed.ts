// How fast a server is, as far as its answers tell.

import type { Speed } from "./backend.ts"

export type Timings = {
  promptTokens: number
  outputTokens: number
  elapsedMs: number
  /** tokens per second, where the server says */
  prefill?: number | undefined
  decode?: number | undefined
}

/**
 * How much faster a prompt is read than an answer written, where only the whole time is known. Measured on 2 CPU cores: 6
 * to 10; GPUs: 20 and more, where nothing depends on it.
 */
const PREFILL_TO_DECODE = 8
/** Part of the last answer in the running figure. */
const NEWEST = 0.3
/** Fewer tokens measure the connection. */
const LEAST_TOKENS = 20

/** The running figure with one more answer in it; the same one when that tells nothing. */
export function withTimings(speed: Speed | undefined, timings: Timings): Speed | undefined {
  const { promptTokens, outputTokens, elapsedMs } = timings
  if (promptTokens + outputTokens < LEAST_TOKENS || !(elapsedMs > 0)) return speed
  const decode = (promptTokens / PREFILL_TO_DECODE + outputTokens) / (elapsedMs / 1000)
  const now = { prefill: timings.prefill ?? decode * PREFILL_TO_DECODE, decode: timings.decode ?? decode }
  if (!(now.prefill > 0 && now.decode > 0)) return speed
  if (!speed) return now
  return {
    prefill: speed.prefill + NEWEST * (now.prefill - speed.prefill),
    decode: speed.decode + NEWEST * (now.decode - speed.decode),
  }
}
