// stdout carries the protocol and nothing else. Whatever JavaScript in this process prints goes to stderr; native code
// cannot be kept from printing, which is why the lines on the wire can be told from others (`src/engine/wire/lines.ts`).

import { Writable } from "node:stream"
import { format } from "node:util"

/** Takes stdout for the protocol and returns the only way left to write to it. */
export function claimStdout(): Writable {
  const write = process.stdout.write.bind(process.stdout)
  process.stdout.write = process.stderr.write.bind(process.stderr)
  // Bun's console prints natively, past process.stdout
  const print = (...values: unknown[]) => void process.stderr.write(`${format(...values)}\n`)
  for (const name of ["log", "info", "debug", "trace", "dir", "table", "group"] as const) console[name] = print
  const channel = new Writable({
    decodeStrings: false,
    write: (chunk: string, _encoding, done) => void write(chunk, "utf8", done),
  })
  process.stdout.on("error", (error) => channel.destroy(error))
  return channel
}
