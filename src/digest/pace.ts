// How much of an output a model is given, so that it keeps up with the agent; and how long to leave a backend alone that
// failed. Pure: the time is given.

import type { Speed } from "./backends/backend.ts"

/** The agent's pace, from when it offered what. */
export type Pace = {
  /** when outputs were offered last, in ms */
  lastMs?: number
  /** mean time from one output to the next, in ms; undefined until there were two */
  gapMs?: number
}

/** Part of the last gap in the mean. */
const NEWEST = 0.3
/** A longer gap is the user's, not the agent's. */
const LONGEST_GAP_MS = 60_000
/** More offered at once are a session taken up again, not work done. */
const MOST_AT_ONCE = 8
/** Supposed while nothing is known: a tool call every five seconds. */
const USUAL_GAP_MS = 5000

export function paced({ lastMs, gapMs }: Pace, nowMs: number, offered: number): Pace {
  const gap = lastMs === undefined ? Number.NaN : (nowMs - lastMs) / offered
  const counts = offered <= MOST_AT_ONCE && gap >= 0 && gap <= LONGEST_GAP_MS
  const mean = counts ? (gapMs === undefined ? gap : gapMs + NEWEST * (gap - gapMs)) : gapMs
  return { lastMs: nowMs, ...(mean === undefined ? {} : { gapMs: mean }) }
}

/** Tokens a digest is, about. */
const ANSWER_TOKENS = 60
/** Part of the time between two outputs that a model may take. */
const SHARE = 0.8
/** A model shown less has too little to go on. */
const LEAST_TOKENS = 150
/** What a backend is given whose speed nobody has measured yet. */
const FIRST_TOKENS = 400

/** Tokens of the document to send now; 0: nothing, until the agent rests. */
export function budgetOf(
  speed: Speed | undefined,
  { gapMs = USUAL_GAP_MS }: Pace,
  idle: boolean,
  mostTokens: number,
): number {
  if (!speed) return Math.min(FIRST_TOKENS, mostTokens)
  if (idle) return mostTokens
  const tokens = Math.floor(speed.prefill * ((SHARE * gapMs) / 1000 - ANSWER_TOKENS / speed.decode))
  return tokens >= LEAST_TOKENS ? Math.min(tokens, mostTokens) : 0
}

const FIRST_RETRY_MS = 1000
const LONGEST_RETRY_MS = 5 * 60_000

/** How long to leave a backend alone after so many failures in a row, in ms. */
export function retryAfterMs(failures: number): number {
  return Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.max(0, failures - 1))
}
