// Failures of the sidecar as the plugin sees them, and what they mean for the next start: whether and when there is one, and
// whether it uses the GPU. Pure: the caller passes the time.

import { CodedError } from "../system/values.ts"
import { PROTOCOL, type WireErrorCode } from "./wire/messages.ts"

export type SidecarErrorCode =
  | "START_FAILED" // the process could not be started
  | "ENDED" // the process exited or closed its stdout
  | "CLOSED" // it was ended on purpose
  | "TIMEOUT" // no answer in time
  | "SILENT" // it sent no heartbeat, or did not honour a cancellation
  | "BAD_REPLY" // its answer does not match the protocol
  | "WRONG_PROTOCOL" // it speaks another version of the protocol
  | "REFUSED" // it answered with an error, whose own code is in `wire`
  | "RESTING" // it is not started now, but will be later
  | "OFF" // it is not started again in this process

export class SidecarError extends CodedError<SidecarErrorCode> {
  override readonly name = "SidecarError"
  readonly wire: WireErrorCode | undefined

  constructor(code: SidecarErrorCode, message: string, options: ErrorOptions & { wire?: WireErrorCode } = {}) {
    super(code, message, options)
    this.wire = options.wire
  }
}

export const wasClosed = () => new SidecarError("CLOSED", "the sidecar was ended")

/** For both checks: that of the installed record and that of the greeting. */
export function wrongProtocol(theirs: number): SidecarError {
  const message = `the installed sidecar speaks protocol ${theirs}, this plugin ${PROTOCOL}; run \`hudfold setup\` again`
  return new SidecarError("WRONG_PROTOCOL", message)
}

/** Rests after the first consecutive failure, the second, and every further one. */
export const RESTS_MS: readonly number[] = [1_000, 5_000, 300_000]
const MAX_GPU_CRASHES = 2

export class Health {
  private failures = 0
  private gpuCrashes = 0
  /** the time before which there is no restart, and the last failure's message */
  rest: { readonly untilMs: number; readonly reason: string } | undefined

  constructor(private readonly restsMs: readonly number[] = RESTS_MS) {}

  /** Whether it failed so often that requests are refused during the rest instead of waiting for its end. */
  get isDegraded(): boolean {
    return this.failures >= this.restsMs.length
  }

  get avoidsGpu(): boolean {
    return this.gpuCrashes >= MAX_GPU_CRASHES
  }

  failed(error: SidecarError, nowMs: number, usedGpu: boolean): void {
    this.failures++
    // it died or hung, as with a faulty driver, rather than reporting an error
    if (usedGpu && (error.code === "ENDED" || error.code === "SILENT")) this.gpuCrashes++
    const restMs = this.restsMs[Math.min(this.failures, this.restsMs.length) - 1] ?? 0
    this.rest = { untilMs: nowMs + restMs, reason: error.message }
  }

  answered(): void {
    this.failures = 0
    this.rest = undefined
  }
}

/** Whether every further start would fail the same way. */
export function isPermanent({ code, wire }: SidecarError): boolean {
  return code === "WRONG_PROTOCOL" || (wire !== undefined && PERMANENT.has(wire))
}

const PERMANENT: ReadonlySet<WireErrorCode> = new Set([
  "BAD_REQUEST",
  "NO_ENGINE",
  "MODEL_MISSING",
  "MODEL_INVALID",
  "MODEL_TOO_LARGE",
] as const)
