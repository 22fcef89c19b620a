// The config files OpenCode 1.18 reads in a folder, in its order, for the server's half and for the TUI's: the global
// folder, what the environment names, the project's, every `.opencode`, and the machine's own. What it fetches over the
// network (an organisation's config) is not looked at.

import { readdir, readFile, stat } from "node:fs/promises"
import { dirname, join, resolve } from "node:path"
import type { Environment } from "../store/paths.ts"
import { parseJsonc } from "./jsonc.ts"

export type ConfigFile = {
  path: string
  /** the folder whose sessions it is read for; undefined when it is read for all */
  project?: string
  changedMs: number
  /** the parsed file; undefined with a problem */
  value?: Record<string, unknown>
  /** why it could not be read, without a word of its content */
  problem?: string
}

export type Config = {
  /** the folder that `opencode plugin --global` writes to */
  folder: string
  /** of the server's half; later ones win */
  server: ConfigFile[]
  /** of the TUI's half */
  tui: ConfigFile[]
  /** files of the folders whose plugins are loaded without being listed */
  pluginFiles: string[]
}

/** `directory` is the one OpenCode is started in. Never rejects. */
export async function readConfig(env: Environment, home: string, directory: string): Promise<Config> {
  const folder = join(resolve(env.XDG_CONFIG_HOME || join(home, ".config")), "opencode")
  const ignoresProject = isOn(env.OPENCODE_DISABLE_PROJECT_CONFIG)
  // from the innermost to the outermost; without a repository OpenCode goes up to the root
  const above = ignoresProject ? [] : await foldersUp(directory)
  const folders: { folder: string; project?: string }[] = [
    ...above.map((one) => ({ folder: join(one, ".opencode"), project: one })),
    { folder: join(home, ".opencode") },
    ...(env.OPENCODE_CONFIG_DIR ? [{ folder: resolve(directory, env.OPENCODE_CONFIG_DIR) }] : []),
  ]
  const outermostFirst = above.toReversed()

  const server: Place[] = [
    ...["config.json", "opencode.json", "opencode.jsonc"].map((name) => ({ path: join(folder, name) })),
    ...(env.OPENCODE_CONFIG ? [{ path: resolve(directory, env.OPENCODE_CONFIG) }] : []),
    ...outermostFirst.flatMap((project) => both(project, "opencode", project)),
    ...folders.flatMap((one) => both(one.folder, "opencode", one.project)),
  ]
  const tui: Place[] = [
    ...both(folder, "tui"),
    ...(env.OPENCODE_TUI_CONFIG ? [{ path: resolve(directory, env.OPENCODE_TUI_CONFIG) }] : []),
    ...outermostFirst.flatMap((project) => both(project, "tui", project)),
    ...folders.flatMap((one) => both(one.folder, "tui", one.project)),
  ]
  const pluginFolders = [folder, ...folders.map((one) => one.folder)].flatMap((one) => [
    join(one, "plugin"),
    join(one, "plugins"),
  ])
  return {
    folder,
    server: [...(await readAll(server)), ...contentOf(env), ...(await readAll(both(machineFolder(env), "opencode")))],
    tui: await readAll(tui),
    pluginFiles: (await Promise.all([...new Set(pluginFolders)].map(pluginFilesIn))).flat(),
  }
}

/** As OpenCode reads its switches. */
export function isOn(value: string | undefined): boolean {
  return /^(?:1|true)$/i.test(value ?? "")
}

type Place = { path: string; project?: string }

function both(folder: string, name: string, project?: string): Place[] {
  return [`${name}.json`, `${name}.jsonc`].map((file) => ({
    path: join(folder, file),
    ...(project === undefined ? {} : { project }),
  }))
}

function machineFolder(env: Environment): string {
  if (process.platform === "darwin") return "/Library/Application Support/opencode"
  if (process.platform === "win32") return join(env.ProgramData || "C:\\ProgramData", "opencode")
  return "/etc/opencode"
}

/** From the folder up to the one that holds the repository. */
async function foldersUp(directory: string): Promise<string[]> {
  const folders: string[] = []
  for (let folder = resolve(directory); ; folder = dirname(folder)) {
    folders.push(folder)
    const isRoot = dirname(folder) === folder
    if (isRoot || (await stat(join(folder, ".git")).catch(() => undefined))) return folders
  }
}

const CONTENT = "OPENCODE_CONFIG_CONTENT"

/** A whole config in the environment. It is as old as the process. */
function contentOf(env: Environment): ConfigFile[] {
  const text = env[CONTENT]
  return text ? [{ path: `$${CONTENT}`, changedMs: 0, ...parsed(text) }] : []
}

async function readAll(places: readonly Place[]): Promise<ConfigFile[]> {
  const once = [...new Map(places.map((place) => [place.path, place])).values()]
  return (await Promise.all(once.map(readPlace))).filter((file) => file !== undefined)
}

async function readPlace(place: Place): Promise<ConfigFile | undefined> {
  const found = await stat(place.path).catch(() => undefined)
  if (!found?.isFile()) return undefined
  const file = { ...place, changedMs: found.mtimeMs }
  let text: string
  try {
    text = await readFile(place.path, "utf8")
  } catch (error) {
    return { ...file, problem: `cannot be read (${(error as NodeJS.ErrnoException).code ?? "unknown reason"})` }
  }
  // to OpenCode an empty file is none
  return text.trim() === "" ? undefined : { ...file, ...parsed(text) }
}

function parsed(text: string): Pick<ConfigFile, "value" | "problem"> {
  try {
    const value = parseJsonc(text)
    if (typeof value !== "object" || value === null || Array.isArray(value)) return { problem: "is no JSON object" }
    return { value: value as Record<string, unknown> }
  } catch (error) {
    // the parser's own words may quote what stands there, and that may be a key
    const at = /position (\d+)/.exec(String(error))?.[1]
    const line = at === undefined ? "" : `, line ${text.slice(0, Number(at)).split("\n").length}`
    return { problem: `is not valid JSON${line}` }
  }
}

async function pluginFilesIn(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => [])
  return names.filter((name) => /\.[jt]s$/.test(name)).map((name) => join(folder, name))
}
