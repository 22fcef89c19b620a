// The store's error class, and a classification of errors from SQLite and the file system.

import { CodedError } from "../system/values.ts"

export type StoreErrorCode =
  // the plugin's own store
  | "STORE_NEWER"
  | "STORE_FOREIGN"
  // sessions read from OpenCode's database or an export
  | "NO_SQLITE"
  | "DATABASE_NOT_FOUND"
  | "DATABASE_UNREADABLE"
  | "SESSION_NOT_FOUND"
  | "SESSION_AMBIGUOUS"
  | "EXPORT_NOT_FOUND"
  | "EXPORT_UNREADABLE"
  | "EXPORT_TRUNCATED"
  | "NOT_AN_EXPORT"
  | "NO_MESSAGES"

export class StoreError extends CodedError<StoreErrorCode> {
  override readonly name = "StoreError"
}

/**
 * `locked` and `full` are temporary. `corrupt` needs a new file. `unwritable`, which includes files that are not ours, means
 * memory only. `other` is the fault of this write or of the plugin.
 */
export type Trouble = "locked" | "full" | "corrupt" | "unwritable" | "other"

/** By SQLite's primary result codes. */
const SQLITE: readonly (readonly [trouble: Trouble, ...codes: number[]])[] = [
  ["locked", 5, 6, 15], // BUSY, LOCKED, PROTOCOL: the WAL locks were contended
  ["full", 13], // FULL
  ["corrupt", 11, 26], // CORRUPT, NOTADB
  ["unwritable", 3, 7, 8, 10, 14, 22, 23], // PERM, NOMEM, READONLY, IOERR, CANTOPEN, NOLFS, AUTH
]

/** SQLITE_IOERR_SHMSIZE: no room for the index of the write-ahead log, which every connection needs. */
const NO_ROOM_FOR_INDEX = 4874

/** Follows the causes, since drizzle wraps what SQLite throws. */
export function troubleOf(error: unknown): Trouble {
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof StoreError) return "unwritable"
    const { code, errcode, errno = errcode } = cause as NodeJS.ErrnoException & { errcode?: number }
    // By number, which Node calls `errcode`: the code of an error of Node's SQLite is always the same. The low byte is
    // SQLite's primary result code. System errors have negative numbers and a code such as EACCES.
    if (errno === NO_ROOM_FOR_INDEX || code === "ENOSPC" || code === "EDQUOT") return "full"
    if (typeof errno === "number" && errno > 0)
      return SQLITE.find(([, ...codes]) => codes.includes(errno & 0xff))?.[0] ?? "other"
    if (typeof code === "string" && /^E[A-Z]+$/.test(code)) return "unwritable"
  }
  return "other"
}

/** One line: a StoreError's message, or the innermost one, since drizzle's outer message is only the query. */
export function innermostReason(error: unknown): string {
  let cause: unknown = error
  while (cause instanceof Error && !(cause instanceof StoreError) && cause.cause instanceof Error) cause = cause.cause
  return String(cause instanceof Error ? cause.message : cause).replace(/\s+/g, " ")
}
