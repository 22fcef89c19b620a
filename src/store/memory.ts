// The store's state in memory: loads answer from it, and it is all there is if SQLite cannot be used. Bounded, since an
// OpenCode server may run for weeks.

import type { Fold } from "../fold/fold.ts"
import type { Anchor } from "../hud/slots.ts"
import type { Digest } from "../output/digest.ts"
import { renew } from "../system/values.ts"
import { addRows, type CarriedRecord, type DigestName, type StoredFolds, type StoreWrite, type Turn } from "./record.ts"

export const MAX_SESSIONS = 50
const MAX_SESSION_TURNS = 500
const MAX_DIGESTS = 500
/** Over all sessions, about 32 MB. Beyond it the least recently saved session is removed; the file still has it. */
const MAX_ALL_FOLDS = 40_000

export function createMemory() {
  // each map is in the order of the last save, so that its first key is the one to remove
  const anchors = new Map<string, readonly Anchor[]>()
  const carried = new Map<string, CarriedRecord>()
  const turns = new Map<string, Map<number, Turn>>()
  const folds = new Map<string, Map<string, Fold | undefined>>()
  const digests = new Map<string, DigestName & { digest: Digest }>()

  function apply(write: StoreWrite): void {
    switch (write.kind) {
      case "anchors":
        if (write.anchors.length > 0) renew(anchors, write.sessionID, write.anchors, MAX_SESSIONS)
        else anchors.delete(write.sessionID)
        return
      case "carried":
        renew(carried, write.sessionID, write.carried, MAX_SESSIONS)
        return
      case "turn": {
        const known = turns.get(write.sessionID) ?? new Map<number, Turn>()
        renew(turns, write.sessionID, known, MAX_SESSIONS)
        renew(known, write.turn.turn, write.turn, MAX_SESSION_TURNS)
        return
      }
      case "digest": {
        const { key, writer, digest } = write
        renew(digests, digestKey(write), { key, writer, digest }, MAX_DIGESTS)
        return
      }
      case "folds":
        renew(folds, write.sessionID, addRows(folds.get(write.sessionID) ?? new Map(), write.rows), MAX_SESSIONS)
        removeOldFolds(write.sessionID)
        return
      case "delete":
        for (const map of [anchors, carried, turns, folds]) map.delete(write.sessionID)
        return
      case "prune":
        return
      default:
        write satisfies never
    }
  }

  function removeOldFolds(exceptID: string): void {
    let kept = 0
    for (const rows of folds.values()) kept += rows.size
    for (const [sessionID, rows] of folds) {
      if (kept <= MAX_ALL_FOLDS) return
      if (sessionID === exceptID) continue
      folds.delete(sessionID)
      kept -= rows.size
    }
  }

  return {
    anchors: anchors as ReadonlyMap<string, readonly Anchor[]>,
    carried: carried as ReadonlyMap<string, CarriedRecord>,
    turns: (sessionID: string): Turn[] => [...(turns.get(sessionID)?.values() ?? [])].sort((a, b) => a.turn - b.turn),
    digest: (name: DigestName): Digest | undefined => digests.get(digestKey(name))?.digest,
    folds: (sessionID: string): StoredFolds => folds.get(sessionID) ?? new Map(),
    apply,
    /** Everything as writes again, for a new file that replaces a broken one. */
    writes: (at: number): StoreWrite[] => [
      // Turns first: a full queue drops its oldest writes, and losing a turn does less harm than losing a fold.
      ...[...turns].flatMap(([sessionID, known]) =>
        Array.from(known.values(), (turn): StoreWrite => ({ kind: "turn", sessionID, turn, at })),
      ),
      ...Array.from(anchors, ([sessionID, list]): StoreWrite => ({ kind: "anchors", sessionID, anchors: list, at })),
      ...Array.from(carried, ([sessionID, value]): StoreWrite => ({ kind: "carried", sessionID, carried: value, at })),
      // Copies: the originals keep changing while these wait.
      ...Array.from(folds, ([sessionID, rows]): StoreWrite => ({ kind: "folds", sessionID, rows: new Map(rows), at })),
      ...Array.from(digests.values(), (one): StoreWrite => ({ kind: "digest", ...one, at })),
    ],
  }
}

const digestKey = ({ key, writer }: DigestName) => `${key} ${writer}`
