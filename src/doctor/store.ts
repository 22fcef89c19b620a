// Whether the plugin's SQLite file is intact, of a known schema version and private; and in which sessions OpenCode last
// called a model.

import { statSync } from "node:fs"
import { access, constants, stat } from "node:fs/promises"
import { dirname } from "node:path"
import type { Options } from "../options.ts"
import { innermostReason, StoreError, type Trouble, troubleOf } from "../store/errors.ts"
import { refuseOthers, refuseSpecial } from "../store/file.ts"
import { applicationID, schemaVersion } from "../store/migrations.ts"
import { withOpencode } from "../store/opencode.ts"
import { loadSqlite, openReadonly, readPragma } from "../store/sqlite.ts"
import type { Environment } from "../system/data-folder.ts"
import { whyUntrusted } from "../system/private-folder.ts"
import type { SqliteClass } from "../system/sqlite.ts"
import { byteSize } from "../text/format.ts"
import { type CheckResult, fail, inShell, moveCommand, ok, warn } from "./check.ts"

export type SessionFacts = {
  id: string
  directory: string
  /** time of its newest model call, epoch ms */
  lastCallMs: number
  agent?: string | undefined
}

type StoreFacts =
  | { kind: "absent" }
  | {
      kind: "read"
      applicationID: number
      schemaVersion: number
      /** `ok`, or the first problems */
      quickCheck: string
      rows: Record<string, number>
    }
  | { kind: "unreadable"; trouble: Trouble; reason: string }
  /** what is there is not used, for what the message says */
  | { kind: "refused"; message: string }

export type Databases = {
  store: StoreFacts
  /** newest first; undefined if OpenCode's database cannot be read, for instance before its first start */
  sessions?: SessionFacts[]
}

const MAX_SESSIONS_READ = 20

/** Rejects with NO_SQLITE if the runtime has none. */
export async function readDatabases(storeFile: string, env: Environment): Promise<Databases> {
  const store = readStore(storeFile, await loadSqlite())
  try {
    return { store, sessions: await withOpencode((database) => database.lastCalls(MAX_SESSIONS_READ), env) }
  } catch {
    return { store }
  }
}

function readStore(path: string, Database: SqliteClass): StoreFacts {
  try {
    refuseSpecial(path)
    if (!statSync(path, { throwIfNoEntry: false })) return { kind: "absent" }
    refuseOthers(path)
    using database = openReadonly(Database, path)
    const checked = database.query<{ quick_check: string }, []>("PRAGMA quick_check(3)").all()
    const tables = database
      .query<{ name: string }, []>("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
      .all()
    const count = (name: string) =>
      database.query<{ n: number }, []>(`SELECT count(*) AS n FROM "${name.replaceAll('"', '""')}"`).get()?.n ?? 0
    return {
      kind: "read",
      applicationID: readPragma(database, "application_id"),
      schemaVersion: readPragma(database, "user_version"),
      quickCheck: checked.map((row) => row.quick_check).join("; "),
      rows: Object.fromEntries(tables.map(({ name }) => [name, count(name)])),
    }
  } catch (error) {
    if (error instanceof StoreError) return { kind: "refused", message: error.message }
    return { kind: "unreadable", trouble: troubleOf(error), reason: innermostReason(error) }
  }
}

/**
 * `path` is absolute. `ownFolder` is the plugin's data folder, unless another place was configured. `databases` is undefined
 * without SQLite.
 */
export async function checkStore(
  { enabled, path: named }: Options["store"],
  path: string,
  ownFolder: string | undefined,
  databases: Databases | undefined,
): Promise<CheckResult> {
  if (!enabled) return ok("store", "kept in memory (store.enabled is false)")
  for (const one of [dirname(path), path]) {
    const why = whyUntrusted(one)
    if (why !== undefined) return fail("store", why, `chmod go-w ${inShell(one)}, or, if it is not yours, move it away`)
  }
  const file = await stat(path).catch((error: NodeJS.ErrnoException) => error.code ?? "unknown reason")
  if (file === "ENOENT" || file === "ENOTDIR") return checkPlace(path)
  if (typeof file === "string") return cannotBeOpened(path, file)
  const refused = await refusal(path, constants.R_OK | constants.W_OK)
  if (refused !== undefined) return cannotBeOpened(path, refused)
  const problem = checkContent(path, databases?.store, named === undefined) ?? (await checkPrivate(path, ownFolder))
  if (problem) return problem
  const found = `${path}, ${byteSize(file.size)}`
  if (databases) return ok("store", `${found}, intact, schema ${schemaVersion}`)
  return warn("store", `${found}, not checked: this Node has no SQLite`, "put bun or opencode on PATH")
}

/** Whether a file that does not exist yet can be created: whether its nearest existing parent is a folder to write to. */
async function checkPlace(path: string): Promise<CheckResult> {
  let folder = dirname(path)
  let found = await stat(folder).catch(() => undefined)
  while (!found && dirname(folder) !== folder) {
    folder = dirname(folder)
    found = await stat(folder).catch(() => undefined)
  }
  if (found?.isFile())
    return fail("store", `${folder} is a file, but the store needs a folder there`, moveCommand(folder))
  const refused = await refusal(folder, constants.W_OK | constants.X_OK)
  if (refused === undefined) return ok("store", `none yet; the first session creates ${path}`)
  const problem = `${path} cannot be created: ${folder} is not writable (${refused})`
  const other = "set HUDFOLD_DATA, for OpenCode too, to a folder that is"
  return fail("store", problem, `make it writable, or ${other}; ${UNTIL_THEN}`)
}

/** The code of the error with which the system refuses this access; undefined if it allows it. */
async function refusal(path: string, mode: number): Promise<string | undefined> {
  try {
    await access(path, mode)
    return undefined
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? "unknown reason"
  }
}

const UNTIL_THEN = "until then the plugin keeps everything in memory and forgets it at exit"

function moveAway(path: string): string {
  return `move it away; ${UNTIL_THEN}: ${moveCommand(path)}`
}

function cannotBeOpened(path: string, reason: string): CheckResult {
  const fix = `give yourself read and write access to it, or ${moveAway(path)}`
  return fail("store", `${path} cannot be opened (${reason})`, fix)
}

function checkContent(path: string, facts: StoreFacts | undefined, isOurPlace: boolean): CheckResult | undefined {
  const aside = `nothing to do: the plugin sets it aside when it next opens it; to do it now: ${moveCommand(path)}`
  if (!facts || facts.kind === "absent") return undefined
  if (facts.kind === "refused") {
    const [found = "", fix = moveAway(path)] = facts.message.split(/; (.*)/s)
    return fail("store", found, fix)
  }
  if (facts.kind === "unreadable") {
    if (facts.trouble === "corrupt") return fail("store", `${path} is damaged (${facts.reason})`, aside)
    if (facts.trouble === "locked") {
      const end = "close the OpenCode that holds the lock"
      return warn("store", `${path} is locked by another process`, end)
    }
    return cannotBeOpened(path, facts.reason)
  }
  // an empty file is a store that has not been written to yet
  const isEmpty = facts.schemaVersion === 0 && Object.keys(facts.rows).length === 0
  if (facts.applicationID !== applicationID && !isEmpty) {
    const fix = isOurPlace ? moveAway(path) : "correct store.path"
    return fail("store", `${path} is a database of another program`, fix)
  }
  if (facts.schemaVersion > schemaVersion) {
    const found = `${path} was written by a newer version (schema ${facts.schemaVersion}, this one knows ${schemaVersion})`
    return fail("store", found, `update the plugin, or ${moveAway(path)}`)
  }
  if (facts.quickCheck !== "ok") return fail("store", `${path} is damaged (${facts.quickCheck.slice(0, 200)})`, aside)
  return undefined
}

async function checkPrivate(path: string, ownFolder: string | undefined): Promise<CheckResult | undefined> {
  // Windows has no such file modes
  if (process.platform === "win32") return undefined
  const folder = dirname(path)
  const open: string[] = []
  // a configured folder may serve other purposes as well
  for (const one of folder === ownFolder ? [folder, path] : [path])
    if (((await stat(one).catch(() => undefined))?.mode ?? 0) & 0o077) open.push(one)
  if (open.length === 0) return undefined
  const fixes = open.map((one) => `chmod ${one === folder ? 700 : 600} ${inShell(one)}`)
  return warn("store", `others on this machine can read ${open.join(" and ")}`, fixes.join(" && "))
}
