// The store's picture in memory: what loads answer from, and all there is where SQLite cannot be used. Bounded, since
// an OpenCode server may live for weeks.
import type { Digest } from "../output/digest.ts"
import type { DigestName } from "./digest.ts"
import { addRows, type FoldRow, type FoldRows } from "./fold.ts"
import type { Anchor, Carried, Turn, Write } from "./record.ts"

export const keptSessions = 50
const keptTurns = 500
const keptDigests = 500
/** of all sessions together, some 20 MB; beyond it the session saved to longest ago goes, which the file still has */
const keptFolds = 25_000

export type Memory = {
  readonly anchors: ReadonlyMap<string, readonly Anchor[]>
  readonly carried: ReadonlyMap<string, Carried>
  turns(sessionID: string): Turn[]
  digest(name: DigestName): Digest | undefined
  folds(sessionID: string): FoldRows
  apply(write: Write): void
  /** Everything as writes again, for a fresh file in place of a broken one. */
  writes(at: number): Write[]
}

export function createMemory(): Memory {
  const anchors = new Map<string, readonly Anchor[]>()
  const carried = new Map<string, Carried>()
  const turns = new Map<string, Map<number, Turn>>()
  const folds = new Map<string, Map<string, FoldRow>>()
  const digests = new Map<string, DigestName & { digest: Digest }>()

  function apply(write: Write): void {
    switch (write.kind) {
      case "anchors":
        if (write.anchors.length > 0) put(anchors, write.sessionID, write.anchors)
        else anchors.delete(write.sessionID)
        return
      case "carried":
        put(carried, write.sessionID, write.carried)
        return
      case "turn": {
        const known = turns.get(write.sessionID) ?? new Map<number, Turn>()
        put(turns, write.sessionID, known)
        put(known, write.turn.turn, write.turn, keptTurns)
        return
      }
      case "digest": {
        const { key, writer, digest } = write
        put(digests, nameOf(write), { key, writer, digest }, keptDigests)
        return
      }
      case "folds":
        put(folds, write.sessionID, addRows(folds.get(write.sessionID) ?? new Map(), write.rows))
        makeRoom(write.sessionID)
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

  function makeRoom(spared: string): void {
    let kept = 0
    for (const rows of folds.values()) kept += rows.size
    for (const [sessionID, rows] of folds) {
      if (kept <= keptFolds) return
      if (sessionID === spared) continue
      folds.delete(sessionID)
      kept -= rows.size
    }
  }

  return {
    anchors,
    carried,
    turns: (sessionID) => [...(turns.get(sessionID)?.values() ?? [])].sort((a, b) => a.turn - b.turn),
    digest: (name) => digests.get(nameOf(name))?.digest,
    folds: (sessionID) => folds.get(sessionID) ?? new Map(),
    apply,
    writes: (at) => [
      // first, since a queue that is full gives up its oldest: an account can be done without, a fold cannot
      ...[...turns].flatMap(([sessionID, known]) =>
        Array.from(known.values(), (turn): Write => ({ kind: "turn", sessionID, turn, at })),
      ),
      ...Array.from(anchors, ([sessionID, list]): Write => ({ kind: "anchors", sessionID, anchors: list, at })),
      ...Array.from(carried, ([sessionID, value]): Write => ({ kind: "carried", sessionID, carried: value, at })),
      // Copies: the ones here go on changing while those wait.
      ...Array.from(folds, ([sessionID, rows]): Write => ({ kind: "folds", sessionID, rows: new Map(rows), at })),
      ...Array.from(digests.values(), (one): Write => ({ kind: "digest", ...one, at })),
    ],
  }
}

const nameOf = ({ key, writer }: DigestName) => `${key} ${writer}`

/** Last saved goes last, so that the first key is the one to let go. */
function put<K, V>(map: Map<K, V>, key: K, value: V, limit = keptSessions): void {
  map.delete(key)
  map.set(key, value)
  if (map.size <= limit) return
  const [oldest] = map.keys()
  if (oldest !== undefined) map.delete(oldest)
}
