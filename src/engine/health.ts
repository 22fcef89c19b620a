// What a failure of the sidecar means for the next try: when it may come, whether there is one, and whether the GPU is
// left out of it. Pure: it is told the time.

import type { SidecarError } from "./errors.ts"
import type { WireErrorCode } from "./wire/messages.ts"

export type Health = {
  /** the time before which there is no try, and why; the last failure's */
  readonly rest: { untilMs: number; reason: string } | undefined
  /** whether it failed so often that work is refused during the rest, instead of waiting for its end */
  readonly isDegraded: boolean
  /** whether the GPU is to be left alone from now on */
  readonly avoidsGpu: boolean
  failed(error: SidecarError, nowMs: number, usedGpu: boolean): void
  answered(): void
}

/** Rests after the first failure in a row, the second, and every further one. */
export const RESTS_MS: readonly number[] = [1_000, 5_000, 300_000]
const GPU_CRASHES = 2

export function createHealth(restsMs: readonly number[] = RESTS_MS): Health {
  let failures = 0
  let gpuCrashes = 0
  let rest: Health["rest"]
  return {
    get rest() {
      return rest
    },
    get isDegraded() {
      return failures >= restsMs.length
    },
    get avoidsGpu() {
      return gpuCrashes >= GPU_CRASHES
    },
    failed(error, nowMs, usedGpu) {
      failures++
      if (usedGpu && isCrash(error)) gpuCrashes++
      rest = { untilMs: nowMs + (restsMs[Math.min(failures, restsMs.length) - 1] ?? 0), reason: error.message }
    },
    answered() {
      failures = 0
      rest = undefined
    },
  }
}

/** It would end the same way every time. */
export function isPermanent({ code, wire }: SidecarError): boolean {
  return code === "WRONG_PROTOCOL" || (wire !== undefined && PERMANENT.has(wire))
}

const PERMANENT: ReadonlySet<WireErrorCode> = new Set<WireErrorCode>([
  "BAD_REQUEST",
  "NO_ENGINE",
  "MODEL_MISSING",
  "MODEL_INVALID",
  "MODEL_TOO_LARGE",
])

/** The process died or hung, as drivers make it; not an engine that said what is wrong. */
function isCrash({ code }: SidecarError): boolean {
  return code === "ENDED" || code === "SILENT"
}
