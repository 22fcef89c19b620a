// Builds what ships, so that a user installs one small package, with the licences of what is bundled in it. The sources ship
// beside it, readable. `bun scripts/build.ts [FOLDER]`, default dist.

import { chmod, mkdtemp, readdir, rename, rm, stat, writeFile } from "node:fs/promises"
import { join, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { bundle } from "./bundle.ts"
import { licensesOf, licensesText } from "./licenses.ts"

const root = fileURLToPath(new URL("..", import.meta.url))
const dist = resolve(process.argv[2] ?? join(root, "dist"))
// or the same sources would not always give the same bytes
process.chdir(root)
// built aside and moved in place, so that a reader of the old one never sees half of the new one
const fresh = await mkdtemp(`${dist}-`)
try {
  const modules = await bundle(fresh)
  await writeFile(join(fresh, "licenses.txt"), licensesText(await licensesOf(modules)))
  // a new temporary folder is its owner's alone; a checkout may be others' to load
  await chmod(fresh, 0o755)
} catch (error) {
  await rm(fresh, { recursive: true, force: true })
  throw error
}
await rm(dist, { recursive: true, force: true })
await rename(fresh, dist)
const files = await readdir(dist)
const sizes = await Promise.all(files.map(async (name) => (await stat(join(dist, name))).size))
const sizeBytes = sizes.reduce((total, bytes) => total + bytes, 0)
process.stdout.write(`built ${dist}, ${Math.round(sizeBytes / 1024)} kB in ${files.length} files\n`)
