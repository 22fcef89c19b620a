// The digests of tool outputs, remembered by content: an output read twice is digested once. `extract` answers at once;
// a model's digest takes its place as soon as it is known.

import { createHash } from "node:crypto"
import type { Digest, DigestSource } from "../output/digest.ts"
import type { Env } from "../session/normalize.ts"
import { defined, renew } from "../system/values.ts"
import { own } from "../text/sanitize.ts"
import type { Backend } from "./backends/backend.ts"
import { extract } from "./extract/extract.ts"
import { ground } from "./ground/ground.ts"
import { createQueue, type QueueOptions } from "./queue.ts"

export type Digests = ReturnType<typeof createDigests>

type DigestsOptions = { backend?: Backend } & Pick<QueueOptions, "store" | "onTrouble" | "onChange">

/** Digests of each origin kept in memory, a kilobyte or two each at most. */
const MAX_DIGESTS = 500

/** A slice of the output would keep all of it alive. */
const copy = ({ gist }: Digest) => ({ gist: own(gist) })

export function createDigests({ backend, store, onTrouble, onChange }: DigestsOptions = {}) {
  const extracted = new Map<string, Digest>()
  const written = new Map<string, Digest>()
  /** what a model wrote, now or in an earlier process, not yet checked against the output */
  const drafts = new Map<string, Digest>()
  return {
    /** The digest of an output. `key` is equal for equal sources: the hashes of its arguments and its content. */
    of(key: string, source: DigestSource): Digest {
      const draft = drafts.get(key)
      if (draft && drafts.delete(key)) {
        const known = extract(source)
        renew(written, key, copy(ground({ summary: draft.gist }, source, known) ?? known), MAX_DIGESTS)
      }
      const byModel = written.get(key)
      const digest = byModel ?? extracted.get(key) ?? copy(extract(source))
      renew(byModel ? written : extracted, key, digest, MAX_DIGESTS)
      return digest
    },
    /** has a model write digests; undefined without a backend */
    queue:
      backend &&
      createQueue({
        backend,
        store,
        onTrouble,
        onChange,
        isKnown: (key) => written.has(key) || drafts.has(key),
        onDraft: (key, draft) => renew(drafts, key, copy(draft), MAX_DIGESTS),
      }),
  }
}

/** What the pure rooms need from outside: hashing, and remembered digests. `root` is the project's folder. */
export function createEnv(root?: string, digests: Digests = createDigests()): Env {
  return {
    hash: (text) => createHash("sha256").update(text).digest("hex").slice(0, 32),
    digest: digests.of,
    ...defined({ root }),
  }
}
