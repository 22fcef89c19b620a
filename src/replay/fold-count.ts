// Statistics of a replay's folds: their number and size by reason and tool, and the largest ones.

import { type Fold, type Reason, savedTokens } from "../fold/fold.ts"
import type { Message } from "../session/conversation.ts"

/** `tokens` is the size of what was folded. */
export type Amount = { count: number; tokens: number }

export type FoldCount = Amount & {
  /** tokens that the folds save on each later request */
  savedTokens: number
  byReason: Record<Reason, Amount>
  byTool: Record<string, Amount>
  /** largest first */
  largest: Pick<Fold, "what" | "because" | "reason" | "call" | "tokens" | "textTokens">[]
}

const MAX_LARGEST = 5

export function noFolds(): FoldCount {
  const byReason = { free: nothing(), pays: nothing(), must: nothing() }
  // tool names are arbitrary: none may match a property of a prototype
  const byTool: FoldCount["byTool"] = Object.create(null)
  return { ...nothing(), savedTokens: 0, byReason, byTool, largest: [] }
}

export function countFolds(folds: Iterable<Fold>, messages: readonly Message[]): FoldCount {
  const tools = new Map(
    messages.flatMap(({ parts }) =>
      parts.flatMap((part) => (part.type === "tool" ? [[part.id, part.tool] as const] : [])),
    ),
  )
  const count = noFolds()
  for (const fold of folds) {
    count.savedTokens += savedTokens(fold)
    const tool = tools.get(fold.partID) ?? "other"
    count.byTool[tool] ??= nothing()
    for (const amount of [count, count.byReason[fold.reason], count.byTool[tool]])
      add(amount, { count: 1, tokens: fold.tokens })
    const { what, because, reason, call, tokens, textTokens } = fold
    count.largest.push({ what, because, reason, call, tokens, textTokens })
  }
  count.largest = largest(count.largest)
  return count
}

/** Adds `other` to `count`. */
export function addFoldCount(count: FoldCount, other: FoldCount): void {
  add(count, other)
  count.savedTokens += other.savedTokens
  for (const reason of ["free", "pays", "must"] as const) add(count.byReason[reason], other.byReason[reason])
  for (const [tool, amount] of Object.entries(other.byTool)) {
    count.byTool[tool] ??= nothing()
    add(count.byTool[tool], amount)
  }
  count.largest = largest([...count.largest, ...other.largest])
}

function nothing(): Amount {
  return { count: 0, tokens: 0 }
}

function add(amount: Amount, { count, tokens }: Amount): void {
  amount.count += count
  amount.tokens += tokens
}

function largest(folds: FoldCount["largest"]): FoldCount["largest"] {
  return folds.toSorted((a, b) => b.tokens - a.tokens).slice(0, MAX_LARGEST)
}
