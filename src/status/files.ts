// The folder of status files and switches: one of each per session, small, readable only by the user. Files are replaced
// atomically, so that a watcher never sees a partial one.

import { readFileSync, rmSync } from "node:fs"
import { readdir, readFile, rm, stat } from "node:fs/promises"
import { dirname, join } from "node:path"
import { DAY_MS, RETENTION_MS } from "../system/data-folder.ts"
import { makePrivateFolder, writePrivate } from "../system/private-folder.ts"
import { ACTIVE } from "../text/sanitize.ts"
import { ALL_ON, type Status, type Switches, statusSchema, switchesSchema } from "./status.ts"

const STATUS = ".status.json"
const SWITCHES = ".switches.json"

/** In the plugin's data folder. */
export function statusFolder(dataFolder: string): string {
  return join(dataFolder, "sessions")
}

/** The session a status file, or a file of another `kind`, belongs to; undefined for any other file name. */
export function sessionOf(fileName: string, kind = STATUS): string | undefined {
  const id = fileName.endsWith(kind) ? fileName.slice(0, -kind.length) : ""
  return isSessionID(id) ? id : undefined
}

/** Synchronous, since OpenCode waits for the last one before it ends. Throws if the file cannot be written. */
export function writeStatus(folder: string, status: Status): void {
  write(folder, status.sessionID, STATUS, status)
}

/** Many times the size of a status with full lists. A list of 40,000 folds would block OpenCode's screen for minutes. */
const MAX_STATUS_BYTES = 1_000_000

/** Undefined if there is none that this version can read. Characters a terminal would act on are removed. Never rejects. */
export async function readStatus(folder: string, sessionID: string): Promise<Status | undefined> {
  try {
    const path = pathOf(folder, sessionID, STATUS)
    if ((await stat(path)).size > MAX_STATUS_BYTES) return
    const text = await readFile(path, "utf8")
    return statusSchema.safeParse(JSON.parse(text, withoutActive)).data
  } catch {
    return
  }
}

/** The sessions that have a status, most recently written first. */
export async function listStatus(folder: string): Promise<{ sessionID: string; writtenMs: number }[]> {
  const known = (await readdir(folder).catch(() => [])).flatMap((name) => sessionOf(name) ?? [])
  const found = known.map(async (sessionID) => {
    const file = await stat(pathOf(folder, sessionID, STATUS)).catch(() => undefined)
    return file ? [{ sessionID, writtenMs: file.mtimeMs }] : []
  })
  return (await Promise.all(found)).flat().sort((a, b) => b.writtenMs - a.writtenMs)
}

/**
 * The panel writes the switches and the plugin reads them before every request: the two may be in different processes, and
 * a switch has to outlive both. Synchronous, since the file is small and usually absent. A file that cannot be read switches
 * nothing off.
 */
export function readSwitches(folder: string, sessionID: string): Switches {
  try {
    return switchesSchema.parse(JSON.parse(readFileSync(pathOf(folder, sessionID, SWITCHES), "utf8")))
  } catch {
    return ALL_ON
  }
}

/**
 * Removes the file if it says nothing. Rejects if the file cannot be written. The file is on disk when the call returns, so
 * the other side can hardly write its own between a reading and a writing of this one.
 */
export async function writeSwitches(folder: string, sessionID: string, switches: Switches): Promise<void> {
  const { hud, folding, whole = {}, foldNow } = switches
  const saysNothing = hud === "on" && folding === "on" && Object.keys(whole).length === 0 && !foldNow
  if (saysNothing) rmSync(pathOf(folder, sessionID, SWITCHES), { force: true })
  else write(folder, sessionID, SWITCHES, switches)
}

/** The paths of a session's files, which need not exist; none for what is not a session id. */
export function filesOf(folder: string, sessionID: string): string[] {
  return isSessionID(sessionID) ? [STATUS, SWITCHES].map((kind) => pathOf(folder, sessionID, kind)) : []
}

/** Removes the files of a deleted session. Never throws. */
export function forget(folder: string, sessionID: string): void {
  for (const path of filesOf(folder, sessionID))
    try {
      rmSync(path, { force: true })
    } catch {}
}

/** How many status files are kept. Switches, which the user has set, are removed by age alone. */
const MAX_KEPT = 200
/** Age after which a temporary file is a leftover of a killed process. */
const LEFTOVER_MS = 60_000

/** Removes old files and leftovers of interrupted writes. Never rejects. */
export async function prune(folder: string, nowMs: number): Promise<void> {
  const known = await listStatus(folder)
  // as in the store: a clock that is far ahead for a day must not make everything old at once
  const [newest] = known
  const before = known.find(({ writtenMs }) => newest && writtenMs < newest.writtenMs - DAY_MS)
  const oldestMs = Math.min(nowMs, before?.writtenMs ?? 0) - RETENTION_MS
  const kept = new Set(known.flatMap((one, at) => (at >= MAX_KEPT || one.writtenMs < oldestMs ? [] : one.sessionID)))
  const old = known.flatMap(({ sessionID }) => (kept.has(sessionID) ? [] : sessionID + STATUS))
  for (const name of await readdir(folder).catch(() => [])) {
    const isLeftover = name.endsWith(".tmp")
    const switched = sessionOf(name, SWITCHES)
    if (!isLeftover && (switched === undefined || kept.has(switched))) continue
    const file = await stat(join(folder, name)).catch(() => undefined)
    // absolute, to include files from before the clock was set back
    if (file && (isLeftover ? Math.abs(nowMs - file.mtimeMs) > LEFTOVER_MS : file.mtimeMs < oldestMs)) old.push(name)
  }
  for (const name of old) await rm(join(folder, name), { force: true }).catch(() => {})
}

/** Fields of several lines: the HUD's text and an episode's record. */
const SEVERAL_LINES: ReadonlySet<string> = new Set(["text", "record"])

/** A JSON reviver. */
function withoutActive(name: string, value: unknown): unknown {
  if (typeof value !== "string") return value
  const shown = value.replace(ACTIVE, "")
  return SEVERAL_LINES.has(name) ? shown : shown.replaceAll("\n", " ")
}

function isSessionID(text: string): boolean {
  return /^[\w-]{1,100}$/.test(text)
}

/** The session id is foreign input and becomes part of a path. */
function pathOf(folder: string, sessionID: string, kind: string): string {
  if (!isSessionID(sessionID)) throw new Error(`not a session id: ${JSON.stringify(sessionID.slice(0, 100))}`)
  return join(folder, sessionID + kind)
}

function write(folder: string, sessionID: string, kind: string, content: Status | Switches): void {
  const path = pathOf(folder, sessionID, kind)
  // the data folder is checked too: anyone who can write to it could replace this folder
  makePrivateFolder(dirname(folder))
  makePrivateFolder(folder, true)
  writePrivate(path, JSON.stringify(content))
}
