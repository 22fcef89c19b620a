// Typed JSON-RPC calls to the sidecar over any pair of streams. Every reply and notification is validated against the
// wire's schemas.

import type { Readable, Writable } from "node:stream"
import {
  type CancellationToken,
  CancellationTokenSource,
  ConnectionError,
  createMessageConnection,
  ErrorCodes,
  ResponseError,
} from "vscode-jsonrpc/node"
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

export type EngineClient = {
  /** Rejects with a `SidecarError`, or with the signal's reason. */
  request<Name extends RequestName>(name: Name, params: Params<Name>, options?: CallOptions): Promise<Result<Name>>
  /** Dropped if it cannot be sent. */
  notify<Name extends NotificationName>(name: Name, notice: Notice<Name>): void
  /** requests the sidecar has not answered, including those that were cancelled or timed out here */
  readonly unanswered: number
  /** Resolves when there are none, or the connection is closed. */
  quiet(): Promise<void>
  /** lines that are not messages, and messages that were not expected */
  readonly noise: { readonly lines: number; readonly first: string | undefined }
  /** Rejects all pending and future requests with the reason. Idempotent: the first reason is kept. */
  close(reason: Error): void
}

type Pending = { reject(reason: unknown): void }

/** `onClose` is called when the input stream ends. The owner then closes the client with the reason. */
export function connectEngine(
  input: Readable,
  output: Writable,
  listeners: Listeners,
  onClose: () => void,
): EngineClient {
  const noise: { lines: number; first: string | undefined } = { lines: 0, first: undefined }
  const onNoise = (text: string) => {
    noise.lines++
    noise.first ??= cut(line(text), 200)
  }
  const connection = createMessageConnection(new LineReader(input, onNoise), new LineWriter(output))
  const pending = new Set<Pending>()
  let unanswered = 0
  const waiting: (() => void)[] = []
  let closed: Error | undefined

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

  /** Async, because vscode-jsonrpc throws synchronously when the stream has ended. */
  async function send(name: RequestName, params: unknown, token: CancellationToken): Promise<unknown> {
    return await connection.sendRequest(name, params, token)
  }

  function settle(): void {
    unanswered--
    if (unanswered === 0) wake()
  }

  function wake(): void {
    for (const resolve of waiting.splice(0)) resolve()
  }

  function request<Name extends RequestName>(
    name: Name,
    params: Params<Name>,
    { timeoutMs, signal }: CallOptions = {},
  ): Promise<Result<Name>> {
    return new Promise((resolve, reject) => {
      if (closed) return reject(closed)
      if (signal?.aborted) return reject(signal.reason)
      const canceller = new CancellationTokenSource()
      const giveUp = (reason: unknown) => {
        canceller.cancel()
        finish(() => reject(reason))
      }
      const onAbort = () => giveUp(signal?.reason)
      const late = () => giveUp(new SidecarError("TIMEOUT", `${name}: no answer within ${timeoutMs} ms`))
      const timer = timeoutMs === undefined ? undefined : setTimeout(late, timeoutMs)
      timer?.unref()
      const entry: Pending = { reject: (reason) => finish(() => reject(reason)) }
      const finish = (act: () => void) => {
        if (!pending.delete(entry)) return
        clearTimeout(timer)
        signal?.removeEventListener("abort", onAbort)
        act()
      }
      pending.add(entry)
      signal?.addEventListener("abort", onAbort, { once: true })
      unanswered++
      send(name, params, canceller.token).then(
        (reply) => {
          settle()
          finish(() => {
            const parsed = REQUESTS[name].result.safeParse(reply)
            if (parsed.success) resolve(parsed.data as Result<Name>)
            else reject(new SidecarError("BAD_REPLY", `${name}: the reply does not match the protocol`))
          })
        },
        (error: unknown) => {
          settle()
          finish(() => reject(refusal(name, error)))
        },
      )
    })
  }

  return {
    request,
    notify(name, notice) {
      if (closed) return
      // throws when the stream has ended, rejects when it is not writable
      void (async () => connection.sendNotification(name, notice))().catch(() => {})
    },
    get unanswered() {
      return unanswered
    },
    quiet: () => (unanswered === 0 || closed ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve))),
    noise,
    close(reason) {
      if (closed) return
      closed = reason
      for (const { reject } of [...pending]) reject(reason)
      connection.dispose()
      wake()
    },
  }
}

function refusal(name: RequestName, cause: unknown): SidecarError {
  if (!(cause instanceof ResponseError)) {
    const code = cause instanceof ConnectionError ? "ENDED" : "BAD_REPLY"
    return new SidecarError(code, `${name}: ${cause instanceof Error ? cause.message : cause}`, { cause })
  }
  // untrusted text: reduced to one bounded line
  const message = `${name}: ${cut(line(cause.message), 400)}`
  if (cause.code === ErrorCodes.MessageWriteError) return new SidecarError("ENDED", message, { cause })
  const data = errorDataSchema.safeParse(cause.data)
  return new SidecarError("REFUSED", message, { cause, ...(data.success ? { wire: data.data.code } : {}) })
}
