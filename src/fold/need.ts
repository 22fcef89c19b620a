// How likely an output is needed again to the letter, by what it shows and how long ago it was last touched. The table
// is what recorded sessions show; `scripts/need.ts` prints it from any sessions.

import type { Shows } from "../output/shows.ts"
import type { ToolEvent } from "../session/event.ts"
import type { Facts } from "../session/facts.ts"

export type Standing = Shows | "failed" | "attempt" | "superseded" | "repeated" | "again"

export type Need = {
  /**
   * Chance that the call right after the last touch copies a line of it; s calls after, it is this divided by s. The
   * fall is that of the recorded sessions: 5 % after one call, 1 % after ten, under 0.1 % after a hundred.
   */
  rate: number
  /** calls after the last touch during which it stays as it is, whatever it costs */
  hold: number
}

export const NEEDS: Readonly<Record<Standing, Need>> = {
  // read whole and edited within three calls: most of what is ever needed
  file: { rate: 0.03, hold: 2 },
  excerpt: { rate: 0.025, hold: 0 },
  document: { rate: 0.01, hold: 0 },
  matches: { rate: 0.02, hold: 0 },
  listing: { rate: 0.02, hold: 1 },
  run: { rate: 0.002, hold: 0 },
  // an open failure is worked on with its output at hand
  failed: { rate: 0.005, hold: 1 },
  page: { rate: 0.01, hold: 0 },
  // asked for by name: it stays while it is worked with
  recalled: { rate: 0.1, hold: 12 },
  answer: { rate: 1, hold: Number.POSITIVE_INFINITY },
  change: { rate: 0.005, hold: 1 },
  // what was tried and failed is tried again in other words, within a call or two
  attempt: { rate: 0.02, hold: 1 },
  other: { rate: 0.02, hold: 0 },
  // the same is there in a newer state, or there to the letter
  superseded: { rate: 0.004, hold: 0 },
  repeated: { rate: 0.002, hold: 0 },
  again: { rate: 0.002, hold: 0 },
}

/** Output tokens of a call that asks an output back. */
export const ASKING_TOKENS = 80

/** A file the agent has edited is edited again more often than one it has only read. */
const EDITED = 1.5

/**
 * How often an output is expected to be needed to the letter from now on: the chances of the calls to come, added up.
 * `calls` since it was last touched, `remaining` calls that are expected to come.
 */
export function expectedNeeds(standing: Standing, calls: number, remaining: number, edited: boolean): number {
  const since = Math.max(1, calls)
  return NEEDS[standing].rate * (edited ? EDITED : 1) * Math.log((since + remaining) / since)
}

/** Calls a session is expected to go on for, having made `calls`: the longer it lasted, the longer it will last. */
export function remainingCalls(calls: number): number {
  return 0.4 * calls
}

/** The call in which an output, or the file it shows, was last used. `quotedAt`: the calls of quotes, by part id. */
export function touchedAt(event: ToolEvent, facts: Facts, quotedAt: ReadonlyMap<string, number>): number {
  let at = Math.max(event.call, quotedAt.get(event.partID) ?? 0)
  for (const { path } of event.files) {
    const file = facts.files.get(path)
    if (file) at = Math.max(at, file.readAt, file.editedAt)
  }
  const result = facts.results.get(event.inputHash)
  return result?.outputHash === event.outputHash ? Math.max(at, result?.last ?? 0) : at
}
