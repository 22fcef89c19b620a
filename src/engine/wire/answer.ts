// Turns a model's answer into a value of the requested schema: finds the JSON, repairs it, and drops what does not fit.
// For engines without a grammar, and for answers that were truncated despite one. Used on both sides of the wire.

/** `structured` is null exactly if the answer does not have the requested form, that is, if `schemaOk` is false. */
export type Answer = { structured: unknown; schemaOk: boolean }

type Schema = Readonly<Record<string, unknown>>

/** An answer has a few hundred characters; anything beyond this is ignored. */
const MAX_ANSWER_CHARS = 20_000
/** How many opening brackets are tried. */
const MAX_ATTEMPTS = 50

/**
 * Finds the object in code fences or prose, closes a truncated one after its last complete element, and fits it to the
 * schema: drops unknown properties, invalid and surplus items, cuts strings that are too long, and fills in a missing list
 * that may be empty. If anything required is still missing, there is no answer. Never throws.
 *
 * Supported JSON Schema: `object` with `properties` and `required`; `array` with `items`, `minItems`, `maxItems`; `string`
 * with `maxLength` in characters; `integer` and `number` with `minimum`, `maximum`; `boolean`; `enum` of scalars.
 */
export function readAnswer(text: string, schema: Schema): Answer {
  const head = text.slice(0, MAX_ANSWER_CHARS)
  const opening = schema.type === "array" ? "[" : "{"
  let at = head.indexOf(opening)
  for (let attempt = 0; at >= 0 && attempt < MAX_ATTEMPTS; attempt++) {
    const found = readPartialJson(head, at)
    const structured = found && !isEmptyRest(found) ? fit(found.value, schema) : undefined
    if (structured !== undefined) return { structured, schemaOk: true }
    // it may have been a bracket in prose
    at = head.indexOf(opening, at + 1)
  }
  return { structured: null, schemaOk: false }
}

/** Whether it is a bracket in prose rather than an answer without content. */
function isEmptyRest({ value, whole }: { value: unknown; whole: boolean }): boolean {
  return !whole && Object.keys(value as object).length === 0
}

/** The value reduced to what the schema allows; `undefined` if it does not fit. */
function fit(value: unknown, schema: unknown): unknown {
  if (!isObject(schema)) return
  if (Array.isArray(schema.enum)) return schema.enum.includes(value) ? value : undefined
  switch (schema.type) {
    case "object":
      return isObject(value) ? fitObject(value, schema) : undefined
    case "array":
      return Array.isArray(value) ? fitArray(value, schema) : undefined
    case "string":
      return typeof value === "string" ? clip(value, limit(schema.maxLength, Number.POSITIVE_INFINITY)) : undefined
    case "integer":
      return Number.isInteger(value) && inRange(value as number, schema) ? value : undefined
    case "number":
      return typeof value === "number" && inRange(value, schema) ? value : undefined
    case "boolean":
      return typeof value === "boolean" ? value : undefined
  }
}

function fitObject(value: Schema, schema: Schema): unknown {
  const required = Array.isArray(schema.required) ? schema.required : []
  const properties = isObject(schema.properties) ? schema.properties : {}
  const entries: [string, unknown][] = []
  for (const [name, one] of Object.entries(properties)) {
    const given = Object.hasOwn(value, name) ? fit(value[name], one) : undefined
    if (given !== undefined) entries.push([name, given])
    else if (required.includes(name)) {
      if (!mayBeEmpty(one)) return
      entries.push([name, []])
    }
  }
  return Object.fromEntries(entries)
}

function fitArray(value: readonly unknown[], schema: Schema): unknown {
  const items = value.map((item) => fit(item, schema.items)).filter((item) => item !== undefined)
  const most = limit(schema.maxItems, Number.POSITIVE_INFINITY)
  return Math.min(items.length, most) < limit(schema.minItems, 0) ? undefined : items.slice(0, most)
}

const mayBeEmpty = (schema: unknown) => isObject(schema) && schema.type === "array" && limit(schema.minItems, 0) === 0

const inRange = (value: number, { minimum, maximum }: Schema) =>
  value >= limit(minimum, Number.NEGATIVE_INFINITY) && value <= limit(maximum, Number.POSITIVE_INFINITY)

const limit = (given: unknown, otherwise: number) => (typeof given === "number" ? given : otherwise)

/** Counts code points, as a grammar does, so that no surrogate pair is split. */
const clip = (text: string, most: number) => (text.length <= most ? text : [...text].slice(0, most).join(""))

const isObject = (value: unknown): value is Schema =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** `whole` is false if the value was cut off or broken; `end` is where reading stopped. */
type PartialJson = { value: unknown; whole: boolean; end: number }

const MAX_DEPTH = 32
const ESCAPES: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r", b: "\b", f: "\f" }
const LITERALS = [
  ["true", true],
  ["false", false],
  ["null", null],
] as const

/**
 * A tolerant JSON reader: the value that begins at `start`, or `undefined`. Truncated objects and arrays are closed after
 * their last complete element. A truncated string or number is dropped, since half a path is a different path; but a
 * truncated string property of the outermost object keeps its complete words, since it is a sentence. Accepts line breaks
 * in strings, unknown escapes, and trailing commas. Never throws.
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

  /** Sets `broken` if reading must stop; there may still be a value. */
  function readValue(depth: number, isSentence = false): unknown {
    skipSpace()
    const sign = text[at]
    if (depth > MAX_DEPTH || sign === undefined) return fail()
    if (sign === "{") return readObject(depth)
    if (sign === "[") return readArray(depth)
    if (sign === '"') return readString(isSentence)
    const literal = LITERALS.find(([name]) => text.startsWith(name, at))
    if (literal) {
      at += literal[0].length
      return literal[1]
    }
    const [digits] = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/.exec(text.slice(at, at + 40)) ?? []
    // a number at the end of the text may be truncated
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
    // not by assignment, because of `__proto__`
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
    // an invalid escape, copied from a pattern (`\d`) or a Windows path (`\s`), is kept as it is
    return ESCAPES[sign] ?? `\\${sign}`
  }

  const value = readValue(0)
  return value === undefined ? undefined : { value, whole: !broken, end: at }
}
