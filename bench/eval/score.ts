// The measures of one backend's digests, per output and summed up.

import { extract } from "../../src/digest/extract/extract.ts"
import { groundFact } from "../../src/digest/ground/facts.ts"
import { evidenceOf, groundGist } from "../../src/digest/ground/gist.ts"
import { ground, groundExtracted } from "../../src/digest/ground/ground.ts"
import { digestLine, fitToLine } from "../../src/digest/ground/line.ts"
import { promptFor } from "../../src/digest/prompt.ts"
import type { Digest } from "../../src/output/digest.ts"
import { estimateTokens } from "../../src/text/tokens.ts"
import type { Opened } from "./backends.ts"
import { isIn, type Needed, neededFrom } from "./needed.ts"
import type { Sample } from "./outputs.ts"

/** The measures of a draft; all absent for `extract`, which writes none. */
type Drafted = {
  /** JSON of the requested schema, after repair */
  valid: boolean
  /** the code knows this kind of output better, so the draft is not used */
  known: boolean
  /** part of the draft is used */
  grounded: boolean
  /** the model's gist is used */
  gist: boolean
  /** facts that are in the output; facts that are not, or are empty or repeated */
  kept: number
  dropped: number
  /** needed strings in the true part of what the model itself wrote */
  own: number
  promptTokens: number
  outputTokens: number
  draft: unknown
}

export type Score = {
  tool: string
  digest: string
  facts: number
  /** facts that are in the output verbatim */
  verbatim: number
  words: number
  tokens: number
  seconds: number
  /** strings that later calls took from the output, and how many of them are in the digest */
  needed: number
  found: number
  drafted?: Drafted
}

export async function score(sample: Sample, opened: Opened, budgetTokens: number, signal: AbortSignal): Promise<Score> {
  const { source } = sample
  const needed = neededFrom(sample)
  const started = performance.now()
  const fallback = extract(source)
  if (!opened.backend) {
    const digest =
      opened.name === "bare" ? fitToLine(fallback, fallback.facts.length) : groundExtracted(fallback, source)
    return measure(digest, sample, needed, performance.now() - started)
  }
  const { structured, schemaOk, usage, elapsedMs } = await opened.backend.write(
    promptFor(source, { budgetTokens }),
    signal,
  )
  const { digest, kept, dropped, refused, gistRefused } = ground(structured, source, fallback)
  const own = trueOf(structured, sample)
  const drafted: Drafted = {
    valid: schemaOk,
    known: gistRefused === "known",
    grounded: !refused,
    gist: gistRefused === undefined,
    kept,
    dropped,
    own: needed.filter((one) => isIn(own, one)).length,
    promptTokens: usage.promptTokens,
    outputTokens: usage.outputTokens,
    draft: structured,
  }
  return { ...measure(digest, sample, needed, elapsedMs), drafted }
}

function measure(digest: Digest, { source }: Sample, needed: readonly Needed[], ms: number): Score {
  const line = digestLine(digest)
  return {
    tool: source.tool,
    digest: line,
    facts: digest.facts.length,
    verbatim: digest.facts.filter(({ text }) => source.output.includes(text)).length,
    words: line.split(/\s+/).length,
    tokens: estimateTokens(line),
    seconds: ms / 1000,
    needed: needed.length,
    found: needed.filter((one) => isIn(line, one)).length,
  }
}

/** The true part of a draft, whatever the kind of output. */
function trueOf(draft: unknown, { source }: Sample): string {
  const { summary, facts } = (draft ?? {}) as { summary?: unknown; facts?: unknown[] }
  const judged = groundGist(summary, "", evidenceOf(source))
  const kept = (facts ?? []).flatMap((fact) => groundFact(fact, source.output)?.text ?? [])
  return ["gist" in judged ? judged.gist : "", ...kept].join(" · ")
}

export const COLUMNS = [
  "outputs",
  "valid",
  "known",
  "grounded",
  "fallback",
  "gists",
  "kept",
  "dropped",
  "verbatim",
  "words",
  "tokens",
  "longest",
  "seconds",
  "own",
  "needed",
] as const

/** The measures printed by tool. */
export const BY_TOOL = ["outputs", "known", "grounded", "fallback", "gists", "kept", "dropped", "needed"] as const

/** Counts and sums; `valid` and `verbatim` in percent; medians of words, tokens and seconds. */
export function summarize(scores: readonly Score[]): Record<(typeof COLUMNS)[number], string> {
  const sum = (of: (score: Score) => number) => scores.reduce((total, score) => total + of(score), 0)
  const middle = (of: (score: Score) => number) => scores.map(of).sort((a, b) => a - b)[scores.length >> 1] ?? 0
  const percent = (part: number, all: number) => (all === 0 ? "-" : `${Math.floor((100 * part) / all)}%`)
  const modelled = scores.some(({ drafted }) => drafted)
  const drafted = (of: (drafted: Drafted) => number) => sum(({ drafted }) => (drafted ? of(drafted) : 0))
  const count = (of: (drafted: Drafted) => number) => (modelled ? String(drafted(of)) : "-")
  const seconds = middle((score) => score.seconds)
  return {
    outputs: String(scores.length),
    valid: modelled
      ? percent(
          drafted(({ valid }) => Number(valid)),
          scores.length,
        )
      : "-",
    known: count(({ known }) => Number(known)),
    grounded: count(({ known, grounded }) => Number(!known && grounded)),
    fallback: count(({ known, grounded }) => Number(!known && !grounded)),
    gists: count(({ gist }) => Number(gist)),
    kept: count(({ kept }) => kept),
    dropped: count(({ dropped }) => dropped),
    verbatim: percent(
      sum((score) => score.verbatim),
      sum((score) => score.facts),
    ),
    words: String(middle((score) => score.words)),
    tokens: String(middle((score) => score.tokens)),
    longest: String(Math.max(0, ...scores.map((score) => score.tokens))),
    seconds: seconds < 0.1 ? seconds.toFixed(3) : seconds.toFixed(1),
    own: count(({ own }) => own),
    needed: `${sum((score) => score.found)}/${sum((score) => score.needed)}`,
  }
}
