// JSON-RPC messages as lines, one JSON object each. Replaces the Content-Length framing of vscode-jsonrpc, which hangs
// after one stray line on stdout; llama.cpp and its bindings print such lines.

import type { Readable, Writable } from "node:stream"
import { AbstractMessageReader, AbstractMessageWriter, type DataCallback, type Message } from "vscode-jsonrpc"
import { asRecord, parseJson } from "../../system/values.ts"

/** Longer lines are noise. A digest's document is limited to far less. */
export const MAX_LINE_CHARS = 4_000_000

const MAX_NOISE_CHARS = 500

/**
 * Reads messages from a stream that may carry other text too. The first 500 characters of a line that is too long or not
 * a JSON-RPC message go to `onNoise`. Not node:readline, which also ends lines at U+2028, legal inside JSON.
 */
export class LineReader extends AbstractMessageReader {
  private rest = ""
  private skipping = false

  constructor(
    private readonly input: Readable,
    private readonly onNoise: (line: string) => void = () => {},
  ) {
    super()
  }

  listen(callback: DataCallback) {
    const onData = (chunk: string) => {
      const pieces = chunk.split("\n")
      const last = pieces.pop() ?? ""
      for (const piece of pieces) {
        const line = this.rest + piece
        this.rest = ""
        if (this.skipping) this.skipping = false
        else this.take(line, callback)
      }
      this.rest += last
      if (this.rest.length <= MAX_LINE_CHARS) return
      if (!this.skipping) this.take(this.rest, callback)
      this.rest = ""
      this.skipping = true
    }
    const onEnd = () => {
      // the last, incomplete line of a process that died often says why
      if (!this.skipping) this.take(this.rest, callback)
      this.rest = ""
      this.fireClose()
    }
    const onClose = () => this.fireClose()
    const onError = (error: Error) => this.fireError(error)
    const { input } = this
    input.setEncoding("utf8")
    input.on("data", onData).on("end", onEnd).on("close", onClose).on("error", onError)
    return {
      dispose: () => void input.off("data", onData).off("end", onEnd).off("close", onClose).off("error", onError),
    }
  }

  private take(line: string, callback: DataCallback): void {
    if (line.trim() === "") return
    const message = line.length > MAX_LINE_CHARS ? undefined : parseMessage(line)
    if (!message || !handOver(message, callback)) this.onNoise(line.slice(0, MAX_NOISE_CHARS))
  }
}

/**
 * vscode-jsonrpc throws on a request without an id and on a cancellation without parameters, which in a stream's event
 * handler would end the process.
 */
function handOver(message: Message, callback: DataCallback): boolean {
  try {
    callback(message)
    return true
  } catch {
    return false
  }
}

function parseMessage(line: string): Message | undefined {
  const value = asRecord(parseJson(line))
  return value?.jsonrpc === "2.0" ? (value as unknown as Message) : undefined
}

/**
 * Each message begins with a line feed, so that native output without one, already in the pipe, does not corrupt it.
 * Readers skip empty lines.
 */
export class LineWriter extends AbstractMessageWriter {
  private errors = 0

  constructor(private readonly output: Writable) {
    super()
    output.on("error", (error: Error) => this.fireError(error, undefined, ++this.errors))
    output.on("close", () => this.fireClose())
  }

  write(message: Message): Promise<void> {
    return new Promise((resolve, reject) => {
      this.output.write(`\n${JSON.stringify(message)}\n`, (error) => {
        if (!error) return resolve()
        this.fireError(error, message, ++this.errors)
        reject(error)
      })
    })
  }

  end(): void {}
}
