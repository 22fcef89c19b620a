// Small helpers that every room needs: reading values of unknown type, errors with a code, and maps that stay small.

/** The value as an object with unknown fields; undefined when it is anything else, arrays included. */
export function asRecord(value: unknown): Record<string, unknown> | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined
}

export function asString(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined
}

/** The value as a number; undefined when it is anything else, or not finite. */
export function asNumber(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined
}

/** Without the undefined fields, since with `exactOptionalPropertyTypes` an optional field must not be undefined. */
export function defined<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const kept: Partial<T> = {}
  for (const name in fields) if (fields[name] !== undefined) kept[name] = fields[name]
  return kept as never
}

/** Nesting up to which foreign values are read. A tool's arguments nest a few levels, and hostile ones a hundred thousand. */
const MAX_NESTING = 200

/** Whether the value nests deeper, as a circular one does. */
export function isTooDeep(value: unknown, depth = MAX_NESTING): boolean {
  if (typeof value !== "object" || value === null) return false
  return depth === 0 || Object.values(value).some((one) => isTooDeep(one, depth - 1))
}

/** The JSON of a foreign value. Undefined if it has none, or nests so deeply that JSON.stringify would take seconds to fail. */
export function jsonOf(value: unknown): string | undefined {
  try {
    return isTooDeep(value) ? undefined : JSON.stringify(value)
  } catch {
    // a BigInt, or a getter that throws
    return undefined
  }
}

/** The value of a JSON text; undefined if the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The value of a JSON text, checked by a schema; undefined if the text is not JSON of this shape. */
export function parseAs<T>(schema: { safeParse(value: unknown): { data?: T | undefined } }, text: string) {
  return schema.safeParse(parseJson(text)).data
}

/** What an error says. Never throws: anything may be thrown, also what has no text. */
export function errorMessage(error: unknown): string {
  try {
    return String(error instanceof Error ? error.message : error)
  } catch {
    return "an error without a message"
  }
}

/** An error whose code says what kind it is. The message is one line for people: what failed, and what to do. */
export class CodedError<Code extends string> extends Error {
  constructor(
    readonly code: Code,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options)
  }
}

/** Computes a value when it is first asked for. */
export function lazy<T extends object>(compute: () => T): () => T {
  let value: T | undefined
  return () => (value ??= compute())
}

/** Whether a version comes before another, such as 1.9.0 before 1.10.0. */
export function isOlder(version: string, than: string): boolean {
  return version.localeCompare(than, "en", { numeric: true }) < 0
}

/** The values by their keys, in the order of each key's first value. Node 20 has no `Map.groupBy`. */
export function groupBy<T, K>(values: readonly T[], keyOf: (value: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>()
  for (const value of values) {
    const key = keyOf(value)
    const group = groups.get(key)
    if (group) group.push(value)
    else groups.set(key, [value])
  }
  return groups
}

/** Drops the oldest entries, but none that is spared, until the sizes of those left are at most `most` together. */
export function dropOldest<K, V>(
  map: Map<K, V>,
  most: number,
  sizeOf: (value: V) => number,
  isSpared: (value: V) => boolean,
): void {
  let kept = 0
  for (const value of map.values()) kept += sizeOf(value)
  for (const [key, value] of map) {
    if (kept <= most) return
    if (isSpared(value)) continue
    map.delete(key)
    kept -= sizeOf(value)
  }
}

/** Sets the entry as the newest and drops the oldest when there are more than `maxEntries`. */
export function renew<K, V>(map: Map<K, V>, key: K, value: V, maxEntries: number): void {
  map.delete(key)
  map.set(key, value)
  if (map.size > maxEntries) map.delete(map.keys().next().value as K)
}
