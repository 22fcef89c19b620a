// Where the plugin's store and OpenCode's database lie. Pure: the environment and the home folder are given.
import { homedir, tmpdir } from "node:os"
import { basename, isAbsolute, join, resolve } from "node:path"
import { isRemote } from "./private-folder.ts"

export type Environment = Readonly<Record<string, string | undefined>>

/** The plugin's own data folder: `$HUDFOLD_DATA`, or `opencode-hudfold` beside OpenCode's own data folder. */
export function dataFolder(env: Environment = process.env, home = homeFolder()): string {
  if (env.HUDFOLD_DATA) return resolve(env.HUDFOLD_DATA)
  return join(dataHome(env, home), "opencode-hudfold")
}

export const STORE_NAME = "hud.db"

/**
 * The store's file: the one that the option `store.path` names, else `hud.db` in the data folder. A name without a folder is
 * one in the data folder; else the path has to be absolute, and on this machine. Throws where it is neither, or does not end in
 * `.db`: a project's own opencode.json can set the option, and a file of another kind might be read by a program that acts on it.
 */
export function storePath(env: Environment = process.env, home = homeFolder(), named = STORE_NAME): string {
  const isName = basename(named) === named && !named.includes("\\")
  if ((isName || (isAbsolute(named) && !isRemote(named))) && named.endsWith(".db"))
    return resolve(dataFolder(env, home), named)
  const got = `got ${JSON.stringify(named)}`
  throw new Error(
    `option store.path: expected an absolute path, or a name in the data folder, that ends in .db; ${got}`,
  )
}

/** OpenCode's data folder: `$XDG_DATA_HOME/opencode`, else `~/.local/share/opencode`. */
export function opencodeFolder(env: Environment = process.env, home = homeFolder()): string {
  return join(dataHome(env, home), "opencode")
}

// An account without an entry in the password file has none, and then asking throws.
export function homeFolder(): string {
  try {
    return homedir()
  } catch {
    return ""
  }
}

// OpenCode uses XDG folders on every platform, macOS and Windows too (its xdg-basedir knows no %LOCALAPPDATA%), so a
// user who has moved one has moved the other. Without a home folder only the temporary one is left.
function dataHome(env: Environment, home: string): string {
  if (env.XDG_DATA_HOME) return resolve(env.XDG_DATA_HOME)
  return home ? join(home, ".local", "share") : tmpdir()
}
