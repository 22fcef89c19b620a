// Words that plain technical English does not need, in the sources, the tests' names, the docs and the README. Prints each
// line that has one, with the word to use instead, and fails when there is any.

import { readdirSync, readFileSync, statSync } from "node:fs"
import { fileURLToPath } from "node:url"

const AVOIDED: readonly { word: RegExp; instead: string }[] = [
  { word: /\banew\b/i, instead: "again" },
  { word: /\breckon\w*/i, instead: "estimate, compute, price" },
  { word: /\bto the (?:letter|byte)\b/i, instead: "verbatim, byte for byte" },
  { word: /\bbel(?:y|ies|ied)\b/i, instead: "contradict" },
  { word: /\btelling\b/i, instead: "revealing, reporting" },
  { word: /\bdisown\w*/i, instead: "release" },
  { word: /\bcrowded\b/i, instead: "over the limit" },
  { word: /\btold apart\b/i, instead: "distinguished" },
  { word: /\bhas no part in\b/i, instead: "does not take part in" },
  { word: /\bno more than its words\b/i, instead: "only text" },
  { word: /\bbut for\b/i, instead: "except" },
  { word: /\bsave that\b/i, instead: "except that" },
  { word: /\b(?:hither|thither|whence|thence|hence)\b/i, instead: "here, there, from where, so" },
  { word: /\blest\b|\bwont\b|\bheed(?:s|ed)?\b/i, instead: "so that not, usually, follow" },
]

const root = fileURLToPath(new URL("..", import.meta.url))
const NAME = /\b(?:test|describe)\b[\w.<>[\], ]*\(\s*(?:named\()?(["'`])(.*?)\1/g

/** The text of a file that people read: all of it, of a test its comments and the names of its tests. */
const FILES: readonly { under: string; ext: RegExp; read(text: string): string }[] = [
  { under: "src", ext: /\.tsx?$/, read: (text) => text },
  { under: "sidecar", ext: /^[^/]*\.(?:ts|md)$/, read: (text) => text },
  { under: "test", ext: /\.tsx?$/, read: (text) => text.split("\n").map(readInTest).join("\n") },
  { under: "docs", ext: /\.md$/, read: (text) => text },
  { under: "README.md", ext: /\.md$/, read: (text) => text },
  { under: "CHANGELOG.md", ext: /\.md$/, read: (text) => text },
]

function readInTest(line: string): string {
  if (/^\s*(?:\/\/|\/?\*)/.test(line)) return line
  return [...line.matchAll(NAME)].map(([, , name = ""]) => name).join(" ")
}

function filesUnder(path: string): string[] {
  if (statSync(root + path).isFile()) return [path]
  return readdirSync(root + path, { recursive: true, encoding: "utf8" })
    .map((name) => name.replaceAll("\\", "/"))
    .filter((name) => !name.includes("node_modules/") && !name.includes("fixtures/"))
    .map((name) => `${path}/${name}`)
}

let found = 0
for (const { under, ext, read } of FILES)
  for (const path of filesUnder(under)) {
    if (!ext.test(path.startsWith(`${under}/`) ? path.slice(under.length + 1) : path)) continue
    for (const [at, line] of read(readFileSync(root + path, "utf8"))
      .split("\n")
      .entries())
      for (const { word, instead } of AVOIDED) {
        const [said] = word.exec(line) ?? []
        if (said === undefined) continue
        found++
        process.stdout.write(`${path}:${at + 1}: "${said}"; write: ${instead}\n`)
      }
  }
process.stdout.write(`${found} words to avoid\n`)
process.exitCode = found ? 1 : 0
