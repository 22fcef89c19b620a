// The digests of tool outputs, remembered by content: an output read twice is digested once. `extract` answers at once;
// a model's digest takes its place once it is written.

import { hash } from "node:crypto"
import type { DigestSource } from "../output/digest.ts"
import type { Env } from "../session/tool-event.ts"
import { renew } from "../system/values.ts"
import { own } from "../text/sanitize.ts"
import type { Backend } from "./backends/backend.ts"
import { extract } from "./extract/extract.ts"
import { createQueue, type QueueOptions } from "./queue.ts"

export type Digests = ReturnType<typeof createDigests>

type DigestsOptions = { backend?: Backend | undefined } & Pick<QueueOptions, "onTrouble" | "onChange">

/** Digests kept in memory, a few hundred bytes each: a model takes seconds for one, and must not write it again. */
const MAX_DIGESTS = 1_000

export function createDigests({ backend, onTrouble, onChange }: DigestsOptions = {}) {
  const known = new Map<string, { digest: string; isFinal: boolean }>()
  const keep = (key: string, digest: string, isFinal: boolean) =>
    // a slice of the output would keep all of it alive
    renew(known, key, { digest: own(digest), isFinal }, MAX_DIGESTS)
  return {
    /** The digest of an output. `key` is equal for equal sources: the hashes of its arguments and its content. */
    of(key: string, source: DigestSource): string {
      const { digest, isFinal } = known.get(key) ?? { digest: extract(source).digest, isFinal: false }
      keep(key, digest, isFinal)
      return digest
    },
    /** has a model write digests; undefined without a backend */
    queue:
      backend &&
      createQueue({
        backend,
        onTrouble,
        onChange,
        isFinal: (key) => known.get(key)?.isFinal === true,
        onFinal: (key, digest) => keep(key, digest, true),
      }),
  }
}

/** What the pure rooms need from outside: hashing, and remembered digests. `root` is the project's folder. */
export function createEnv(root?: string, digests: Digests = createDigests()): Env {
  return { hash: (text) => hash("sha256", text).slice(0, 32), digest: digests.of, root }
}
