// An exported name means one thing in all of src: whoever reads it in one file need not ask which of two it is.

import { expect, test } from "bun:test"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("../src", import.meta.url))
const EXPORTED = /^export (?:async )?(?:const|let|function\*?|type|interface|class|enum) (\w+)/gm

/** Names that still have two meanings. Each is to be renamed; nothing may be added. */
const EXCEPTIONS: readonly string[] = []

const places = new Map<string, Set<string>>()
for (const file of readdirSync(root, { recursive: true, encoding: "utf8" }).filter((name) => /\.tsx?$/.test(name)))
  for (const [, name = ""] of readFileSync(join(root, file), "utf8").matchAll(EXPORTED))
    places.set(name, (places.get(name) ?? new Set()).add(file))

const ambiguous = [...places].filter(([, files]) => files.size > 1)

test("no exported name has two meanings", () => {
  const found = ambiguous.filter(([name]) => !EXCEPTIONS.includes(name))
  expect(found.map(([name, files]) => `${name}: ${[...files].sort().join(", ")}`)).toEqual([])
  expect(places.size).toBeGreaterThan(500)
})

test("every exception is one", () => {
  expect(EXCEPTIONS.filter((name) => !ambiguous.some(([known]) => known === name))).toEqual([])
})
