// Whether the plugin's SQLite file is intact, of a known schema version and private; and in which sessions OpenCode last
// called a model.

import { existsSync, statSync } from "node:fs"
import { access, constants, lstat } from "node:fs/promises"
import { dirname } from "node:path"
import { refuseForeign } from "../store/connection.ts"
import { innermostReason, StoreError, troubleOf } from "../store/errors.ts"
import { refuseNewer, refuseOthers, refuseSpecial } from "../store/file.ts"
import { schemaVersion } from "../store/migrations.ts"
import { type OpencodeDatabase, openOpencode } from "../store/opencode.ts"
import { loadSqlite, openReadonly, readPragma } from "../store/sqlite.ts"
import type { Environment } from "../system/data-folder.ts"
import { whyUntrusted } from "../system/private-folder.ts"
import type { SqliteClass } from "../system/sqlite.ts"
import { byteSize, inShell } from "../text/format.ts"
import { type CheckResult, fail, failFrom, moveCommand, ok, warn } from "./result.ts"

/** A session in which a model answered: its id, folder and agent, and `lastCallMs`, the time of its newest call in epoch ms. */
export type SessionFacts = ReturnType<OpencodeDatabase["lastCalls"]>[number]

export type Databases = {
  /**
   * `rows`: of each table. `version`: of its schema, 0 before anything is written. `problem`: why it is not used, or not for
   * long. All absent if there is no file.
   */
  store: { rows?: Record<string, number>; version?: number; problem?: CheckResult }
  /** newest first; undefined if OpenCode's database cannot be read, for instance before its first start */
  sessions?: SessionFacts[]
}

const MAX_SESSIONS_READ = 20

/** Rejects with NO_SQLITE if the runtime has none. */
export async function readDatabases(storeFile: string, env: Environment): Promise<Databases> {
  const store = readStore(storeFile, await loadSqlite())
  try {
    using opencode = await openOpencode({ env })
    return { store, sessions: opencode.lastCalls(MAX_SESSIONS_READ) }
  } catch {
    return { store }
  }
}

function readStore(path: string, Database: SqliteClass): Databases["store"] {
  const damaged = (reason: string) => {
    const aside = `nothing to do: the plugin sets it aside when it next opens it; to do it now: ${moveCommand(path)}`
    return fail("store", `${path} is damaged (${reason.slice(0, 200)})`, aside)
  }
  try {
    refuseSpecial(path)
    if (!statSync(path, { throwIfNoEntry: false })) return {}
    refuseOthers(path)
    using database = openReadonly(Database, path)
    const checked = database.query<{ quick_check: string }, []>("PRAGMA quick_check(3)").all()
    const quickCheck = checked.map((row) => row.quick_check).join("; ")
    const tables = database
      .query<{ name: string }, []>("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
      .all()
    const count = (name: string) =>
      database.query<{ n: number }, []>(`SELECT count(*) AS n FROM "${name.replaceAll('"', '""')}"`).get()?.n ?? 0
    const rows = Object.fromEntries(tables.map(({ name }) => [name, count(name)]))
    const version = readPragma(database, "user_version")
    refuseForeign(database, path)
    refuseNewer(path, version)
    return quickCheck === "ok" ? { rows, version } : { rows, problem: damaged(quickCheck) }
  } catch (error) {
    if (error instanceof StoreError) return { problem: failFrom(error.message, "store", moveAway(path)) }
    const trouble = troubleOf(error)
    if (trouble === "corrupt") return { problem: damaged(innermostReason(error)) }
    if (trouble !== "locked") return { problem: cannotBeOpened(path, innermostReason(error)) }
    return { problem: warn("store", `${path} is locked by another process`, "close the OpenCode that holds the lock") }
  }
}

/**
 * `path` is absolute. `ownFolder` is the plugin's data folder, unless another place was configured. `databases` is undefined
 * without SQLite.
 */
export async function checkStore(
  path: string,
  ownFolder: string | undefined,
  databases: Databases | undefined,
): Promise<CheckResult> {
  for (const one of [dirname(path), path]) {
    const why = whyUntrusted(one)
    if (why !== undefined) return fail("store", why, `chmod go-w ${inShell(one)}, or, if it is not yours, move it away`)
  }
  const known = databases?.store.problem
  const refused = await refusal(path, constants.R_OK | constants.W_OK)
  // a link to nothing
  if (refused === "ENOENT" && known) return known
  if (refused === "ENOENT" || refused === "ENOTDIR") return checkPlace(path)
  if (refused !== undefined) return cannotBeOpened(path, refused)
  const problem = known ?? checkPrivate(path, ownFolder)
  if (problem) return problem
  // most of a store that is in use is in SQLite's log beside it
  const logBytes = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0
  const found = `${path}, ${byteSize(statSync(path).size + logBytes)}`
  if (databases) return ok("store", `${found}, intact, schema ${databases.store.version || schemaVersion}`)
  return warn("store", `${found}, not checked: this Node has no SQLite`, "put bun or opencode on PATH")
}

/** Whether a file that does not exist yet can be created: whether its nearest existing parent is a folder to write to. */
async function checkPlace(path: string): Promise<CheckResult> {
  let folder = dirname(path)
  // on Windows, not even the root of a drive has to exist
  while (!existsSync(folder) && dirname(folder) !== folder) {
    // as to a drive that is not mounted
    if ((await lstat(folder).catch(() => undefined))?.isSymbolicLink())
      return fail("store", `${folder} is a link to nothing`, `create what it leads to, or ${moveCommand(folder)}`)
    folder = dirname(folder)
  }
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() === false)
    return fail("store", `${folder} is a file, but the store needs a folder there`, moveCommand(folder))
  const refused = await refusal(folder, constants.W_OK | constants.X_OK)
  if (refused === undefined) return ok("store", `none yet; the first session creates ${path}`)
  const problem = `${path} cannot be created: ${folder} is not writable (${refused})`
  const other = "set HUDFOLD_DATA, for OpenCode too, to a folder that is"
  return fail("store", problem, `make it writable, or ${other}; ${UNTIL_THEN}`)
}

/** The code of the error with which the system refuses this access; undefined if it allows it. */
function refusal(path: string, mode: number): Promise<string | undefined> {
  return access(path, mode).then(
    () => undefined,
    (error: NodeJS.ErrnoException) => error.code ?? "unknown reason",
  )
}

const UNTIL_THEN = "until then the plugin keeps everything in memory and forgets it at exit"

function moveAway(path: string): string {
  return `move it away; ${UNTIL_THEN}: ${moveCommand(path)}`
}

function cannotBeOpened(path: string, reason: string): CheckResult {
  const fix = `give yourself read and write access to it, make room if its disk is full, or ${moveAway(path)}`
  return fail("store", `${path} cannot be opened (${reason})`, fix)
}

function checkPrivate(path: string, ownFolder: string | undefined): CheckResult | undefined {
  // Windows has no such file modes
  if (process.platform === "win32") return undefined
  const folder = dirname(path)
  // a configured folder may serve other purposes as well
  const own = folder === ownFolder ? [folder, path] : [path]
  const open = own.filter((one) => (statSync(one, { throwIfNoEntry: false })?.mode ?? 0) & 0o077)
  if (open.length === 0) return undefined
  const fixes = open.map((one) => `chmod ${one === folder ? 700 : 600} ${inShell(one)}`)
  return warn("store", `others on this machine can read ${open.join(" and ")}`, fixes.join(" && "))
}
