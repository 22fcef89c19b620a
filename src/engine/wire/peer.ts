// JSON-RPC 2.0 over a pair of streams, one message a line: both ends of the wire. Libraries frame messages by their length,
// which hangs after one stray line on stdout; llama.cpp and its bindings print such lines.

import type { Readable, Writable } from "node:stream"
import { orAborted, readLines } from "../../system/process.ts"
import { asRecord, asString, errorMessage, parseJson } from "../../system/values.ts"

/** Longer lines are noise. A digest's document is limited to far less. */
export const MAX_LINE_CHARS = 4_000_000

const MAX_NOISE_CHARS = 500
/** The usual JSON-RPC error codes. */
const UNKNOWN_METHOD = -32601
const FAILED = -32603
const CANCELLED = -32800

/** An error in an answer, received or to be sent. */
export class ReplyError extends Error {
  constructor(
    readonly code: number,
    message: string,
    readonly data?: unknown,
  ) {
    super(message)
  }
}

type Handlers = {
  /** Answer requests, by method; what they throw is sent as an error. The other end aborts the signal by cancelling. */
  answers?: Readonly<Record<string, (params: unknown, signal: AbortSignal) => Promise<unknown>>>
  /** Returns whether the notification was expected and well-formed. */
  onNotice?: (method: string, params: unknown) => boolean
  /** Receives the first 500 characters of every line that is not a message, or is one that nobody expected. */
  onNoise: (text: string) => void
  /** Called when the other end is gone, perhaps more than once. */
  onClose: () => void
}

type Unanswered = { answered: Promise<unknown>; resolve(result: unknown): void; reject(error: Error): void }

export function openPeer(input: Readable, output: Writable, { answers = {}, onNotice, onNoise, onClose }: Handlers) {
  const unanswered = new Map<unknown, Unanswered>()
  const running = new Map<unknown, AbortController>()
  let lastID = -1
  let closedBy: Error | undefined

  readLines(input, MAX_LINE_CHARS, (text) => {
    const message = text.length > MAX_LINE_CHARS ? undefined : asRecord(parseJson(text))
    if (message?.jsonrpc !== "2.0" || !take(message)) onNoise(text.slice(0, MAX_NOISE_CHARS))
  })
  const gone = () => {
    close(new Error("the stream has ended"))
    onClose()
  }
  input.on("end", gone).on("close", gone).on("error", gone)
  output.on("close", gone).on("error", gone)

  /** Whether the message was expected. */
  function take({ id, method, params, result, error }: Record<string, unknown>): boolean {
    if (typeof method === "string") {
      if (id !== undefined) void answer(id, method, params)
      else if (method === "$/cancelRequest") running.get(asRecord(params)?.id)?.abort()
      else return onNotice?.(method, params) ?? false
      return true
    }
    const request = unanswered.get(id)
    const failure = asRecord(error)
    if (failure) request?.reject(new ReplyError(Number(failure.code), asString(failure.message) ?? "", failure.data))
    else request?.resolve(result)
    return unanswered.delete(id)
  }

  async function answer(id: unknown, method: string, params: unknown): Promise<void> {
    const cancel = new AbortController()
    running.set(id, cancel)
    try {
      const reply = Object.hasOwn(answers, method) ? answers[method] : undefined
      if (!reply) throw new ReplyError(UNKNOWN_METHOD, `unknown request ${method}`)
      send({ id, result: await reply(params, cancel.signal) })
    } catch (thrown) {
      const error = thrown instanceof ReplyError ? thrown : new ReplyError(FAILED, errorMessage(thrown))
      const { code, message, data } = cancel.signal.aborted ? new ReplyError(CANCELLED, "cancelled") : error
      send({ id, error: { code, message, data } })
    } finally {
      running.delete(id)
    }
  }

  /** Begins with a line feed, so that native output without one, already in the pipe, does not corrupt the message. */
  function send(message: object, onError?: (error: Error) => void): void {
    if (closedBy) return
    output.write(`\n${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`, (error) => error && onError?.(error))
  }

  /** Rejects all pending and future requests with the reason. Idempotent: the first reason is kept. */
  function close(reason: Error): void {
    closedBy ??= reason
    for (const { reject } of unanswered.values()) reject(closedBy)
    unanswered.clear()
  }

  return {
    /**
     * Rejects with a `ReplyError`, or with the reason of the closing. On abort it rejects at once with the signal's reason, and
     * the other end is told to cancel; the request counts as unanswered until it has answered.
     */
    async request(method: string, params: unknown, signal: AbortSignal): Promise<unknown> {
      signal.throwIfAborted()
      if (closedBy) throw closedBy
      const id = ++lastID
      const request = {} as Unanswered
      request.answered = new Promise((resolve, reject) => Object.assign(request, { resolve, reject }))
      unanswered.set(id, request)
      send({ id, method, params }, request.reject)
      try {
        return await orAborted(request.answered, signal)
      } catch (error) {
        if (signal.aborted) send({ method: "$/cancelRequest", params: { id } })
        throw error
      }
    },
    /** Sends a notification, which is dropped if it cannot be sent. */
    notify: (method: string, params: object): void => send({ method, params }),
    /** Resolves when the other end has answered all, or this end is closed. */
    quiet: async (): Promise<void> =>
      void (await Promise.allSettled(Array.from(unanswered.values(), ({ answered }) => answered))),
    close,
  }
}
