// Digests that were written before, in this process or another. They are looked up in batches; what is found is not
// written again.

import type { Digest } from "../output/digest.ts"
import { renew } from "../system/values.ts"

/** Keeps digests permanently. `writer` stands for the backend, its model and the version of the prompt. */
export type DigestStore = {
  loadDigests(writer: string, keys: readonly string[]): Promise<ReadonlyMap<string, Digest>>
  saveDigest(writer: string, key: string, digest: Digest): void
}

/** Keys in a batch. Most belong to outputs that the queue had no room for. */
const MAX_KEYS = 500

/** Without a store the lookup finds nothing. */
export function createDigestLookup(store: DigestStore | undefined, writer: () => string) {
  const requested = new Map<string, true>()
  return {
    /** Adds the keys to the next batch. */
    request(keys: readonly string[]): void {
      if (store) for (const key of keys.slice(-MAX_KEYS)) renew(requested, key, true, MAX_KEYS)
    },
    /** Looks up all requested keys, including those requested meanwhile. Never rejects. */
    async run(onFound: (key: string, digest: Digest) => void): Promise<void> {
      while (store && requested.size > 0) {
        const keys = [...requested.keys()]
        requested.clear()
        try {
          for (const [key, digest] of await store.loadDigests(writer(), keys)) onFound(key, digest)
        } catch {
          // a failed lookup costs only the work of writing those digests again
        }
      }
    },
    clear: () => requested.clear(),
  }
}
