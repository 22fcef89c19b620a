// What this process has saved, as the newest write of each key: loads prefer it to the file, and it is all there is if SQLite
// cannot be used. Bounded, since an OpenCode server may run for weeks.

import { dropOldest } from "../system/values.ts"
import { addWrite, forgetSession, type StoreWrite } from "./writes.ts"

const MAX_SESSIONS = 50
/** Over all sessions, about 32 MB. Beyond it the least recently saved session is removed; the file still has it. */
const MAX_ALL_FOLDS = 40_000

type Kept = Exclude<StoreWrite, { kind: "delete" | "prune" }>
export type Kind = Kept["kind"]
type Of<K extends Kind> = Extract<Kept, { kind: K }>

/**
 * How many writes of each kind are kept. Turns first: a full queue drops its oldest writes, and losing a turn does less harm
 * than losing a fold.
 */
const MOST: Record<Kind, number> = {
  turn: 5000,
  anchors: MAX_SESSIONS,
  carried: MAX_SESSIONS,
  folds: MAX_SESSIONS,
}

export function createMemory() {
  // each in the order of the last save, so that its first key is the one to remove
  const known = new Map(Object.keys(MOST).map((kind) => [kind, new Map<string, Kept>()]))
  const ofKind = <K extends Kind>(kind: K) => known.get(kind) as Map<string, Of<K>>

  function apply(write: StoreWrite): void {
    if (write.kind === "delete") for (const writes of known.values()) forgetSession(writes, write.sessionID)
    if (write.kind === "delete" || write.kind === "prune") return
    addWrite(ofKind(write.kind), write, MOST[write.kind])
    const isSpared = ({ sessionID }: Of<"folds">) => sessionID === write.sessionID
    if (write.kind === "folds") dropOldest(ofKind("folds"), MAX_ALL_FOLDS, ({ rows }) => rows.size, isSpared)
  }

  return {
    apply,
    /** What was saved of a session: of turns one write each, else one at most. */
    of: <K extends Kind>(kind: K, id: string): Of<K>[] =>
      [...ofKind(kind).values()].filter(({ sessionID }) => sessionID === id),
    /** Everything as writes again, for a new file. */
    writes: (): StoreWrite[] =>
      [...known.values()].flatMap((writes) => Array.from(writes.values(), (one) => ({ ...one, at: Date.now() }))),
  }
}
