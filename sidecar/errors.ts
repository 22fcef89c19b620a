// Errors of the sidecar with their codes on the wire. All others are sent as ENGINE_FAILED.

import type { WireErrorCode } from "../src/engine/wire/messages.ts"

export class EngineError extends Error {
  override readonly name = "EngineError"
  constructor(
    readonly code: WireErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options)
  }
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
