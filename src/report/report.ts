// The data of a report: plain JSON, embedded in the page. Figures of calls are columns, since one row for each of 500 calls
// would repeat every name 500 times.

import type { Fold } from "../fold/fold.ts"
import type { Pricing } from "../fold/pricing.ts"
import type { ToolKind } from "../output/tools.ts"
import type { CompactionKind } from "../replay/compactions.ts"
import type { Replay } from "../replay/replay.ts"

export type ReportData = {
  /** name and version of the program that wrote it */
  madeBy: string
  madeAtMs: number
  /** the provider whose prices were used instead of the recorded ones */
  price?: string
  /** all price tables used */
  pricings: Pricing[]
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
  calls: CallColumns
  /** text of the HUD of each call; null if the call has none */
  huds: (string | null)[]
  folds: ReportedFold[]
  /** what the requests consist of, whenever that changes, by ascending call */
  outlines: Outline[]
  /** numbers of the calls that came first after a message of the user */
  asked: number[]
  /** each with the number of the call before it */
  compactions: [call: number, kind: CompactionKind][]
  /** one for each tool, and one for each other kind of content */
  costs: ContentCost[]
  /** the tool calls of each call */
  used: { name: string; failed?: true }[][]
}

/** One entry per call. Tokens are estimated unless they are called reported. */
export type CallColumns = {
  /** seconds since the first call */
  seconds: number[]
  without: number[]
  withoutCached: number[]
  with: number[]
  withCached: number[]
  /** in fresh input tokens, including recalls; negative if the call costs more */
  saved: number[]
  /** the same in millionths of a dollar; absent if the recording has no costs */
  savedMicroUsd?: number[]
  hudTokens: number[]
  /** input tokens the provider reported, and those read from the cache; null if it reported none */
  reported: (number | null)[]
  reportedCached: (number | null)[]
}

/** `text` is what is sent instead: an output's digest line, or a step's lines of the record. */
export type ReportedFold = Pick<
  Fold,
  "id" | "side" | "step" | "call" | "what" | "reason" | "text" | "tokens" | "textTokens"
> & {
  /** why this step or output was folded, and why the request was */
  because: string
  cut: string
}

/** The requests from one call on: the first step in them, and the runs of steps that are sent as records. */
export type Outline = { call: number; first: number; records: [from: number, to: number][] }

/** Kinds of content other than tool calls and their outputs. `hudfold`: HUDs, records, the notice. */
type TextKind = "user" | "text" | "reasoning" | "hudfold"

/** What all content of one kind, or of one tool, cost over all requests, in fresh input tokens, as recorded and with the plugin. */
export type ContentCost = {
  kind: ToolKind | TextKind
  /** "" for other content */
  tool: string
  calls: number
  /** tokens of arguments and of outputs, each counted once */
  inputTokens: number
  outputTokens: number
  without: number
  with: number
}

/** The costs added up by kind or by tool, most expensive first. The sums by tool omit everything else. */
export function sumCosts(costs: readonly ContentCost[], by: "kind" | "tool"): ContentCost[] {
  const sums = new Map<string, ContentCost>()
  for (const cost of costs) {
    const key = cost[by]
    if (key === "") continue
    const sum = sums.get(key)
    if (!sum) {
      sums.set(key, { ...cost })
      continue
    }
    for (const name of ["calls", "inputTokens", "outputTokens", "without", "with"] as const) sum[name] += cost[name]
  }
  return [...sums.values()].sort((a, b) => b.without - a.without || b.with - a.with)
}
