// A session's array, taken in: the ledger reads it, and what follows from that for folds, the store and the queue of
// digests.

import { candidatesOf } from "../digest/candidate.ts"
import { dropChanged } from "../fold/folding.ts"
import { writeCarried } from "../session/carry.ts"
import type { HookContext } from "./context.ts"
import type { Session } from "./sessions.ts"
import type { HostMessage } from "./v1/message.ts"

export function update({ store, digests }: HookContext, session: Session, messages: readonly HostMessage[]): void {
  const { carried, fresh, gone } = session.ledger.update(messages)
  if (carried) store.use((open) => open.saveCarried(session.id, carried.compactionID, writeCarried(carried.facts)))
  const changed = dropChanged(session.folding, fresh)
  if (changed.length) store.use((open) => open.dropFolds(session.id, changed))
  if (gone.length) digests.queue?.cancel({ sessionID: session.id, messageIDs: gone })
  digests.queue?.offer(candidatesOf(messages, fresh))
}
