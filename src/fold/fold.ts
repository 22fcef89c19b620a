// A fold: one tool output that is sent as its digest line, the same bytes on every call until the fold is dropped.

import * as z from "zod/mini"
import type { ToolPart } from "../session/conversation.ts"
import type { Entry } from "../session/entry.ts"

/** Why an output was folded: it cost nothing, it pays for itself, or the context window would overflow. */
const reasonSchema = z.enum(["free", "pays", "must"])
export type Reason = z.output<typeof reasonSchema>

/** Also the shape in which the store keeps a fold, checked when it is read back. */
export const foldSchema = z.object({
  /** the recall id, such as `r12`: numbered within the session in the order of folding, never reused */
  id: z.string(),
  /** the part in which OpenCode keeps the original */
  partID: z.string(),
  /** the message that contains the part */
  messageID: z.string(),
  /** hash of the folded content; other content under the same part id is not folded */
  hash: z.string(),
  /** `output`: `text` replaces the output of the call; `input`: `text` replaces the long arguments of a failed call */
  side: z.enum(["output", "input"]),
  /** what is sent instead; for `input`, the arguments as JSON */
  text: z.string(),
  /** the call in a form the reader recognizes, such as `read src/db.ts` */
  what: z.string(),
  /** `free`: it costs nothing; `pays`: it saves over the calls to come; `must`: the context nears its limit */
  reason: reasonSchema,
  /** the reason in words for people, one line */
  because: z.string(),
  /** the first call (1-based) that is sent with the fold */
  call: z.number(),
  /** estimated tokens of the folded content */
  tokens: z.number(),
  /** estimated tokens of the text sent instead */
  textTokens: z.number(),
})
export type Fold = z.output<typeof foldSchema>

/** How many of the folds apply to these entries, and the tokens they save. */
export function appliedFolds(
  entries: readonly Entry[],
  folds: ReadonlyMap<string, Fold>,
): { outputs: number; savedTokens: number } {
  let outputs = 0
  let saved = 0
  if (folds.size > 0)
    for (const { id, events } of entries)
      for (const { partID, cleared } of events) {
        const fold = cleared ? undefined : folds.get(partID)
        if (fold?.messageID !== id) continue
        outputs++
        saved += savedTokens(fold)
      }
  return { outputs, savedTokens: saved }
}

/** Tokens that a fold saves on each request. */
export function savedTokens(fold: Fold): number {
  return fold.tokens - fold.textTokens
}

/** The original that a fold of this call replaces, verbatim. */
export function originalText({ input, output }: ToolPart, side: Fold["side"]): string {
  return side === "input" ? JSON.stringify(input, null, 2) : output
}
