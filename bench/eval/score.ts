// The measures of one backend's digests, per output and summed up.

import { extract } from "../../src/digest/extract/extract.ts"
import { ground } from "../../src/digest/ground/ground.ts"
import { promptFor } from "../../src/digest/prompt.ts"
import { estimateTokens } from "../../src/text/tokens.ts"
import { median } from "../sessions.ts"
import type { Opened } from "./backends.ts"
import { isIn, type Needed, neededFrom } from "./needed.ts"
import type { Sample } from "./outputs.ts"

/** The measures of a draft; all absent for `extract`, which writes none. */
type Drafted = {
  /** JSON of the requested schema, after repair */
  valid: boolean
  /** the code knows this kind of output better, so the draft is not used */
  known: boolean
  /** the model's digest is used */
  used: boolean
  draft: unknown
}

export type Score = {
  tool: string
  digest: string
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
  if (!opened.backend) return measure(fallback.digest, sample, needed, performance.now() - started)
  const { structured } = await opened.backend.write(promptFor(source, { budgetTokens }), signal)
  const digest = fallback.isText ? ground(structured?.summary, source, fallback.digest) : undefined
  const drafted: Drafted = {
    valid: structured !== null,
    known: !fallback.isText,
    used: digest !== undefined,
    draft: structured,
  }
  return { ...measure(digest ?? fallback.digest, sample, needed, performance.now() - started), drafted }
}

function measure(digest: string, { source }: Sample, needed: readonly Needed[], ms: number): Score {
  return {
    tool: source.tool,
    digest,
    words: digest.split(/\s+/).length,
    tokens: estimateTokens(digest),
    seconds: ms / 1000,
    needed: needed.length,
    found: needed.filter((one) => isIn(digest, one)).length,
  }
}

export const COLUMNS = [
  "outputs",
  "valid",
  "known",
  "used",
  "fallback",
  "words",
  "tokens",
  "longest",
  "seconds",
  "needed",
] as const

/** The measures printed by tool. */
export const BY_TOOL = ["outputs", "known", "used", "fallback", "needed"] as const

/** Counts and sums; `valid` in percent; medians of words, tokens and seconds. */
export function summarize(scores: readonly Score[]): Record<(typeof COLUMNS)[number], string> {
  const sum = (of: (score: Score) => number) => scores.reduce((total, score) => total + of(score), 0)
  const middle = (of: (score: Score) => number) => median(scores.map(of))
  const modelled = scores.some(({ drafted }) => drafted)
  const count = (of: (drafted: Drafted) => boolean) =>
    sum(({ drafted }) => Number(drafted !== undefined && of(drafted)))
  const shown = (of: (drafted: Drafted) => boolean) => (modelled ? String(count(of)) : "-")
  const seconds = middle((score) => score.seconds)
  return {
    outputs: String(scores.length),
    valid: modelled ? `${Math.floor((100 * count(({ valid }) => valid)) / scores.length)}%` : "-",
    known: shown(({ known }) => known),
    used: shown(({ used }) => used),
    fallback: shown(({ known, used }) => !known && !used),
    words: String(middle((score) => score.words)),
    tokens: String(middle((score) => score.tokens)),
    longest: String(Math.max(0, ...scores.map((score) => score.tokens))),
    seconds: seconds < 0.1 ? seconds.toFixed(3) : seconds.toFixed(1),
    needed: `${sum((score) => score.found)}/${sum((score) => score.needed)}`,
  }
}
