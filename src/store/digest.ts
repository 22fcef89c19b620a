// A digest as a row of the store: JSON, and checked when it is read back, since a later or an earlier version, or a hand,
// may have written it.
import * as z from "zod/mini"
import type { Digest } from "../output/digest.ts"

/** Names a digest among all: what it is of, and which backend, model and prompt version wrote it. */
export type DigestName = { key: string; writer: string }

const short = (longest: number) => z.string().check(z.maxLength(longest))

const shape = z.object({
  kind: short(100),
  gist: short(400),
  facts: z
    .array(
      z.object({
        type: z.enum(["path", "symbol", "number", "error", "verdict"]),
        text: short(1000),
        line: z.optional(z.int()),
      }),
    )
    .check(z.maxLength(24)),
  verdict: z.optional(z.enum(["pass", "fail"])),
})

export function writeDigest(digest: Digest): string {
  return JSON.stringify(digest satisfies z.input<typeof shape>)
}

/** Undefined when the text is not what `writeDigest` writes. */
export function readDigest(json: string): Digest | undefined {
  try {
    const { data } = shape.safeParse(JSON.parse(json))
    return data as Digest | undefined
  } catch {
    return undefined
  }
}
