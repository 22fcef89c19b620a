// How much of the next request the provider still holds in its cache, as far as one can tell before it is sent.

import type { Entry } from "../ledger/entry.ts"
import type { Folding } from "./folding.ts"
import type { Tariff } from "./tariff.ts"

/**
 * The number of entries, from the first, that were in the last request too and are still cached. None when the last
 * request is longer ago than the cache lives, or went to another model, whose cache is its own.
 */
export function cachedEntries(
  entries: readonly Entry[],
  { sent }: Folding,
  { lifetimeMs }: Tariff,
  model: string,
  nowMs: number,
): number {
  if (!sent || nowMs - sent.atMs >= lifetimeMs || sent.model !== model) return 0
  let same = 0
  while (same < entries.length && entries[same]?.id === sent.ids[same]) same++
  return same
}
