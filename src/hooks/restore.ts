// A session resumed in a new process: what the message array cannot give back comes from the store, once.

import { readCarried } from "../core/ledger/carry.ts"
import type { HookContext } from "./context.ts"
import type { Session } from "./sessions.ts"

/**
 * Takes back the sticky slot's texts and what a compaction carried. While the store is still opening it does nothing,
 * and is tried again at the next call.
 */
export function restore(context: HookContext, session: Session): void {
  const store = context.store.current()
  if (session.restored || !store) return
  session.restored = true
  const anchors = store.loadAnchors().get(session.id)
  if (anchors?.length && !session.hud.shown) session.hud = { ...session.hud, shown: true, anchors }
  const carried = store.loadCarried().get(session.id)
  const facts = carried && readCarried(carried.data)
  if (facts) session.ledger.restore({ compactionID: carried.compactionID, facts })
}
