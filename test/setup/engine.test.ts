// Installs the engine with the real installers from the real registry, into separate folders and with an empty home.

import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { installPackages } from "../../scripts/packages.ts"
import shippedManifest from "../../sidecar/package.json" with { type: "json" }
import shippedLock from "../../sidecar/package-lock.json" with { type: "json" }
import { type Places, placesIn, readInstalled } from "../../src/engine/installed.ts"
import { PROTOCOL } from "../../src/engine/wire/messages.ts"
import { findInstallers, type Installer, installEngine } from "../../src/setup/engine.ts"
import { SetupError } from "../../src/setup/errors.ts"
import { probeMachine } from "../../src/setup/machine.ts"
import { chooseVariants, engineVersion, pin, variantPackage } from "../../src/setup/packages.ts"
import { findCommand } from "../../src/system/process.ts"
import { linkCommands } from "../cli/support.ts"
import { opencode, spawnChild, temporaryFolder } from "../store/support.ts"
import { testLarge } from "../support/large.ts"

const folder = temporaryFolder()
const home = join(folder.path, "home")
const main = join(folder.path, "sidecar.js")
const bin = join(folder.path, "bin")
const { variants } = chooseVariants(await probeMachine(), "off")
const installers: Partial<Record<Installer["name"], Installer>> = {}

beforeAll(() => {
  for (const path of [home, bin]) mkdirSync(path)
  writeFileSync(main, "// the sidecar\n")
  const node = findCommand("node", process.env)
  const npm = findCommand("npm", process.env)
  if (!node || !npm) throw new Error("these tests need node and npm on PATH")
  linkCommands(bin, { bun: process.execPath, opencode, node })
  const found = findInstallers({ PATH: `${bin}:${join(npm, "..")}` })
  for (const installer of found) installers[installer.name] = installer
})
// some twenty thousand files
afterAll(() => folder[Symbol.dispose](), 60_000)

/** An environment without this machine's settings. */
const env = (more: Record<string, string> = {}) => ({ PATH: `${bin}:/usr/bin:/bin`, HOME: home, ...more })

const only = (name: Installer["name"]) => {
  const installer = installers[name]
  if (!installer) throw new Error(`no ${name} was found`)
  return [installer]
}

function placesOf(name: string): Places {
  return placesIn(join(folder.path, name))
}

/** Every package below a node_modules, as `name@version`. */
function packagesIn(modules: string): Set<string> {
  const found = readdirSync(modules, { recursive: true, encoding: "utf8" }).filter((path) =>
    /(?:^|node_modules\/)(?:@[^/]+\/)?[^/]+\/package\.json$/.test(path),
  )
  const named = found.map(
    (path) => JSON.parse(readFileSync(join(modules, path), "utf8")) as { name?: string; version?: string },
  )
  return new Set(named.map(({ name, version }) => `${name}@${version}`))
}

const sizeOf = (path: string): number =>
  readdirSync(path, { recursive: true, encoding: "utf8" }).reduce((total, name) => {
    const found = statSync(join(path, name))
    return total + (found.isFile() ? found.size : 0)
  }, 0)

/** Exactly the packages that the lock requires for these variants. */
function lockedPackages(): Set<string> {
  const { packages } = JSON.parse(pin(variants).lock) as {
    packages: Record<string, { version?: string; optional?: boolean }>
  }
  const needed = Object.entries(packages).filter(([path, entry]) => path !== "" && !entry.optional)
  return new Set(needed.map(([path, { version }]) => `${path.replace(/^.*node_modules\//, "")}@${version}`))
}

describe("installed", () => {
  for (const name of ["npm", "bun", "opencode"] as const) {
    const one = name === "npm" ? testLarge : test
    one(
      `by ${name} it has exactly the locked packages, and a second run does nothing`,
      async () => {
        const places = placesOf(`by-${name}`)
        const asked: string[] = []
        const options = { env: env(), installers: only(name), onInstall: (one: Installer) => asked.push(one.name) }
        expect(await installEngine(variants, places, main, options)).toBe("installed")
        expect(packagesIn(join(places.sidecar, "node_modules"))).toEqual(lockedPackages())
        expect(sizeOf(places.sidecar)).toBeLessThan(60e6)
        const { engine } = await readInstalled(places)
        expect(engine).toEqual({ engine: engineVersion, protocol: PROTOCOL, variants: variants.map(variantPackage) })
        expect(readFileSync(places.main, "utf8")).toBe("// the sidecar\n")
        expect(readdirSync(join(places.sidecar, ".."))).toEqual(["sidecar"])

        expect(await installEngine(variants, places, main, options)).toBe("present")
        expect(asked).toEqual([name])
      },
      120_000,
    )
  }

  test("OpenCode's Bun leaves no cache in the home folder of a user without Bun", () => {
    // created by the user's own bun in the test before
    rmSync(join(home, ".bun"), { recursive: true, force: true })
    expect(readdirSync(home).filter((name) => name !== ".npm")).toEqual([])
  })
})

describe("an installation", () => {
  test("gets only a new main.js if nothing else is old", async () => {
    const places = placesOf("by-bun")
    const newer = join(folder.path, "newer.js")
    writeFileSync(newer, "// a newer sidecar\n")
    expect(await installEngine(variants, places, newer, { installers: [] })).toBe("updated")
    expect(readFileSync(places.main, "utf8")).toBe("// a newer sidecar\n")
    expect(await installEngine(variants, places, newer, { installers: [] })).toBe("present")
  })

  testLarge(
    "is replaced if its record is missing, and leftovers of killed runs are removed",
    async () => {
      const places = placesOf("by-bun")
      rmSync(places.engineRecord)
      mkdirSync(`${places.sidecar}.new-killed/node_modules`, { recursive: true })
      mkdirSync(`${places.sidecar}.old`)
      const state = await installEngine(variants, places, main, { env: env(), installers: only("bun") })
      expect(state).toBe("installed")
      expect(readdirSync(join(places.sidecar, ".."))).toEqual(["sidecar"])
    },
    60_000,
  )

  test("is put back after a kill in the middle of its replacement", async () => {
    const places = placesOf("killed")
    mkdirSync(`${places.sidecar}.old`, { recursive: true, mode: 0o700 })
    writeFileSync(`${places.sidecar}.old/main.js`, "the one that works")
    const failing: Installer = { name: "npm", command: "/bin/false", args: [], env: {} }
    await expect(installEngine(variants, places, main, { installers: [failing] })).rejects.toThrow(
      "npm ended with exit code 1",
    )
    expect(readFileSync(places.main, "utf8")).toBe("the one that works")
    expect(readdirSync(join(places.sidecar, ".."))).toEqual(["sidecar"])
  })

  test("stays if the new one cannot be installed", async () => {
    const places = placesOf("by-opencode")
    const before = readFileSync(places.engineRecord, "utf8")
    writeFileSync(join(places.sidecar, "node_modules/.lock-sha256"), "of another version")
    const offline = env({ npm_config_registry: "http://127.0.0.1:9/", HOME: join(folder.path, "empty") })
    const failed = installEngine(variants, places, main, { env: offline, installers: only("bun") })
    await expect(failed).rejects.toThrow(/^the package registry could not be reached.*\(bun: .*ConnectionRefused/)
    expect(readFileSync(places.engineRecord, "utf8")).toBe(before)
    expect(readdirSync(join(places.sidecar, ".."))).toEqual(["sidecar"])
  }, 60_000)
})

describe("a package with another checksum than the lock's is refused", () => {
  const key = "node_modules/@huggingface/jinja"
  const wrong = { ...shippedLock.packages[key], integrity: `sha512-${"A".repeat(86)}==` }
  const packages = { ...shippedLock.packages, [key]: wrong }
  const pinned = pin(variants, shippedManifest, { ...shippedLock, packages })
  for (const name of ["npm", "bun", "opencode"] as const) {
    const one = name === "opencode" ? test : testLarge
    one(
      `by ${name}`,
      async () => {
        const target = join(folder.path, `wrong-${name}`, "node_modules")
        // Bun verifies downloads, but not its cache
        const options = {
          env: { ...env(), BUN_INSTALL_CACHE_DIR: join(target, "../../no-cache") },
          installers: only(name),
        }
        const error = await installPackages(pinned, target, options).catch((reason: unknown) => reason)
        expect(error).toBeInstanceOf(SetupError)
        expect((error as SetupError).code).toBe("CHECKSUM")
        expect(readdirSync(join(target, ".."))).toEqual([])
      },
      120_000,
    )
  }
})

describe("the user's registry is used", () => {
  const rows: [name: Installer["name"], how: string][] = [
    ["npm", "environment"],
    ["bun", "environment"],
    ["opencode", "environment"],
    ["npm", ".npmrc"],
    ["bun", ".npmrc"],
    ["opencode", ".npmrc"],
  ]
  for (const [name, how] of rows) {
    const one = how === "environment" || name === "bun" ? test : testLarge
    one(
      `by ${name}, from ${how === ".npmrc" ? "the file in the home folder" : "the environment"}`,
      async () => {
        using own = temporaryFolder()
        const asked: string[] = []
        const registry = createServer((request, response) => {
          asked.push(request.url ?? "")
          response.writeHead(404).end()
        })
        await new Promise<void>((resolve) => registry.listen(0, "127.0.0.1", resolve))
        const url = `http://127.0.0.1:${(registry.address() as AddressInfo).port}/`
        if (how === ".npmrc") writeFileSync(join(own.path, ".npmrc"), `registry=${url}\n`)
        const more: Record<string, string> = how === ".npmrc" ? {} : { npm_config_registry: url }
        try {
          const target = join(own.path, "node_modules")
          const installed = installPackages(pin(variants), target, {
            env: { ...env(more), HOME: own.path },
            installers: only(name),
          })
          await expect(installed).rejects.toThrow(
            new RegExp(`^${name} ended with exit code 1: .*404.*; check the registry`),
          )
          expect(asked.length).toBeGreaterThan(0)
        } finally {
          registry.closeAllConnections()
          registry.close()
        }
      },
      60_000,
    )
  }
})

testLarge(
  "after a broken installer the next one is tried",
  async () => {
    const places = placesOf("second")
    const broken: Installer = { name: "npm", command: join(folder.path, "no-such-npm"), args: [], env: {} }
    const tried: string[] = []
    const state = await installEngine(variants, places, main, {
      env: env(),
      installers: [broken, ...only("bun")],
      onInstall: ({ name }) => tried.push(name),
    })
    expect(state).toBe("installed")
    expect(tried).toEqual(["npm", "bun"])
  },
  60_000,
)

test("an installer that succeeds without installing anything is an error", async () => {
  const places = placesOf("nothing")
  const idle: Installer = { name: "npm", command: process.execPath, args: ["--version"], env: {} }
  const installed = installEngine(variants, places, main, { env: env(), installers: [idle] })
  await expect(installed).rejects.toThrow(/npm succeeded, but installed nothing/)
  expect(existsSync(places.sidecar)).toBe(false)
})

test("without an installer it says what is needed", async () => {
  const installed = installEngine(variants, placesOf("none"), main, { installers: [] })
  await expect(installed).rejects.toThrow(/expected npm, bun or opencode on PATH, found none/)
})

test("on abort it ends the installer and leaves nothing behind", async () => {
  const places = placesOf("stopped")
  const stop = new AbortController()
  const started = Promise.withResolvers<void>()
  const idle: Installer = {
    name: "npm",
    command: process.execPath,
    args: ["-e", 'require("node:fs").writeFileSync("pid", String(process.pid)); setInterval(() => {}, 1000)'],
    env: {},
  }
  const installed = installEngine(variants, places, main, {
    env: env(),
    installers: [idle],
    signal: stop.signal,
    onInstall: () => started.resolve(),
  })
  await started.promise
  const fresh = await pidFile(join(places.sidecar, ".."))
  stop.abort()
  expect(await installed.catch((error: Error) => error.name)).toBe("AbortError")
  expect(() => process.kill(fresh, 0)).toThrow()
  expect(readdirSync(join(places.sidecar, ".."))).toEqual([])
}, 120_000)

test("the repository's own installation, if it is up to date, is not locked", async () => {
  const place = join(folder.path, "repository")
  const modules = join(place, "node_modules")
  mkdirSync(modules, { recursive: true })
  writeFileSync(join(modules, ".lock-sha256"), pin(variants).stamp)
  const script = join(import.meta.dir, "../../scripts/sidecar.ts")
  const child = spawnChild([process.execPath, script, modules])
  expect(await child.finish()).toMatchObject({ code: 0, stdout: "" })
  expect(readdirSync(place)).toEqual(["node_modules"])
})

/** The pid that the idle installer writes into the staging folder. */
async function pidFile(parent: string): Promise<number> {
  for (const end = performance.now() + 10_000; performance.now() < end; ) {
    const [name] = existsSync(parent) ? readdirSync(parent).filter((one) => one.includes(".new-")) : []
    const path = name && join(parent, name, "pid")
    if (path && existsSync(path) && readFileSync(path, "utf8")) return Number(readFileSync(path, "utf8"))
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  throw new Error("the installer did not start")
}
