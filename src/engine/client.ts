// Typed calls to the sidecar over any pair of streams. Every reply and notification is validated against the wire's schemas.

import type { Readable, Writable } from "node:stream"
import { errorMessage } from "../system/values.ts"
import { cut, line } from "../text/sanitize.ts"
import { SidecarError } from "./errors.ts"
import {
  errorDataSchema,
  NOTIFICATIONS,
  type Notice,
  type NotificationName,
  type Params,
  REQUESTS,
  type RequestName,
  type Result,
} from "./wire/messages.ts"
import { openPeer, ReplyError } from "./wire/peer.ts"

export type Listeners = { [Name in NotificationName]?: (notice: Notice<Name>) => void }

type CallOptions = {
  /** default: as long as the connection lasts */
  timeoutMs?: number
  /** on abort the sidecar is told to cancel, and the request rejects at once with the signal's reason */
  signal?: AbortSignal
}

export type EngineClient = ReturnType<typeof connectEngine>

/** `onClose` is called when the sidecar is gone. The owner then closes the client with the reason. */
export function connectEngine(input: Readable, output: Writable, listeners: Listeners, onClose: () => void) {
  /** lines that are not messages, and messages that were not expected */
  const noise: { lines: number; first: string | undefined } = { lines: 0, first: undefined }
  const { request, notify, ...peer } = openPeer(input, output, {
    onNotice(method, params) {
      if (!Object.hasOwn(NOTIFICATIONS, method)) return false
      const name = method as NotificationName
      const parsed = NOTIFICATIONS[name].safeParse(params)
      if (parsed.success) listeners[name]?.(parsed.data as never)
      return parsed.success
    },
    onNoise(text) {
      noise.lines++
      noise.first ??= cut(line(text), 200)
    },
    onClose,
  })

  return {
    ...peer,
    noise: noise as Readonly<typeof noise>,
    /** Rejects with a `SidecarError`, or with the signal's reason. */
    async request<Name extends RequestName>(
      name: Name,
      params: Params<Name>,
      { timeoutMs, signal }: CallOptions = {},
    ): Promise<Result<Name>> {
      const late = timeoutMs === undefined ? undefined : AbortSignal.timeout(timeoutMs)
      const stop = AbortSignal.any([late, signal].filter((one) => one !== undefined))
      const reply = await request(name, params, stop).catch((error: unknown) => {
        if (late !== undefined && error === late.reason)
          throw new SidecarError("TIMEOUT", `${name}: no answer within ${timeoutMs} ms`)
        throw stop.aborted || error instanceof SidecarError ? error : failure(name, error)
      })
      const parsed = REQUESTS[name].result.safeParse(reply)
      if (parsed.success) return parsed.data as Result<Name>
      throw new SidecarError("BAD_REPLY", `${name}: the reply does not match the protocol`)
    },
    notify: <Name extends NotificationName>(name: Name, notice: Notice<Name>): void => notify(name, notice),
  }
}

function failure(name: RequestName, cause: unknown): SidecarError {
  // untrusted text: reduced to one bounded line
  const message = `${name}: ${cut(line(errorMessage(cause)), 400)}`
  if (!(cause instanceof ReplyError)) return new SidecarError("ENDED", message, { cause })
  const data = errorDataSchema.safeParse(cause.data)
  return new SidecarError("REFUSED", message, { cause, ...(data.success ? { wire: data.data.code } : {}) })
}
