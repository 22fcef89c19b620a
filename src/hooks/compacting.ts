// experimental.session.compacting: raises the gate for the array that follows and hands the compactor the facts.

import { brief } from "../core/hud/brief.ts"
import type { HookContext } from "./context.ts"
import type { Commit } from "./guard.ts"

export function onCompacting(
  context: HookContext,
  input: { sessionID: string },
  output: { context: unknown },
): Commit | undefined {
  if (typeof input?.sessionID !== "string") return
  const session = context.sessions.get(input.sessionID)
  session.compacting = true
  const facts = brief(session.ledger.facts, session.signals)
  const lines = output?.context
  if (facts === undefined || !Array.isArray(lines)) return
  return () => void lines.push(facts)
}
