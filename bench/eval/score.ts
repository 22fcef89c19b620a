// What is measured of one backend's digests, output by output and summed up.

import { extract } from "../../src/digest/extract/extract.ts"
import { groundFact } from "../../src/digest/ground/facts.ts"
import { groundGist, groundOf } from "../../src/digest/ground/gist.ts"
import { ground, seal } from "../../src/digest/ground/ground.ts"
import { digestLine, fitted } from "../../src/digest/ground/line.ts"
import { promptFor } from "../../src/digest/prompt.ts"
import type { Digest } from "../../src/output/digest.ts"
import { estimateTokens } from "../../src/text/tokens.ts"
import type { Opened } from "./backends.ts"
import { isIn, type Needed, neededFrom } from "./needed.ts"
import type { Sample } from "./outputs.ts"

/** What is measured of a draft; of `extract`, which writes none, all of it is absent. */
type Drafted = {
  /** JSON of the form asked for, after repair */
  valid: boolean
  /** code knows this kind of output better, so that nothing of the draft is used */
  known: boolean
  /** something of the draft is left */
  grounded: boolean
  /** the gist is the model's */
  gist: boolean
  /** facts that stand in the output, and those that do not, say nothing or say it again */
  kept: number
  dropped: number
  /** needed strings in what the model alone wrote, where it is true */
  own: number
  promptTokens: number
  outputTokens: number
  draft: unknown
}

export type Score = {
  tool: string
  digest: string
  facts: number
  /** facts that stand in the output to the letter */
  verbatim: number
  words: number
  tokens: number
  seconds: number
  /** strings that later calls took from the output, and those of them that the digest has */
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
    const digest = opened.name === "bare" ? fitted(fallback, fallback.facts.length) : seal(fallback, source)
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

/** What of a draft is true, whatever the kind of the output. */
function trueOf(draft: unknown, { source }: Sample): string {
  const { summary, facts } = (draft ?? {}) as { summary?: unknown; facts?: unknown[] }
  const judged = groundGist(summary, "", groundOf(source))
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

/** What is worth a look by tool. */
export const BY_TOOL = ["outputs", "known", "grounded", "fallback", "gists", "kept", "dropped", "needed"] as const

/** Counts and sums; `valid` and `verbatim` in percent; words, tokens and seconds in the median. */
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
