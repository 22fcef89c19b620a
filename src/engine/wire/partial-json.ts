// A JSON reader for what a language model wrote: it forgives what models get wrong and stops, with what it has, where the
// text is cut off or broken.

/** `whole` is false when the value was closed at the last good place; `end` is where reading stopped. */
export type PartialJson = { value: unknown; whole: boolean; end: number }

const DEEPEST = 32
const ESCAPES: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r", b: "\b", f: "\f" }
const LITERALS = [
  ["true", true],
  ["false", false],
  ["null", null],
] as const

/**
 * The value that begins at `start`, `undefined` when there is none. Objects and arrays that are cut off are closed after
 * their last complete element; a string or number that is cut off is left out, since half a path is another path. Of a
 * property of the outermost object the whole words are kept: that is a sentence, and without it nothing would be left.
 * Forgiven: line breaks in strings, escapes that JSON does not know, a comma before a closing bracket. Never throws.
 */
export function readPartialJson(text: string, start: number): PartialJson | undefined {
  let at = start
  let broken = false

  function skipSpace(): void {
    while (/\s/.test(text[at] ?? "x")) at++
  }

  function take(sign: string): boolean {
    skipSpace()
    if (text[at] !== sign) return false
    at++
    return true
  }

  /** After it, `broken` says whether to go on; a value may be there all the same. */
  function readValue(depth: number, isSentence = false): unknown {
    skipSpace()
    const sign = text[at]
    if (depth > DEEPEST || sign === undefined) return fail()
    if (sign === "{") return readObject(depth)
    if (sign === "[") return readArray(depth)
    if (sign === '"') return readString(isSentence)
    const literal = LITERALS.find(([name]) => text.startsWith(name, at))
    if (literal) {
      at += literal[0].length
      return literal[1]
    }
    const [digits] = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/.exec(text.slice(at, at + 40)) ?? []
    // a number that ends with the text may have gone on
    if (digits === undefined || at + digits.length >= text.length) return fail()
    at += digits.length
    return Number(digits)
  }

  function fail(): undefined {
    broken = true
  }

  function readObject(depth: number): unknown {
    const entries: [string, unknown][] = []
    at++
    while (!take("}")) {
      const key = text[at] === '"' ? readString() : fail()
      if (broken || key === undefined || !take(":")) fail()
      const value = broken ? undefined : readValue(depth + 1, depth === 0)
      if (key !== undefined && value !== undefined) entries.push([key, value])
      if (broken || !endsElement("}")) break
    }
    // not by assignment: `__proto__` is a key like any other
    return Object.fromEntries(entries)
  }

  function readArray(depth: number): unknown {
    const items: unknown[] = []
    at++
    while (!take("]")) {
      const value = readValue(depth + 1)
      if (value !== undefined) items.push(value)
      if (broken || !endsElement("]")) break
    }
    return items
  }

  /** A comma, or the closing bracket still to come. */
  function endsElement(closing: string): boolean {
    if (take(",") || text[at] === closing) return true
    fail()
    return false
  }

  function readString(isSentence = false): string | undefined {
    let value = ""
    at++
    for (;;) {
      const sign = text[at++]
      if (sign === undefined) {
        fail()
        return isSentence ? /^.*\S(?=\s)/s.exec(value)?.[0] : undefined
      }
      if (sign === '"') return value
      value += sign === "\\" ? readEscape() : sign
    }
  }

  function readEscape(): string {
    const sign = text[at++]
    if (sign === undefined) return ""
    if (sign === '"' || sign === "\\" || sign === "/") return sign
    if (sign === "u") {
      const [hex] = /^[0-9a-fA-F]{4}/.exec(text.slice(at, at + 4)) ?? []
      if (hex === undefined) return "\\u"
      at += 4
      return String.fromCharCode(Number.parseInt(hex, 16))
    }
    // `\d` of a pattern or `\s` of a Windows path, copied as it stood
    return ESCAPES[sign] ?? `\\${sign}`
  }

  const value = readValue(0)
  return value === undefined ? undefined : { value, whole: !broken, end: at }
}
