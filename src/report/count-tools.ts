// Counts what each tool costs while a session is replayed.

import type { HostMessage } from "../host/v1/message.ts"
import { isResult, type Piece, piecesOf } from "../replay/request.ts"
import { noCost, sorted, type ToolCost } from "./tool-costs.ts"

export type ToolCount = {
  /** Takes in a request. */
  sent(side: "withoutTokens" | "withTokens", pieces: readonly Piece[]): void
  /** Takes in what a call wrote, as it was then. */
  wrote(message: HostMessage): void
  /** The dearest first. */
  list(): ToolCost[]
}

export function newToolCount(): ToolCount {
  const costs = new Map<string, ToolCost>()
  const of = (tool: string) => {
    const cost = costs.get(tool) ?? noCost(tool)
    costs.set(tool, cost)
    return cost
  }
  return {
    sent(side, pieces) {
      for (const { tool, tokens } of pieces) if (tool !== undefined) of(tool)[side] += tokens
    },
    wrote(message) {
      for (const piece of piecesOf([message])) {
        const { tool, tokens } = piece
        if (tool === undefined) continue
        if (!isResult(piece)) of(tool).calls++
        of(tool)[isResult(piece) ? "outputTokens" : "inputTokens"] += tokens
      }
    },
    list: () => sorted(costs.values()),
  }
}
