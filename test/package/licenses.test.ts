// Licences: what ships names whose code it contains, every pinned package has an acceptable licence, and nothing in the tree is
// under a licence that covers more than its own file.

import { afterAll, describe, expect, test } from "bun:test"
import { execFile } from "node:child_process"
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, relative } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { licensesOf, licensesText } from "../../scripts/licenses.ts"
import { type Manifest, nameOf, readLock } from "../support/lock.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))
const folder = mkdtempSync(join(tmpdir(), "opencode-hudfold-licences-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

// in a process of its own: what Babel does to Error's stack traces breaks other packages on Bun 1.4
const script = `const { bundle } = await import(${JSON.stringify(join(root, "scripts/bundle.ts"))})
  process.stdout.write((await bundle(${JSON.stringify(folder)})).join("\\n"))`
const modules = (await promisify(execFile)(process.execPath, ["-e", script], { cwd: root })).stdout.split("\n")
const foreign = modules.filter((path) => path.includes("node_modules"))
const shipped = readFileSync(join(root, "dist/licenses.txt"), "utf8")

describe("dist/licenses.txt", () => {
  test.each([...new Set(foreign.map(packageOf))])("names %s and has the text of its licence", (name) => {
    const { version, license } = manifestOf(join("node_modules", name))
    const [, section = ""] = shipped.split(`\n${name} ${version} (${license})\n`)
    expect(section.split("-".repeat(80))[0]).toMatch(/Permission is hereby granted|TERMS AND CONDITIONS FOR USE/)
  })

  test("names every copyright holder that a bundled module names", () => {
    const holders = foreign.flatMap((path) => {
      const named = readFileSync(path, "utf8").matchAll(/^.*\bcopyright\b(?! notice|.*\bholders?\b)(.*)$/gim)
      return [...named].map(([, rest = ""]) => `${packageOf(path)}: ${holderIn(rest)}`)
    })
    expect([...new Set(holders)].filter((one) => !words(shipped).includes(words(one.split(": ")[1] ?? "")))).toEqual([])
    expect(foreign.length).toBeGreaterThan(0)
  })

  test("names nobody whose code is not in dist", async () => {
    expect(shipped).toBe(licensesText(await licensesOf(modules)))
  })
})

describe("for a package with third-party code", () => {
  test("its notice names the authors", async () => {
    const one = join(folder, "node_modules/bundler")
    await Bun.write(join(one, "package.json"), `{ "version": "1.0.0", "license": "MIT" }`)
    await Bun.write(join(one, "LICENSE"), "MIT License")
    await Bun.write(join(one, "dist/NOTICE.md"), "## inner\n\nLicense: ISC\nCopyright (c) Somebody\n")
    await Bun.write(join(one, "dist/index.mjs"), "")
    const found = await licensesOf([join(one, "dist/index.mjs")])
    expect(found.map(({ name, within }) => [name, within])).toEqual([
      ["bundler", undefined],
      ["inner", "bundler"],
    ])
    expect(licensesText(found)).toContain("Copyright (c) Somebody")
  })

  test("its source map names the packages, each of which needs the text of its licence", async () => {
    const preset = "@secretlint/secretlint-rule-preset-recommend"
    const found = licensesOf([join(root, "node_modules", preset, "module/index.js")])
    await expect(found).rejects.toThrow("code of lodash.uniq ships, but the text of its licence is missing")
  })

  test("the build fails when a licence text is missing", async () => {
    const path = join(folder, "node_modules/some/index.js")
    await Bun.write(path, "")
    await Bun.write(join(folder, "node_modules/some/package.json"), `{ "version": "1.0.0", "license": "MIT" }`)
    await expect(licensesOf([path])).rejects.toThrow("code of some ships, but the text of its licence is missing")
  })
})

/** What asks for no more than its text and its names to go along. */
const FREE = [
  "MIT",
  "ISC",
  "0BSD",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "Apache-2.0",
  "BlueOak-1.0.0",
  "CC0-1.0",
  "Unlicense",
]
/** Packages that name none of these in their manifest, each with what it is under. */
const LOOKED_AT: Readonly<Record<string, string>> = {
  "caniuse-lite": "CC-BY-4.0: browsers' names and dates, read by Babel, of which nothing ships",
  "opencode-linux-x64": "no licence named: opencode-ai's program for this machine, and opencode-ai is under MIT",
  "opencode-linux-x64-baseline": "the same",
}
/** As their texts and file headers have it, not as one speaks of them. */
const REACHING_TEXT =
  /GNU (?:Affero )?General Public Licen[cs]e|SPDX-License-Identifier: *\(?A?GPL|Server Side Public Licen[cs]e/i

describe.each([
  ["the plugin's lock", "."],
  ["the engine's lock", "sidecar"],
])("%s", (_, place) => {
  const { pins } = readLock(place)

  test("has no package under an unreviewed licence", () => {
    const others = [...pins].filter(([, { license }]) => !isFree(license)).map(([path]) => nameOf(path))
    expect(others.filter((name) => !LOOKED_AT[name])).toEqual([])
    if (place === "sidecar") expect(others).toEqual([])
  })

  test("gives each package the licence that the installed one names", () => {
    const installed = [...pins].filter(([path]) => existsSync(join(root, place, path, "package.json")))
    const wrong = installed.filter(([path, { license }]) => manifestOf(join(place, path)).license !== license)
    expect(wrong.map(([path]) => path)).toEqual([])
    expect(installed.length).toBeGreaterThan(50)
  })

  test("has no installed package whose licence text differs from its manifest", () => {
    const reaching = [...pins.keys()].flatMap((path) => {
      const at = join(root, place, path)
      const files = existsSync(at) ? readdirSync(at).filter((name) => /^(?:licen[cs]e|copying)/i.test(name)) : []
      return files
        .filter((name) => REACHING_TEXT.test(readFileSync(join(at, name), "utf8")))
        .map((name) => `${path}/${name}`)
    })
    expect(reaching).toEqual([])
  })
})

test("no file of the repository or of dist has the text or the mark of a copyleft licence", () => {
  const files = filesBelow(root)
  const reaching = files.filter((path) => REACHING_TEXT.test(readFileSync(path, "latin1")))
  expect(reaching.map((path) => relative(root, path))).toEqual([])
  expect(files.length).toBeGreaterThan(500)
})

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return /^(?:node_modules.*|\.git)$/.test(entry.name) ? [] : filesBelow(path)
    return entry.isFile() ? [path] : []
  })
}

/** Of a module in it. */
function packageOf(path: string): string {
  return /^(?:@[^/]+\/)?[^/]+/.exec(nameOf(path))?.[0] ?? ""
}

/** An SPDX expression of which a user may choose a free one. */
function isFree(licence = ""): boolean {
  const choices = licence.replace(/[()]/g, "").split(" OR ")
  return choices.some((all) => all.split(" AND ").every((one) => FREE.includes(one)))
}

/** The name in what follows the word: without the years, the sign, an address and the sentence after it. */
function holderIn(rest: string): string {
  const [name = ""] = rest.replace(/\(c\)|©|\d{4}(?:\s*-\s*(?:\d{4}|present))?/gi, "").split(/[.<*(]|\ball rights\b/i)
  return name.replace(/^[\s,:-]+|[\s,]+$/g, "")
}

/** However it is broken into lines. */
const words = (text: string) => text.split(/[\s*]+/).join(" ")

function manifestOf(path: string): Manifest {
  return JSON.parse(readFileSync(join(root, path, "package.json"), "utf8")) as Manifest
}
