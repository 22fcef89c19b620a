// The arrows between the folders go one way. Walks every import of the sources.

import { expect, test } from "bun:test"
import { readdirSync, readFileSync } from "node:fs"
import { dirname, join, relative, sep } from "node:path"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("../src", import.meta.url))
const files = readdirSync(root, { recursive: true, encoding: "utf8" }).filter((name) => /\.tsx?$/.test(name))

/** What each folder may import: other folders, and packages by name. A folder may always import itself. */
const ALLOWED: Record<string, readonly string[]> = {
  "plugin.ts": ["hooks", "core", "digest", "options.ts", "@opencode-ai/plugin"],
  "private-folder.ts": ["node:*"],
  "options.ts": ["core", "protocol", "zod/mini"],
  core: ["zod/mini", "tokenx", "picomatch", "@secretlint/secretlint-rule-preset-recommend"],
  protocol: ["zod/mini", "vscode-jsonrpc", "node:*"],
  sidecar: ["protocol", "core", "private-folder.ts", "zod/mini", "vscode-jsonrpc/*", "bun:sqlite", "node:*"],
  digest: [
    ...["core", "sidecar", "protocol", "options.ts", "private-folder.ts"],
    ...["package.json", "zod/mini", "node:*"],
  ],
  // and of the store where the data folder lies
  status: ["core", "store", "private-folder.ts", "zod/mini", "node:*"],
  hooks: [
    "core",
    "digest",
    "store",
    "status",
    "options.ts",
    "package.json",
    "node:fs/promises",
    "node:path",
    "@opencode-ai/plugin",
  ],
  store: ["core", "private-folder.ts", "zod/mini", "drizzle-orm", "drizzle-orm/*", "bun:sqlite", "node:*"],
  demo: ["core", "node:*"],
  report: ["core", "uplot", "node:*"],
  // OpenCode's screen loads it; of the store where the data folder lies
  tui: ["core", "status", "store", "@opentui/core", "@opentui/solid", "solid-js", "@opencode-ai/plugin/tui", "node:*"],
  // and of the folder `sidecar` beside `src` its manifest and its lock; never loaded by the host
  setup: ["core", "digest", "protocol", "sidecar", "private-folder.ts", "zod/mini", "node:*"],
  // never loaded by the host
  doctor: [
    ...["core", "store", "status", "digest", "setup", "sidecar", "protocol", "options.ts"],
    ...["private-folder.ts", "zod/mini", "node:*"],
  ],
  cli: [
    ...["core", "store", "status", "demo", "report", "digest", "setup", "sidecar", "doctor", "protocol", "options.ts"],
    ...["private-folder.ts", "citty", "node:*", "package.json"],
  ],
}

const imports = files.flatMap((file) => {
  // the demo's script holds the source files of the project it works on, in templates
  const text = readFileSync(join(root, file), "utf8").replace(/`[^`]*`/g, "")
  return [
    ...text.matchAll(/^\s*(?:import|export)\s[^"']*?from\s+"([^"]+)"|\bimport\(\s*"([^"]+)"|^import\s+"([^"]+)"/gm),
  ].map((found) => {
    const target = found[1] ?? found[2] ?? found[3] ?? ""
    return { file, target, typeOnly: /^\s*(?:import|export) type /.test(found[0]) }
  })
})

/** The folder of src a path lies in, or the file when it lies in none. */
const roomOf = (path: string) => path.split(sep)[0] ?? ""

test("every import goes where the arrows go", () => {
  const wrong = imports.filter(({ file, target }) => {
    const from = roomOf(file)
    const to = target.startsWith(".")
      ? roomOf(relative(root, join(root, dirname(file), target)).replace(/^\.\.[/\\]/, ""))
      : target
    return (
      to !== from &&
      !(ALLOWED[from] ?? []).some((one) => one === to || (one.endsWith("*") && to.startsWith(one.slice(0, -1))))
    )
  })
  expect(wrong.map(({ file, target }) => `${file} → ${target}`)).toEqual([])
  expect(imports.length).toBeGreaterThan(100)
})

test("one file of the sidecar imports the engine, the others its types alone", () => {
  const folder = fileURLToPath(new URL("../sidecar", import.meta.url))
  const importing = readdirSync(folder)
    .filter((name) => name.endsWith(".ts"))
    .filter((name) => {
      const text = readFileSync(join(folder, name), "utf8").replace(/^import type .*$/gm, "")
      return /(?:from|import\()\s*"node-llama-cpp"/.test(text.replace(/typeof import\(/g, ""))
    })
  expect(importing).toEqual(["engine.ts"])
})

test("the plugin's entry exports its default and nothing else", async () => {
  const entry = (await import("../src/plugin.ts")) as Record<string, unknown>
  expect(Object.keys(entry)).toEqual(["default"])
  expect(Object.keys(entry.default as object).sort()).toEqual(["id", "server"])
})

test("nothing the host loads writes to the console", () => {
  const loud = files.filter(
    (file) =>
      !/^(cli|demo)/.test(file) &&
      /\bconsole\.\w+\(|process\.std(?:out|err)\.write/.test(readFileSync(join(root, file), "utf8")),
  )
  expect(loud).toEqual([])
})

test("the core knows no clock, no randomness and no process", () => {
  const impure = files.filter(
    (file) =>
      file.startsWith("core") &&
      /\bDate\.now\(|\bnew Date\(\)|Math\.random\(|\bprocess\.|\bBun\.|performance\.now/.test(
        readFileSync(join(root, file), "utf8"),
      ),
  )
  expect(impure).toEqual([])
})
