// JSON-RPC messages as lines: one JSON object, one line feed. In place of vscode-jsonrpc's own Content-Length framing,
// which after one stray line on stdout waits for ever; llama.cpp and its bindings print such lines.

import type { Readable, Writable } from "node:stream"
import { StringDecoder } from "node:string_decoder"
import { AbstractMessageReader, AbstractMessageWriter, type DataCallback, type Message } from "vscode-jsonrpc"

/** Longest line read, in characters. A digest's document is capped far below it. */
export const LONGEST_LINE = 4_000_000

/** Of a line that is no message, what is handed on. */
const NOISE_SHOWN = 500

/**
 * Reads messages from a stream that may carry other text too. A line that is no JSON-RPC message, or one too long, is
 * handed to `onNoise`, at most its first 500 characters. Not node:readline, which also ends lines at U+2028, legal
 * inside JSON.
 */
export class LineReader extends AbstractMessageReader {
  private decoder = new StringDecoder("utf8")
  private rest = ""
  private skipping = false

  constructor(
    private readonly input: Readable,
    private readonly onNoise: (line: string) => void = () => {},
  ) {
    super()
  }

  listen(callback: DataCallback) {
    const onData = (chunk: Buffer | string) => {
      const pieces = (typeof chunk === "string" ? chunk : this.decoder.write(chunk)).split("\n")
      const last = pieces.pop() ?? ""
      for (const piece of pieces) {
        const line = this.rest + piece
        this.rest = ""
        if (this.skipping) this.skipping = false
        else this.take(line, callback)
      }
      this.rest += last
      if (this.rest.length <= LONGEST_LINE) return
      if (!this.skipping) this.take(this.rest, callback)
      this.rest = ""
      this.skipping = true
    }
    const onEnd = () => {
      // a process that died in the middle of a line has often said why in it
      if (!this.skipping) this.take(this.rest, callback)
      this.rest = ""
      this.fireClose()
    }
    const onClose = () => this.fireClose()
    const onError = (error: Error) => this.fireError(error)
    this.input.on("data", onData)
    this.input.on("end", onEnd)
    this.input.on("close", onClose)
    this.input.on("error", onError)
    return {
      dispose: () => {
        this.input.off("data", onData)
        this.input.off("end", onEnd)
        this.input.off("close", onClose)
        this.input.off("error", onError)
      },
    }
  }

  private take(line: string, callback: DataCallback): void {
    if (line.trim() === "") return
    const message = line.length > LONGEST_LINE ? undefined : parseMessage(line)
    if (!message || !handOver(message, callback)) this.onNoise(line.slice(0, NOISE_SHOWN))
  }
}

/**
 * vscode-jsonrpc throws at a request without an id and at a cancellation without parameters. Out of a stream's event
 * that would end the process.
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
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === "object" && value !== null && "jsonrpc" in value && value.jsonrpc === "2.0"
      ? (value as Message)
      : undefined
  } catch {
    return undefined
  }
}

/**
 * Writes messages. Each begins with a line feed of its own, so that a native print without one, already in the pipe,
 * spoils itself and not the message; readers pass over empty lines.
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
