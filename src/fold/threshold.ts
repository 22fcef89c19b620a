// The context size at which OpenCode compacts a session, computed as OpenCode 1.18 does, so that folding comes first.

/** of OpenCode's model record; 0 or missing is unknown */
export type Limits = { context?: number; input?: number; output?: number }

/** of OpenCode's configuration, in which OPENCODE_DISABLE_AUTOCOMPACT has already become `auto: false` */
export type Compaction = { auto?: boolean; reserved?: number }

/** what OpenCode asks a model to answer at most, unless OPENCODE_EXPERIMENTAL_OUTPUT_TOKEN_MAX says otherwise */
export const OUTPUT_CAP = 32_000

/** what is left free below a limit of the input alone, unless `compaction.reserved` says otherwise */
const RESERVED = 20_000

/**
 * Tokens of the last call (input, output, cache read and write together) from which on OpenCode compacts; undefined
 * when it never does, as with an unknown context. It can be 0: a model whose answer may fill its context always does.
 *
 * `reserved` counts only where the model has a limit of its input; otherwise the answer's room is what is kept free.
 */
export function compactsAt(limits: Limits, compaction: Compaction = {}, outputCap = OUTPUT_CAP): number | undefined {
  if (compaction.auto === false || !limits.context) return undefined
  const answer = Math.min(limits.output || outputCap, outputCap)
  if (!limits.input) return Math.max(0, limits.context - answer)
  return Math.max(0, limits.input - (compaction.reserved ?? Math.min(RESERVED, answer)))
}

/** The output cap that OPENCODE_EXPERIMENTAL_OUTPUT_TOKEN_MAX asks for: a positive whole number, or it is ignored. */
export function outputCapOf(variable: string | undefined): number {
  const asked = Number(variable)
  return Number.isInteger(asked) && asked > 0 ? asked : OUTPUT_CAP
}
