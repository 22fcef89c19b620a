// The digests that were written before, in this process or another, asked for in batches: what is found there is not
// written again.

import { renew } from "../bounded.ts"
import type { Digest } from "../output/digest.ts"

/** Where digests are kept for good. `writer` is the backend, its model and the prompt. The store is one. */
export type Shelf = {
  loadDigests(writer: string, keys: readonly string[]): Promise<ReadonlyMap<string, Digest>>
  saveDigest(writer: string, key: string, digest: Digest): void
}

export type Lookup = {
  /** Has these looked up at the next `answer`. */
  want(keys: readonly string[]): void
  /** What is found of all that is wanted, until nothing more is. Never rejects. */
  answer(onFound: (key: string, digest: Digest) => void): Promise<void>
  forget(): void
}

/** Keys that wait to be looked up. Most are of outputs that the queue had no room for. */
const MOST = 500

/** Without a shelf it finds nothing. */
export function createLookup(shelf: Shelf | undefined, writer: () => string): Lookup {
  const wanted = new Map<string, true>()
  return {
    want(keys) {
      if (shelf) for (const key of keys.slice(-MOST)) renew(wanted, key, true, MOST)
    },
    async answer(onFound) {
      while (shelf && wanted.size > 0) {
        const keys = [...wanted.keys()]
        wanted.clear()
        try {
          for (const [key, digest] of await shelf.loadDigests(writer(), keys)) onFound(key, digest)
        } catch {
          // what is not found is written again, and nothing worse
        }
      }
    },
    forget: () => wanted.clear(),
  }
}
