// What the pure core is lent from outside it: hashing, and digests remembered across calls.

import { createHash } from "node:crypto"
import type { Env } from "../session/normalize.ts"
import { createDigests, type Digests } from "./digests.ts"

/** `root` is the project's folder, for short paths. */
export function createEnv(root?: string, digests: Digests = createDigests()): Env {
  return {
    hash: (text) => createHash("sha256").update(text).digest("hex").slice(0, 32),
    digest: digests.of,
    ...(root === undefined ? {} : { root }),
  }
}
