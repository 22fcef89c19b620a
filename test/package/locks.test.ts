// The lock files match the manifests and have every checksum, and no unreviewed script runs at install.

import { describe, expect, test } from "bun:test"
import { findInstallers } from "../../src/setup/engine.ts"
import { find, type Manifest, nameOf, type Pin, readLock } from "../support/lock.ts"

const LOCKS = [
  { what: "the plugin's lock", lock: readLock(".") },
  { what: "the engine's lock", lock: readLock("sidecar") },
]
/** Binaries for other machines, which not every registry has: `npm` writes no checksum of what it cannot ask for. */
const UNCHECKED = /^(?:@biomejs\/cli-|opencode-(?:darwin|linux|windows)-|@msgpackr-extract\/)/
const requiredOf = (pin: Manifest & Pick<Pin, "peerDependenciesMeta">) => ({
  ...Object.fromEntries(
    Object.entries(pin.peerDependencies ?? {}).filter(([name]) => !pin.peerDependenciesMeta?.[name]?.optional),
  ),
  ...pin.dependencies,
})

describe.each(LOCKS)("$what", ({ lock }) => {
  const { manifest, own, pins } = lock
  const direct = { ...manifest.dependencies, ...manifest.devDependencies }

  test("has the manifest's own fields", () => {
    const fields = ["name", "version", "license", "dependencies", "devDependencies", "bin", "engines"] as const
    const of = (one: object) => fields.map((name) => (one as Record<string, unknown>)[name])
    expect(of(own)).toEqual(of(manifest))
  })

  test("pins the manifest's exact versions", () => {
    for (const [name, version] of Object.entries(direct)) {
      expect(version).toMatch(/^\d+\.\d+\.\d+(?:-[\w.]+)?$/)
      expect({ name, version: pins.get(`node_modules/${name}`)?.version }).toEqual({ name, version })
    }
  })

  test("has every required package in an accepted version", () => {
    const wrong = [...pins].flatMap(([path, pin]) => {
      const optional = pin.optionalDependencies ?? {}
      return Object.entries({ ...requiredOf(pin), ...optional }).flatMap(([name, range]) => {
        const found = pins.get(find(lock, path, name) ?? "")
        const wanted = manifest.overrides?.[name] ?? range
        if (!found) return name in optional ? [] : [`${path} needs ${name} ${wanted}, found none`]
        return Bun.semver.satisfies(found.version, wanted)
          ? []
          : [`${path} needs ${name} ${wanted}, found ${found.version}`]
      })
    })
    expect(wrong).toEqual([])
  })

  test("has no package that nothing requires", () => {
    const reached = new Set<string>()
    const reach = (path: string | undefined) => {
      if (path === undefined || reached.has(path)) return
      reached.add(path)
      const pin = pins.get(path)
      for (const name of Object.keys({ ...pin?.dependencies, ...pin?.optionalDependencies, ...pin?.peerDependencies }))
        reach(find(lock, path, name))
    }
    for (const name of Object.keys(direct)) reach(find(lock, "", name))
    expect([...pins.keys()].filter((path) => !reached.has(path))).toEqual([])
  })

  test("has a checksum for every package that installs here", () => {
    const without = [...pins].filter(([, { integrity }]) => !integrity?.startsWith("sha512-"))
    expect(without.filter(([path, pin]) => !(pin.optional && pin.os && UNCHECKED.test(nameOf(path))))).toEqual([])
  })

  test("names no registry, no repository, no file and no link", () => {
    const ranges = [...pins.values(), own].flatMap((pin) =>
      Object.entries({ ...pin.dependencies, ...pin.devDependencies, ...pin.optionalDependencies }),
    )
    expect(ranges.filter(([, range]) => /[:/]/.test(range.replace(/^npm:/, "")))).toEqual([])
    expect([...pins].filter(([, { resolved, link }]) => resolved !== undefined || link)).toEqual([])
  })
})

describe("a script at an install", () => {
  const scripted = (folder: string) =>
    [...readLock(folder).pins].filter(([, pin]) => pin.hasInstallScript).map(([path]) => nameOf(path))

  test("is allowed or refused by name for every package of the plugin that has one", () => {
    expect(scripted(".").sort()).toEqual(Object.keys(readLock(".").manifest.allowScripts ?? {}).sort())
  })

  test("exists only in the engine among setup's packages, and no installer runs it", () => {
    expect(scripted("sidecar")).toEqual(["node-llama-cpp"])
    const installers = findInstallers({ PATH: process.env.PATH })
    expect(installers.length).toBeGreaterThan(0)
    for (const { args } of installers) expect(args).toContain("--ignore-scripts")
  })
})
