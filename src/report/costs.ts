// What each tool, and each kind of text, costs over all requests of a session.

import { isResult, type Piece, piecesByMessage, sumTokens } from "../replay/pieces.ts"
import type { Price } from "../replay/prices.ts"
import type { Charge } from "../replay/tally.ts"
import type { Message } from "../session/conversation.ts"

/** `hudfold`: HUDs, records, the notice. */
type ContentKind = "tool" | "user" | "text" | "reasoning" | "hudfold"

/** What all calls of one tool, or all texts of one kind, cost over all requests, in fresh input tokens, as recorded and with the plugin. */
export type ContentCost = {
  kind: ContentKind
  /** the tool's name; "" for texts */
  tool: string
  calls: number
  /** tokens of arguments and of outputs, each counted once */
  inputTokens: number
  outputTokens: number
  without: number
  with: number
}

type Costs = Map<string, ContentCost>

/** What this tool or kind of text has cost so far. */
function costIn(costs: Costs, kind: ContentKind, tool = ""): ContentCost {
  const key = `${kind} ${tool}`
  const cost = costs.get(key) ?? { kind, tool, calls: 0, inputTokens: 0, outputTokens: 0, without: 0, with: 0 }
  costs.set(key, cost)
  return cost
}

/** The costs of several sessions added up, most expensive first. */
export function sumCosts(costs: readonly ContentCost[]): ContentCost[] {
  const sums: Costs = new Map()
  for (const cost of costs) {
    const sum = costIn(sums, cost.kind, cost.tool)
    for (const name of ["calls", "inputTokens", "outputTokens", "without", "with"] as const) sum[name] += cost[name]
  }
  return [...sums.values()].sort((a, b) => b.without - a.without || b.with - a.with)
}

/** Adds up the costs while a session is replayed. */
export function newCosts() {
  const costs: Costs = new Map()
  const ofPiece = (piece: Piece) => costIn(costs, kindOf(piece), piece.tool)
  return {
    /** Counts a request. The cache holds its beginning; what comes before the pieces is the plugin's notice. */
    sent(side: "without" | "with", pieces: readonly Piece[], charge: Charge, { pricing }: Price): void {
      let cached = charge.cachedTokens
      const add = (cost: ContentCost, tokens: number) => {
        const read = Math.min(cached, tokens)
        cached -= read
        cost[side] += read * pricing.read + (tokens - read) * pricing.write
      }
      const notice = charge.tokens - sumTokens(pieces)
      if (notice > 0) add(costIn(costs, "hudfold"), notice)
      for (const piece of pieces) add(ofPiece(piece), piece.tokens)
    },
    /** Counts the tool calls of an answer, as it was at that time. */
    answered(answer: Message): void {
      for (const piece of piecesByMessage([answer]).flat()) {
        if (piece.tool === undefined) continue
        const cost = ofPiece(piece)
        if (!isResult(piece)) cost.calls++
        cost[isResult(piece) ? "outputTokens" : "inputTokens"] += piece.tokens
      }
    },
    list: () => [...costs.values()],
  }
}

function kindOf({ label, tool, isOwn }: Piece): ContentKind {
  if (tool !== undefined) return "tool"
  if (isOwn) return "hudfold"
  if (label === "reasoning") return "reasoning"
  return label.startsWith("user") ? "user" : "text"
}
