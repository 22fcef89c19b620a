// Reads a model's answer: each string that was asked for, anywhere in the text. So the answer may be inside prose or a
// code fence, have other properties, and be truncated. For engines without a grammar, and for answers that were truncated
// despite one. Used on both sides of the wire.

import type { WriteRequest } from "./messages.ts"

/** An answer has a few hundred characters; anything beyond this is ignored. */
const MAX_ANSWER_CHARS = 20_000

/** The strings by name, those that are too long cut; null if one is missing. Never throws. */
export function readAnswer(text: string, answer: WriteRequest["answer"]): Record<string, string> | null {
  const head = text.slice(0, MAX_ANSWER_CHARS)
  const structured: Record<string, string> = {}
  for (const [name, maxChars] of Object.entries(answer)) {
    const value = readString(head, name)
    if (value === undefined) return null
    // in code points, as a grammar counts, so that no surrogate pair is split
    structured[name] = value.length <= maxChars ? value : [...value].slice(0, maxChars).join("")
  }
  return structured
}

/** The value of a string; of a truncated one its complete words. Undefined if there is none. */
function readString(text: string, name: string): string | undefined {
  const [, written, end] = new RegExp(`"${name}"\\s*:\\s*"([^"\\\\]*(?:\\\\.[^"\\\\]*)*)("?)`, "s").exec(text) ?? []
  if (written === undefined) return
  const value = written.replace(/\\(?:u([0-9a-fA-F]{4})|(.))/gs, (whole, code?: string, sign = "") => {
    if (code !== undefined) return String.fromCharCode(Number.parseInt(code, 16))
    // an invalid escape, copied from a pattern (`\d`) or a Windows path (`\s`), is kept as it is
    return ESCAPES[sign] ?? whole
  })
  return end ? value : /^.*\S(?=\s)/s.exec(value)?.[0]
}

const ESCAPES: Readonly<Record<string, string>> = {
  ...{ '"': '"', "\\": "\\", "/": "/" },
  ...{ n: "\n", t: "\t", r: "\r", b: "\b", f: "\f" },
}
