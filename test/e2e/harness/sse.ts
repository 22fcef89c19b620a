// Server-sent events without a library: a parser of the byte stream, and a stream that is reopened with backoff whenever it
// ends. Knows nothing about OpenCode.

export type Message = { id: string; event: string; data: string }

/** Cuts a stream of bytes into messages. Feed it chunks of any size: a cut inside a letter or a line end is no matter. */
export function createParser(hear: (message: Message) => void, hearRetry?: (ms: number) => void) {
  // not `stream: true` alone: the decoder also takes a byte order mark off the start
  const decoder = new TextDecoder("utf-8")
  let rest = ""
  let lastID = ""
  let event = ""
  let data: string[] = []

  const take = (line: string): void => {
    if (line === "") {
      if (data.length > 0) hear({ id: lastID, event: event || "message", data: data.join("\n") })
      event = ""
      data = []
      return
    }
    const colon = line.indexOf(":")
    // a comment; servers send them to keep the line open
    if (colon === 0) return
    const field = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "")
    if (field === "data") data.push(value)
    else if (field === "event") event = value
    else if (field === "id" && !value.includes("\0")) lastID = value
    else if (field === "retry" && /^\d+$/.test(value)) hearRetry?.(Number(value))
  }

  return (chunk: Uint8Array): void => {
    rest += decoder.decode(chunk, { stream: true })
    for (;;) {
      const end = /\r\n|\n|\r(?!$)/.exec(rest)
      // a carriage return at the very end may be half of a line end
      if (!end) return
      const line = rest.slice(0, end.index)
      rest = rest.slice(end.index + end[0].length)
      take(line)
    }
  }
}

export type StreamOptions = {
  url: string | URL
  headers?: Readonly<Record<string, string>>
  /** ends the stream for good */
  signal: AbortSignal
  hear(message: Message): void
  /** the wait before the next try, in ms, with what ended the last */
  lost?(waitMs: number, cause: unknown): void
  /** how long a server may take to accept the connection; one that is starting may never do so */
  patienceMs?: number
  /** first and longest wait between two tries */
  backoffMs?: readonly [number, number]
}

/** An answer that will not change by asking again, such as 401. */
export class Refused extends Error {
  constructor(readonly status: number) {
    super(`the event stream was refused with status ${status}`)
  }
}

/**
 * Follows an event stream until `signal` is aborted, over as many connections as it takes: the wait doubles with each
 * failure and is reset by a message. Sends the last message's id, where the server gave one. Rejects with
 * `Refused` when the server refuses for good.
 */
export async function followStream(options: StreamOptions): Promise<void> {
  const { url, headers, signal, hear, patienceMs = 10_000, backoffMs: [first, longest] = [50, 2_000] } = options
  let lastID = ""
  let failures = 0
  let base = first
  while (!signal.aborted) {
    let cause: unknown = "the server closed it"
    const late = new AbortController()
    const timer = setTimeout(() => late.abort(new Error(`no answer within ${patienceMs} ms`)), patienceMs)
    try {
      const response = await fetch(url, {
        headers: { accept: "text/event-stream", ...(lastID ? { "last-event-id": lastID } : {}), ...headers },
        signal: AbortSignal.any([signal, late.signal]),
      })
      clearTimeout(timer)
      if (response.status >= 400 && response.status < 500 && response.status !== 429) throw new Refused(response.status)
      if (!response.ok || !response.body) throw new Error(`the event stream answered ${response.status}`)
      const feed = createParser(
        (message) => {
          failures = 0
          if (message.id) lastID = message.id
          hear(message)
        },
        (ms) => {
          base = ms
        },
      )
      for await (const chunk of response.body) feed(chunk as Uint8Array)
    } catch (failure) {
      if (signal.aborted) return
      if (failure instanceof Refused) throw failure
      cause = failure
    } finally {
      clearTimeout(timer)
    }
    if (signal.aborted) return
    const waitMs = Math.min(longest, base * 2 ** failures++)
    options.lost?.(waitMs, cause)
    await pause(waitMs, signal)
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer)
      signal.removeEventListener("abort", end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    signal.addEventListener("abort", end, { once: true })
  })
}
