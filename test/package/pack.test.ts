// The tarball: every file in it is intended, none reveals the machine it was built on, and all come from the present sources.

import { afterAll, describe, expect, test } from "bun:test"
import { execFile } from "node:child_process"
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { findTokens } from "../../src/text/redact/token-formats.ts"
import { pack, textsIn } from "../support/pack.ts"
import { RULES, reportedBy } from "../support/secretlint.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))
const MAX_PACKED_BYTES = 1_100_000
const folder = mkdtempSync(join(tmpdir(), "opencode-hudfold-supply-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const packed = await pack(folder)
const paths = packed.files.map(({ path }) => path)
const texts = [...(await textsIn(packed.tarball))]
const count = (room: string, name: RegExp) =>
  readdirSync(join(root, room), { recursive: true, encoding: "utf8" }).filter((path) => name.test(path)).length
/** Of Amazon's documentation, in the rule that leaves it alone. */
const EXAMPLE = ["AKIA", "IOSFODNN7EXAMPLE"].join("")

/** Every file that ships is one of these, and of each there are so many. */
const KINDS: [what: string, path: RegExp, files: number][] = [
  ["what npm always packs", /^(?:package\.json|README\.md|LICENSE)$/, 3],
  ["the changes", /^CHANGELOG\.md$/, 1],
  ["the documents that README.md links to", /^docs\/[a-z]+\.md$/, count("docs", /^[a-z]+\.md$/)],
  [
    "the decisions that the documents link to",
    /^docs\/decisions\/\d{3}-[a-z-]+\.md$/,
    count("docs/decisions", /\.md$/),
  ],
  ["the options", /^(?:opencode\.json\.example|options\.schema\.json)$/, 2],
  ["the entries and their types", /^(?:dist\/(?:plugin|tui)\.js|types\/(?:server|tui)\.d\.ts)$/, 4],
  ["OpenCode 2's entries of a folder", /^(?:server|tui)\.js$/, 2],
  ["the programs", /^dist\/(?:cli|sidecar)\.js$/, 2],
  ["the report's page", /^dist\/report-page\.(?:js|css)$/, 2],
  ["the licences", /^dist\/licenses\.txt$/, 1],
  ["what the entries share", /^dist\/chunk-[0-9a-z]{8}\.js$/, count("dist", /^chunk-/)],
  ["the sources", /^src\/(?:[a-z0-9-]+\/)*[a-z0-9-]+\.tsx?$/, count("src", /\.tsx?$/)],
  ["the page's style and settings", /^src\/report\/page\/(?:report\.css|tsconfig\.json)$/, 2],
  ["the sidecar's sources", /^sidecar\/[a-z-]+\.ts$/, count("sidecar", /^[^/]+\.ts$/)],
  ["the engine's pins", /^sidecar\/package(?:-lock)?\.json$/, 2],
]
/** Not after what makes it a part of a longer path, a pattern or a template. */
const SOMEBODYS_FOLDER =
  /(?<![\w.~}-])(?:\/(?:home|Users|root|work|tmp|var\/folders|workspace|builds?)\/|[A-Z]:\\+Users\\+)[\w.-]*/g

describe("the package", () => {
  test.each(KINDS)("holds %s", (_, pattern, files) => {
    expect(paths.filter((path) => pattern.test(path))).toHaveLength(files)
  })

  test("holds nothing else", () => {
    expect(paths.filter((path) => !KINDS.some(([, pattern]) => pattern.test(path)))).toEqual([])
    expect(texts.map(([path]) => path).sort()).toEqual([...paths].sort())
  })

  test("has every file and folder that its documents link to, except pictures", () => {
    const links = texts
      .filter(([path]) => path.endsWith(".md"))
      .flatMap(([path, text]) =>
        [...text.matchAll(/\]\((?!https?:)([^)#\s]+)/g)].map(([, to = ""]) =>
          join(dirname(path), to).replace(/\/$/, ""),
        ),
      )
    expect(links.length).toBeGreaterThan(50)
    const isThere = (link: string) => paths.some((path) => path === link || path.startsWith(`${link}/`))
    expect(links.filter((link) => !link.endsWith(".png") && !isThere(link))).toEqual([])
  })

  test("has one executable file, which starts with a shebang", () => {
    expect(packed.files.filter(({ mode }) => mode & 0o111).map(({ path }) => path)).toEqual(["dist/cli.js"])
    expect(new Map(texts).get("dist/cli.js")).toStartWith("#!/usr/bin/env node\n")
  })

  test("has no file that others may write to", () => {
    expect(packed.files.filter(({ mode }) => mode & 0o022)).toEqual([])
  })

  test("is small", () => {
    expect(packed.sizeBytes).toBeLessThan(MAX_PACKED_BYTES)
  })

  test.each(["README.md", "docs/install.md"])("has the size that %s promises", (page) => {
    const size = `${(packed.unpackedBytes / 1e6).toFixed(1)} MB`
    expect(readFileSync(join(root, page), "utf8")).toMatch(new RegExp(`${size} (?:unpacked|installed)`))
  })

  test("has no dependencies and no install scripts", () => {
    const manifest = JSON.parse(new Map(texts).get("package.json") ?? "") as Record<string, object>
    const needs = Object.keys(manifest).filter((field) => /dependencies/i.test(field))
    expect(needs).toEqual(["devDependencies"])
    expect(Object.keys(manifest.scripts ?? {}).filter((name) => /install$/.test(name))).toEqual([])
  })

  test("has no file with Bun's mark, with which Bun reads every character beyond ASCII as several", () => {
    expect(texts.filter(([path, text]) => path.startsWith("dist/") && text.includes("// @bun"))).toEqual([])
  })

  test("has no map and no test", () => {
    expect(paths.filter((path) => /\.map$|(?:^|[./])(?:test|spec|fixtures?)[./]|\/\./.test(path))).toEqual([])
    expect(texts.filter(([, text]) => /[#@] sourceMappingURL=/.test(text)).map(([path]) => path)).toEqual([])
  })

  test("names no folder of the checkout", () => {
    const folders = ["src", "node_modules", "scripts"].map((name) => join(root, name))
    expect(texts.filter(([, text]) => folders.some((path) => text.includes(path))).map(([path]) => path)).toEqual([])
  })

  test("names no home or machine folder except in examples", () => {
    const found = texts.flatMap(([path, text]) => (text.match(SOMEBODYS_FOLDER) ?? []).map((one) => `${path}: ${one}`))
    expect(found.filter((one) => !/\/home\/(?:you|me)$/.test(one))).toEqual([])
  })

  /** By the rules that tell one from its form: those that go by names find their own patterns. */
  test("has no secret except a rule's own example", () => {
    const found = texts.flatMap(([path, text]) => {
      const spans = RULES.flatMap((rule) => reportedBy(rule, text))
      findTokens(text, (from, to) => void spans.push(text.slice(from, to)))
      return spans.map((span) => `${path}: ${span.slice(0, 100)}`)
    })
    expect(found.filter((one) => !one.endsWith(`: ${EXAMPLE}`))).toEqual([])
  })
})

describe("the build", () => {
  test("gives the same bytes in another folder, and dist is built from these sources", async () => {
    const again = join(folder, "again")
    await promisify(execFile)(process.execPath, [join(root, "scripts/build.ts"), again], { cwd: tmpdir() })
    const bytesOf = (dist: string) =>
      Object.fromEntries(
        readdirSync(dist)
          .sort()
          .map((name) => [name, Bun.hash(readFileSync(join(dist, name))).toString()]),
      )
    expect(bytesOf(join(root, "dist"))).toEqual(bytesOf(again))
    expect(statSync(join(root, "dist")).mode & 0o777).toBe(0o755)
  })
})
