// chat.headers: GitHub Copilot bills by who spoke last. A HUD at the tail speaks as the user, so inside a tool loop
// the header says again what it would have said without one. It is also the last hook before the request goes out.

import type { HookContext } from "../context.ts"
import type { Commit } from "../guard.ts"

export function onHeaders(
  context: HookContext,
  input: { sessionID: string; agent?: unknown; model?: { providerID?: string } },
  output: { headers: unknown },
): Commit | undefined {
  // the request is on its way: while the model thinks there is time to open the store
  context.store.open()
  if (!input?.model?.providerID?.startsWith("github-copilot")) return
  const session = context.sessions.peek(input.sessionID)
  const last = session?.ledger.entries.at(-1)
  // a title or a summary is asked of another agent, and is not a step of the loop
  if (!session?.hud.shown || input.agent !== session.ledger.facts.agent || last?.role !== "assistant" || last.summary)
    return
  const headers = output?.headers as Record<string, string> | undefined
  if (!headers) return
  return () => {
    headers["x-initiator"] = "agent"
  }
}
