// Digests in front of whatever writes them, remembered by what they were made of: the same output read twice is
// digested once. `extract` answers at once; what a model wrote takes its place from when it is known.

import { renew } from "../bounded.ts"
import type { Digest, DigestSource } from "../output/digest.ts"
import type { Backend } from "./backends/backend.ts"
import { extract } from "./extract/extract.ts"
import { heldAgainst } from "./ground/ground.ts"
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

/** Its facts are cut from the output, and would keep all of it. */
const own = (digest: Digest) => JSON.parse(JSON.stringify(digest)) as Digest

export function createDigests({ backend, shelf, onTrouble, onChange }: DigestsOptions = {}): Digests {
  const extracted = new Map<string, Digest>()
  const written = new Map<string, Digest>()
  /** as a store gave them, not held against an output yet */
  const stored = new Map<string, Digest>()
  return {
    of(key, source) {
      const found = stored.get(key)
      if (found && stored.delete(key)) renew(written, key, own(heldAgainst(found, source, extract(source))), MOST)
      const byModel = written.get(key)
      const digest = byModel ?? extracted.get(key) ?? own(extract(source))
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
        isKnown: (key) => written.has(key) || stored.has(key),
        onDigest: (key, digest, isStored) => renew(isStored ? stored : written, key, own(digest), MOST),
      }),
  }
}
