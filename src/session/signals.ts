// What the ledger cannot read from the message array: what OpenCode announced by event and what the disk says.
// Kept beside the facts, since a revert changes the array but none of this.

import type { Todo } from "./entry.ts"
import type { Facts, FileRecord } from "./facts.ts"

export type Signals = {
  /** the todo list as OpenCode last announced it */
  todos?: Todo[]
  /** what permissions asked and not yet answered are for, by request id */
  permissions: Map<string, string>
  /** modification times of files in use, epoch ms, by the ledger's path */
  modified: Map<string, number>
}

export function noSignals(): Signals {
  return { permissions: new Map(), modified: new Map() }
}

/** File systems and clocks differ by this much; a write of the agent's own is not an outside change. */
const SLACK_MS = 2000

/** Whether somebody else changed a file after the agent last read or wrote it. */
export function isChangedOutside(file: FileRecord, signals: Signals): boolean {
  if (file.changedAt > Math.max(file.readAt, file.editedAt)) return true
  const modified = signals.modified.get(file.path)
  return modified !== undefined && file.usedMs > 0 && modified > file.usedMs + SLACK_MS
}

/** The todo list in force: what OpenCode announced, else what the messages hold. */
export function todosNow(facts: Facts, signals: Signals): readonly Todo[] {
  return signals.todos ?? facts.todos
}
