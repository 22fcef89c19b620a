// The data of a report: plain JSON, embedded in the page.

import type { Fold } from "../fold/fold.ts"
import type { CompactionKind } from "../replay/compactions.ts"
import type { Replay } from "../replay/replay.ts"

export type ReportData = {
  /** name and version of the program that wrote it */
  madeBy: string
  madeAtMs: number
  /** the provider whose prices were used instead of the recorded ones */
  price?: string
  sessions: SessionReport[]
  /** sessions that could not be read */
  failed: number
}

/** All text in it is redacted and one line each; none of it is trusted. */
export type SessionReport = {
  id: string
  title: string
  /** the last name of its folder's path; "" = unknown */
  project: string
  /** messages and parts that could not be read */
  skipped: number
  models: string[]
  /** the figures of `hudfold replay --json` */
  replay: Replay
  /** time of the first call, epoch ms; 0 = unknown */
  startMs: number
  calls: ReportedCall[]
  folds: ReportedFold[]
  /** one for each tool, and one for each kind of text */
  costs: ContentCost[]
}

/** Tokens of a request, and those of them that the cache held. */
type RequestTokens = { tokens: number; cached: number }

/** One call; the first has the number 1. Tokens are estimated unless they are called reported. */
export type ReportedCall = {
  /** since the first call */
  seconds: number
  without: RequestTokens
  with: RequestTokens
  /** absent if the provider reported nothing */
  reported?: RequestTokens
  /** in fresh input tokens, including recalls; negative if the call costs more */
  saved: number
  /** the same in USD; absent if the recording has no costs */
  savedUsd?: number
  hud?: { text: string; tokens: number }
  /** the tool calls it made */
  used: { name: string; failed?: true }[]
  /** the compaction that followed */
  compaction?: CompactionKind
}

export type ReportedFold = Omit<Fold, "partID" | "messageID" | "hash">

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
  const sums = new Map<string, ContentCost>()
  for (const cost of costs) {
    const key = `${cost.kind} ${cost.tool}`
    const sum = sums.get(key)
    if (!sum) {
      sums.set(key, { ...cost })
      continue
    }
    for (const name of ["calls", "inputTokens", "outputTokens", "without", "with"] as const) sum[name] += cost[name]
  }
  return [...sums.values()].sort((a, b) => b.without - a.without || b.with - a.with)
}
