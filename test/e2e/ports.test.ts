// The real OpenCode with the plugin, its store, its status files and a running sidecar: which sockets listen, which files are
// open, and the modes of its files under umask 000.

import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs"
import { join } from "node:path"
import { root } from "../store/support.ts"
import { writeTinyModel } from "../support/gguf.ts"
import { type Planted, plantSidecar, running } from "../support/sidecar.ts"
import { familyOf, listening } from "../support/sockets.ts"
import { modeOf, walk } from "../support/walk.ts"
import {
  converse,
  eventually,
  FILES,
  PATIENCE_MS,
  PLUGIN,
  read,
  type ServedWorld,
  say,
  serveWorld,
  use,
} from "../support/world.ts"

const linux = process.platform === "linux"
const hasEngine = existsSync(join(root, "sidecar/node_modules/node-llama-cpp"))
const why = linux ? "" : " (skipped: no /proc here)"
const engineWhy = hasEngine ? "" : " (skipped: npm ci in sidecar/ was not run)"

const routes = Array.from({ length: 80 }, (_, n) => `route ${n}: handled by src/handlers/route-${n}.ts`).join("\n")

/** What Bun reads in a project when it starts there. */
const HOSTILE = {
  ".env": "HUDFOLD_DATA=.evil\nFROM_PROJECT=yes\nLD_LIBRARY_PATH=.evil\nGGML_BACKEND_PATH=.evil/x.so\n",
  "bunfig.toml": 'preload = ["./evil.js"]\n',
  "evil.js": 'require("node:fs").writeFileSync(__dirname + "/evil-ran", String(process.pid))\n',
}

describe.skipIf(!linux)(`with a sidecar at work${why}`, () => {
  let world: ServedWorld
  let planted: Planted
  let sidecar = 0
  let opencode = 0
  let model = ""
  beforeAll(async () => {
    const before = process.umask(0)
    try {
      world = await serveWorld({
        plugin: [PLUGIN, { digest: { backend: "llama", gpu: "off", threads: 1 } }],
        files: { ...FILES, "routes.txt": routes, ...HOSTILE },
      })
    } finally {
      process.umask(before)
    }
    model = join(world.host.root, "tiny.gguf")
    await writeTinyModel(model)
    const program = hasEngine ? "sidecar/main.ts" : "test/engine/fixtures/plain.ts"
    planted = plantSidecar(world.host.root, { program: join(root, program), model })
    await converse(world, "Look at the routes", [use(read("routes.txt")), { ...say("Done."), delayMs: 1000 }])
    sidecar = await eventually("the sidecar to start", () => running(planted.main)[0]?.pid, PATIENCE_MS)
    opencode = Number(/^.*\) \S (\d+)/s.exec(readFileSync(`/proc/${sidecar}/stat`, "utf8"))?.[1])
    await eventually(
      "the model to be loaded",
      () => (!hasEngine || mapsOf(sidecar).length ? true : undefined),
      PATIENCE_MS,
    )
  }, 2 * PATIENCE_MS)
  afterAll(() => world?.close(), PATIENCE_MS)

  test("OpenCode listens on the port it was given and on nothing else", () => {
    expect(listening(opencode)).toEqual([`tcp ${new URL(world.client.url).port}`])
  })

  test("neither the sidecar nor any other child of OpenCode listens", () => {
    const family = familyOf(opencode)
    expect(family).toContain(sidecar)
    expect(family.filter((pid) => pid !== opencode).flatMap(listening)).toEqual([])
    // short-lived children of OpenCode may have ended meanwhile, the sidecar must not
    expect(familyOf(opencode)).toContain(sidecar)
  })

  test("the sidecar knows nothing of the project: neither its folder nor a file of it", () => {
    const { project } = world.host
    expect(readlinkSync(`/proc/${sidecar}/cwd`)).toBe(planted.sidecar)
    expect(openFiles(sidecar).filter((path) => path.startsWith(project))).toEqual([])
    expect(readFileSync(`/proc/${sidecar}/environ`, "utf8")).not.toContain(project)
    expect(readFileSync(`/proc/${sidecar}/cmdline`, "utf8")).not.toContain(project)
  })

  test("a project's .env and bunfig.toml move no folder, set no variable and run nothing", () => {
    expect(readdirSync(world.host.project)).not.toContain("evil-ran")
    expect(readdirSync(world.host.project)).not.toContain(".evil")
    const names = readFileSync(`/proc/${sidecar}/environ`, "utf8").split("\0")
    expect(names.filter((one) => /evil|FROM_PROJECT|GGML|LD_LIBRARY/.test(one))).toEqual([])
    expect(existsSync(join(planted.folder, "hud.db"))).toBe(true)
  })

  test.skipIf(!hasEngine)(`the model is mapped for reading alone, and open for writing nowhere${engineWhy}`, () => {
    expect(mapsOf(sidecar).length).toBeGreaterThan(0)
    expect(mapsOf(sidecar).filter((line) => !/^\S+ r--[ps] /.test(line))).toEqual([])
    for (const fd of readdirSync(`/proc/${sidecar}/fd`)) {
      if (linkOf(`/proc/${sidecar}/fd/${fd}`) !== model) continue
      const flags = /^flags:\s+(\d+)/m.exec(readFileSync(`/proc/${sidecar}/fdinfo/${fd}`, "utf8"))?.[1] ?? ""
      expect(Number.parseInt(flags, 8) & 3).toBe(0)
    }
  })

  test("under umask 000 the plugin's folders are 0700 and its files 0600, the one that was there with 0755 too", async () => {
    await eventually("a status", () => walk(planted.folder).find(({ path }) => path.endsWith(".status.json")))
    const own = walk(planted.folder).filter(({ path }) => !/^sidecar\/|^sidecar$|^model\.json$/.test(path))
    const names = own.map(({ path }) => path.replace(/ses_\w+/, "ses"))
    expect(names).toEqual(
      expect.arrayContaining([".", "hud.db", "sidecar.lease", "sessions", "sessions/ses.status.json"]),
    )
    expect(own.filter(({ kind, mode }) => mode !== (kind === "folder" ? 0o700 : 0o600))).toEqual([])
    expect(modeOf(planted.folder)).toBe("700")
  })

  function mapsOf(pid: number): string[] {
    return readFileSync(`/proc/${pid}/maps`, "utf8")
      .split("\n")
      .filter((line) => line.endsWith(model))
  }
})

function openFiles(pid: number): string[] {
  return readdirSync(`/proc/${pid}/fd`).map((fd) => linkOf(`/proc/${pid}/fd/${fd}`))
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    // closed meanwhile
    return ""
  }
}
