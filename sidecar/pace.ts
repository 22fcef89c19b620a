// How fast the engine is, as measured, and what follows from it: how much to evaluate at once.

/** In tokens per second. */
export type Speed = { prefill: number; decode: number }

/**
 * How long one chunk may take: a cancellation waits for its end and must be through within a second. Not less, as small
 * chunks are slow: SmolLM2-135M on one thread read 151 tokens a second in chunks of 16, 169 in 64, 198 in 96, 202 in 128.
 */
const CHUNK_SECONDS = 0.5
const STEP = 16
const MOST_CHUNK = 256

export class Pace {
  private prefill = 64

  start(speed: Speed): Speed {
    this.prefill = speed.prefill
    return speed
  }

  /** Follows the machine's load: when another program takes the processor, chunks get smaller. */
  note(tokens: number, elapsedMs: number): void {
    if (elapsedMs > 0) this.prefill = 0.7 * this.prefill + 0.3 * ((tokens / elapsedMs) * 1000)
  }

  get chunkTokens(): number {
    const steps = Math.round((this.prefill * CHUNK_SECONDS) / STEP)
    return Math.min(MOST_CHUNK, Math.max(1, steps) * STEP)
  }
}
