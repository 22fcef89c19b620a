// Typed JSON-RPC calls to the sidecar over any pair of streams. Every reply and notification is validated against the
// wire's schemas.

import type { Readable, Writable } from "node:stream"
import {
  CancellationTokenSource,
  ConnectionError,
  createMessageConnection,
  ErrorCodes,
  ResponseError,
} from "vscode-jsonrpc/node"
import { orAborted } from "../system/process.ts"
import { errorMessage } from "../system/values.ts"
import { cut, line } from "../text/sanitize.ts"
import { SidecarError } from "./errors.ts"
import { LineReader, LineWriter } from "./wire/lines.ts"
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

export type Listeners = { [Name in NotificationName]?: (notice: Notice<Name>) => void }

type CallOptions = {
  /** default: as long as the connection lasts */
  timeoutMs?: number
  /** on abort the sidecar is told to cancel, and the request rejects at once with the signal's reason */
  signal?: AbortSignal
}

export type EngineClient = ReturnType<typeof connectEngine>

/** `onClose` is called when the input stream ends. The owner then closes the client with the reason. */
export function connectEngine(input: Readable, output: Writable, listeners: Listeners, onClose: () => void) {
  /** lines that are not messages, and messages that were not expected */
  const noise: { lines: number; first: string | undefined } = { lines: 0, first: undefined }
  const onNoise = (text: string) => {
    noise.lines++
    noise.first ??= cut(line(text), 200)
  }
  const connection = createMessageConnection(new LineReader(input, onNoise), new LineWriter(output))
  /** aborted with the reason when the client is closed */
  const closed = new AbortController()
  const inFlight = new Set<Promise<unknown>>()

  for (const name of Object.keys(NOTIFICATIONS) as NotificationName[]) listen(name)
  connection.onUnhandledNotification((message) => onNoise(JSON.stringify(message)))
  connection.onClose(onClose)
  connection.listen()

  function listen<Name extends NotificationName>(name: Name): void {
    connection.onNotification(name, (params: unknown) => {
      const parsed = NOTIFICATIONS[name].safeParse(params)
      if (parsed.success) listeners[name]?.(parsed.data as Notice<Name>)
      else onNoise(JSON.stringify({ method: name, params }))
    })
  }

  /** Rejects with a `SidecarError`, or with the signal's reason. */
  async function request<Name extends RequestName>(
    name: Name,
    params: Params<Name>,
    { timeoutMs, signal }: CallOptions = {},
  ): Promise<Result<Name>> {
    const late = timeoutMs === undefined ? undefined : AbortSignal.timeout(timeoutMs)
    const stop = AbortSignal.any([closed.signal, late, signal].filter((one) => one !== undefined))
    stop.throwIfAborted()
    const canceller = new CancellationTokenSource()
    // vscode-jsonrpc throws synchronously when the stream has ended
    const sent = (async (): Promise<unknown> => connection.sendRequest(name, params, canceller.token))()
    const answered = sent.finally(() => inFlight.delete(answered))
    inFlight.add(answered)
    try {
      const parsed = REQUESTS[name].result.safeParse(await orAborted(answered, stop))
      if (parsed.success) return parsed.data as Result<Name>
      throw new SidecarError("BAD_REPLY", `${name}: the reply does not match the protocol`)
    } catch (error) {
      if (!stop.aborted) throw error instanceof SidecarError ? error : refusal(name, error)
      if (!closed.signal.aborted) canceller.cancel()
      const isLate = stop.reason === late?.reason
      throw isLate ? new SidecarError("TIMEOUT", `${name}: no answer within ${timeoutMs} ms`) : stop.reason
    }
  }

  return {
    request,
    /** Dropped if it cannot be sent. */
    notify<Name extends NotificationName>(name: Name, notice: Notice<Name>): void {
      if (closed.signal.aborted) return
      // throws when the stream has ended, rejects when it is not writable
      void (async () => connection.sendNotification(name, notice))().catch(() => {})
    },
    /** requests the sidecar has not answered, including those that were cancelled or timed out here */
    get unanswered() {
      return inFlight.size
    },
    /** Resolves when the sidecar has answered all, or the client is closed. */
    quiet: () => Promise.allSettled(inFlight).then(() => {}),
    noise: noise as Readonly<typeof noise>,
    /** Rejects all pending and future requests with the reason. Idempotent: the first reason is kept. */
    close(reason: Error): void {
      if (closed.signal.aborted) return
      closed.abort(reason)
      connection.dispose()
    },
  }
}

function refusal(name: RequestName, cause: unknown): SidecarError {
  if (!(cause instanceof ResponseError)) {
    const code = cause instanceof ConnectionError ? "ENDED" : "BAD_REPLY"
    return new SidecarError(code, `${name}: ${errorMessage(cause)}`, { cause })
  }
  // untrusted text: reduced to one bounded line
  const message = `${name}: ${cut(line(cause.message), 400)}`
  if (cause.code === ErrorCodes.MessageWriteError) return new SidecarError("ENDED", message, { cause })
  const data = errorDataSchema.safeParse(cause.data)
  return new SidecarError("REFUSED", message, { cause, ...(data.success ? { wire: data.data.code } : {}) })
}
