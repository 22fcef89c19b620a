// A tool output as it is kept while it waits for its digest: whatever reads it looks at its two ends only, so those are
// copied and the output itself can be collected.

import type { DigestSource } from "../output/digest.ts"

/** What `extract`, `promptFor` and `ground` look at of an output, from either end. */
const SIDE_CHARS = 64 * 1024
const ARGUMENTS = 20
const ARGUMENT_CHARS = 2000
/** Characters at the start of an output by which a binary one is known. */
const LOOKED = 4000

/** The source without its middle, and without arguments that no digest is made from. The same digests come of it. */
export function held(source: DigestSource): DigestSource {
  const { output } = source
  const input = Object.entries(source.input)
    .filter(([, value]) => ["string", "number", "boolean"].includes(typeof value))
    .slice(0, ARGUMENTS)
    .map(([name, value]): [string, unknown] => [
      name,
      typeof value === "string" && value.length > ARGUMENT_CHARS ? copy(value.slice(0, ARGUMENT_CHARS)) : value,
    ])
  return {
    ...source,
    input: Object.fromEntries(input),
    // longer than both ends, so that it still reads as cut in the middle
    output:
      output.length > 2 * SIDE_CHARS + 2
        ? copy(`${output.slice(0, SIDE_CHARS)}\n\n${output.slice(-SIDE_CHARS)}`)
        : output,
  }
}

/** A slice refers to the string it was cut from, and would keep all of it alive. */
function copy(text: string): string {
  return Buffer.from(text, "utf16le").toString("utf16le")
}

/** More than one character in fifty that no text has: an image, an archive. `wellFormed` has made U+FFFD of NUL. */
export function isBinary(output: string): boolean {
  const start = output.slice(0, LOOKED)
  const strange = start.match(/[\u0000-\u0008\u000e-\u001a\ufffd]/g)?.length ?? 0
  return strange * 50 > start.length
}
