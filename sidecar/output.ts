// What leaves the process: stdout carries only the protocol, and log messages are limited.

import { Writable } from "node:stream"
import { format } from "node:util"
import type { Notice } from "../src/engine/wire/messages.ts"

type Level = Notice<"engine/log">["level"]

const WINDOW_MS = 10_000
const MAX_LINES = 30
const MAX_LINE_CHARS = 2000

/** Limits the log messages sent to the plugin, because llama.cpp can print a line per tensor. */
export class LogBudget {
  private since = Number.NEGATIVE_INFINITY
  private lines = 0

  constructor(private readonly send: (level: Level, message: string) => void) {}

  /** Sends the line, or drops it if there were too many within ten seconds. The number of dropped lines is logged later. */
  log(level: Level, message: string): void {
    const now = performance.now()
    if (now - this.since > WINDOW_MS) {
      if (this.lines > MAX_LINES) this.send("warn", `${this.lines - MAX_LINES} more lines were dropped`)
      this.since = now
      this.lines = 0
    }
    if (++this.lines <= MAX_LINES) this.send(level, message.slice(0, MAX_LINE_CHARS))
  }
}

/**
 * Reserves stdout for the protocol and returns the only stream that writes to it. Other JavaScript output goes to stderr.
 * Native code can still print, which is why readers tolerate noise (`src/engine/wire/peer.ts`).
 */
export function claimStdout(): Writable {
  const write = process.stdout.write.bind(process.stdout)
  process.stdout.write = process.stderr.write.bind(process.stderr)
  // Bun's console bypasses process.stdout
  const print = (...values: unknown[]) => void process.stderr.write(`${format(...values)}\n`)
  for (const name of ["log", "info", "debug", "trace", "dir", "table", "group"] as const) console[name] = print
  const channel = new Writable({
    decodeStrings: false,
    write: (chunk: string, _encoding, done) => void write(chunk, "utf8", done),
  })
  process.stdout.on("error", (error) => channel.destroy(error))
  return channel
}
