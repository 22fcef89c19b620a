// Every dependency has a line in docs/decisions that says what it saves.

import { describe, expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { find, nameOf, readLock } from "../support/lock.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))
const lock = readLock(".")
const { manifest } = lock
/** Installed by setup, and by nobody else. */
const ENGINE = Object.keys(readLock("sidecar").manifest.dependencies ?? {})
const shipping = named("004-bundle")
const development = named("005-development-dependencies")

describe("docs/decisions says exactly once what it saves, for", () => {
  test.each([...Object.keys(manifest.devDependencies ?? {}), ...ENGINE])("%s", (name) => {
    expect([...shipping, ...development].filter((one) => one === name)).toHaveLength(1)
  })

  test.each(Object.keys(manifest.overrides ?? {}))("the override of %s", (name) => {
    expect(development).toContain(name)
  })

  test("no package that is gone", () => {
    const known = [...Object.keys({ ...manifest.devDependencies, ...manifest.overrides }), ...ENGINE]
    expect([...shipping, ...development].filter((name) => !known.includes(name))).toEqual([])
  })

  test("bundled packages, listed as bundled, and of others only what these need", () => {
    const titles = readFileSync(join(root, "dist/licenses.txt"), "utf8").matchAll(/^(\S+) \d[\w.-]* \([^)]+\)$/gm)
    const bundled = shipping.filter((one) => !ENGINE.includes(one))
    const needed = bundled.flatMap((name) => neededBy(`node_modules/${name}`))
    expect([...titles].map(([, name = ""]) => name).sort()).toEqual([...new Set(needed.map(nameOf))].sort())
  })
})

/** The path of a package and those of all that it depends on. */
function neededBy(path: string): string[] {
  const names = Object.keys(lock.pins.get(path)?.dependencies ?? {})
  return [path, ...names.flatMap((name) => neededBy(find(lock, path, name) ?? name))]
}

/** The packages that lines of a decision begin with, as "- `name`, `other`: what they save". */
function named(decision: string): string[] {
  const text = readFileSync(join(root, `docs/decisions/${decision}.md`), "utf8")
  const lines = [...text.matchAll(/^- ((?:`[^`]+`(?:, )?)+): \S/gm)]
  return lines.flatMap(([, names = ""]) => [...names.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name))
}
