// What is saved, made such that SQLite keeps it: well-formed text, whole numbers.
import type { Turn, Write } from "./record.ts"

/** Bun 1.3.14 binds a lone surrogate fused with what follows it, so that the text would not be found again. */
export function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, "\ufffd")
}

/** The tables are strict: a fraction or NaN in a whole-number column would cost the row. Estimates are fractions. */
export function turnWrite(turn: Turn): Write {
  const whole = (value: number) => (Number.isFinite(value) ? Math.round(value) : 0)
  const sessionID = wellFormed(turn.sessionID)
  const clean: Turn = {
    sessionID,
    turn: whole(turn.turn),
    startedAt: whole(turn.startedAt),
    endedAt: whole(turn.endedAt),
    calls: whole(turn.calls),
    inputTokens: whole(turn.inputTokens),
    cacheReadTokens: whole(turn.cacheReadTokens),
    cacheWriteTokens: whole(turn.cacheWriteTokens),
    outputTokens: whole(turn.outputTokens),
    hudTokens: whole(turn.hudTokens),
    providerID: wellFormed(turn.providerID),
    modelID: wellFormed(turn.modelID),
    foldedTokens: whole(turn.foldedTokens),
    recalls: whole(turn.recalls),
    savedTokens: whole(turn.savedTokens),
    inputCost: whole(turn.inputCost),
    inputCostWithout: whole(turn.inputCostWithout),
    savedUsd: Number.isFinite(turn.savedUsd) ? turn.savedUsd : 0,
  }
  return { kind: "turn", sessionID, turn: clean, at: Date.now() }
}
