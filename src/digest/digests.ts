// Digests in front of whatever writes them, remembered by what they were made of: the same output read twice is
// digested once. The deterministic backend answers at once; slower ones will stand behind the same call.

import { renew } from "../core/bounded.ts"
import type { Digest, DigestSource } from "../core/digest.ts"
import { extract } from "../core/extract/extract.ts"

export type Digests = {
  /** The digest of an output. `key` is equal for equal sources: the hashes of its arguments and its content. */
  of(key: string, source: DigestSource): Digest
}

/** Digests kept in memory, each a kilobyte or two at most. */
const MOST = 500

export function createDigests(write: (source: DigestSource) => Digest = extract): Digests {
  const known = new Map<string, Digest>()
  return {
    of(key, source) {
      const digest = known.get(key) ?? write(source)
      renew(known, key, digest, MOST)
      return digest
    },
  }
}
