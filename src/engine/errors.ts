// Failures of the sidecar as the plugin sees them.

import { CodedError } from "../system/values.ts"
import { PROTOCOL, type WireErrorCode } from "./wire/messages.ts"

export type SidecarErrorCode =
  | "START_FAILED" // the process could not be started, or did not greet in time
  | "ENDED" // the process exited or closed its stdout
  | "CRASHED" // the same while it answered a request, which may be the reason
  | "CLOSED" // it was ended on purpose
  | "TIMEOUT" // no answer in time
  | "BAD_REPLY" // its answer does not match the protocol
  | "REFUSED" // it answered with an error, whose own code is in `wire`
  | "BUSY" // another process has the model
  | "OFF" // it is not started again in this process

export class SidecarError extends CodedError<SidecarErrorCode> {
  override readonly name = "SidecarError"
  readonly wire: WireErrorCode | undefined

  constructor(code: SidecarErrorCode, message: string, options: ErrorOptions & { wire?: WireErrorCode } = {}) {
    super(code, message, options)
    this.wire = options.wire
  }
}

export const closedError = () => new SidecarError("CLOSED", "the sidecar was ended")

/** For both checks: that of the installed record and that of the greeting. */
export function wrongProtocol(theirs: number): SidecarError {
  // a newer one was installed while this plugin ran
  const fix = `${theirs > PROTOCOL ? "restart OpenCode, or " : ""}run \`hudfold setup\` again`
  return new SidecarError("OFF", `the installed sidecar speaks protocol ${theirs}, this plugin ${PROTOCOL}; ${fix}`)
}

/** Whether every further start would fail the same way. */
export function isPermanent({ code, wire }: SidecarError): boolean {
  return code === "OFF" || (wire !== undefined && PERMANENT.has(wire))
}

const PERMANENT: ReadonlySet<WireErrorCode> = new Set([
  "BAD_REQUEST",
  "NO_ENGINE",
  "MODEL_MISSING",
  "MODEL_INVALID",
  "MODEL_TOO_LARGE",
] as const)
