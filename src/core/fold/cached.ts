// How much of the next request the provider still holds in its cache, as far as one can tell before it is sent.

import type { Entry } from "../ledger/entry.ts"
import type { Folding, Sent } from "./folding.ts"
import type { Tariff } from "./tariff.ts"

/**
 * The number of entries, from the first, that were in the last request too and are still cached. None when the last
 * request is longer ago than the cache lives, or went to another model, whose cache is its own.
 */
export function cachedEntries(
  entries: readonly Entry[],
  folding: Folding,
  { lifetimeMs }: Tariff,
  model: string,
  nowMs: number,
): number {
  const sent = folding.sent ?? sentBefore(entries, folding)
  if (!sent || nowMs - sent.atMs >= lifetimeMs || sent.model !== model) return 0
  let same = 0
  while (same < entries.length && entries[same]?.id === sent.ids[same]) same++
  return same
}

/**
 * The last request of an earlier process, by the message that answered it. One that had folds is known to have gone out
 * as this one will; of any other not even the system prompt need be the same.
 */
function sentBefore(entries: readonly Entry[], { folds }: Folding): Sent | undefined {
  const at = folds.size ? entries.findLastIndex(({ call }) => call) : -1
  const answer = entries[at]
  if (!answer?.model) return
  const { providerID, modelID } = answer.model
  return { ids: entries.slice(0, at).map(({ id }) => id), atMs: answer.created, model: `${providerID}/${modelID}` }
}
