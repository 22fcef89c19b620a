// The interface of everything that writes digests with a model, and its options. A backend turns a prompt into a draft.
// It knows nothing of ledgers, queues or grounding. One conformance suite runs over all backends.

import type { RuntimeChoice } from "../../engine/launch.ts"
import type { SidecarState } from "../../engine/sidecar.ts"
import type { Load, WriteReply, WriteRequest } from "../../engine/wire/messages.ts"
import { CodedError } from "../../system/values.ts"

/** `auto`: `llama` if it is set up, else `extract`; `extract`: no model. */
export const BACKENDS = ["auto", "llama", "openai", "extract"] as const

export type LlamaOptions = Pick<Load, "gpu" | "threads"> & {
  /** absolute path of a model; default: the one in use */
  model?: string | undefined
  /** 0: three quarters of what is free */
  memoryMB: number
  idleMinutes: number
  runtime: RuntimeChoice
}

export type OpenaiOptions = {
  url: string
  /** default: the first model that the server lists */
  model?: string | undefined
  apiKey?: string | undefined
  timeoutMs: number
  allowRemote: boolean
}

/** A model's answer, parsed but not grounded yet. */
export type Written = Pick<WriteReply, "structured">

/** Measured speeds, in tokens per second. */
export type Speed = { prefill: number; decode: number }

/** `absent`: it is off because it was never set up, which is not a fault. */
export type BackendState = SidecarState & { absent?: boolean }

export type Backend = {
  /** the model's name, such as `SmolLM2-135M-Instruct-Q8_0`; known once prepared */
  readonly model: string | undefined
  readonly state: BackendState
  /** where the model runs, `CPU` or the kind of GPU; undefined until it is loaded, or if unknown */
  readonly device?: string | undefined
  /** undefined until it is measured, or where it is not known */
  readonly speed?: Speed | undefined
  /** whether it works on the processor that local tools run on */
  readonly sharesProcessor: boolean
  /** longest document it accepts */
  readonly maxDocumentTokens: number
  /** Finds out which model it has, if that means reading files, once. Starts nothing, never rejects. */
  prepare?(): Promise<void>
  /**
   * Writes one draft, after starting or loading what it needs. Rejects with a `BackendError`, or with the
   * signal's reason if aborted, and then leaves no work running.
   */
  write(prompt: WriteRequest, signal: AbortSignal): Promise<Written>
  /** Stops working at the next possible point, or resumes. Does nothing if the backend cannot be paused. */
  pause(paused: boolean): void
  /** Ends it for good and rejects a running write. Idempotent. */
  close(): Promise<void>
}

/**
 * - `UNAVAILABLE`: it could not be reached or started; try again later
 * - `BUSY`: another process has the model
 * - `OFF`: it cannot work here, the message says why; do not try again
 * - `TIMEOUT`: no answer in time, or a failure that may be due to the prompt
 * - `BAD_ANSWER`: the answer is unusable
 */
export type BackendErrorCode = "UNAVAILABLE" | "BUSY" | "OFF" | "TIMEOUT" | "BAD_ANSWER"

export class BackendError extends CodedError<BackendErrorCode> {
  override readonly name = "BackendError"
}
