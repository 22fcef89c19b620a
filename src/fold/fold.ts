// What a fold is: one tool output that goes out as its digest, the same bytes on every call until a decision changes it.

import type { Entry } from "../session/entry.ts"

/** Why an output was folded: it cost nothing, it pays for itself, or the context window would overflow. */
export type Reason = "free" | "pays" | "must"

export type Fold = {
  /** the recall id, as `r12`: numbered within the session in the order of folding, never used twice */
  id: string
  partID: string
  messageID: string
  /** hash of the output (of a failed call the input) that is folded: another content under the same id is not */
  hash: string
  /** `output`: what a call returned is replaced by `text`; `input`: the long arguments of one that failed are cut to it */
  side: "output" | "input"
  /** what goes out instead; of an `input` JSON of the arguments */
  text: string
  /** the call as a reader knows it again, as `read src/db.ts` */
  what: string
  reason: Reason
  /** the reason in words for people, one line */
  because: string
  /** the call (1-based) it is folded from on */
  call: number
  /** estimated tokens of what is folded, and of what goes out instead */
  tokens: number
  textTokens: number
}

/** Estimated tokens of a message as it goes out. Of what OpenCode has pruned nothing is counted that a fold could save. */
export function tokensSent({ tokens, events }: Entry, folds: ReadonlyMap<string, Fold>): number {
  let sent = tokens
  for (const { partID, cleared } of events) {
    const fold = cleared ? undefined : folds.get(partID)
    if (fold) sent -= savedTokens(fold)
  }
  return sent
}

/** Tokens that a fold leaves out of each request it is in. */
export function savedTokens(fold: Fold): number {
  return fold.tokens - fold.textTokens
}
