// Whether the plugin's SQLite file is whole, of a version this one knows, and private.

import { stat } from "node:fs/promises"
import { dirname } from "node:path"
import type { Options } from "../options.ts"
import { megabytes } from "../setup/folder.ts"
import { applicationID, schemaVersion } from "../store/migrations/index.ts"
import { sharedWith } from "../system/private-folder.ts"
import { type Check, fail, inShell, ok, warn } from "./check.ts"
import type { Databases } from "./databases.ts"

/**
 * `path` is absolute; `ownFolder` is the plugin's data folder where nobody named another one; `databases` is undefined where
 * no Bun is, or none that answers.
 */
export async function checkStore(
  { enabled, path: named }: Options["store"],
  path: string,
  ownFolder: string | undefined,
  databases: Databases | undefined,
): Promise<Check> {
  if (!enabled) return ok("store", "kept in memory (store.enabled is false)")
  const shared = [dirname(path), path].find((one) => sharedWith(one) !== undefined)
  if (shared !== undefined)
    return fail(
      "store",
      sharedWith(shared) ?? "",
      `chmod go-w ${inShell(shared)}, or, if it is not yours, move it away`,
    )
  const file = await stat(path).catch(codeOf)
  if (file === "ENOTDIR") return checkWay(path)
  if (file === "ENOENT") return ok("store", `none yet; the first session makes ${path}`)
  if (typeof file === "string") return cannotBeOpened(path, file)
  return (
    checkContent(path, databases?.store, named === undefined) ??
    (await checkPrivate(path, ownFolder)) ??
    (databases
      ? ok("store", `${path}, ${megabytes(file.size)}, whole, schema ${schemaVersion}`)
      : warn(
          "store",
          `${path}, ${megabytes(file.size)}, not looked into: no Bun has answered`,
          "put bun, or opencode, which is one, on PATH",
        ))
  )
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? "unknown reason"
}

/** Something on the way to the file is no folder. */
async function checkWay(path: string): Promise<Check> {
  for (let folder = dirname(path); dirname(folder) !== folder; folder = dirname(folder)) {
    const found = await stat(folder).catch(() => undefined)
    if (found) return fail("store", `${folder} is a file, and the store needs a folder there`, away(folder))
  }
  return cannotBeOpened(path, "ENOTDIR")
}

function away(path: string): string {
  return `mv ${inShell(path)} ${inShell(`${path}.old`)}`
}

/** Until then the plugin keeps everything in memory. */
function outOfTheWay(path: string): string {
  return `move it away; until then the plugin remembers nothing from one start to the next: ${away(path)}`
}

function cannotBeOpened(path: string, reason: string): Check {
  const fix = `make it yours to read and write, or ${outOfTheWay(path)}`
  return fail("store", `${path} cannot be opened (${reason})`, fix)
}

function checkContent(path: string, facts: Databases["store"] | undefined, isOurPlace: boolean): Check | undefined {
  const aside = `nothing to do: the plugin sets it aside when it next opens it; or do it now: ${away(path)}`
  if (!facts || facts.kind === "absent") return undefined
  if (facts.kind === "unreadable") {
    if (facts.trouble === "corrupt") return fail("store", `${path} is damaged (${facts.reason})`, aside)
    if (facts.trouble === "locked") {
      const end = "end the OpenCode that does not let go of it"
      return warn("store", `${path} is locked by another process`, end)
    }
    return cannotBeOpened(path, facts.reason)
  }
  // an empty file is a store that nothing was written to yet
  const isEmpty = facts.schemaVersion === 0 && Object.keys(facts.rows).length === 0
  if (facts.applicationID !== applicationID && !isEmpty) {
    const fix = isOurPlace ? outOfTheWay(path) : "correct store.path"
    return fail("store", `${path} is a database of another program`, fix)
  }
  if (facts.schemaVersion > schemaVersion) {
    const found = `${path} was written by a newer version (schema ${facts.schemaVersion}, this one knows ${schemaVersion})`
    return fail("store", found, `update the plugin, or ${outOfTheWay(path)}`)
  }
  if (facts.quickCheck !== "ok") return fail("store", `${path} is damaged (${facts.quickCheck.slice(0, 200)})`, aside)
  return undefined
}

async function checkPrivate(path: string, ownFolder: string | undefined): Promise<Check | undefined> {
  // Windows has no such modes
  if (process.platform === "win32") return undefined
  const folder = dirname(path)
  const open = await isOpenToOthers(path)
  // a folder that was named may serve other purposes as well
  const openFolder = folder === ownFolder && (await isOpenToOthers(folder))
  if (!open && !openFolder) return undefined
  const fixes = [
    ...(openFolder ? [`chmod 700 ${inShell(folder)}`] : []),
    ...(open ? [`chmod 600 ${inShell(path)}`] : []),
  ]
  const what = [...(openFolder ? [folder] : []), ...(open ? [path] : [])].join(" and ")
  return warn("store", `others on this machine can read ${what}`, fixes.join(" && "))
}

async function isOpenToOthers(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined)
  return found !== undefined && (found.mode & 0o077) !== 0
}
