// The config files OpenCode 1.18 reads in a folder, in its order, for the server and for the TUI: the global folder, files
// named by the environment, the project's, every `.opencode`, and the machine's. Config that it fetches over the network (an
// organisation's) is not read. Also the JSON dialect of these files: comments, trailing commas, `{env:…}` and `{file:…}`.

import { existsSync } from "node:fs"
import { readdir, readFile, stat } from "node:fs/promises"
import { dirname, join, resolve } from "node:path"
import type { Environment } from "../system/data-folder.ts"
import { asRecord, parseJson } from "../system/values.ts"

export type ConfigFile = {
  path: string
  /** the folder whose sessions it is read for; undefined if it is read for all */
  project?: string | undefined
  changedMs: number
  /** the parsed file; undefined if there is a problem */
  value?: Record<string, unknown>
  /** why it could not be read, without quoting its content */
  problem?: string
}

export type Config = Awaited<ReturnType<typeof readConfig>>

/** `directory` is the folder OpenCode is started in. Never rejects. */
export async function readConfig(env: Environment, home: string, directory: string) {
  const folder = join(resolve(env.XDG_CONFIG_HOME || join(home, ".config")), "opencode")
  const ignoresProject = isOn(env.OPENCODE_DISABLE_PROJECT_CONFIG)
  const up = ignoresProject ? [] : foldersUp(directory)
  const repository = up.findIndex((one) => existsSync(join(one, ".git")))
  // the server stops at the repository if there is one, the TUI goes up to the root
  const above = { opencode: repository < 0 ? up : up.slice(0, repository + 1), tui: up }
  const foldersOf = (name: "opencode" | "tui"): Place[] => [
    ...above[name].map((project) => ({ path: join(project, ".opencode"), project })),
    { path: join(home, ".opencode") },
    ...(env.OPENCODE_CONFIG_DIR ? [{ path: resolve(directory, env.OPENCODE_CONFIG_DIR) }] : []),
  ]
  /** Later ones win: global files, the one that the environment names, those of the projects, and of every `.opencode`. */
  const placesOf = (name: "opencode" | "tui", global: Place[], named: string | undefined): Place[] => [
    ...global,
    ...(named ? [{ path: resolve(directory, named) }] : []),
    ...above[name].toReversed().flatMap((project) => both(project, name, project)),
    ...foldersOf(name).flatMap(({ path, project }) => both(path, name, project)),
  ]
  const globalFiles = [{ path: join(folder, "config.json") }, ...both(folder, "opencode")]
  const pluginFolders = [folder, ...foldersOf("opencode").map(({ path }) => path)].flatMap((one) =>
    ["plugin", "plugins"].map((name) => join(one, name)),
  )
  const read = async (places: readonly Place[]) => {
    const once = [...new Map(places.map((place) => [place.path, place])).values()]
    return (await Promise.all(once.map((place) => readPlace(place, env, home)))).filter((file) => file !== undefined)
  }
  const state = join(resolve(env.XDG_STATE_HOME || join(home, ".local", "state")), "opencode")
  const [switched] = await read([{ path: join(state, "kv.json") }])
  // a whole config in an environment variable
  const content = env.OPENCODE_CONFIG_CONTENT
  const around = { env, home, folder: directory }
  return {
    /** the global config folder, which `opencode plugin --global` writes to */
    folder,
    /** of the server; later ones win */
    server: [
      ...(await read(placesOf("opencode", globalFiles, env.OPENCODE_CONFIG))),
      ...(content ? [{ path: "$OPENCODE_CONFIG_CONTENT", changedMs: 0, ...(await parsed(content, around)) }] : []),
      ...(await read(both(machineFolder(env), "opencode"))),
    ],
    tui: await read(placesOf("tui", both(folder, "tui"), env.OPENCODE_TUI_CONFIG)),
    /** where the TUI keeps its own switches; its `plugin_enabled` wins */
    switched,
    /** files in the folders whose plugins are loaded without being listed */
    pluginFiles: (await Promise.all([...new Set(pluginFolders)].map(pluginFilesIn))).flat(),
  }
}

/** As OpenCode reads boolean environment variables. */
export function isOn(value: string | undefined): boolean {
  return /^(?:1|true)$/i.test(value ?? "")
}

type Place = Pick<ConfigFile, "path" | "project">

function both(folder: string, name: string, project?: string): Place[] {
  return [`${name}.json`, `${name}.jsonc`].map((file) => ({ path: join(folder, file), project }))
}

function machineFolder(env: Environment): string {
  if (process.platform === "darwin") return "/Library/Application Support/opencode"
  if (process.platform === "win32") return join(env.ProgramData || "C:\\ProgramData", "opencode")
  return "/etc/opencode"
}

/** The folder and its parents, innermost first. */
function foldersUp(folder: string): string[] {
  const parent = dirname(resolve(folder))
  return [resolve(folder), ...(parent === resolve(folder) ? [] : foldersUp(parent))]
}

async function readPlace(place: Place, env: Environment, home: string): Promise<ConfigFile | undefined> {
  try {
    const found = await stat(place.path)
    // a device such as /dev/null counts as empty; reading a pipe would never end
    if (!found.isFile() && !found.isDirectory()) return undefined
    const text = await readFile(place.path, "utf8")
    // OpenCode ignores an empty file
    if (text.trim() === "") return undefined
    return { ...place, changedMs: found.mtimeMs, ...(await parsed(text, { env, home, folder: dirname(place.path) })) }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === "ENOENT" || code === "ENOTDIR") return undefined
    const problem = code === "EISDIR" ? "is a folder" : `cannot be read (${code ?? "unknown reason"})`
    return { ...place, changedMs: 0, problem }
  }
}

/** What references in a config refer to; `folder` is the one that their paths are relative to. */
type Around = { env: Environment; home: string; folder: string }

/**
 * Replaces `{env:NAME}` and `{file:path}` before it parses the JSON, as OpenCode does. Where the syntax is wrong is left to
 * OpenCode, which says it when it does not start.
 */
async function parsed(text: string, { env, home, folder }: Around): Promise<Pick<ConfigFile, "value" | "problem">> {
  // verbatim, unquoted; an unset variable is empty
  let filled = text.replace(/\{env:([^}]+)\}/g, (_, name: string) => env[name] ?? "")
  const references = filled.replace(/^\s*\/\/.*/gm, "").matchAll(/\{file:([^}]+)\}/g)
  for (const [reference, name = ""] of references) {
    const path = name.startsWith("~/") ? join(home, name.slice(2)) : resolve(folder, name)
    const content = await readFile(path, "utf8").catch(() => undefined)
    // which makes OpenCode reject the config
    if (content === undefined) return { problem: `refers to ${reference}, which cannot be read` }
    // escaped, since the reference is inside quotes
    filled = filled.replaceAll(reference, () => JSON.stringify(content.trim()).slice(1, -1))
  }
  const json = parseJsonc(filled)
  if (json === undefined) return { problem: "is not valid JSON" }
  const value = asRecord(json)
  if (!value) return { problem: "is not a JSON object" }
  const { plugin } = value
  if (plugin === undefined || (Array.isArray(plugin) && plugin.every(isEntry))) return { value }
  return { problem: 'has a "plugin" that is not a list of names or pairs, such as "plugin": [["/path", { … }]]' }
}

function isEntry(entry: unknown): boolean {
  if (!Array.isArray(entry)) return typeof entry === "string"
  return entry.length === 2 && typeof entry[0] === "string" && asRecord(entry[1]) !== undefined
}

async function pluginFilesIn(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => [])
  return names.filter((name) => /\.[jt]s$/.test(name)).map((name) => join(folder, name))
}

/** Strings, which stay, and comments. */
const COMMENT = /("(?:[^"\\\n]|\\.)*")|\/\/[^\n]*|\/\*[\s\S]*?\*\//g
/** Strings, which stay, and commas after the last value. */
const LAST_COMMA = /("(?:[^"\\\n]|\\.)*")|(?<=[\w"}\]]\s*),(?=\s*[}\]])/g

/** The value of JSON with comments and trailing commas; undefined if it is neither. */
export function parseJsonc(text: string): unknown {
  return parseJson(
    text
      .replace(/^\ufeff/, "")
      .replace(COMMENT, "$1 ")
      .replace(LAST_COMMA, "$1"),
  )
}
