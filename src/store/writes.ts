// What the store writes, and how JSON columns are read back.

import * as z from "zod/mini"
import { type Fold, foldSchema, MAX_FOLDS } from "../fold/fold.ts"
import type { Anchor } from "../hud/slots.ts"
import { parseAs, renew } from "../system/values.ts"
import type { turnTable } from "./schema.ts"

/** The account of one turn. */
export type Turn = typeof turnTable.$inferSelect

const anchorsSchema = z.array(z.object({ after: z.string(), text: z.string() }))

// JSON columns are checked when they are read, since another version or a person may have written them.
export const readAnchors = (json: string): Anchor[] | undefined => parseAs(anchorsSchema, json)

export const readFold = (json: string): Fold | undefined => parseAs(foldSchema, json)

/**
 * The tables are strict: a fraction or NaN in an integer column would lose the row, and estimates are fractions. Bun 1.3.14
 * merges a lone surrogate with the character after it when it binds a text, so the text would not be found again.
 */
export function turnWrite(given: Turn): StoreWrite {
  const clean = ([name, value]: [string, string | number]) => {
    if (typeof value === "string") return [name, value.toWellFormed()]
    if (!Number.isFinite(value)) return [name, 0]
    return [name, name === "usd" ? value : Math.round(value)]
  }
  const turn: Turn = Object.fromEntries(Object.entries(given).map(clean))
  return { kind: "turn", sessionID: turn.sessionID, turn, at: Date.now() }
}

/**
 * One write waiting in the queue. `at` is when it was requested, in epoch ms. `carried` is what a session's ledger carried
 * across its newest compaction, as JSON text of a shape of its own.
 */
export type StoreWrite =
  | { kind: "anchors"; sessionID: string; anchors: readonly Anchor[]; at: number }
  | { kind: "carried"; sessionID: string; carried: { compactionID: string; data: string }; at: number }
  | { kind: "turn"; sessionID: string; turn: Turn; at: number }
  | { kind: "folds"; sessionID: string; rows: FoldRows; at: number }
  | { kind: "delete"; sessionID: string }
  | { kind: "prune"; now: number }

/** What identifies a write: of two with the same key the later one counts. */
export function keyOfWrite(write: StoreWrite): string {
  if (write.kind === "prune") return "prune"
  return `${write.kind} ${write.kind === "turn" ? `${write.turn.startedAt} ` : ""}${write.sessionID}`
}

/**
 * Adds the write as the newest, in place of one with the same key: a write must follow an earlier delete of its session. Folds
 * are merged, since they may be of different parts. A delete leaves no other write of its session.
 */
export function addWrite(writes: Map<string, StoreWrite>, write: StoreWrite, maxWrites = Number.POSITIVE_INFINITY) {
  if (write.kind === "delete") forgetSession(writes, write.sessionID)
  const key = keyOfWrite(write)
  const before = writes.get(key)
  const isMerged = before?.kind === "folds" && write.kind === "folds"
  renew(writes, key, isMerged ? { ...write, rows: addRows(new Map(before.rows), write.rows) } : write, maxWrites)
}

/** Removes everything about the session. */
export function forgetSession(writes: Map<string, StoreWrite>, sessionID: string): void {
  for (const [key, one] of writes) if ("sessionID" in one && one.sessionID === sessionID) writes.delete(key)
}

/** How long to wait for another writer, and whether a request waits for this write. */
export type Haste = { patienceMs: number; urgent: boolean }

/** By part id; undefined for a fold that was dropped, so that its row is deleted too. */
export type FoldRows = ReadonlyMap<string, Fold | undefined>

export function rowsOf(folds: readonly Fold[]): Map<string, Fold | undefined> {
  return addRows(
    new Map(),
    folds.map((fold) => [fold.partID.toWellFormed(), fold] as const),
  )
}

/** Changes and returns `rows`. An added row replaces the one of the same part. */
export function addRows(rows: Map<string, Fold | undefined>, added: Iterable<readonly [string, Fold | undefined]>) {
  for (const [partID, fold] of added) renew(rows, partID, fold, MAX_FOLDS)
  return rows
}

/** The folds in the order of folding: by call, and within a call as they were added. */
export function inOrder(rows: FoldRows): Fold[] {
  return [...rows.values()].filter((fold) => fold !== undefined).sort((a, b) => a.call - b.call)
}
