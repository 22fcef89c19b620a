// The seam every writer of digests by a model stands behind. A backend turns a prompt into a draft and knows nothing of
// ledgers, queues or grounding; one conformance suite runs over all of them.

import type { Prompt } from "../prompt.ts"

export type { Prompt }

/** A model's answer, parsed but not believed: nothing in it is grounded yet. */
export type Written = {
  /** the parsed answer, `null` when it is not of the form asked for, after repair */
  structured: unknown
  schemaOk: boolean
  usage: { promptTokens: number; outputTokens: number }
  elapsedMs: number
}

/** Speeds as measured, in tokens per second. */
export type Speed = { prefill: number; decode: number }

export type BackendState =
  /** nothing has been asked of it yet, or it was unloaded */
  | { kind: "idle" }
  | { kind: "starting" }
  | { kind: "ready" }
  /** it failed and will be tried again */
  | { kind: "degraded"; reason: string }
  /** it will not be tried again in this process; `absent`: it was never set up, which is no fault */
  | { kind: "off"; reason: string; absent?: boolean }

export type Backend = {
  /** what wrote a digest, as the store names it: `llama/SmolLM2-135M-Instruct-Q8_0`; known once prepared */
  readonly id: string
  readonly state: BackendState
  /** where the model runs, `CPU` or the GPU's kind; undefined until it was loaded, or where that is not known */
  readonly device?: string | undefined
  /** undefined until measured */
  readonly speed: Speed | undefined
  /** whether it works on the processor that local tools run on */
  readonly sharesProcessor: boolean
  /** longest document it takes, in tokens */
  readonly mostTokens: number
  /** Learns what it is, where that takes a look at a file. Starts nothing, never rejects. */
  prepare?(): Promise<void>
  /**
   * Writes one draft; one at a time. Starts or loads what it needs first. Rejects with a `BackendError`, or with the
   * signal's reason when it was aborted; never leaves work behind then.
   */
  write(prompt: Prompt, signal: AbortSignal): Promise<Written>
  /** Stops working at the next possible place, or goes on. Without effect where it cannot. */
  pause(paused: boolean): void
  /** Gives memory back; the next write loads again. */
  unload(): Promise<void>
  /** Ends it for good; idempotent. A write that runs is rejected. */
  close(): Promise<void>
}

/**
 * - `UNAVAILABLE`: it could not be reached or started; may be tried again later
 * - `OFF`: it cannot work here, and why is in the message; not to be tried again
 * - `TIMEOUT`: no answer in time
 * - `BAD_ANSWER`: it answered something that is no answer
 */
export type BackendErrorCode = "UNAVAILABLE" | "OFF" | "TIMEOUT" | "BAD_ANSWER"

export class BackendError extends Error {
  override readonly name = "BackendError"
  constructor(
    readonly code: BackendErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options)
  }
}
