// experimental.session.compacting: raises the gate for the array that follows and hands the compactor the facts.

import { findingsOf } from "../../digest/findings.ts"
import { brief } from "../../hud/brief.ts"
import { contextAt } from "../../replay/context.ts"
import type { HookContext } from "../context.ts"
import type { Commit } from "../guard.ts"
import { restore } from "../restore.ts"
import { takeIn } from "../update.ts"
import { conversationOf } from "./conversation.ts"
import { isMessage } from "./messages.ts"

export async function onCompacting(
  context: HookContext,
  input: { sessionID: string },
  output: { context: unknown },
): Promise<Commit | undefined> {
  if (typeof input?.sessionID !== "string") return
  const session = context.sessions.get(input.sessionID)
  session.compacting = true
  if (!context.options.hud.enabled) return
  const stored = await context.messages(session.id)
  const recorded = Array.isArray(stored) && stored.every(isMessage) ? conversationOf(stored) : []
  const messages = contextAt(recorded, recorded.length)
  // a session resumed only to be compacted: no call has shown its messages yet
  if (session.ledger.entries.length === 0) {
    await restore(context, session)
    const reading = session.ledger.read(messages)
    session.ledger.accept(reading)
    takeIn(context, session, messages, reading, [])
  }
  const facts = brief(session.ledger.facts, session.signals, findingsOf(messages, context.env))
  const lines = output?.context
  if (facts === undefined || !Array.isArray(lines)) return
  return () => void lines.push(facts)
}
