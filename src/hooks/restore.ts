// A session resumed in a new process: what the message array cannot give back comes from the store, once.

import { readCarried } from "../core/ledger/carry.ts"
import type { HookContext } from "./context.ts"
import type { Session } from "./sessions.ts"

/** Takes back the sticky slot's texts and what a compaction carried. A store not yet open has nothing to give. */
export function restore({ store }: HookContext, session: Session): void {
  if (session.restored) return
  session.restored = true
  const anchors = store()?.loadAnchors().get(session.id)
  if (anchors?.length) session.hud = { ...session.hud, shown: true, anchors }
  const carried = store()?.loadCarried().get(session.id)
  const facts = carried && readCarried(carried.data)
  if (facts) session.ledger.restore({ compactionID: carried.compactionID, facts })
}
