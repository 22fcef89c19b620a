// `opencode plugin opencode-hudfold` as a user runs it, with a registry that serves the packed package: both halves are listed
// and work. OpenCode cannot load the TUI half from a `file:` tarball.

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import { execFile } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import manifest from "../../package.json" with { type: "json" }
import { CATALOGUE, environmentFor } from "../opencode/config.ts"
import { findOpencode } from "../opencode/host.ts"
import { needsTmux, openTerminal } from "../support/tmux.ts"
import { openWorld, PATIENCE_MS, read, say, use, type World } from "../support/world.ts"

setDefaultTimeout(3 * PATIENCE_MS)

const run = promisify(execFile)
const root = fileURLToPath(new URL("../..", import.meta.url))
const { run: isShown, named } = needsTmux()
const shown = isShown ? test : test.skip

let folder: string
let registry: Server
let world: World
let env: Record<string, string>

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "opencode-hudfold-install-"))
  const args = ["pack", "--ignore-scripts", "--json", "--pack-destination", folder]
  const [pack] = JSON.parse((await run("npm", args, { cwd: root })).stdout) as [{ filename: string; integrity: string }]
  registry = await startRegistry(join(folder, pack.filename), pack.integrity)
  const { port } = registry.address() as AddressInfo
  world = await openWorld({ plugin: null })
  // as users have it, with OpenCode's own catalogue of models
  rmSync(join(world.host.root, CATALOGUE))
  env = { ...environmentFor(world.host.root), npm_config_registry: `http://127.0.0.1:${port}/` }
})
afterAll(async () => {
  await world?.close()
  registry?.closeAllConnections()
  registry?.close()
  rmSync(folder, { recursive: true, force: true })
})

/** Has this one package, and nothing else. */
function startRegistry(tarball: string, integrity: string): Promise<Server> {
  const { name, version } = manifest
  const server = createServer(({ url = "", headers }, response) => {
    if (url.endsWith(".tgz")) return void response.end(readFileSync(tarball))
    if (url !== `/${name}`) return void response.writeHead(404).end("{}")
    const dist = { integrity, tarball: `http://${headers.host}/${name}.tgz` }
    const versions = { [version]: { ...manifest, dist } }
    response.setHeader("content-type", "application/json")
    response.end(JSON.stringify({ name, "dist-tags": { latest: version }, versions }))
  })
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server)))
}

test("`opencode plugin` lists the package for the server and for the screen", async () => {
  const { project } = world.host
  await run(findOpencode(), ["plugin", manifest.name], { cwd: project, env: { ...env, PWD: project } })
  for (const file of ["opencode.json", "tui.json"]) {
    const { plugin } = JSON.parse(readFileSync(join(project, ".opencode", file), "utf8")) as { plugin?: unknown }
    expect({ file, plugin }).toEqual({ file, plugin: [manifest.name] })
  }
})

shown(named("then both halves work on the screen"), async () => {
  const { host, provider } = world
  provider.play([use(read("alpha.txt")), say("Read it.")])
  const command = [findOpencode()]
  const terminal = openTerminal({ command, env, directory: host.project, columns: 160, rows: 45 })
  try {
    await terminal.until("Ask anything")
    await terminal.type("Read alpha")
    terminal.press("Enter")
    await terminal.until("Read it.", "▼ HUD", "compacts at 192k")
  } finally {
    terminal.close()
  }
})
