// The size of a request at which OpenCode compacts.

/** From OpenCode's model record; 0 or missing is unknown. */
export type ModelLimits = { context?: number; input?: number; output?: number }

/** From OpenCode's configuration, where OPENCODE_DISABLE_AUTOCOMPACT has already become `auto: false`. */
export type CompactionOptions = {
  auto?: boolean
  reserved?: number
  /** OpenCode 2's: kept free of both limits at least */
  buffer?: number
}

/** Output tokens OpenCode requests at most, unless OPENCODE_EXPERIMENTAL_OUTPUT_TOKEN_MAX says otherwise. */
export const OUTPUT_CAP = 32_000

/** Tokens kept free below an input limit, unless `compaction.reserved` says otherwise; OpenCode 2's `compaction.buffer`. */
export const RESERVED_TOKENS = 20_000

/**
 * The size of the last call (input, output, cache read and write together) at which OpenCode compacts, computed as
 * OpenCode 1.18 does, or with a `buffer` as OpenCode 2 does. Undefined when it never compacts, as with an unknown context.
 * It can be 0: a model whose answer may fill its context always compacts.
 *
 * `reserved` counts only where the model has an input limit; otherwise room for the answer is kept free.
 */
export function compactsAt(
  limits: ModelLimits,
  compaction: CompactionOptions = {},
  outputCap = OUTPUT_CAP,
): number | undefined {
  if (compaction.auto === false || !limits.context) return undefined
  const answer = Math.min(limits.output || outputCap, outputCap)
  if (compaction.buffer !== undefined) {
    const most = Math.min(limits.input || Number.POSITIVE_INFINITY, limits.context)
    return Math.max(0, Math.min(most - compaction.buffer, limits.context - answer))
  }
  if (!limits.input) return Math.max(0, limits.context - answer)
  return Math.max(0, limits.input - (compaction.reserved ?? Math.min(RESERVED_TOKENS, answer)))
}

/** The output cap set by OPENCODE_EXPERIMENTAL_OUTPUT_TOKEN_MAX; anything but a positive integer is ignored. */
export function outputCapOf(variable: string | undefined): number {
  const requested = Number(variable)
  return Number.isInteger(requested) && requested > 0 ? requested : OUTPUT_CAP
}
