// What leaves the process: stdout carries only the protocol, everything else goes to stderr, whose last lines the plugin keeps.

import { Writable } from "node:stream"
import { format } from "node:util"

/** Writes a line to stderr. */
export function log(...values: unknown[]): void {
  process.stderr.write(`${format(...values)}\n`)
}

/**
 * Reserves stdout for the protocol and returns the only stream that writes to it. Other JavaScript output goes to stderr.
 * Native code can still print, which is why readers tolerate noise (`src/engine/wire/peer.ts`).
 */
export function claimStdout(): Writable {
  const write = process.stdout.write.bind(process.stdout)
  process.stdout.write = process.stderr.write.bind(process.stderr)
  // Bun's console bypasses process.stdout
  for (const name of ["log", "info", "debug", "trace", "dir", "table", "group"] as const) console[name] = log
  // nobody reads it any more: the plugin is gone, and this process is about to exit
  process.stderr.on("error", () => {})
  const channel = new Writable({
    decodeStrings: false,
    write: (chunk: string, _encoding, done) => void write(chunk, "utf8", done),
  })
  process.stdout.on("error", (error) => channel.destroy(error))
  return channel
}
