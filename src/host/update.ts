// What follows from a reading beyond the ledger: the store keeps what a compaction swallowed and forgets folds that were given
// up, and the queue learns of outputs that came and went.

import { digestCandidates } from "../digest/candidate.ts"
import { writeCarried } from "../session/carry.ts"
import type { Message } from "../session/conversation.ts"
import type { Reading } from "../session/ledger.ts"
import type { HookContext } from "./context.ts"
import type { Session } from "./sessions.ts"

/** `dropped` are the part ids of folds that are given up. Part of a commit. */
export function takeIn(
  { store, digests }: HookContext,
  { id }: Session,
  messages: readonly Message[],
  { carried, fresh, gone }: Reading,
  dropped: readonly string[],
): void {
  if (carried) store.use((open) => open.saveCarried(id, carried.compactionID, writeCarried(carried.facts)))
  if (dropped.length) store.use((open) => open.dropFolds(id, dropped))
  if (gone.length) digests.queue?.cancel({ sessionID: id, messageIDs: gone })
  digests.queue?.offer(digestCandidates(messages, fresh))
}
