// The folder list is the architecture: every import of every folder goes where the arrows go, and no two files import each
// other.

import { describe, expect, test } from "bun:test"
import { readdirSync, readFileSync } from "node:fs"
import { dirname, join, relative, sep } from "node:path"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("../src", import.meta.url))
const files = readdirSync(root, { recursive: true, encoding: "utf8" })
  .filter((name) => /\.tsx?$/.test(name))
  .map((name) => name.split(sep).join("/"))

/**
 * What each room may import: rooms, with what they may import in turn, and packages by name. A room always sees itself, and
 * every room sees `system/values.ts`, which holds no I/O.
 */
const ROOMS: Record<string, { sees: readonly string[]; packages: readonly string[] }> = {
  system: { sees: [], packages: ["bun:sqlite", "node:*"] },
  text: { sees: ["system"], packages: ["tokenx", "node:path/posix"] },
  output: { sees: ["text"], packages: [] },
  session: { sees: ["output"], packages: ["zod/mini"] },
  engine: {
    sees: ["text", "system"],
    packages: ["zod/mini", "bun:sqlite", "node:*"],
  },
  digest: { sees: ["session", "engine", "package.json"], packages: ["zod/mini", "node:*"] },
  hud: { sees: ["session"], packages: [] },
  fold: { sees: ["hud", "digest"], packages: ["zod/mini"] },
  request: { sees: ["fold"], packages: [] },
  replay: { sees: ["request"], packages: [] },
  "options.ts": { sees: ["request", "digest"], packages: ["zod/mini", "picomatch"] },
  store: { sees: ["fold"], packages: ["zod/mini", "drizzle-orm", "drizzle-orm/*", "bun:sqlite", "node:*"] },
  status: { sees: ["fold"], packages: ["zod/mini", "node:*"] },
  host: {
    sees: ["request", "store", "status", "options.ts", "package.json"],
    packages: ["@opencode-ai/plugin", "zod/mini", "node:fs/promises", "node:path"],
  },
  "plugin.ts": { sees: ["host", "options.ts"], packages: ["@opencode-ai/plugin"] },
  // the panel and the commands read stored sessions with the host's adapter
  tui: {
    sees: ["status", "host"],
    packages: ["@opentui/core", "@opentui/solid", "solid-js", "@opencode-ai/plugin/tui", "zod/mini", "node:*"],
  },
  // and of the folder `sidecar` beside `src` its manifest and its lock
  setup: { sees: ["digest", "sidecar"], packages: ["zod/mini", "node:*"] },
  report: { sees: ["replay"], packages: ["node:*"] },
  doctor: { sees: ["store", "status", "setup", "options.ts"], packages: ["zod/mini", "node:*"] },
  cli: { sees: ["host", "report", "doctor", "setup", "package.json"], packages: ["string-width", "node:*"] },
}

/** Rooms that know no clock, no randomness, no process and no I/O. */
const PURE = ["text", "output", "session", "hud", "fold", "request", "replay", "digest/extract", "digest/ground"]

type Import = { file: string; target: string }

function importsOf(file: string): Import[] {
  // templates may hold source text of other projects
  const text = readFileSync(join(root, file), "utf8").replace(/`[^`]*`/g, "")
  const found = text.matchAll(
    /^\s*(?:import|export)\s[^"']*?from\s+"([^"]+)"|\bimport\(\s*"([^"]+)"|^import\s+"([^"]+)"/gm,
  )
  return [...found].map(([, from, dynamic, bare]) => ({ file, target: from ?? dynamic ?? bare ?? "" }))
}

const imports = files.flatMap(importsOf)

/** A relative import's file, from `src`; a file beside `src` by its name. */
function fileOf({ file, target }: Import): string {
  const path = relative(root, join(root, dirname(file), target))
    .split(sep)
    .join("/")
  return path.replace(/^(?:\.\.\/)+/, "")
}

const roomOf = (path: string) => path.split("/")[0] ?? ""

/** The rooms a room sees, and those they see. */
function reach(room: string, seen = new Set<string>()): Set<string> {
  for (const next of ROOMS[room]?.sees ?? []) {
    if (seen.has(next)) continue
    seen.add(next)
    reach(next, seen)
  }
  return seen
}

describe("the arrows", () => {
  test("every folder and file of src is a room", () => {
    expect([...new Set(files.map(roomOf))].filter((room) => !(room in ROOMS))).toEqual([])
    expect(Object.keys(ROOMS).filter((room) => !files.some((file) => roomOf(file) === room))).toEqual([])
  })

  test("every import goes where the arrows go", () => {
    const wrong = imports.filter(({ file, target }) => {
      const from = roomOf(file)
      if (!target.startsWith(".")) {
        const { packages = [] } = ROOMS[from] ?? {}
        return !packages.some((one) => one === target || (one.endsWith("*") && target.startsWith(one.slice(0, -1))))
      }
      const to = fileOf({ file, target })
      return to !== "system/values.ts" && roomOf(to) !== from && !reach(from).has(roomOf(to))
    })
    expect(wrong.map(({ file, target }) => `${file} → ${target}`)).toEqual([])
    expect(imports.length).toBeGreaterThan(100)
  })

  test("no room sees a room that sees it", () => {
    expect(Object.keys(ROOMS).filter((room) => reach(room).has(room))).toEqual([])
  })

  test("no file imports itself by way of others", () => {
    const targets = new Map(
      files.map((file) => [file, importsOf(file).flatMap((one) => (one.target.startsWith(".") ? [fileOf(one)] : []))]),
    )
    const done = new Set<string>()
    const circles: string[] = []
    const walk = (file: string, path: readonly string[]) => {
      if (path.includes(file)) circles.push([...path.slice(path.indexOf(file)), file].join(" → "))
      else if (!done.has(file)) {
        for (const next of targets.get(file) ?? []) walk(next, [...path, file])
        done.add(file)
      }
    }
    for (const file of files) walk(file, [])
    expect(circles).toEqual([])
  })
})

test("the pure rooms know no clock, no randomness, no process and no I/O", () => {
  const pure = files.filter((file) => PURE.some((room) => file.startsWith(`${room}/`)))
  const impure = pure.filter(
    (file) =>
      /\bDate\.now\(|\bnew Date\(\)|Math\.random\(|\bprocess\.|\bBun\.|performance\.now/.test(
        readFileSync(join(root, file), "utf8"),
      ) || importsOf(file).some(({ target }) => /^(?:node|bun):(?!path\/posix$)/.test(target)),
  )
  expect(impure).toEqual([])
})

test("only the host's room and those who read stored sessions with its adapter know OpenCode's shapes", () => {
  const knowing = imports.filter((one) => one.target.startsWith(".") && fileOf(one) === "host/v1/message.ts")
  const outside = knowing.map(({ file }) => file).filter((file) => !file.startsWith("host/"))
  expect(outside).toEqual(["tui/recall.ts"])
})

test("one file writes the host's array", () => {
  const writing = imports.filter((one) => fileOf(one) === "host/v1/copies.ts")
  expect([...new Set(writing.map(({ file }) => file))].sort()).toEqual(["host/v1/apply.ts", "host/v1/conversation.ts"])
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
  expect(Object.keys(entry.default as object).sort()).toEqual(["id", "server", "setup"])
})

test("nothing the host loads writes to the console", () => {
  const loud = files.filter(
    (file) =>
      !file.startsWith("cli/") &&
      /\bconsole\.\w+\(|process\.std(?:out|err)\.write/.test(readFileSync(join(root, file), "utf8")),
  )
  expect(loud).toEqual([])
})
