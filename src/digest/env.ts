// What the pure core is lent from outside it: hashing, and digests remembered across calls.

import { createHash } from "node:crypto"
import type { Env } from "../core/normalize.ts"
import { createDigests } from "./digests.ts"

/** `root` is the project's folder, for short paths. */
export function createEnv(root?: string): Env {
  return {
    hash: (text) => createHash("sha256").update(text).digest("hex").slice(0, 32),
    digest: createDigests().of,
    ...(root === undefined ? {} : { root }),
  }
}
