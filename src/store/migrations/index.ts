// The migrations in order. A store at version n has had the first n applied; `PRAGMA user_version` holds n.
import { sessions } from "./0001-sessions.ts"
import { carried } from "./0002-carried.ts"
import { digests } from "./0003-digests.ts"
import { folds } from "./0004-folds.ts"
import { savings } from "./0005-savings.ts"

export const migrations: readonly string[] = [sessions, carried, digests, folds, savings]

export const schemaVersion = migrations.length

/** `PRAGMA application_id` of every store ("OHUD"): a database without it was made by something else. */
export const applicationID = 0x4f485544
