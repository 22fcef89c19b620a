// The plugins that OpenCode's config lists: where each comes from, whether it is this plugin, and its version.

import { readFile, stat } from "node:fs/promises"
import { basename, dirname, isAbsolute, join, resolve, sep } from "node:path"
import { fileURLToPath } from "node:url"
import * as z from "zod/mini"
import type { Environment } from "../system/data-folder.ts"
import { asRecord, parseAs } from "../system/values.ts"
import type { Config, ConfigFile } from "./config-files.ts"

export const PACKAGE = "opencode-hudfold"

export type ListedPlugin = Awaited<ReturnType<typeof resolveListed>>

/** Every plugin the files list, in their order, including entries OpenCode treats as duplicates. */
export async function listedIn(files: readonly ConfigFile[], env: Environment, home: string, isV2 = false) {
  const entries = files.flatMap((file) => {
    const { plugin, plugins } = file.value ?? {}
    const lists = [plugin, isV2 && plugins].filter((list) => Array.isArray(list))
    return lists.flat().flatMap((entry: unknown) => {
      // OpenCode 2's own form of a pair
      const { package: named = entry, options: given } = asRecord(entry) ?? {}
      const [spec, options] = Array.isArray(entry) ? entry : [named, given]
      return typeof spec === "string" && spec !== "" ? [{ spec, options: options as unknown, file }] : []
    })
  })
  return Promise.all(entries.map((entry) => resolveListed(entry, env, home)))
}

/** The server's files as OpenCode merges them: within the global folder, a later plugin list replaces an earlier one. */
export function mergedFiles(config: Config): ConfigFile[] {
  const isGlobal = ({ path }: ConfigFile) => dirname(path) === config.folder
  const last = config.server.findLast((file) => isGlobal(file) && Array.isArray(file.value?.plugin))
  return config.server.filter((file) => !isGlobal(file) || file === last)
}

/** The last entry of each plugin, as in OpenCode: packages are identified by name, files by path, which may end in a slash. */
export function withoutDuplicates(listed: readonly ListedPlugin[]): ListedPlugin[] {
  const idOf = ({ path, name, spec }: ListedPlugin) => (path ?? name) + (/[/\\]$/.test(spec) ? "/" : "")
  return [...new Map(listed.map((one) => [idOf(one), one])).values()]
}

export function isOurs({ name }: ListedPlugin): boolean {
  return name === PACKAGE
}

type Entry = { spec: string; options: unknown; file: ConfigFile }

async function resolveListed({ spec, options, file }: Entry, env: Environment, home: string) {
  const path = pathOf(spec, dirname(file.path))
  const found = path === undefined ? await packageNamed(spec, env, home) : await packageAt(path)
  return {
    /** as written, without the options */
    spec,
    options,
    file,
    /** of a plugin given by a path */
    path,
    ...found,
  }
}

async function packageNamed(spec: string, env: Environment, home: string) {
  const name = npmNameOf(spec)
  return { name, place: "package", folder: undefined, version: await cachedVersion(name, spec, env, home) } as const
}

async function packageAt(path: string) {
  const there = await stat(path).catch(() => undefined)
  const around = await packageAround(path)
  return {
    // a missing path, or one without a package.json, is identified only by the path
    name: around?.name ?? (path.split(/[\\/]/).includes(PACKAGE) ? PACKAGE : basename(path)),
    place: !there ? "nothing" : there.isDirectory() ? "folder" : "file",
    /** that of the package.json around the path */
    folder: around?.folder,
    /** the installed one; undefined if unknown */
    version: around?.version,
  } as const
}

function pathOf(spec: string, folder: string): string | undefined {
  if (spec.startsWith("file://")) {
    try {
      return fileURLToPath(spec)
    } catch {
      return undefined
    }
  }
  // a path with ~ leads nowhere, since OpenCode does not replace it
  return /^[.~]/.test(spec) || isAbsolute(spec) ? resolve(folder, spec) : undefined
}

/** `@owner/name@1.2.3` gives `@owner/name`; an alias gives its target. */
export function npmNameOf(spec: string): string {
  const alias = /^.+@npm:(.+)$/.exec(spec)?.[1]
  return alias === undefined ? (/^(?:@[^/]+\/)?[^@]+/.exec(spec)?.[0] ?? spec) : npmNameOf(alias)
}

/** OpenCode keeps an installed package in a folder named after the spec, and never looks for a newer version. */
async function cachedVersion(name: string, spec: string, env: Environment, home: string): Promise<string | undefined> {
  const packages = join(resolve(env.XDG_CACHE_HOME || join(home, ".cache")), "opencode", "packages")
  for (const folder of [spec, `${spec}@latest`]) {
    const found = await readManifest(join(packages, folder, "node_modules", name))
    if (found?.version) return found.version
  }
  return undefined
}

/** What lists this copy of the plugin: its folder, or the package's name if it is in a cache (of OpenCode, npx or bunx). */
export async function specOf(file: string): Promise<string> {
  const around = await packageAround(dirname(file))
  const isCached = around?.folder.split(sep).some((name) => name === "_npx" || name.includes(`${PACKAGE}@`))
  return around?.name === PACKAGE && !isCached ? around.folder : PACKAGE
}

async function packageAround(path: string) {
  for (let folder = path; dirname(folder) !== folder; folder = dirname(folder)) {
    const found = await readManifest(folder)
    if (found?.name) return { ...found, folder }
  }
  return undefined
}

const text = z.catch(z.optional(z.string()), undefined)
const manifestSchema = z.object({ name: text, version: text })

async function readManifest(folder: string) {
  return parseAs(manifestSchema, await readFile(join(folder, "package.json"), "utf8").catch(() => ""))
}
