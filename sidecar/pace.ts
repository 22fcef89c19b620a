// How much the engine evaluates at once: about half a second's work, for between two chunks a cancellation is honoured,
// which must be through within a second. Not less, as small chunks are slow: on one thread SmolLM2-135M read 151 tokens
// a second in chunks of 16, 169 in 64, 198 in 96, 202 in 128.

/** In tokens per second, as measured. */
export type Speed = { prefill: number; decode: number }

const STEP = 16
const MOST = 128
const MOST_ON_GPU = 256
const SECONDS = 0.5
/** What one thread of a laptop evaluates in a second, times the model's parameters. */
const PARAMETERS_A_SECOND = 32e9

/**
 * Tokens of a chunk on the processor, by the model's size. Not by its measured speed, which is another one at every load:
 * the results depend on how much is evaluated at once (attention works differently from 64 tokens on), and the same
 * request has to give the same bytes.
 */
export function chunkOnProcessor(parameters: number): number {
  return within(MOST, (PARAMETERS_A_SECOND / parameters) * SECONDS)
}

/** On a GPU, by the measured speed: they differ a thousandfold, and one that is worth using is at the most anyway. */
export function chunkOnGpu({ prefill }: Speed): number {
  return within(MOST_ON_GPU, prefill * SECONDS)
}

const within = (most: number, tokens: number) => Math.min(most, Math.max(1, Math.floor(tokens / STEP)) * STEP)
