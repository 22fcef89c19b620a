// What each tool, and each kind of text, costs over all requests of a session.

import type { Charge, Price } from "../replay/bill.ts"
import { isResult, type Piece, piecesByMessage, sumTokens } from "../replay/request.ts"
import type { Message } from "../session/conversation.ts"
import { groupBy } from "../system/values.ts"

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

/** The costs of several sessions added up, most expensive first. */
export function sumCosts(costs: readonly ContentCost[]): ContentCost[] {
  const sums = [...groupBy(costs, ({ kind, tool }) => `${kind} ${tool}`).values()].map(([first, ...others]) => {
    const sum = { ...(first as ContentCost) }
    for (const cost of others)
      for (const name of ["calls", "inputTokens", "outputTokens", "without", "with"] as const) sum[name] += cost[name]
    return sum
  })
  return sums.sort((a, b) => b.without - a.without || b.with - a.with)
}

/** Adds up the costs while a session is replayed. */
export function newCosts() {
  const costs = new Map<string, ContentCost>()
  const of = (kind: ContentKind, tool = ""): ContentCost => {
    const key = `${kind} ${tool}`
    const cost = costs.get(key) ?? { kind, tool, calls: 0, inputTokens: 0, outputTokens: 0, without: 0, with: 0 }
    costs.set(key, cost)
    return cost
  }
  const ofPiece = (piece: Piece) => of(kindOf(piece), piece.tool)
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
      if (notice > 0) add(of("hudfold"), notice)
      for (const piece of pieces) add(ofPiece(piece), piece.tokens)
    },
    /** Counts what a call wrote, as it was at that time. */
    wrote(message: Message): void {
      for (const piece of piecesByMessage([message]).flat()) {
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
