// What the store keeps, and the interface the plugin sees of it. Types only: importing this file loads nothing.

import type { Fold } from "../fold/fold.ts"
import type { Anchor } from "../hud/place.ts"
import type { Digest } from "../output/digest.ts"
import type { DigestName } from "./digest.ts"
import type { FoldRows } from "./fold.ts"

export type { Anchor }

/** What a session's ledger carried across its newest compaction. `data` is JSON text; its shape is the ledger's own. */
export type Carried = { compactionID: string; data: string }

/**
 * One turn's account. Times in epoch ms, tokens as the provider reported them; estimated are `hudTokens`, what the HUD
 * added, and `foldedTokens`, what folds left out of the requests, each summed over the turn's calls.
 */
export type Turn = {
  sessionID: string
  turn: number
  startedAt: number
  endedAt: number
  calls: number
  inputTokens: number
  cacheReadTokens: number
  cacheWriteTokens: number
  outputTokens: number
  hudTokens: number
  providerID: string
  modelID: string
  foldedTokens: number
  /** folded outputs that the agent asked back */
  recalls: number
  /** input tokens not sent, net of what the plugin added; by the reports' own measure, see `core/saving.ts` */
  savedTokens: number
  /** what the turn's input cost, and what it would have without the plugin, in fresh input tokens */
  inputCost: number
  inputCostWithout: number
  /** 0 where the model's price is not known */
  savedUsd: number
}

/**
 * Where the store keeps its data now. It turns from `sqlite` to `memory` when the file can no longer be written, and back
 * when that was for want of room and there is some again.
 */
export type StoreState = { kind: "sqlite"; path: string } | { kind: "memory"; reason: string }

/** Writes waiting for the disk, writes given up because too many waited or one was refused, rows that did not parse. */
export type StoreCounters = { pending: number; dropped: number; skipped: number }

/**
 * The plugin's own store. Nothing here throws or rejects. Saves and loads touch memory only and may be called from a
 * hook; what is saved reaches the disk later, in one transaction, off the hook's path.
 */
export type Store = {
  readonly state: StoreState
  readonly counters: StoreCounters
  /** The anchors of the 50 sessions saved to last, from disk and from this process, newest last. A copy. */
  loadAnchors(): Map<string, Anchor[]>
  /** Replaces the session's anchors; an empty list removes them. */
  saveAnchors(sessionID: string, anchors: readonly Anchor[]): void
  /** What the 50 sessions saved to last carried, newest last. A copy. */
  loadCarried(): Map<string, Carried>
  /** Replaces what the session carries. `data` must be JSON, or it is skipped when it is read back. */
  saveCarried(sessionID: string, compactionID: string, data: string): void
  /** Inserts the turn or replaces the one with the same session and number. */
  saveTurn(turn: Turn): void
  /** The session's turns in order, those not yet on disk included. Reads the disk: not for a hook. */
  turns(sessionID: string): Promise<Turn[]>
  /** Keeps what `writer` made of the content that `key` stands for. */
  saveDigest(writer: string, key: string, digest: Digest): void
  /**
   * What `writer` made of these, as far as it is known; of each it is noted that it is still of use. Reads the disk: not
   * for a hook.
   */
  loadDigests(writer: string, keys: readonly string[]): Promise<Map<string, Digest>>
  /** Adds the session's folds, each in place of the one of the same part. Of one session the newest 5,000 are kept. */
  saveFolds(sessionID: string, folds: readonly Fold[]): void
  /** Forgets the folds of these parts. Their numbers still count for `lastFold`. */
  dropFolds(sessionID: string, partIDs: readonly string[]): void
  /** The session's folds in the order of folding, those not yet on disk included. Reads the disk: not for a hook. */
  loadFolds(sessionID: string): Promise<Fold[]>
  /**
   * The highest number that a recall id of the session ever had (12 of `r12`), 0 before the first: the next is one more,
   * whatever was dropped since. Reads the disk: not for a hook.
   */
  lastFold(sessionID: string): Promise<number>
  /** Forgets everything about the session. Digests are of no session, and stay. */
  deleteSession(sessionID: string): void
  /** Writes what waits. Where the file is locked or the disk full it resolves with the writes kept, to be retried later. */
  flush(): Promise<void>
  /** Flushes, for at most a second and a half, and lets go of the file. Idempotent; saves after it are ignored. */
  close(): Promise<void>
}

/** One write waiting in the queue. `at` is when it was asked for, in epoch ms. */
export type Write =
  | { kind: "anchors"; sessionID: string; anchors: readonly Anchor[]; at: number }
  | { kind: "carried"; sessionID: string; carried: Carried; at: number }
  | { kind: "turn"; sessionID: string; turn: Turn; at: number }
  | ({ kind: "digest"; digest: Digest; at: number } & DigestName)
  | { kind: "folds"; sessionID: string; rows: FoldRows; at: number }
  | { kind: "delete"; sessionID: string }
  | { kind: "prune"; now: number; keptMs: number; mostDigests: number }
