// Errors of the sidecar with their codes on the wire. All others are sent as ENGINE_FAILED.

import type { WireErrorCode } from "../src/engine/wire/messages.ts"
import { CodedError } from "../src/system/values.ts"

export class EngineError extends CodedError<WireErrorCode> {
  override readonly name = "EngineError"
}
