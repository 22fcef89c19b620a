// Where the plugin's store, OpenCode's database and the files of this package are, and whether one folder lies in another.

import { existsSync } from "node:fs"
import { homedir, tmpdir } from "node:os"
import { basename, isAbsolute, join, relative, resolve, sep } from "node:path"
import { fileURLToPath } from "node:url"
import { isRemote } from "./private-folder.ts"

export type Environment = Readonly<Record<string, string | undefined>>

/** The plugin's own data folder: `$HUDFOLD_DATA`, or `opencode-hudfold` beside OpenCode's own data folder. */
export function dataFolder(env: Environment = process.env, home = homeFolder()): string {
  const [own, shared] = FOLDER_VARIABLES.map((name) => (isAbsolute(env[name] ?? "") ? env[name] : undefined))
  return own ? resolve(own) : join(shared ? resolve(shared) : defaultHome(home), "opencode-hudfold")
}

const FOLDER_VARIABLES = ["HUDFOLD_DATA", "XDG_DATA_HOME"] as const

/** A warning if a relative path is ignored: it would put the data into whatever folder OpenCode is started in. */
export function ignoredFolder(env: Environment = process.env): string | undefined {
  const names = FOLDER_VARIABLES.filter((name) => env[name] && !isAbsolute(env[name] ?? ""))
  if (names.length === 0) return undefined
  return `${names.join(" and ")} must be an absolute path and is ignored; the data is in ${dataFolder(env)}`
}

export const STORE_NAME = "hud.db"

export const DAY_MS = 24 * 3600 * 1000
/** How long the store, and a status file, keep a session that is not used any more. */
export const RETENTION_MS = 90 * DAY_MS

/**
 * The store's file: the one given by the option `store.path`, else `hud.db` in the data folder. A bare name is a file in the
 * data folder; any other path must be absolute and local. Throws when it is not, or does not end in `.db`: an untrusted
 * project can set the option in its opencode.json, and other kinds of files may be read by programs that act on them.
 */
export function storePath(named = STORE_NAME, env: Environment = process.env, home = homeFolder()): string {
  if (isStorePath(named)) return resolve(dataFolder(env, home), named)
  throw new Error(`option store.path: expected ${STORE_PATH}; got ${JSON.stringify(named)}`)
}

export const STORE_PATH = "an absolute path, or a name in the data folder, that ends in .db"

export function isStorePath(named: string): boolean {
  const isName = basename(named) === named && !named.includes("\\")
  return (isName || (isAbsolute(named) && !isRemote(named))) && named.endsWith(".db")
}

/**
 * OpenCode's data folder: `$XDG_DATA_HOME/opencode`, else `~/.local/share/opencode`. OpenCode uses XDG folders on every
 * platform, macOS and Windows included, and takes a relative one as it is.
 */
export function opencodeFolder(env: Environment = process.env, home = homeFolder()): string {
  return join(env.XDG_DATA_HOME ? resolve(env.XDG_DATA_HOME) : defaultHome(home), "opencode")
}

/**
 * The path of a file of this package: the first of `places` that exists, one for the bundle and one for the sources. They are
 * relative to `base`, the URL of the calling module. Throws when none exists.
 */
export function shippedFile(what: string, base: string, places: readonly string[]): string {
  const paths = places.map((place) => fileURLToPath(new URL(place, base)))
  const path = paths.find((one) => existsSync(one))
  if (path === undefined) throw new Error(`${what} is missing: ${paths[0]}; a checkout is built with \`npm run build\``)
  return path
}

/** Empty when the account has no entry in the password file, for which Node throws. */
export function homeFolder(): string {
  try {
    return homedir()
  } catch {
    return ""
  }
}

/** The path with `~` for the home folder. */
export function shortFolder(path: string): string {
  const home = homeFolder() + sep
  return home !== sep && path.startsWith(home) ? `~${sep}${path.slice(home.length)}` : path
}

/** Whether a folder is another or lies in it. */
export function isInside(folder: string, outer: string): boolean {
  const path = relative(outer, folder)
  // absolute when the folders are on different drives
  return !/^\.\.(?:[/\\]|$)/.test(path) && !isAbsolute(path)
}

function defaultHome(home: string): string {
  return home ? join(home, ".local", "share") : tmpdir()
}
