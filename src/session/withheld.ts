// What a digest is made of, without its secrets: taken out before anything looks at it, since a line, a word or a half of
// what was a secret in its place is none to the eye.

import type { DigestSource } from "../output/digest.ts"
import { redact } from "../text/redact/redact.ts"

/** Of a text that is longer only both ends are kept, each half of it, in characters: no digest looks further in. */
const LONGEST = 256 * 1024

/** The source with its output and its arguments redacted. What has none is the same text. */
export function withoutSecrets(source: DigestSource): DigestSource {
  return { ...source, input: withoutNamed(source.input) as DigestSource["input"], output: redactEnds(source.output) }
}

/** The value of an argument without secrets; the name may be what says that it is one. */
export function redactNamed(name: string, value: string): string {
  const named = redact(`${name}=${value}`)
  return named.startsWith(`${name}=`) ? named.slice(name.length + 1) : redact(value)
}

function withoutNamed(value: unknown, name = "", depth = 0): unknown {
  if (typeof value === "string") return value.length > LONGEST ? redactEnds(value) : redactNamed(name, value)
  // deeper than any tool's arguments, and than any digest looks
  if (typeof value !== "object" || value === null || depth > 6) return value
  if (Array.isArray(value)) return value.map((one) => withoutNamed(one, name, depth + 1))
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, withoutNamed(one, key, depth + 1)]))
}

function redactEnds(text: string): string {
  if (text.length <= LONGEST) return redact(text)
  return `${redact(text.slice(0, LONGEST / 2))}\n${redact(text.slice(-LONGEST / 2))}`
}
