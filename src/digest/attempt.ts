// One attempt to have a backend write the digest of one output: prompt, answer, grounding. Also the queue's counters,
// which add up what came of the attempts.

import type { Digest, DigestSource } from "../output/digest.ts"
import { errorMessage } from "../system/values.ts"
import { type Backend, BackendError, type BackendErrorCode } from "./backends/backend.ts"
import { gainsFromModel, ground } from "./ground/ground.ts"
import { promptFor } from "./prompt.ts"

/**
 * - `known`: the backend was not asked, because `extract` already says what a model could
 * - `refused`: the backend answered, but the output does not support its answer
 */
export type Attempt =
  | { kind: "known" }
  | { kind: "written"; digest: Digest; ms: number }
  | { kind: "refused"; ms: number }
  | { kind: "failed"; code: BackendErrorCode; message: string }
  | { kind: "aborted" }

/**
 * Never rejects. `read` returns the output without secrets. `extract` makes the digest that fills in what the model leaves
 * out.
 */
export async function attempt(
  backend: Backend,
  read: () => DigestSource,
  budgetTokens: number,
  extract: (source: DigestSource) => Digest,
  signal: AbortSignal,
): Promise<Attempt> {
  try {
    const source = read()
    const extracted = extract(source)
    if (!gainsFromModel(extracted)) return { kind: "known" }
    const { structured, elapsedMs: ms } = await backend.write(promptFor(source, { budgetTokens }), signal)
    if (signal.aborted) return { kind: "aborted" }
    const { digest, refused } = ground(structured, source, extracted)
    return refused ? { kind: "refused", ms } : { kind: "written", digest, ms }
  } catch (error) {
    if (signal.aborted) return { kind: "aborted" }
    // anything but a BackendError is a bug in the backend; treat it as carefully as a hang
    return {
      kind: "failed",
      code: error instanceof BackendError ? error.code : "TIMEOUT",
      message: errorMessage(error),
    }
  }
}

export type QueueCounters = ReturnType<typeof createCounters>

/** Outputs since the queue was created, by what became of them. */
export function createCounters() {
  return {
    written: 0,
    /** found in the store */
    fromStore: 0,
    known: 0,
    refused: 0,
    failed: 0,
    /** dropped because their session or message is gone, or because of newer output about the same subject */
    cancelled: 0,
    /** working time of the backend */
    ms: 0,
  }
}
