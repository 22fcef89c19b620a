// What a report holds: plain JSON, put into the page as it is. Figures of calls are columns, since a row for each of
// 500 calls would repeat every name 500 times.

import type { Reason } from "../fold/fold.ts"
import type { Tariff } from "../fold/tariff.ts"
import type { CompactionKind } from "../replay/compactions.ts"
import type { Replay } from "../replay/replay.ts"
import type { TextDelta } from "./deltas.ts"
import type { ToolCost } from "./tool-costs.ts"

export type Report = {
  /** name and version of what wrote it */
  madeBy: string
  madeAtMs: number
  /** the provider that was reckoned with in place of the recorded ones */
  price?: string
  /** of all sessions; the tariffs that were reckoned with */
  sum: Replay
  tariffs: Tariff[]
  sessions: SessionReport[]
  /** sessions that could not be read */
  failed: number
}

/** All text in it is redacted and on one line; none of it is to be trusted. */
export type SessionReport = {
  id: string
  title: string
  /** messages and parts that could not be read */
  skipped: number
  models: string[]
  /** the same figures as `hudfold replay --json` gives, without the names in them */
  replay: Replay
  /** time of the first call, epoch ms; 0 = unknown */
  startMs: number
  calls: CallColumns
  /** HUD of each call, told by what changed since the last one */
  huds: TextDelta[]
  folds: FoldRow[]
  /** by the number of the call before it */
  compactions: [call: number, kind: CompactionKind][]
  tools: ToolCost[]
  /** the tool calls of each call as places in `names`, of failed ones the complement (`~place`) */
  used: number[][]
  names: string[]
}

/** One entry for each call. Tokens are reckoned unless they are called reported. */
export type CallColumns = {
  /** seconds since the first call */
  seconds: number[]
  without: number[]
  withoutCached: number[]
  with: number[]
  withCached: number[]
  /** in fresh input tokens, recalls in it; negative where the call costs more */
  saved: number[]
  /** the same in millionths of a dollar; absent where the record has no costs */
  savedMicroUsd?: number[]
  hudTokens: number[]
  /** the request's size as the provider reported it, and what of it came from the cache; null where it did not */
  reported: (number | null)[]
  reportedCached: (number | null)[]
}

export type FoldRow = {
  id: string
  call: number
  what: string
  because: string
  reason: Reason
  tokens: number
  textTokens: number
}
