// What can go wrong between the plugin and its sidecar, as seen from the plugin. What the engine itself refuses arrives
// as REFUSED with the wire's own code beside it; the two sets of codes are kept apart.

import type { WireErrorCode } from "./wire/messages.ts"

/**
 * - `START_FAILED`: the process could not be started
 * - `ENDED`: the process is gone, or its stdout is
 * - `CLOSED`: it was ended on purpose
 * - `TIMEOUT`: no answer in time
 * - `SILENT`: it gave no sign of life, or did not stop what it was told to stop
 * - `BAD_REPLY`: its answer does not have the form agreed on
 * - `WRONG_PROTOCOL`: it speaks another version of the wire
 * - `REFUSED`: it answered with an error; `wire` says which
 * - `RESTING`: it is not tried now, and will be later
 * - `OFF`: it is not tried again in this process
 */
export type SidecarErrorCode =
  | "START_FAILED"
  | "ENDED"
  | "CLOSED"
  | "TIMEOUT"
  | "SILENT"
  | "BAD_REPLY"
  | "WRONG_PROTOCOL"
  | "REFUSED"
  | "RESTING"
  | "OFF"

export class SidecarError extends Error {
  override readonly name = "SidecarError"
  readonly wire: WireErrorCode | undefined

  constructor(
    readonly code: SidecarErrorCode,
    message: string,
    options: ErrorOptions & { wire?: WireErrorCode } = {},
  ) {
    super(message, options)
    this.wire = options.wire
  }
}
