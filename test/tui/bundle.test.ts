// The built terminal plugin meets the requirements of OpenCode's loader.

import { afterAll, beforeAll, expect, test } from "bun:test"
import { execFile } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { builtinModules } from "node:module"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"

const run = promisify(execFile)
const root = fileURLToPath(new URL("../..", import.meta.url))
const builder = join(root, "scripts/bundle.ts")

let folder: string
let code: string

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "tui-bundle-"))
  // in a separate process: Babel changes Error's stack traces, which breaks other packages on Bun 1.4
  const script = `await (await import(${JSON.stringify(builder)})).buildTui(${JSON.stringify(root)}, ${JSON.stringify(folder)})`
  await run(process.execPath, ["-e", script], { cwd: root })
  code = readFileSync(join(folder, "tui.js"), "utf8")
})
afterAll(() => rmSync(folder, { recursive: true }))

const isBuiltin = (path: string) => builtinModules.includes(path.replace(/^node:/, ""))

test("imports only what OpenCode replaces with its own copies", () => {
  const targets = new Bun.Transpiler({ loader: "js" }).scanImports(code).map(({ path }) => path)
  expect([...new Set(targets.filter((path) => !isBuiltin(path)))].sort()).toEqual(["@opentui/solid", "solid-js"])
})

test("is formatted so that OpenCode finds each of these imports, and has no mark that makes it skip the file", () => {
  const all = code.match(/["'](?:@opentui\/solid|solid-js)["']/g) ?? []
  // the pattern that @opentui/core searches for
  const found = code.match(/from\s+["'](?:@opentui\/solid|solid-js)["']/g) ?? []
  expect(all.length).toBeGreaterThan(5)
  expect(found).toHaveLength(all.length)
  expect(code).not.toMatch(/^\/\/ @bun/)
})

test("exports only its default", () => {
  expect(new Bun.Transpiler({ loader: "js" }).scan(code).exports).toEqual(["default"])
})

test("has no JSX left, which OpenCode does not transform in node_modules", () => {
  expect(code).not.toMatch(/jsx(?:DEV|s)?\(|<(?:box|text|span)\b/)
})

test("is small", () => {
  expect(code.length).toBeLessThan(110_000)
})
