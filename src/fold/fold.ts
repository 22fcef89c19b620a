// A fold: one tool output, or one whole step, that is sent as a short text, the same bytes on every call until the fold is
// dropped. An output's text is its digest line. The texts of adjacent steps together are an episode's record.

import * as z from "zod/mini"
import type { Entry } from "../session/entry.ts"
import type { Env, ToolEvent } from "../session/tool-event.ts"

/** Why something was folded; the field `reason` below says what each means. */
export const REASONS = ["free", "pays", "must", "asked"] as const
export type Reason = (typeof REASONS)[number]

/** Also the shape in which the store keeps a fold, checked when it is read back. */
export const foldSchema = z.object({
  /** the recall id, such as `r4k2x9db`: derived from the content, so that it never names anything else */
  id: z.string(),
  /** the part whose output is folded; of a step, its message */
  partID: z.string(),
  /** the message that contains the part */
  messageID: z.string(),
  /** hash of the folded content; other content under the same part id is not folded */
  hash: z.string(),
  /** `output`: `text` replaces the output of the call; `step`: `text` replaces the whole message */
  kind: z.enum(["output", "step"]),
  /** number of the step, from 1 */
  step: z.number(),
  /** what is sent instead; empty for a step with nothing worth saying, and for the oldest of thousands */
  text: z.string(),
  /** the call or the step in a form the reader recognizes, such as `read src/db.ts` */
  what: z.string(),
  /**
   * `free`: it costs nothing; `pays`: it saves over the calls to come; `must`: the request would have become too large;
   * `asked`: the user asked for it
   */
  reason: z.enum(REASONS),
  /** why it was settled, in words for people, one line */
  because: z.string(),
  /** why the cut was made, in words for people, one line */
  cutBecause: z.string(),
  /** the first call (1-based) that is sent with the fold */
  call: z.number(),
  /** estimated tokens of the folded content */
  tokens: z.number(),
  /** estimated tokens of the text sent instead */
  textTokens: z.number(),
})
export type Fold = z.output<typeof foldSchema>

/**
 * Folds kept per session, in memory and in the store. The oldest are dropped first. No request sends those any more, since one
 * with so many folds gets no new one.
 */
export const MAX_FOLDS = 20_000

/** A session's folds, by part id; those of steps by message id. */
export type Folds = ReadonlyMap<string, Fold>

/** The fold of a whole step, if its message is folded. */
export function stepFold(folds: Folds, messageID: string): Fold | undefined {
  const fold = folds.get(messageID)
  return fold?.kind === "step" ? fold : undefined
}

/** The fold of an output, if it is sent folded. */
export function outputFold(folds: Folds, messageID: string, event: Pick<ToolEvent, "partID" | "cleared">) {
  const fold = event.cleared ? undefined : folds.get(event.partID)
  // forks and other plugins make messages whose parts share an id
  return fold?.kind === "output" && fold.messageID === messageID ? fold : undefined
}

const knownStarts = new WeakMap<Folds, readonly Entry[]>()

/**
 * The entries at the start, all of whose steps are folded. In a long session that is nearly all entries, so what is derived from
 * them is cached: the same array is returned as long as they and the folds are the same.
 */
export function foldedStart(entries: readonly Entry[], folds: Folds): readonly Entry[] {
  const known = knownStarts.get(folds) ?? []
  let count = 0
  while (count < known.length && entries[count] === known[count]) count++
  const same = count
  for (let entry = entries[count]; entry; entry = entries[++count])
    if (entry.kind === "step" && entry.blocks > 0 && !stepFold(folds, entry.id)) break
  if (count === same && count === known.length) return known
  const found = entries.slice(0, count)
  knownStarts.set(folds, found)
  return found
}

/** Returns what `derive` makes of the folded start, cached as long as that is the same array, and the entries after it. */
export function cachedByStart<T>(derive: (start: readonly Entry[], folds: Folds) => T) {
  const known = new WeakMap<readonly Entry[], T>()
  return (entries: readonly Entry[], folds: Folds): [ofStart: T, rest: readonly Entry[]] => {
    const start = foldedStart(entries, folds)
    const value = known.get(start) ?? derive(start, folds)
    known.set(start, value)
    return [value, entries.slice(start.length)]
  }
}

const stepsOfStart = cachedByStart((start, folds) => foldsIn(start, folds, new Set()))

/**
 * The folds of whole steps, by index of their entry. A step that is not sent has none. Of several entries with one id, which
 * another plugin may have made, only the first is folded.
 */
export function stepFolds(entries: readonly Entry[], folds: Folds): readonly (Fold | undefined)[] {
  if (folds.size === 0) return []
  const [{ steps, used }, rest] = stepsOfStart(entries, folds)
  return [...steps, ...foldsIn(rest, folds, used).steps]
}

function foldsIn(entries: readonly Entry[], folds: Folds, before: ReadonlySet<Fold>) {
  const used = new Set<Fold>()
  const steps = entries.map(({ id, blocks }) => {
    const fold = blocks > 0 ? stepFold(folds, id) : undefined
    if (!fold || before.has(fold) || used.has(fold)) return undefined
    used.add(fold)
    return fold
  })
  return { steps, used }
}

/** How many folds apply to a request's entries, and the tokens they save. */
type AppliedFolds = Readonly<typeof NOTHING_FOLDED>

export const NOTHING_FOLDED = { outputs: 0, steps: 0, savedTokens: 0 }

const appliedToStart = cachedByStart((start, folds) => addApplied(start, folds))

export function appliedFolds(entries: readonly Entry[], folds: Folds): AppliedFolds {
  if (folds.size === 0) return NOTHING_FOLDED
  const [before, rest] = appliedToStart(entries, folds)
  return addApplied(rest, folds, before)
}

/** The same without a cache, added to `before`. A folded step is smaller once OpenCode has cleared outputs of it. */
export function addApplied(
  entries: readonly Entry[],
  folds: Folds,
  before: AppliedFolds = NOTHING_FOLDED,
): AppliedFolds {
  const applied = { ...before }
  for (const { id, events, tokens } of entries) {
    const step = stepFold(folds, id)
    if (step) {
      applied.steps++
      applied.savedTokens += tokens - step.textTokens
      continue
    }
    for (const event of events) {
      const fold = outputFold(folds, id, event)
      if (!fold) continue
      applied.outputs++
      applied.savedTokens += savedTokens(fold)
    }
  }
  return applied
}

/** Tokens that a fold saves on each request. */
export function savedTokens(fold: Pick<Fold, "tokens" | "textTokens">): number {
  return fold.tokens - fold.textTokens
}

/** Whether an entry has the content that was folded. OpenCode 2 may have told a step's time only later. */
export function isIntact(entry: Entry, { kind, partID, hash }: Fold, env: Pick<Env, "hash">): boolean {
  if (kind === "step") return [entry, { ...entry, createdMs: 0 }].some((one) => env.hash(stepKey(one)) === hash)
  const event = entry.events.find((one) => one.partID === partID)
  return event !== undefined && env.hash(outputKey(event)) === hash
}

export function stepKey({ events, createdMs, textHash = "" }: Entry): string {
  // the time distinguishes equal words, such as "Done."
  return `${createdMs} ${textHash} ${events.map(outputKey).join(" ")}`
}

export function outputKey({ callID, inputHash, outputHash }: ToolEvent): string {
  return `${callID} ${inputHash} ${outputHash ?? ""}`
}

const ID_CHARS = 7

/** A recall id from a content hash in hex. */
export function recallID(hash: string): string {
  const digits = BigInt(`0x${hash.slice(0, 16)}`).toString(36)
  return `r${digits.padStart(ID_CHARS, "0").slice(-ID_CHARS)}`
}

export function isRecallID(text: string): boolean {
  return /^r[0-9a-z]{7}$/.test(text)
}

/** The messages or entries in order, with each run of folded steps as one list of their folds, oldest first. */
export function withEpisodes<T extends { id: string }>(items: readonly T[], folds: Folds): (T | Fold[])[] {
  const found: (T | Fold[])[] = []
  for (const item of items) {
    const fold = stepFold(folds, item.id)
    const last = found.at(-1)
    if (!fold) found.push(item)
    else if (Array.isArray(last)) last.push(fold)
    else found.push([fold])
  }
  return found
}
