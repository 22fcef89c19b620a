// The plugins that OpenCode's config lists: where each comes from, which one is ours, which version it is.

import { readFile, stat } from "node:fs/promises"
import { basename, dirname, isAbsolute, join, resolve } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import type { Environment } from "../system/data-folder.ts"
import type { Config, ConfigFile } from "./config-files.ts"

export const OURS = "opencode-hudfold"

export type Listed = {
  /** as it is written, without the options */
  spec: string
  options: unknown
  file: ConfigFile
  /** the npm package's name, or what the package.json around a path says */
  name: string
  place: "package" | "folder" | "file" | "nothing"
  /** of a plugin that is no package */
  path?: string
  /** that of the package.json around the path */
  folder?: string
  /** as installed; undefined where that is not known */
  version?: string
}

/** All that the files list, in their order, with what OpenCode takes for the same plugin left in. */
export async function listedIn(files: readonly ConfigFile[], env: Environment, home: string): Promise<Listed[]> {
  const entries = files.flatMap((file) => {
    const { plugin } = file.value ?? {}
    return (Array.isArray(plugin) ? plugin : []).flatMap((entry: unknown) => {
      const [spec, options] = Array.isArray(entry) ? entry : [entry]
      return typeof spec === "string" && spec !== "" ? [{ spec, options: options as unknown, file }] : []
    })
  })
  return Promise.all(entries.map((entry) => resolveListed(entry, env, home)))
}

/** The server's files as OpenCode merges them: within the global folder a list takes the place of the one before. */
export function mergedFiles(config: Config): ConfigFile[] {
  const isGlobal = ({ path }: ConfigFile) => dirname(path) === config.folder
  const last = config.server.filter((file) => isGlobal(file) && Array.isArray(file.value?.plugin)).at(-1)
  return config.server.filter((file) => !isGlobal(file) || file === last)
}

/** One of each plugin, the later one, as OpenCode does it: packages by their name, files by where they are. */
export function withoutDoubles(listed: readonly Listed[]): Listed[] {
  return [...new Map(listed.map((one) => [keyOf(one), one])).values()]
}

export function isOurs({ name }: Pick<Listed, "name">): boolean {
  return name === OURS
}

function keyOf({ name, path }: Listed): string {
  return path === undefined ? name : pathToFileURL(path).href
}

type Entry = Pick<Listed, "spec" | "options" | "file">

async function resolveListed(entry: Entry, env: Environment, home: string): Promise<Listed> {
  const { spec, file } = entry
  const path = pathOf(spec, dirname(file.path))
  if (path === undefined) {
    const name = packageName(spec)
    const version = await cachedVersion(name, spec, env, home)
    return { ...entry, name, place: "package", ...(version === undefined ? {} : { version }) }
  }
  const there = await stat(path).catch(() => undefined)
  const place = there === undefined ? "nothing" : there.isDirectory() ? "folder" : "file"
  const { name, ...around } = await packageAround(path)
  // what is not there, or has no package.json, is known by its path at most
  return {
    ...entry,
    ...around,
    name: name ?? (path.split(/[\\/]/).includes(OURS) ? OURS : basename(path)),
    path,
    place,
  }
}

function pathOf(spec: string, folder: string): string | undefined {
  if (spec.startsWith("file://")) {
    try {
      return fileURLToPath(spec)
    } catch {
      return undefined
    }
  }
  return spec.startsWith(".") || isAbsolute(spec) ? resolve(folder, spec) : undefined
}

/** `@owner/name@1.2.3` is `@owner/name`; an alias is what it stands for. */
export function packageName(spec: string): string {
  const alias = /^.+@npm:(.+)$/.exec(spec)?.[1]
  return alias === undefined ? (/^(?:@[^/]+\/)?[^@]+/.exec(spec)?.[0] ?? spec) : packageName(alias)
}

/** OpenCode keeps what it has installed in a folder named by the spec, and never looks for a newer one. */
async function cachedVersion(name: string, spec: string, env: Environment, home: string): Promise<string | undefined> {
  const packages = join(resolve(env.XDG_CACHE_HOME || join(home, ".cache")), "opencode", "packages")
  for (const folder of [spec, `${spec}@latest`]) {
    const found = await readManifest(join(packages, folder, "node_modules", name))
    if (found?.version) return found.version
  }
  return undefined
}

async function packageAround(path: string): Promise<Manifest & { folder?: string }> {
  for (let folder = path; dirname(folder) !== folder; folder = dirname(folder)) {
    const found = await readManifest(folder)
    if (found?.name) return { ...found, folder }
  }
  return {}
}

type Manifest = { name?: string; version?: string }

async function readManifest(folder: string): Promise<Manifest | undefined> {
  try {
    const { name, version } = JSON.parse(await readFile(join(folder, "package.json"), "utf8")) as Record<
      string,
      unknown
    >
    return {
      ...(typeof name === "string" ? { name } : {}),
      ...(typeof version === "string" ? { version } : {}),
    }
  } catch {
    return undefined
  }
}
