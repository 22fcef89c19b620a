// How much the engine evaluates at once, and the gate between two chunks, where pauses and cancellations take effect. A
// chunk is about half a second of work, so that a cancellation takes less than a second. Smaller chunks are slow: on one
// thread SmolLM2-135M evaluated 151 tokens/s in chunks of 16, 169 in 64, 198 in 96, 202 in 128.

import { EventEmitter, once } from "node:events"
import { orAborted } from "../src/system/process.ts"

/** Measured tokens per second. */
export type Speed = { prefill: number; decode: number }

const STEP_TOKENS = 16
const MAX_CPU_TOKENS = 128
const MAX_GPU_TOKENS = 256
const CHUNK_SECONDS = 0.5
/** Tokens per second of one thread of a laptop, times the model's parameters. */
const PARAMETERS_PER_SECOND = 32e9

/**
 * Tokens of a chunk on the CPU, by the model's size. Not by the measured speed, which varies with every load: the chunk
 * size affects the result (attention works differently from 64 tokens on), and the same request must give the same bytes.
 */
export function cpuChunkTokens(parameters: number): number {
  return chunkTokens(MAX_CPU_TOKENS, PARAMETERS_PER_SECOND / parameters)
}

/** Tokens of a chunk on a GPU, by the measured speed: GPUs differ a thousandfold, and fast ones reach the maximum. */
export function gpuChunkTokens({ prefill }: Speed): number {
  return chunkTokens(MAX_GPU_TOKENS, prefill)
}

const chunkTokens = (max: number, tokensPerSecond: number) =>
  Math.min(max, Math.max(1, Math.floor((tokensPerSecond * CHUNK_SECONDS) / STEP_TOKENS)) * STEP_TOKENS)

export class Gate {
  private isShut = false
  private readonly opened = new EventEmitter()

  set(shut: boolean): void {
    this.isShut = shut
    if (!shut) this.opened.emit("open")
  }

  /** Resolves when the gate is open. Rejects with the signal's reason on abort. */
  async pass(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    while (this.isShut) await orAborted(once(this.opened, "open", { signal }), signal)
  }
}
