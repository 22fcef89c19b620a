// What a model wrote of an output becomes a digest only as far as the output bears it out. Nothing a model says is
// believed: facts must stand in the output, the gist may name nothing that does not.

import type { Digest, DigestSource, Fact } from "../../output/digest.ts"
import { redact } from "../../text/redact/redact.ts"
import { cut, line } from "../../text/text.ts"
import { groundFact } from "./facts.ts"
import { groundGist, groundOf, LONGEST_GIST, type Refusal } from "./gist.ts"
import { fitted } from "./line.ts"
import { namesOf } from "./names.ts"

export type Grounded = {
  digest: Digest
  /** facts of the draft that stand in the output */
  kept: number
  /** facts of the draft that do not, say nothing or say it again */
  dropped: number
  /** nothing of the draft is left: the digest is the fallback */
  refused: boolean
  /** why the draft's gist is not the digest's */
  gistRefused?: Refusal
}

const MOST_FACTS = 12
/** Facts of a draft that are looked at. */
const MOST_WRITTEN = 24

/**
 * The digest that is left of a model's draft. `kind` and `verdict` are the fallback's: code knows them better. Every
 * fact stands in `source.output` to the letter, the line of the digest is at most 96 tokens, and no part of it holds a
 * secret or a control character. Never throws, whatever `draft` is.
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
    ? groundGist(written.summary, fallback.gist, groundOf(source))
    : { refused: "known" }
  const gist = "gist" in judged ? told(fallback, judged.gist) : fallback.gist
  const names = namesOf(source, 2 * MOST_FACTS)
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
 * A digest that no model had a part in, held to the promises of `ground`: one line of at most 96 tokens, no secrets, each
 * fact once and in the output. What room is left the names have that the output speaks of most.
 */
export function seal(digest: Digest, source: DigestSource): Digest {
  return fit({ ...digest, facts: [...digest.facts, ...namesOf(source, 2 * MOST_FACTS)] }, source)
}

/**
 * A digest that was written before, as far as the output still bears it out: whoever wrote it to the disk may have been
 * another. What it says in words of its own is judged anew, and `fallback`'s takes its place where that fails.
 */
export function heldAgainst(digest: Digest, source: DigestSource, fallback: Digest): Digest {
  const { gist } = digest
  const head = headOf(fallback.gist)
  const summary = head !== undefined && gist.startsWith(`${head}: `) ? gist.slice(head.length + 2) : gist
  const isBorneOut = gainsFromModel(fallback) && "gist" in groundGist(summary, fallback.gist, groundOf(source))
  return fit({ ...fallback, gist: isBorneOut ? gist : fallback.gist, facts: digest.facts }, source)
}

function fit(digest: Digest, { output }: DigestSource): Digest {
  const gist = cut(redact(line(digest.gist)), LONGEST_GIST) || "no output"
  const facts = digest.facts.filter(({ text }) => output.includes(text) && !isSecret(text))
  return fitted({ ...digest, gist, facts }, MOST_FACTS)
}

/** The output has none of its secrets any more, see `withoutSecrets`: what stands beside one is no secret's half. */
function isSecret(text: string): boolean {
  return text.includes("[redacted]") || redact(text) !== text
}

/**
 * Kinds of which code can only say what parts they have. Of all others it knows better than a small model what matters:
 * the failure, the count, the files.
 */
const PROSE = new Set(["code", "data", "document", "json", "page", "skill"])

/** Whether a model's gist is used, by the digest that code made; where not, asking it gains next to nothing. */
export function gainsFromModel(fallback: Digest): boolean {
  return fallback.verdict === undefined && PROSE.has(fallback.kind)
}

/** What it is, as code knows it, and what it says, in the model's words: the names in the fallback's gist stay facts. */
function told(fallback: Digest, summary: string): string {
  const head = headOf(fallback.gist)
  const gist = head === undefined ? summary : `${head}: ${summary}`
  return gist.length <= LONGEST_GIST ? gist : cut(gist, LONGEST_GIST).replace(/\s+\S*…$/, "…")
}

function headOf(gist: string): string | undefined {
  return /^(?:"[^"]{3,80}"(?:, [^:;…]{3,30})?|[^:;…]{3,60})(?=[:;] |$)/.exec(gist)?.[0]
}

/** A getter of a hostile draft may throw; so may a proxy. */
function fieldsOf(draft: unknown): { summary: unknown; facts: unknown[] } {
  try {
    if (typeof draft !== "object" || draft === null) return { summary: undefined, facts: [] }
    const { summary, facts } = draft as { summary?: unknown; facts?: unknown }
    return { summary, facts: Array.isArray(facts) ? facts.slice(0, MOST_WRITTEN) : [] }
  } catch {
    return { summary: undefined, facts: [] }
  }
}
