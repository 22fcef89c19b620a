// The folder of status files and switches: one of each per session, small, readable by the user alone. Written whole or
// not at all; who watches the folder never sees half of one.

import { readFileSync } from "node:fs"
import { readdir, readFile, rm, stat } from "node:fs/promises"
import { dirname, join } from "node:path"
import { makePrivateFolder, writePrivate } from "../system/private-folder.ts"
import { ACTIVE } from "../text/text.ts"
import { type Status, statusSchema } from "./status.ts"
import { ALL_ON, parseSwitches, type Switches } from "./switches.ts"

const STATUS = ".status.json"
const SWITCHES = ".switches.json"

/** In the plugin's data folder. */
export function statusFolder(dataFolder: string): string {
  return join(dataFolder, "sessions")
}

/** The session whose status file this is; undefined for any other name. */
export function sessionOf(fileName: string): string | undefined {
  return fileName.endsWith(STATUS) ? fileName.slice(0, -STATUS.length) : undefined
}

/** Rejects when the disk does. */
export async function writeStatus(folder: string, status: Status): Promise<void> {
  await writeWhole(pathOf(folder, status.sessionID, STATUS), JSON.stringify(status))
}

/** Many times what a session comes to with all lists full. A list of 40,000 folds stops OpenCode's screen for minutes. */
const MOST_BYTES = 1_000_000

/** Undefined when there is none, or none that this version can read. What a terminal would act on is left out. Never rejects. */
export async function readStatus(folder: string, sessionID: string): Promise<Status | undefined> {
  try {
    const path = pathOf(folder, sessionID, STATUS)
    if ((await stat(path)).size > MOST_BYTES) return
    const text = await readFile(path, "utf8")
    const parsed = statusSchema.safeParse(JSON.parse(text, harmless))
    return parsed.success ? parsed.data : undefined
  } catch {
    return
  }
}

/** Sessions that have a status, the one written last first. */
export async function listStatus(folder: string): Promise<{ sessionID: string; writtenMs: number }[]> {
  const names = await readdir(folder).catch(() => [])
  const found = await Promise.all(
    names.map(async (name) => {
      const sessionID = sessionOf(name)
      const file = sessionID === undefined ? undefined : await stat(join(folder, name)).catch(() => undefined)
      return sessionID === undefined || !file ? [] : [{ sessionID, writtenMs: file.mtimeMs }]
    }),
  )
  return found.flat().sort((a, b) => b.writtenMs - a.writtenMs)
}

/** Looked at before every request, so that it is read at once: it is some hundred bytes, and mostly not there. */
export function readSwitches(folder: string, sessionID: string): Switches {
  try {
    return parseSwitches(readFileSync(pathOf(folder, sessionID, SWITCHES), "utf8"))
  } catch {
    return ALL_ON
  }
}

/** With all on there is no file. Rejects when the disk does. */
export async function writeSwitches(folder: string, sessionID: string, switches: Switches): Promise<void> {
  const path = pathOf(folder, sessionID, SWITCHES)
  if (switches.hud === "on" && switches.folding === "on") await rm(path, { force: true })
  else await writeWhole(path, JSON.stringify(switches))
}

/** Forgets a session that was deleted. Never rejects. */
export async function forget(folder: string, sessionID: string): Promise<void> {
  await Promise.allSettled([STATUS, SWITCHES].map(async (kind) => rm(pathOf(folder, sessionID, kind), { force: true })))
}

/** Sessions kept, and for how long: as long as the store keeps what it knows of one. */
const MOST_KEPT = 200
const KEPT_MS = 90 * 24 * 3600 * 1000
/** What a process that was killed has left of a write. */
const LEFT_MS = 60_000

/** Removes what is old, and what writes that were cut off have left. Never rejects. `ours` were written just now. */
export async function prune(folder: string, nowMs: number, ours: ReadonlySet<string> = new Set()): Promise<void> {
  const known = await listStatus(folder)
  // as in the store: a clock that is far ahead must not make all of them old at once
  const newest = known.find(({ sessionID }) => !ours.has(sessionID))
  const fromMs = Math.min(nowMs, newest?.writtenMs ?? nowMs)
  const old = known.filter(({ writtenMs }, at) => at >= MOST_KEPT || fromMs - writtenMs > KEPT_MS)
  await Promise.all(old.map(({ sessionID }) => forget(folder, sessionID)))
  const names = await readdir(folder).catch(() => [])
  for (const name of names.filter((one) => one.endsWith(".tmp"))) {
    const file = await stat(join(folder, name)).catch(() => undefined)
    // from before the clock was put back as well
    if (file && Math.abs(nowMs - file.mtimeMs) > LEFT_MS) await rm(join(folder, name), { force: true }).catch(() => {})
  }
}

/** All texts are one line but the HUD's. */
function harmless(name: string, value: unknown): unknown {
  if (typeof value !== "string") return value
  const shown = value.replace(ACTIVE, "")
  return name === "text" ? shown : shown.replaceAll("\n", " ")
}

/** A session's id is OpenCode's, but it comes to be part of a path. */
function pathOf(folder: string, sessionID: string, kind: string): string {
  if (!/^[\w-]{1,100}$/.test(sessionID)) throw new Error(`not a session id: ${JSON.stringify(sessionID.slice(0, 100))}`)
  return join(folder, sessionID + kind)
}

async function writeWhole(path: string, text: string): Promise<void> {
  const folder = dirname(path)
  // the data folder is checked too: who can write to it can put another folder in this one's place
  makePrivateFolder(dirname(folder))
  makePrivateFolder(folder, true)
  await writePrivate(path, text)
}
