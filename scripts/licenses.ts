// The packages whose code ships, found from the modules in the bundles, and their licences. A package may itself contain
// bundled code of others; its source maps and notices name them.

import { existsSync } from "node:fs"
import { readdir, readFile } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

export type Licensed = {
  name: string
  /** undefined where the containing package does not say */
  version?: string | undefined
  /** SPDX expression */
  licence: string
  /** licence and notices; empty where the containing package's text includes them */
  text: string
  /** the package that contains its code */
  within?: string | undefined
}

/** Licences of packages that ship without the text, or inside another package; the files are in scripts/licenses. */
const KEPT_LICENCES: Readonly<Record<string, { licence: string; file: string }>> = {
  "drizzle-orm": { licence: "Apache-2.0", file: "apache-2.0.txt" },
}
const LICENCE = /[/\\](?:licen[cs]e|copying)(?:[.-][\w.-]+)?$/i
const NOTICE = /[/\\](?:notice|third-?party)[\w.-]*$/i
/** The innermost package of a path: its folder, and its name. */
const PACKAGE = /^(.*[/\\]node_modules[/\\]((?:@[^/\\]+[/\\])?[^/\\]+))[/\\]/

/** The licences of modules by absolute path, without this repository's. Rejects when a licence text is missing. */
export async function licensesOf(modules: readonly string[]): Promise<Licensed[]> {
  const folders = new Map(
    modules.flatMap((path) => {
      const [, folder, name] = PACKAGE.exec(path) ?? []
      return folder && name ? [[folder, name.replaceAll("\\", "/")] as const] : []
    }),
  )
  const own = await Promise.all([...folders].map(([folder, name]) => ownLicence(folder, name)))
  const others = await Promise.all(modules.map(inlined))
  const all = [...own.flat(), ...others.flat()]
  // several modules of a package name the same inlined ones
  const distinct = new Map(all.map((one) => [`${one.name} ${one.version} ${one.within}`, one]))
  return [...distinct.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** The file that ships with the code. */
export function licensesText(licensed: readonly Licensed[]): string {
  const titles = new Map<string, string[]>()
  for (const { name, version, licence, text, within } of licensed) {
    const title = `${name}${version ? ` ${version}` : ""} (${licence})${within ? `, in ${within}` : ""}`
    if (text) titles.set(text, [...(titles.get(text) ?? []), title])
  }
  const texts = [...titles].map(([text, names]) => `${names.join("\n")}\n\n${text}`)
  return `The files of this folder contain code of these packages.\n\n${texts.join(`\n${"-".repeat(80)}\n\n`)}`
}

/** The package's licence, and those that its notices name. */
async function ownLicence(folder: string, name: string): Promise<Licensed[]> {
  const { version, license } = JSON.parse(await readFile(join(folder, "package.json"), "utf8")) as {
    version: string
    license: string
  }
  // bundlers put the notices of inlined packages beside their output
  const files = (await Promise.all([folder, join(folder, "dist")].map(namesIn))).flat()
  const found = files.filter((path) => LICENCE.test(path) || NOTICE.test(path))
  const texts = await Promise.all(found.map(textOf))
  if (!found.some((path) => LICENCE.test(path))) texts.unshift(await keptText(name))
  const named = texts.flatMap((text) => [...text.matchAll(/^## (\S+)\n+License: (.+)$/gm)])
  return [
    { name, version, licence: license, text: texts.join("\n") },
    ...named.map(([, one = "", licence = ""]) => ({ name: one, licence, text: "", within: name })),
  ]
}

/** Other packages whose code is in the module, according to its source map. */
async function inlined(module: string): Promise<Licensed[]> {
  const within = PACKAGE.exec(module)?.[2]?.replaceAll("\\", "/")
  if (!within || !existsSync(`${module}.map`)) return []
  const { sources } = JSON.parse(await readFile(`${module}.map`, "utf8")) as { sources: string[] }
  const names = new Map(
    sources.flatMap((path) => {
      const name = PACKAGE.exec(path)?.[2]
      // only pnpm's folder name has the version
      return name ? [[name, /\/\.pnpm\/[^/]+@([\d.]+)/.exec(path)?.[1]] as const] : []
    }),
  )
  return Promise.all(
    [...names].map(async ([name, version]) => ({
      ...{ name, version, within },
      ...{ licence: KEPT_LICENCES[name]?.licence ?? "", text: await keptText(name) },
    })),
  )
}

async function keptText(name: string): Promise<string> {
  const kept = KEPT_LICENCES[name]
  if (kept) return textOf(fileURLToPath(new URL(`licenses/${kept.file}`, import.meta.url)))
  const what = `code of ${name} ships, but the text of its licence is missing`
  throw new Error(`${what}; add it to scripts/licenses and name it in scripts/licenses.ts`)
}

async function textOf(path: string): Promise<string> {
  return `${(await readFile(path, "utf8")).replaceAll("\r\n", "\n").trimEnd()}\n`
}

async function namesIn(folder: string): Promise<string[]> {
  return (await readdir(folder).catch(() => [])).sort().map((name) => join(folder, name))
}
