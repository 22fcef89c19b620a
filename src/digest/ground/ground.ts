// Makes a digest from what a model wrote about an output. The gist must not name anything that the output does not.

import type { Digest, DigestSource } from "../../output/digest.ts"
import { asRecord } from "../../system/values.ts"
import { redactLine } from "../../text/redact/redact.ts"
import { cut } from "../../text/sanitize.ts"
import { evidenceOf, groundGist, MAX_GIST_CHARS, type Refusal } from "./gist.ts"

/**
 * The digest that a model's draft yields, or the fallback with the reason why its gist was not used. `kind` and `verdict` are
 * the fallback's, because code determines them better. Never throws; `draft` is any JSON value.
 */
export function ground(draft: unknown, source: DigestSource, fallback: Digest): { digest: Digest; refused?: Refusal } {
  const judged = gainsFromModel(fallback)
    ? groundGist(asRecord(draft)?.summary, evidenceOf(source))
    : { refused: "known" as const }
  if ("refused" in judged) return { digest: fit(fallback), refused: judged.refused }
  return { digest: fit({ ...fallback, gist: withHead(fallback, judged.gist) }) }
}

/**
 * A stored digest, checked again against the output, because something else may have written it to the disk. If its
 * gist does not pass, the fallback's takes its place.
 */
export function groundStored(digest: Digest, source: DigestSource, fallback: Digest): Digest {
  const { gist } = digest
  const head = headOf(fallback.gist)
  const summary = head !== undefined && gist.startsWith(`${head}: `) ? gist.slice(head.length + 2) : gist
  const isSupported = gainsFromModel(fallback) && "gist" in groundGist(summary, evidenceOf(source))
  return fit({ ...fallback, gist: isSupported ? gist : fallback.gist })
}

function fit(digest: Digest): Digest {
  return { ...digest, gist: cleanGist(digest.gist) }
}

/** One line without secrets, at most 160 characters. */
export function cleanGist(gist: string): string {
  return cut(redactLine(gist), MAX_GIST_CHARS) || "no output"
}

/**
 * Whether a model's gist would be used in place of the extracted one: of text without a verdict. For all other outputs code
 * knows better than a small model what matters, such as the failure.
 */
export function gainsFromModel(fallback: Digest): boolean {
  return fallback.verdict === undefined && fallback.kind === "text"
}

/** The model's summary after the head of the fallback's gist, which says what the output is. */
function withHead(fallback: Digest, summary: string): string {
  const head = headOf(fallback.gist)
  const gist = head === undefined ? summary : `${head}: ${summary}`
  return gist.length <= MAX_GIST_CHARS ? gist : cut(gist, MAX_GIST_CHARS).replace(/\s+\S*…$/, "…")
}

function headOf(gist: string): string | undefined {
  return /^(?:"[^"]{3,80}"(?:, [^:;…]{3,30})?|[^:;…]{3,60})(?=[:;] |$)/.exec(gist)?.[0]
}
