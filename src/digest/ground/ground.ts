// Makes a digest from what a model wrote about an output, keeping only what the output supports: facts must occur in it
// verbatim, and the gist must not name anything that does not.

import type { Digest, DigestSource, Fact } from "../../output/digest.ts"
import { redact } from "../../text/redact/redact.ts"
import { REDACTED } from "../../text/redact/value.ts"
import { cut, line } from "../../text/sanitize.ts"
import { frequentNames, groundFact } from "./facts.ts"
import { evidenceOf, groundGist, MAX_GIST_CHARS, type Refusal } from "./gist.ts"
import { fitToLine } from "./line.ts"

export type Grounded = {
  digest: Digest
  /** number of the draft's facts that occur in the output */
  kept: number
  /** number of the draft's facts that do not, or are meaningless or repeated */
  dropped: number
  /** nothing in the draft was usable: the digest is the fallback */
  refused: boolean
  /** why the draft's gist was not used */
  gistRefused?: Refusal
}

const MAX_FACTS = 12
/** Facts of a draft that are considered. */
const MAX_DRAFT_FACTS = 24

/**
 * The digest that a model's draft yields. `kind` and `verdict` are the fallback's, because code determines them better.
 * Every fact occurs verbatim in `source.output`, the digest line has at most 96 tokens, and nothing in it is a secret
 * or a control character. Never throws, whatever `draft` is.
 */
export function ground(draft: unknown, source: DigestSource, fallback: Digest): Grounded {
  const written = fieldsOf(draft)
  const facts: Fact[] = []
  for (const one of written.facts) {
    const fact = groundFact(one, source.output)
    if (fact && !facts.some(({ text }) => text === fact.text)) facts.push(fact)
  }
  const gains = gainsFromModel(fallback)
  const judged: ReturnType<typeof groundGist> = gains
    ? groundGist(written.summary, fallback.gist, evidenceOf(source))
    : { refused: "known" }
  const gist = "gist" in judged ? withHead(fallback, judged.gist) : fallback.gist
  const names = frequentNames(source, 2 * MAX_FACTS)
  const more = gains ? [...facts, ...names] : [...names, ...facts]
  return {
    digest: fit({ ...fallback, gist, facts: [...fallback.facts, ...more] }, source),
    kept: facts.length,
    dropped: written.facts.length - facts.length,
    refused: "refused" in judged && facts.length === 0,
    ...("refused" in judged ? { gistRefused: judged.refused } : {}),
  }
}

/**
 * An extracted digest with the guarantees of `ground`: at most 96 tokens in one line, no secrets, each fact once and in
 * the output. The names that the output mentions most fill the remaining room.
 */
export function groundExtracted(digest: Digest, source: DigestSource): Digest {
  return fit({ ...digest, facts: [...digest.facts, ...frequentNames(source, 2 * MAX_FACTS)] }, source)
}

/**
 * A stored digest, checked again against the output, because something else may have written it to the disk. If its
 * gist does not pass, the fallback's takes its place.
 */
export function groundStored(digest: Digest, source: DigestSource, fallback: Digest): Digest {
  const { gist } = digest
  const head = headOf(fallback.gist)
  const summary = head !== undefined && gist.startsWith(`${head}: `) ? gist.slice(head.length + 2) : gist
  const isSupported = gainsFromModel(fallback) && "gist" in groundGist(summary, fallback.gist, evidenceOf(source))
  return fit({ ...fallback, gist: isSupported ? gist : fallback.gist, facts: digest.facts }, source)
}

function fit(digest: Digest, { output }: DigestSource): Digest {
  const gist = cut(redact(line(digest.gist)), MAX_GIST_CHARS) || "no output"
  const facts = digest.facts.filter(({ text }) => output.includes(text) && !isSecret(text))
  return fitToLine({ ...digest, gist, facts }, MAX_FACTS)
}

/** The output is already redacted (see `withoutSecrets`), so text next to a secret cannot be half of it. */
function isSecret(text: string): boolean {
  return text.includes(REDACTED) || redact(text) !== text
}

/**
 * Kinds of output that code can only outline. For all others it knows better than a small model what matters: the
 * failure, the count, the files.
 */
const PROSE_KINDS = new Set(["code", "data", "document", "json", "page", "skill"])

/** Whether a model's gist would be used in place of the extracted one. If not, asking a model gains next to nothing. */
export function gainsFromModel(fallback: Digest): boolean {
  return fallback.verdict === undefined && PROSE_KINDS.has(fallback.kind)
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

/** The fields of the draft. A getter or a proxy in a hostile draft may throw. */
function fieldsOf(draft: unknown): { summary: unknown; facts: unknown[] } {
  try {
    if (typeof draft !== "object" || draft === null) return { summary: undefined, facts: [] }
    const { summary, facts } = draft as { summary?: unknown; facts?: unknown }
    return { summary, facts: Array.isArray(facts) ? facts.slice(0, MAX_DRAFT_FACTS) : [] }
  } catch {
    return { summary: undefined, facts: [] }
  }
}
