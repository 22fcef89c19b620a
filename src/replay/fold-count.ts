// Statistics of a replay's folds: the number and size of folded steps and outputs, by reason and tool, the cuts in which
// they were folded, and the largest ones.

import { type Fold, REASONS, type Reason, savedTokens } from "../fold/fold.ts"
import type { Message } from "../session/conversation.ts"

/** `tokens` is the size of what was folded. */
type Amount = { count: number; tokens: number }

/** What was folded at one call. */
type Cut = {
  call: number
  reason: Reason
  /** the reason in words */
  because: string
  steps: number
  outputs: number
  /** tokens that it saves on each later request */
  savedTokens: number
}

export type FoldCount = {
  /** an output counts here even if its step was folded later */
  outputs: Amount
  steps: Amount
  /** tokens that all folds together save on each later request */
  savedTokens: number
  byReason: Record<Reason, Amount>
  /** by the tool of an output, and of a step's first call; `(text)` for a step without a call */
  byTool: Record<string, Amount>
  /** number of cuts, and of each reason the one that saves most */
  cuts: number
  largestCuts: Partial<Record<Reason, Cut>>
  /** largest first */
  largest: Pick<Fold, "side" | "step" | "what" | "because" | "reason" | "call" | "tokens" | "textTokens">[]
}

const MAX_LARGEST = 5
const NO_CALL = "(text)"

export function noFolds(): FoldCount {
  const byReason = { free: nothing(), pays: nothing(), must: nothing(), asked: nothing() }
  // tool names are arbitrary: none may match a property of a prototype
  const byTool: FoldCount["byTool"] = Object.create(null)
  const counts = { outputs: nothing(), steps: nothing(), savedTokens: 0, cuts: 0 }
  return { ...counts, byReason, byTool, largestCuts: {}, largest: [] }
}

export function countFolds(folds: Iterable<Fold>, messages: readonly Message[]): FoldCount {
  const all = [...folds]
  const steps = new Set(all.flatMap(({ side, messageID }) => (side === "step" ? [messageID] : [])))
  const toolOf = toolsOf(messages)
  const cuts = new Map<number, Cut>()
  const count = noFolds()
  for (const fold of all) {
    const { side, step, what, because, reason, call, tokens, textTokens } = fold
    const tool = toolOf.get(fold.partID) ?? NO_CALL
    count.byTool[tool] ??= nothing()
    const kind = side === "step" ? "steps" : "outputs"
    for (const amount of [count[kind], count.byReason[reason], count.byTool[tool]]) add(amount, { count: 1, tokens })
    // what the fold of an output saves is part of what the fold of its step saves
    if (side === "step" || !steps.has(fold.messageID)) count.savedTokens += savedTokens(fold)
    const cut = cuts.get(call) ?? { call, reason, because: fold.cut, steps: 0, outputs: 0, savedTokens: 0 }
    cut[kind]++
    cut.savedTokens += savedTokens(fold)
    cuts.set(call, cut)
    count.largest.push({ side, step, what, because, reason, call, tokens, textTokens })
  }
  count.cuts = cuts.size
  for (const cut of cuts.values()) keepLarger(count.largestCuts, cut)
  count.largest = largest(count.largest)
  return count
}

/** Names of tools by part id, and of a step's first tool by message id. */
function toolsOf(messages: readonly Message[]): Map<string, string> {
  const tools = new Map<string, string>()
  for (const { id, parts } of messages)
    for (const part of parts) {
      if (part.type !== "tool") continue
      tools.set(part.id, part.tool)
      if (!tools.has(id)) tools.set(id, part.tool)
    }
  return tools
}

/** Adds `other` to `count`. */
export function addFoldCount(count: FoldCount, other: FoldCount): void {
  add(count.outputs, other.outputs)
  add(count.steps, other.steps)
  count.savedTokens += other.savedTokens
  count.cuts += other.cuts
  for (const reason of REASONS) {
    add(count.byReason[reason], other.byReason[reason])
    const cut = other.largestCuts[reason]
    if (cut) keepLarger(count.largestCuts, cut)
  }
  for (const [tool, amount] of Object.entries(other.byTool)) {
    count.byTool[tool] ??= nothing()
    add(count.byTool[tool], amount)
  }
  count.largest = largest([...count.largest, ...other.largest])
}

function keepLarger(cuts: FoldCount["largestCuts"], cut: Cut): void {
  if (cut.savedTokens > (cuts[cut.reason]?.savedTokens ?? Number.NEGATIVE_INFINITY)) cuts[cut.reason] = cut
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
