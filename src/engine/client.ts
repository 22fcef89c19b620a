// Typed calls to the sidecar over any pair of streams. Every reply is validated against the wire's schemas.

import type { Readable, Writable } from "node:stream"
import { errorMessage } from "../system/values.ts"
import { cut, line } from "../text/sanitize.ts"
import { SidecarError } from "./errors.ts"
import { errorDataSchema, type Params, REQUESTS, type RequestName, type Result } from "./wire/messages.ts"
import { openPeer, ReplyError } from "./wire/peer.ts"

/**
 * `onNoise` gets the beginning of every line of the input that is no message, or none that was expected. `onClose` is called
 * when the sidecar is gone. The owner then closes the client with the reason.
 */
export function connectEngine(input: Readable, output: Writable, onNoise: (text: string) => void, onClose: () => void) {
  const { request, notify, quiet, close } = openPeer(input, output, { onNoise, onClose })
  return {
    quiet,
    close,
    /** Rejects with a `SidecarError`, or on abort at once with the signal's reason; the sidecar is told to cancel then. */
    async request<Name extends RequestName>(
      name: Name,
      params: Params<Name>,
      signal = new AbortController().signal,
    ): Promise<Result<Name>> {
      const reply = await request(name, params, signal).catch((error: unknown) => {
        throw signal.aborted || error instanceof SidecarError ? error : failure(name, error)
      })
      const parsed = REQUESTS[name].result.safeParse(reply)
      if (parsed.success) return parsed.data as Result<Name>
      throw new SidecarError("BAD_REPLY", `${name}: the reply does not match the protocol`)
    },
    pause: (paused: boolean): void => notify("engine/pause", { paused }),
  }
}

function failure(name: RequestName, cause: unknown): SidecarError {
  // untrusted text: reduced to one bounded line
  const message = `${name}: ${cut(line(errorMessage(cause)), 400)}`
  if (!(cause instanceof ReplyError)) return new SidecarError("ENDED", message, { cause })
  const data = errorDataSchema.safeParse(cause.data)
  return new SidecarError("REFUSED", message, { cause, ...(data.success ? { wire: data.data.code } : {}) })
}
