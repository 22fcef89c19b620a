// The pictures in the documents: each is shown by one, and a script takes it.

import { expect, test } from "bun:test"
import { readdirSync, readFileSync } from "node:fs"
import { basename, join } from "node:path"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("../..", import.meta.url))
const texts = (folder: string, end: string) =>
  readdirSync(join(root, folder))
    .filter((name) => name.endsWith(end))
    .map((name) => readFileSync(join(root, folder, name), "utf8"))
const images = readdirSync(join(root, "docs/images")).sort()

test("every picture that a document shows is there, and every picture is shown", () => {
  const shown = [...texts(".", ".md"), ...texts("docs", ".md")].flatMap((text) =>
    [...text.matchAll(/!\[[^\]]*\]\(([^)]+)\)/g)].map(([, path = ""]) => basename(path)),
  )
  expect([...new Set(shown)].sort()).toEqual(images)
})

test("every picture comes out of `npm run screenshots`", () => {
  const scripts = texts("scripts", "-screenshots.ts").concat(texts("scripts", "-screenshot.ts")).join("\n")
  expect(images.filter((name) => !scripts.includes(`"${name}"`))).toEqual([])
})
