// One output, one backend, one try: the prompt, the writing, the grounding, and what came of it as a plain value.

import type { Digest, DigestSource } from "../output/digest.ts"
import { type Backend, BackendError, type BackendErrorCode } from "./backends/backend.ts"
import { gainsFromModel, ground } from "./ground/ground.ts"
import { promptFor } from "./prompt.ts"

/**
 * `refused`: it answered, and nothing of the answer stands in the output. `known`: it was not asked, since code says of
 * such an output what it would be asked for.
 */
export type Attempt =
  | { kind: "known" }
  | { kind: "written"; digest: Digest; cost: Cost }
  | { kind: "refused"; cost: Cost }
  | { kind: "failed"; code: BackendErrorCode; message: string }
  | { kind: "aborted" }

export type Cost = { promptTokens: number; outputTokens: number; ms: number; factsKept: number; factsDropped: number }

/** Never rejects. `extract` makes the digest that fills what the model leaves out. */
export async function attempt(
  backend: Backend,
  source: DigestSource,
  budgetTokens: number,
  extract: (source: DigestSource) => Digest,
  signal: AbortSignal,
): Promise<Attempt> {
  try {
    const known = extract(source)
    if (!gainsFromModel(known)) return { kind: "known" }
    const { structured, usage, elapsedMs } = await backend.write(promptFor(source, { budgetTokens }), signal)
    if (signal.aborted) return { kind: "aborted" }
    const { digest, kept, dropped, refused } = ground(structured, source, known)
    const cost = { ...usage, ms: elapsedMs, factsKept: kept, factsDropped: dropped }
    return refused ? { kind: "refused", cost } : { kind: "written", digest, cost }
  } catch (error) {
    if (signal.aborted) return { kind: "aborted" }
    const message = error instanceof Error ? error.message : String(error)
    // an error of no code is a fault in the backend, met with the care of one that hangs
    return { kind: "failed", code: error instanceof BackendError ? error.code : "TIMEOUT", message }
  }
}
