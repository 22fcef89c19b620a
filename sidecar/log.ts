// A bound on how much is logged over the wire. llama.cpp can print a line per tensor, and each costs the plugin a
// message.

import type { Notice } from "../src/engine/wire/messages.ts"

export type Level = Notice<"engine/log">["level"]

const WINDOW_MS = 10_000
const MOST_LINES = 30
const LONGEST = 2000

export class LogBudget {
  private since = Number.NEGATIVE_INFINITY
  private lines = 0

  constructor(private readonly send: (level: Level, message: string) => void) {}

  /** Passes the line on, or, when there were too many in ten seconds, leaves it out; how many were is said later. */
  log(level: Level, message: string): void {
    const now = performance.now()
    if (now - this.since > WINDOW_MS) {
      if (this.lines > MOST_LINES) this.send("warn", `${this.lines - MOST_LINES} more lines were left out`)
      this.since = now
      this.lines = 0
    }
    if (++this.lines <= MOST_LINES) this.send(level, message.slice(0, LONGEST))
  }
}
