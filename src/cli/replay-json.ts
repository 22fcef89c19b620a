// What `hudfold replay --json` says to programs. Token figures are estimates; costs are in fresh input tokens.
import type { Replay } from "../replay/replay.ts"
import { allIn, savedUsd } from "../replay/saved.ts"
import type { Failed } from "./each-session.ts"
import type { Replayed } from "./replay-words.ts"

export type ReplayJson = {
  sessions: ({ session: string; title: string; skipped: number } & Figures)[]
  /** all sessions together; its peaks are the largest of theirs */
  sum: Figures
  failed: Failed[]
}

/** A replay, and what is reckoned from it; null where there is nothing to divide by or no price. */
type Figures = Replay & {
  /** cost with the plugin, recalls in it, as a part of the cost without */
  costRatio: number | null
  /** tokens sent with the plugin, as a part of those sent without */
  tokenRatio: number | null
  recallsPer100Calls: number | null
  savedUsd: number | null
}

export function asJson(replayed: readonly Replayed[], sum: Replay, failed: readonly Failed[]): ReplayJson {
  return {
    sessions: replayed.map(({ replay, ...head }) => ({ ...head, ...figuresOf(replay) })),
    sum: figuresOf(sum),
    failed: [...failed],
  }
}

function figuresOf(replay: Replay): Figures {
  return {
    ...replay,
    costRatio: ratio(allIn(replay), replay.without.cost),
    tokenRatio: ratio(replay.with.tokens, replay.without.tokens),
    recallsPer100Calls: ratio(100 * replay.recalls.calls, replay.calls),
    savedUsd: savedUsd(replay) ?? null,
  }
}

function ratio(part: number, whole: number): number | null {
  return whole > 0 ? part / whole : null
}
