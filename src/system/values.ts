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

/** Sets the entry as the newest and drops the oldest when there are more than `maxEntries`. */
export function renew<K, V>(map: Map<K, V>, key: K, value: V, maxEntries: number): void {
  map.delete(key)
  map.set(key, value)
  if (map.size > maxEntries) map.delete(map.keys().next().value as K)
}
