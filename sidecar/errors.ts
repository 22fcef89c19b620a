// What goes wrong in the sidecar, with the code that goes over the wire. Anything thrown that is none of these is
// answered as ENGINE_FAILED.

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
