// An exported name means one thing in all of src: whoever reads it in one file need not ask which of two it is.

import { expect, test } from "bun:test"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("../src", import.meta.url))
const EXPORTED = /^export (?:async )?(?:const|let|function\*?|type|interface|class|enum) (\w+)/gm

const places = new Map<string, Set<string>>()
for (const file of readdirSync(root, { recursive: true, encoding: "utf8" }).filter((name) => /\.tsx?$/.test(name)))
  for (const [, name = ""] of readFileSync(join(root, file), "utf8").matchAll(EXPORTED))
    places.set(name, (places.get(name) ?? new Set()).add(file))

test("no exported name has two meanings", () => {
  const found = [...places].filter(([, files]) => files.size > 1)
  expect(found.map(([name, files]) => `${name}: ${[...files].sort().join(", ")}`)).toEqual([])
  expect(places.size).toBeGreaterThan(500)
})
