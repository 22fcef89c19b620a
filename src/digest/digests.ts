// Digests in front of whatever writes them, remembered by what they were made of: the same output read twice is
// digested once. `extract` answers at once; what a model wrote takes its place from when it is known.

import { renew } from "../core/bounded.ts"
import type { Digest, DigestSource } from "../core/digest.ts"
import { extract } from "../core/extract/extract.ts"
import type { Backend } from "./backends/backend.ts"
import { createQueue, type Queue, type QueueOptions } from "./queue.ts"

export type Digests = {
  /** The digest of an output. `key` is equal for equal sources: the hashes of its arguments and its content. */
  of(key: string, source: DigestSource): Digest
  /** what has a model write them; undefined when none does */
  readonly queue: Queue | undefined
}

export type DigestsOptions = { backend?: Backend } & Pick<QueueOptions, "shelf" | "onTrouble" | "onChange">

/** Digests of each sort kept in memory, each a kilobyte or two at most. */
const MOST = 500

export function createDigests({ backend, shelf, onTrouble, onChange }: DigestsOptions = {}): Digests {
  const extracted = new Map<string, Digest>()
  const written = new Map<string, Digest>()
  return {
    of(key, source) {
      const byModel = written.get(key)
      const digest = byModel ?? extracted.get(key) ?? extract(source)
      renew(byModel ? written : extracted, key, digest, MOST)
      return digest
    },
    queue:
      backend &&
      createQueue({
        backend,
        shelf,
        onTrouble,
        onChange,
        extract,
        isKnown: (key) => written.has(key),
        onDigest: (key, digest) => renew(written, key, digest, MOST),
      }),
  }
}
