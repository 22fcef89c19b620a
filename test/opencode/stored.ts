// A normal form of a stored session in which two runs of the same script are equal: without times, random ids, paths and
// counters. Any remaining difference is one of content.

/** A message as OpenCode exports it. */
export type StoredMessage = { info: Record<string, unknown>; parts: Record<string, unknown>[] }

const UNSTABLE = new Set([
  "id",
  "sessionID",
  "messageID",
  "parentID",
  "callID",
  "time",
  "snapshot",
  "hash",
  "cost",
  "tokens",
  // written by a separate job after the turn, so it may be missing
  "summary",
])

/** One line per message and part, in order. `root` is the folder of the run, which is removed from paths. */
export function outlineOf(messages: readonly StoredMessage[], root: string): string[] {
  return messages.flatMap(({ info, parts }) => [
    line("message", info, root),
    ...parts.map((part) => line(`  ${String(part.type)}`, part, root)),
  ])
}

/** The outline of a session that a host stores. */
export async function outlineIn(
  host: { root: string; stored(session: string): Promise<StoredMessage[]> },
  session: string,
): Promise<string[]> {
  return outlineOf(await host.stored(session), host.root)
}

/** The lines in which two outlines differ; empty when they are equal. */
export function differences(one: readonly string[], other: readonly string[]): string[] {
  const found: string[] = []
  for (let at = 0; at < Math.max(one.length, other.length); at++) {
    if (one[at] !== other[at]) found.push(`line ${at + 1}: ${one[at] ?? "nothing"} | ${other[at] ?? "nothing"}`)
  }
  return found
}

function line(label: string, value: unknown, root: string): string {
  const text = JSON.stringify(stable(value)) ?? ""
  return `${label} ${text.replaceAll(root, "").replace(/\d+(\.\d+)?\s?ms\b|duration_ms:? \d+(\.\d+)?/g, "some ms")}`
}

function stable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(stable)
  if (typeof value !== "object" || value === null) return value
  const kept = Object.entries(value).filter(([key]) => !UNSTABLE.has(key))
  return Object.fromEntries(kept.sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, inner]) => [key, stable(inner)]))
}
