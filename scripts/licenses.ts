// Which packages' code is in what ships, found from the modules that the bundler put there, and their licences. A package
// may hold code of others, put into its files when it was built: its source maps and its notices say whose.

import { existsSync } from "node:fs"
import { readdir, readFile } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

export type Licensed = {
  name: string
  /** undefined where the package that holds it does not say */
  version?: string | undefined
  /** SPDX expression */
  licence: string
  /** licence and notices; empty where the text stands with those of the package it is in */
  text: string
  /** the package that holds its code */
  within?: string | undefined
}

/** The licences of packages that come without the text of theirs, or inside another one. Files of scripts/licenses. */
const KEPT: Readonly<Record<string, { licence: string; file: string }>> = {
  "drizzle-orm": { licence: "Apache-2.0", file: "apache-2.0.txt" },
  "lodash.sortby": { licence: "MIT", file: "lodash.txt" },
  "lodash.uniq": { licence: "MIT", file: "lodash.txt" },
  "lodash.uniqwith": { licence: "MIT", file: "lodash.txt" },
  "escape-string-regexp": { licence: "MIT", file: "escape-string-regexp.txt" },
  "@textlint/regexp-string-matcher": { licence: "MIT", file: "regexp-string-matcher.txt" },
}
const LICENCE = /[/\\](?:licen[cs]e|copying)(?:[.-][\w.-]+)?$/i
const NOTICE = /[/\\](?:notice|third-?party)[\w.-]*$/i
/** The innermost package of a path: its folder, and its name. */
const PACKAGE = /^(.*[/\\]node_modules[/\\]((?:@[^/\\]+[/\\])?[^/\\]+))[/\\]/

/** Of modules by absolute path, those of this repository left out. Rejects when a package's licence has no text. */
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
  // the parts of a package name the same others
  const distinct = new Map(all.map((one) => [`${one.name} ${one.version} ${one.within}`, one]))
  return [...distinct.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** The file that goes along with the code. */
export function licensesText(licensed: readonly Licensed[]): string {
  const titles = new Map<string, string[]>()
  for (const { name, version, licence, text, within } of licensed) {
    const title = `${name}${version ? ` ${version}` : ""} (${licence})${within ? `, in ${within}` : ""}`
    if (text) titles.set(text, [...(titles.get(text) ?? []), title])
  }
  const texts = [...titles].map(([text, names]) => `${names.join("\n")}\n\n${text}`)
  return `The files of this folder contain code of these packages.\n\n${texts.join(`\n${"-".repeat(80)}\n\n`)}`
}

/** The package's, and of those its notices name. */
async function ownLicence(folder: string, name: string): Promise<Licensed[]> {
  const { version, license } = JSON.parse(await readFile(join(folder, "package.json"), "utf8")) as {
    version: string
    license: string
  }
  // bundlers leave the notice of what they put in beside what they made
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

/** Other packages whose code is in the module, as its source map has it. */
async function inlined(module: string): Promise<Licensed[]> {
  const within = PACKAGE.exec(module)?.[2]?.replaceAll("\\", "/")
  if (!within || !existsSync(`${module}.map`)) return []
  const { sources } = JSON.parse(await readFile(`${module}.map`, "utf8")) as { sources: string[] }
  const names = new Map(
    sources.flatMap((path) => {
      const name = PACKAGE.exec(path)?.[2]
      // pnpm's folder is the only place that has the version
      return name ? [[name, /\/\.pnpm\/[^/]+@([\d.]+)/.exec(path)?.[1]] as const] : []
    }),
  )
  return Promise.all(
    [...names].map(async ([name, version]) => ({
      ...{ name, version, within },
      ...{ licence: KEPT[name]?.licence ?? "", text: await keptText(name) },
    })),
  )
}

async function keptText(name: string): Promise<string> {
  const kept = KEPT[name]
  if (kept) return textOf(fileURLToPath(new URL(`licenses/${kept.file}`, import.meta.url)))
  const what = `the code of ${name} is in what ships, and nothing has the text of its licence`
  throw new Error(`${what}; put it into scripts/licenses and name it in scripts/licenses.ts`)
}

async function textOf(path: string): Promise<string> {
  return `${(await readFile(path, "utf8")).replaceAll("\r\n", "\n").trimEnd()}\n`
}

async function namesIn(folder: string): Promise<string[]> {
  return (await readdir(folder).catch(() => [])).sort().map((name) => join(folder, name))
}
