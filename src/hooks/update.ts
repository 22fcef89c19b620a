// A session's array, taken in: the ledger reads it, and what follows from that for the store and the queue of digests.

import { candidatesOf } from "../core/candidate.ts"
import type { HostMessage } from "../core/host.ts"
import { writeCarried } from "../core/ledger/carry.ts"
import type { Entry } from "../core/ledger/entry.ts"
import type { HookContext } from "./context.ts"
import type { Session } from "./sessions.ts"

/** The entries read anew. */
export function update(context: HookContext, session: Session, messages: readonly HostMessage[]): readonly Entry[] {
  const { carried, fresh, gone } = session.ledger.update(messages)
  if (carried)
    context.store.use((store) => store.saveCarried(session.id, carried.compactionID, writeCarried(carried.facts)))
  const { queue } = context.digests
  if (gone.length) queue?.cancel({ sessionID: session.id, messageIDs: gone })
  queue?.offer(candidatesOf(messages, fresh))
  return fresh
}
